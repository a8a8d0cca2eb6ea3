"""Engines of models that ran before, in the cache: such a model runs without the compiler, and its weights are mapped.

An entry is found by the identity of the model's file and of all else that its code depends on. A file is the same as before
where device, inode, size and the times of its last writes are; times that could be those of a later write, too, are not trusted.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dlc.errors import DLCError, TargetError
from dlc.package_versions import version_of
from dlc.runtime.gpu_model import device_facts
from dlc.targets.disk_cache import DiskCache, default_cache
from dlc.targets.fingerprint import compiler_fingerprint, sources_sum

if TYPE_CHECKING:
    from dlc.compiled_model import CompiledModel

_COARSEST_CLOCK_NS = 2_000_000_000
"""Nanoseconds between two times that a file system tells apart, at worst (FAT)."""
_READERS = ("dlc.frontends", "dlc.engines")
"""Packages that read models and write engines, beside those of the compiler."""
_PACKAGES = ("numpy", "onnx", "ml_dtypes", "llvmlite")
"""Packages of others that decide what an engine holds."""
_UNRELATED = frozenset({"DLC_CACHE_DIR", "DLC_CACHE_SIZE", "DLC_VERBOSE", "DLC_THREAD_AFFINITY"})
"""Variables of the environment that no code depends on."""
_NAMING_FILES = frozenset({"DLC_POLICY", "DLC_RUNTIME_LIBRARY"})
"""Variables that name files, which decide, too: with one of them no engine is kept."""


@dataclass(frozen=True)
class _Listing:
    """What an entry says of its engine: the files beside the model with their identities, and whether it is for one GPU alone."""

    files: Mapping[str, Sequence[int]]
    has_device: bool


@dataclass(frozen=True)
class EngineCache:
    """The place of a model's engine: what is read for it, when that was looked at, and the key that all of it gives.

    Only the target knows whether an engine is for this machine's GPU, and targets bring the compiler: so the listing says it.
    """

    disk: DiskCache
    model: Path
    identity: tuple[int, ...]
    began_ns: int
    key: str

    @classmethod
    def of(cls, model: Path, options: Mapping[str, object]) -> EngineCache | None:
        """The place for a model compiled with `options`; None where there is no cache, or something decides that no key holds."""
        disk, fingerprint, began = default_cache(), _fingerprint(), time.time_ns()
        identity = identity_of(model)
        if disk is None or fingerprint is None or identity is None or not _NAMING_FILES.isdisjoint(os.environ):
            return None
        variables = {name: value for name, value in os.environ.items() if name.startswith("DLC_") and name not in _UNRELATED}
        machine = [platform.machine(), _processor(), len(_processors()), _calibration(disk)]
        parts = ["engine", fingerprint, str(model.resolve()), identity, machine, variables, options]
        key = hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
        return cls(disk, model, identity, began, key)

    def find(self) -> Path | None:
        """The engine, if it is there and the files beside the model, which it names, are those that it was made of."""
        listing = self._listing()
        if listing is None:
            return None
        if any(identity_of(self.model.parent / name) != tuple(identity) for name, identity in listing.files.items()):
            return None
        return self.disk.find_file(self._engine_key(listing.has_device))

    def keep(self, compiled: CompiledModel) -> None:
        """Write the engine, for runs to come; nothing is kept of models that engines do not hold, or that are being written."""
        files = {name: identity_of(self.model.parent / name) for name in _files_beside(self.model)}
        known = [self.identity, *files.values()]
        if identity_of(self.model) != self.identity or not all(each and self._is_settled(each) for each in known):
            return
        has_device = _has_device(compiled.options.target)
        try:
            self.disk.put_file(self._engine_key(has_device), compiled.save)
        except (DLCError, OSError):  # another target's code, a full disk
            return
        self.disk.put(self.key, json.dumps({"files": files, "has_device": has_device}).encode())

    def forget(self) -> None:
        """Remove the engine, which is damaged."""
        listing = self._listing()
        if listing is not None:
            self.disk.remove_file(self._engine_key(listing.has_device))

    def _listing(self) -> _Listing | None:
        listed = self.disk.get(self.key)
        return None if listed is None else _Listing(**json.loads(listed))

    def _engine_key(self, has_device: bool) -> str:
        """The key of the engine's file: machines of several GPUs may share the folder."""
        return hashlib.sha256(f"{self.key} {_device()}".encode()).hexdigest() if has_device else self.key

    def _is_settled(self, identity: tuple[int, ...]) -> bool:
        """Whether a write after the model was read would have another time than those of `identity`."""
        return max(identity[-2:]) + _COARSEST_CLOCK_NS < self.began_ns


def identity_of(file: Path) -> tuple[int, ...] | None:
    """Device, inode, size and the times of the last writes of contents and of anything; None for what is no file."""
    try:
        status = file.stat()
    except (OSError, ValueError):
        return None
    if not file.is_file():
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _fingerprint() -> str | None:
    """Sum of all sources between a model's file and its engine, and the versions of what they use; None where it cannot be told."""
    compiler, others = compiler_fingerprint(), sources_sum(_READERS)
    return compiler and others and f"{compiler} {others} {[version_of(package) for package in _PACKAGES]}"


def _files_beside(model: Path) -> Iterator[str]:
    """Names of the files that hold an ONNX model's external data."""
    from dlc.frontends.onnx.external_files import external_files  # reads the model again

    yield from external_files(model)


def _processor() -> str:
    """What the system says of the first processor, but for its present clock."""
    try:
        block = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n")[0]
    except OSError:
        return platform.processor()
    return "\n".join(line for line in block.splitlines() if not line.startswith(("cpu MHz", "bogomips")))


def _device() -> str:
    """What the driver says of this machine's GPU, or why it does not."""
    try:
        return str(device_facts())
    except TargetError as error:
        return str(error)


def _has_device(target: str) -> bool:
    from dlc.targets.registry import find_target  # brings the compiler

    return find_target(target).has_device


def _processors() -> set[int]:
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def _calibration(disk: DiskCache) -> list[tuple[str, tuple[int, ...] | None]]:
    """What `dlc calibrate` has measured of this machine, which lies in the cache's folder."""
    return [(file.name, identity_of(file)) for file in sorted(disk.folder.glob("*.json"))]
