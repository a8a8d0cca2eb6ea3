"""A folder of byte strings and files by key, shared by processes and kept from run to run.

An entry is one file, written under another name and renamed, so that a reader sees it whole or not at all. What it reads is
checked: an entry that was cut short or damaged counts as missing and goes. Files are not forced to disk; after a power
failure the check finds those that are empty. Nothing here raises: a folder that cannot be read or written is a cache
without entries, and the first refused write is one warning.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import struct
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dlc.partial_files import note_partial
from dlc.targets.cache_folder import cache_folder

_MAGIC = b"dlcache1"
_HEADER = struct.Struct("<8s32s32sQ")
"""Magic, key, SHA-256 of the content, length of the content."""

_FILE = ".dlce"
"""Ends the names of entries that are files of their own, to be mapped; they hold engines."""

_TEMPORARY = "tmp-"
_STALE_SECONDS = 3600.0
"""Age at which a temporary file has no writer any more."""

_KEPT_SHARE = 0.8
"""How much of the size bound is left after old entries went."""

_SCANS_PER_BOUND = 16
"""A process looks at the whole folder again when it has written this part of the bound."""


class CacheWarning(UserWarning):
    """The compilation cache cannot be written; compiling goes on without it."""


@dataclass(frozen=True)
class CacheInfo:
    """What a cache holds: number of entries and their bytes; `limit` is the size bound."""

    folder: Path
    entries: int
    size: int
    limit: int


@dataclass(frozen=True)
class _Entry:
    file: Path
    size: int
    used: float


@dataclass
class DiskCache:
    """The cache in `folder`, of at most about `limit` bytes; the entries that were not used for longest go first.

    Keys are hexadecimal SHA-256 sums of all that an entry depends on.
    """

    folder: Path
    limit: int
    _room: float = field(default=-1.0, init=False)
    """Bytes to write before the folder is looked at again."""
    _refused: bool = field(default=False, init=False)

    def get(self, key: str) -> bytes | None:
        """The entry of `key`, or None where there is none or it is damaged."""
        file = self._file(key)
        try:
            content = file.read_bytes()
        except OSError:
            return None
        found = _checked(key, content)
        try:
            if found is None:
                file.unlink()
            else:
                os.utime(file)
        except OSError:
            pass  # read-only, or another process was faster
        return found

    def put(self, key: str, content: bytes) -> None:
        """Keep `content` under `key`."""
        if self._refused or len(content) > self.limit:
            return
        header = _HEADER.pack(_MAGIC, bytes.fromhex(key), hashlib.sha256(content).digest(), len(content))
        try:
            self._write(self._file(key), header + content)
            self._bound(len(header) + len(content))
        except OSError as error:
            self._refused = True
            remedy = "set DLC_CACHE_DIR to another folder, or to nothing to do without"
            warnings.warn(f"cannot write the compilation cache '{self.folder}': {error.strerror}; {remedy}", CacheWarning, 2)

    def find_file(self, key: str) -> Path | None:
        """The file of `key`, which `put_file` made; None where there is none. Nothing of it is read."""
        file = self._file(key).with_suffix(_FILE)
        try:
            os.utime(file)
        except PermissionError:
            pass  # read-only
        except OSError:
            return None
        return file

    def put_file(self, key: str, write: Callable[[Path], None]) -> None:
        """Keep the file that `write` makes, whole or not at all, under `key`; `OSError` where that is refused."""
        file = self._file(key).with_suffix(_FILE)
        if self._refused:
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.parent.mkdir(mode=0o700, exist_ok=True)
        write(file)
        size = file.stat().st_size
        if size > self.limit:
            file.unlink()
        self._bound(size)

    def remove_file(self, key: str) -> None:
        """Remove the file of `key`, if it is there."""
        with contextlib.suppress(OSError):
            self._file(key).with_suffix(_FILE).unlink()

    def info(self) -> CacheInfo:
        """Count the entries."""
        entries = list(self._entries())
        return CacheInfo(self.folder, len(entries), sum(entry.size for entry in entries), self.limit)

    def clear(self) -> int:
        """Remove all entries; returns how many there were. `OSError` where that is refused."""
        entries = list(self._entries())
        for entry in entries:
            entry.file.unlink(missing_ok=True)
        self._sweep(before=time.time())
        return len(entries)

    def _file(self, key: str) -> Path:
        return self.folder / key[:2] / key[2:]

    def _write(self, file: Path, content: bytes) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = self.folder / f"{_TEMPORARY}{os.getpid()}-{secrets.token_hex(8)}"
        note_partial(temporary)
        try:
            temporary.write_bytes(content)
            file.parent.mkdir(mode=0o700, exist_ok=True)
            temporary.replace(file)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise

    def _bound(self, written: int) -> None:
        """Count what was written, and look at the folder at the first time and when enough came together."""
        self._room -= written
        if self._room >= 0:
            return
        entries = list(self._entries())
        total = sum(entry.size for entry in entries)
        if total > self.limit:
            total -= self._evict(entries, total - int(self.limit * _KEPT_SHARE))
        self._sweep(before=time.time() - _STALE_SECONDS)
        self._room = max(0.0, min(self.limit - total, self.limit / _SCANS_PER_BOUND))

    def _evict(self, entries: list[_Entry], excess: int) -> int:
        """Remove entries of `excess` bytes or more, oldest first; returns how many bytes went."""
        freed = 0
        for entry in sorted(entries, key=lambda entry: (entry.used, entry.file)):
            if freed >= excess:
                break
            entry.file.unlink(missing_ok=True)
            freed += entry.size
        return freed

    def _sweep(self, before: float) -> None:
        """Remove what writers left that were killed."""
        for file in self.folder.glob(f"{_TEMPORARY}*"):
            try:
                if file.stat().st_mtime <= before:
                    file.unlink()
            except OSError:
                continue

    def _entries(self) -> Iterator[_Entry]:
        for file in self.folder.glob("[0-9a-f][0-9a-f]/*"):
            try:
                status = file.stat()
            except OSError:
                continue  # removed meanwhile
            yield _Entry(file, status.st_size, status.st_mtime)


def _checked(key: str, content: bytes) -> bytes | None:
    """The content of a file if it is a whole entry of `key`."""
    if len(content) < _HEADER.size:
        return None
    magic, owner, digest, length = _HEADER.unpack_from(content)
    body = content[_HEADER.size :]
    whole = magic == _MAGIC and owner == bytes.fromhex(key) and length == len(body)
    return body if whole and hashlib.sha256(body).digest() == digest else None


_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_DEFAULT_LIMIT = "2G"


def default_cache() -> DiskCache | None:
    """The cache that the environment names; None where it turns it off.

    `DLC_CACHE_DIR` is its folder (default: `dlc` in the user's cache folder; empty: no cache), `DLC_CACHE_SIZE` its bound
    (default 2G; a number of bytes, or with K, M, G or T).
    """
    folder = cache_folder()
    if folder is None:
        return None
    limit = _limit(os.environ.get("DLC_CACHE_SIZE") or _DEFAULT_LIMIT)
    return DiskCache(folder, limit) if limit else None


def _limit(text: str) -> int:
    """Bytes of a size as `500M`; the default, with a warning, for what is no size."""
    number, unit = text.strip().upper().removesuffix("B").removesuffix("I"), 1
    if number[-1:] in _UNITS:
        number, unit = number[:-1], _UNITS[number[-1]]
    try:
        return max(0, int(float(number) * unit))
    except (ValueError, OverflowError):
        warnings.warn(f"DLC_CACHE_SIZE is '{text}', which is no size; using {_DEFAULT_LIMIT}", CacheWarning, 2)
        return _limit(_DEFAULT_LIMIT)
