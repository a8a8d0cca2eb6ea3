"""Writes engine files, as docs/engine-format.md specifies them."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import zlib
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

import dlc
from dlc import _mlir
from dlc.dtypes import NUMPY_DTYPES
from dlc.engines.variants import EngineVariant
from dlc.engines.weight_table import WeightTable
from dlc.errors import InvalidInputError
from dlc.partial_files import replacing
from dlc.runtime.engine_signature import read_key
from dlc.runtime.library import RuntimeLibrary, load_library
from dlc.runtime.signature import TensorSpec
from dlc.sources import Source
from dlc.targets.engine_code import KernelForm

if TYPE_CHECKING:
    from dlc.compile_options import CompileOptions

FORMAT = 1
PAGE = 4096
MOST_DIMS = 32
MOST_MANIFEST_BYTES = 16 << 20
HEADER = struct.Struct("<8sIIQQQIIQI")
"""Magic, format, zero, bytes of the file; place and bytes of the manifest, its checksum; bytes and place of its signature (zeros
for none), zero. A checksum of these follows."""
WEIGHTS_HEADER = struct.Struct("<8sIIQ32sI")
"""Magic, format, zero, bytes of the file, SHA-256 of the weights, zero; a checksum of these follows."""
MAGIC, WEIGHTS_MAGIC = b"\x93DLCE\r\n\x1a", b"\x93DLCW\r\n\x1a"
_CHECKSUM = struct.Struct("<I")


def save_engine(
    variants: Sequence[EngineVariant],
    source: Source,
    options: CompileOptions,
    path: Path,
    separate_weights: bool = False,
    sign_key: str | os.PathLike[str] | None = None,
) -> None:
    """Write an engine of `variants`, which have the same inputs and outputs, to `path`; files are replaced when they are whole.

    `sign_key` is a file with an Ed25519 private key, which signs it.
    """
    _check(variants)
    key = None if sign_key is None else read_key(sign_key, is_private=True)
    library, table = load_library(), WeightTable()
    places = [[table.place(array) for array in variant.params] for variant in variants]
    with ExitStack() as stack:
        file = _File(stack.enter_context(stack.enter_context(replacing(path)).open("wb")), library)
        file.pad(HEADER.size + _CHECKSUM.size)
        codes = [_code(file, variant) for variant in variants]
        weights = _separate(table, path, library) if separate_weights else file.add(table.pieces()) | {"file": None}
        entries = [_variant(variant, code, at) for variant, code, at in zip(variants, codes, places, strict=True)]
        head = {
            "format": FORMAT,
            "runtime": library.abi(),
            "dlc": dlc.__version__,
            "compiler": f"{_mlir.PACKAGE} {_mlir.version()}",
            "model": {"name": Path(source.name).name, "sha256": model_hash(source)},
            "options": _options(options),
            "signature": _signature(variants[0]),
            "variants": entries,
            "weights": weights,
        }
        _finish(file, head, key)


def _check(variants: Sequence[EngineVariant]) -> None:
    first = variants[0].signature
    for variant in variants:
        if (variant.signature.inputs, variant.signature.outputs) != (first.inputs, first.outputs):
            raise InvalidInputError(f"the code for '{variant.target}' has another signature than that for '{variants[0].target}'")
    large = next((spec for spec in (*first.inputs, *first.outputs, *first.params) if spec.rank > MOST_DIMS), None)
    if large is not None:
        raise InvalidInputError(f"'{large.name}' has {large.rank} dims, and tensors of engines have {MOST_DIMS} at most")


@dataclass
class _File:
    """An open file, whose parts begin at pages; `size` counts its bytes."""

    stream: BinaryIO
    library: RuntimeLibrary
    size: int = 0

    def write(self, content: bytes | memoryview) -> None:
        self.stream.write(content)
        self.size += len(content)

    def pad(self, size: int) -> None:
        """Zeros up to `size` bytes."""
        self.write(bytes(size - self.size))

    def add(self, pieces: Iterable[np.ndarray]) -> dict[str, Any]:
        """Write a part; where it lies and its sums."""
        self.pad(-(-self.size // PAGE) * PAGE)
        begin, checksum, total = self.size, 0, hashlib.sha256()
        for piece in pieces:
            checksum = self.library.crc32c(piece, checksum)
            total.update(piece.data)
            self.write(piece.data)
        return {"offset": begin, "size": self.size - begin, "crc32c": checksum, "sha256": total.hexdigest()}


def _separate(table: WeightTable, path: Path, library: RuntimeLibrary) -> dict[str, Any]:
    """Write the weights to a file of their own, beside the engine."""
    target = path.with_suffix(".weights")
    if target == path or "\\" in target.name:
        raise InvalidInputError(f"the weights of '{path.name}' would be '{target.name}'; give the engine another name, as m.dlce")
    return write_weights(table, target, library)


def write_weights(table: WeightTable, target: Path, library: RuntimeLibrary) -> dict[str, Any]:
    """Write the weights to a file of their own; its name, where they lie in it, and their sums."""
    with replacing(target) as temporary, temporary.open("wb") as stream:
        file = _File(stream, library)
        file.pad(WEIGHTS_HEADER.size + _CHECKSUM.size)
        part = file.add(table.pieces())
        head = WEIGHTS_HEADER.pack(WEIGHTS_MAGIC, FORMAT, 0, file.size, bytes.fromhex(part["sha256"]), 0)
        _write_header(file, head)
    return part | {"file": target.name}


def _finish(file: _File, manifest: dict[str, Any], key: Any) -> None:
    """Write the manifest, its signature by `key` (None for none), and the header."""
    text = json.dumps(manifest, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    if len(text) > MOST_MANIFEST_BYTES:
        raise InvalidInputError(
            f"the manifest would have {len(text)} bytes, and there may be {MOST_MANIFEST_BYTES}; save fewer targets"
        )
    file.pad(-(-file.size // PAGE) * PAGE)
    begin = file.size
    file.write(text)
    signature, place = (b"", 0) if key is None else (key.sign(text), file.size)
    file.write(signature)
    checksum = file.library.crc32c(np.frombuffer(text, np.uint8))
    _write_header(file, HEADER.pack(MAGIC, FORMAT, 0, file.size, begin, len(text), checksum, len(signature), place, 0))


def _write_header(file: _File, head: bytes) -> None:
    file.stream.seek(0)
    file.stream.write(head + _CHECKSUM.pack(file.library.crc32c(np.frombuffer(head, np.uint8))))


def read_manifest(content: bytes) -> dict[str, Any]:
    """The manifest of an engine, which is taken to be right."""
    begin, size = HEADER.unpack_from(content)[4:6]
    found: dict[str, Any] = json.loads(content[begin : begin + size])
    return found


def _code(file: _File, variant: EngineVariant) -> dict[str, Any]:
    """Write the code of a variant; what the manifest says of it."""
    image = variant.code.image
    code = {
        **file.add([np.frombuffer(image.content, np.uint8)]),
        **image.sizes,
        "zero": image.zero,
        "entry": variant.entry,
        "relative": [list(pair) for pair in image.relative],
        "imports": [{"name": name, "words": list(words)} for name, words in image.imports.items()],
    }
    kernels = [_kernels(file, form) for form in variant.code.kernels]
    gpu = {"gpu": {"model": variant.code.model_word, "kernels": kernels}} if kernels else {}
    records = {kind: _record(file, content) for kind, content in variant.records.items()}
    return {"code": code} | gpu | ({"records": records} if records else {})


def _record(file: _File, content: bytes) -> dict[str, Any]:
    """Write a record; what the manifest says of it."""
    packed = np.frombuffer(zlib.compress(content, 9), np.uint8)
    return file.add([packed]) | {"bytes": len(content)}


def _kernels(file: _File, kernels: KernelForm) -> dict[str, Any]:
    """Write kernels in one form; what the manifest says of them."""
    said = {each.name: getattr(kernels, each.name) for each in fields(kernels) if each.name != "content"}
    return said | file.add([np.frombuffer(kernels.content, np.uint8)])


def _variant(variant: EngineVariant, code: dict[str, Any], places: Sequence[int]) -> dict[str, Any]:
    params = [_tensor(spec) | {"offset": place} for spec, place in zip(variant.signature.params, places, strict=True)]
    return {
        "target": variant.target,
        "arch": variant.arch,
        "features": list(variant.features),
        "profiled": list(variant.profiled),
        "params": params,
        **code,
    }


def _signature(variant: EngineVariant) -> dict[str, Any]:
    given, results = variant.signature.inputs, variant.signature.outputs
    return {
        "inputs": [_tensor(spec) | {"donated": spec.donated} for spec in given],
        "outputs": [_tensor(spec) | {"donated": False} for spec in results],
    }


def _tensor(spec: TensorSpec) -> dict[str, Any]:
    return {"name": spec.name, "dtype": spec.dtype, "shape": list(spec.shape)}


def _options(options: CompileOptions) -> dict[str, Any]:
    total = hashlib.sha256(options.code.text().encode()).hexdigest()
    return {"opt_level": options.opt_level, "profile": options.profile, "sha256": total}


def model_hash(source: Source) -> str:
    """SHA-256 of a model, of its ops and its weights, wherever it lies and whatever its nodes are called."""
    text = source.module.operation.get_asm(enable_debug_info=False)
    total = hashlib.sha256(text.encode())
    for key, array in sorted(source.params.items()):
        total.update(f"\0{key} {_name_of(array.dtype)} {array.shape}\0".encode())
        total.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return total.hexdigest()


def _name_of(dtype: np.dtype) -> str:
    return next((name for name, known in NUMPY_DTYPES.items() if known == dtype), str(dtype))
