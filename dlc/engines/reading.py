"""Reads what an engine file keeps beside its code, for any machine. What runs is read by the runtime (`dlc.runtime.engine`)."""

from __future__ import annotations

import json
import mmap
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dlc.dtypes import NUMPY_DTYPES
from dlc.engines.records import EXPLANATION, IR
from dlc.engines.saving import FORMAT, HEADER, MAGIC, MOST_MANIFEST_BYTES, WEIGHTS_HEADER, WEIGHTS_MAGIC
from dlc.errors import DLCError, ParseError
from dlc.runtime.library import load_library

if TYPE_CHECKING:
    from dlc.explanation import Explanation

MOST_RECORD_BYTES = 1 << 28
"""Of a record in memory."""
_SUM_BYTES = 4


@dataclass(frozen=True)
class EngineFile:
    """An engine file whose manifest is whole. Raises `ParseError` for what is damaged or not there."""

    path: Path
    content: np.ndarray
    manifest: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> EngineFile:
        """Open a file and check its header and its manifest."""
        content = _content(path)
        if content[: len(MAGIC)].tobytes() != MAGIC or content.size < HEADER.size + _SUM_BYTES:
            raise ParseError(f"{path}: error: is no engine file, or the end of it is missing")
        _, version, _, size, begin, length, checksum, *_ = HEADER.unpack(content[: HEADER.size].tobytes())
        if version != FORMAT:
            raise ParseError(f"{path}: error: is an engine of format {version}, and this dlc reads {FORMAT}; compile it again")
        if not _is_whole(content, HEADER.size) or size != content.size or length > MOST_MANIFEST_BYTES:
            raise _damaged(path, "the header")
        text = _part(path, "the manifest", content, begin, length, checksum)
        try:
            return cls(path, content, json.loads(text.tobytes()))
        except (ValueError, RecursionError):
            raise _damaged(path, "the manifest") from None

    def explanation(self, target: str | None = None) -> Explanation:
        """The explanation that is kept of the code for `target`; None stands for the first that has one."""
        from dlc.explanation_record import from_record

        try:
            return from_record(json.loads(self._record(EXPLANATION, target)[1]))
        except ValueError:
            raise ParseError(
                f"{self.path}: error: the explanation that is kept is of another version of dlc; compile the engine again"
            ) from None

    def ir(self, target: str | None = None) -> tuple[bytes, Mapping[str, np.ndarray]]:
        """The text of the module that is kept of the code for `target`, and the weights by key that this code reads."""
        variant, text = self._record(IR, target)
        return text, self._params(variant)

    def targets(self, kind: str) -> list[str]:
        """The targets with a record of this kind."""
        try:
            return [str(variant["target"]) for variant in self.manifest["variants"] if kind in variant.get("records", {})]
        except (AttributeError, KeyError, TypeError):
            raise _damaged(self.path, "the manifest") from None

    def _record(self, kind: str, target: str | None) -> tuple[Mapping[str, Any], bytes]:
        """The variant for a target, and what is kept of it."""
        known = self.targets(kind)
        if not known:
            said = "it is an engine, which is compiled already; dlc run and dlc.load run it"
            raise ParseError(f"{self.path}: error: {said}. It keeps no '{kind}'; dlc compile --keep={kind} writes one that does")
        if target is not None and target not in known:
            raise ParseError(f"{self.path}: error: the engine keeps no '{kind}' for '{target}'; it does for {', '.join(known)}")
        variant = next(each for each in self.manifest["variants"] if each["target"] == (target or known[0]))
        try:
            part = variant["records"][kind]
            packed = _part(self.path, f"'{kind}'", self.content, part["offset"], part["size"], part["crc32c"])
            return variant, _unpacked(packed, part["bytes"])
        except (KeyError, TypeError, zlib.error, OverflowError):
            raise _damaged(self.path, f"'{kind}'") from None

    def _params(self, variant: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """The arrays that the code of a variant reads, as they lie in the file."""
        try:
            block = self._weights()
            return {param["name"]: _array(block, param) for param in variant["params"]}
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            raise _damaged(self.path, "the weights") from None

    def _weights(self) -> np.ndarray:
        part = self.manifest["weights"]
        path, content = self.path, self.content
        if part["file"] is not None:
            path = self.path.parent / Path(part["file"]).name
            content = _content(path)
            head = content[: WEIGHTS_HEADER.size].tobytes()
            if not head.startswith(WEIGHTS_MAGIC) or not _is_whole(content, WEIGHTS_HEADER.size):
                raise _damaged(path, "the header")
            if WEIGHTS_HEADER.unpack(head)[4].hex() != part["sha256"]:
                raise ParseError(f"{path}: error: holds the weights of another engine than '{self.path}'")
        return _part(path, "the weights", content, part["offset"], part["size"], part["crc32c"])


def _content(path: Path) -> np.ndarray:
    """The bytes of a file, mapped."""
    try:
        with path.open("rb") as file:
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    except FileNotFoundError:
        raise ParseError(f"{path}: error: no such file") from None
    except (OSError, ValueError) as error:
        raise ParseError(f"{path}: error: cannot read the file: {error}") from None


def _is_whole(content: np.ndarray, size: int) -> bool:
    """Whether a header of `size` bytes has the checksum that follows it."""
    return load_library().crc32c(content[:size]) == int.from_bytes(content[size : size + _SUM_BYTES].tobytes(), "little")


def _part(path: Path, what: str, content: np.ndarray, begin: int, size: int, checksum: int) -> np.ndarray:
    if not 0 <= begin <= begin + size <= content.size or load_library().crc32c(content[begin : begin + size]) != checksum:
        raise _damaged(path, what)
    return content[begin : begin + size]


def _unpacked(packed: np.ndarray, size: int) -> bytes:
    """What was compressed, `size` bytes; `zlib.error` where it is something else."""
    reader = zlib.decompressobj()
    found = reader.decompress(packed.tobytes(), min(size, MOST_RECORD_BYTES) + 1)
    if len(found) != size or not reader.eof:
        raise zlib.error("another size")
    return found


def _array(block: np.ndarray, param: Mapping[str, Any]) -> np.ndarray:
    shape = tuple(param["shape"])
    if not all(type(dim) is int for dim in (*shape, param["offset"])):
        raise ValueError("a weight has open sizes")
    found: np.ndarray = np.ndarray(shape, NUMPY_DTYPES[param["dtype"]], block.data, param["offset"])
    return found


def _damaged(path: Path, what: str) -> DLCError:
    return ParseError(f"{path}: error: {what} of the engine is damaged; write it again")
