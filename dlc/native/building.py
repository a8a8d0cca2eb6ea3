"""Writes a model as native code: compiled objects, C around them, and the weights, made one by the C compiler."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import dlc
from dlc.engines.saving import write_weights
from dlc.engines.weight_table import WeightTable
from dlc.errors import InvalidInputError
from dlc.native.forms import ARCHIVE, HEADER, LIBRARY, PROGRAM
from dlc.native.header import header_text
from dlc.native.interface import CInterface
from dlc.native.source import EntryPoint, SourceFacts, WeightsPart, source_text
from dlc.native.toolchain import Toolchain, find_runtime
from dlc.partial_files import replacing
from dlc.runtime.library import load_library
from dlc.runtime.signature import Signature
from dlc.targets.machine import host_facts

_MOST_INSIDE = 1 << 31
"""Bytes of weights that code can reach over."""
_MODEL, _RUNTIME, _WEIGHTS, _EXPORTS, _RENAMES = "model.o", "dlc_native.o", "weights.bin", "exports.map", "renamed.txt"
RENAMED = {
    "_mlir_memref_to_llvm_alloc": "dlc_memref_alloc",
    "_mlir_memref_to_llvm_aligned_alloc": "dlc_memref_aligned_alloc",
    "_mlir_memref_to_llvm_free": "dlc_memref_free",
    "memrefCopy": "dlc_memref_copy",
}
"""Functions of the runtime by MLIR's names, and what they are called where C programs see them."""
_HALVES = {"__extendhfsf2": "dlc_extend_half", "__truncsfhf2": "dlc_truncate_half"}
"""The same for those that LLVM calls on CPUs without F16C, which libgcc has from version 12 on."""


@dataclass(frozen=True)
class NativeModel:
    """Code for one target: `objects`, which define `entry`, and the arrays of `signature.params`."""

    name: str
    title: str
    target: str
    arch: str
    features: tuple[str, ...]
    signature: Signature
    objects: tuple[bytes, ...]
    entry: EntryPoint
    params: tuple[np.ndarray, ...]

    @property
    def interface(self) -> CInterface:
        return CInterface.of(self.name, self.signature)


def write_header(model: NativeModel, path: Path, weights_file: str | None) -> None:
    """The header alone."""
    text = header_text(model.interface, model.title, dlc.__version__, weights_file)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_native(model: NativeModel, form: str, path: Path, has_separate_weights: bool) -> None:
    """Write `path` and, beside it, the header, and the weights where they are to lie apart.

    `TargetError` where there is no C compiler, `InvalidInputError` for weights that are too large to be in the code.
    """
    tools = Toolchain.find(model.arch, host_facts().arch)
    weights_path = path.with_name(f"{model.interface.name}.weights")
    if form != PROGRAM:
        write_header(model, path.with_name(f"{model.interface.name}.h"), weights_path.name if has_separate_weights else None)
    if form == HEADER:
        return
    with tempfile.TemporaryDirectory(prefix="dlc-native-") as name:
        builder = _Builder(model, tools, Path(name))
        builder.make_object(form == PROGRAM, weights_path if has_separate_weights else None)
        made = {LIBRARY: builder.library, ARCHIVE: builder.archive, PROGRAM: builder.program}[form](path.name)
        with replacing(path) as temporary:
            shutil.copyfile(made, temporary)
    if form == PROGRAM:
        path.chmod(path.stat().st_mode | 0o111)


class _Builder:
    """Works in `folder`, by relative names, so that nothing of it is in what is made."""

    def __init__(self, model: NativeModel, tools: Toolchain, folder: Path) -> None:
        self._model, self._tools, self._folder = model, tools, folder
        self._runtime = find_runtime(model.arch, host_facts().arch)
        self._interface = model.interface

    def make_object(self, is_program: bool, weights_path: Path | None) -> None:
        """One relocatable object of the model, which shows its own functions only."""
        model, name = self._model, self._interface.name
        table = WeightTable()
        places = [table.place(array) for array in model.params]
        weights = self._place_weights(table, weights_path)
        facts = SourceFacts(
            model.target, model.arch, model.features, model.entry, model.signature.params, places, weights, is_program
        )
        self._write(f"{name}.h", header_text(self._interface, model.title, dlc.__version__, weights.file))
        self._write(f"{name}.c", source_text(self._interface, facts))
        flags = ["-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", f"-I{self._tools.include}"]
        self._tools.compile(self._folder, [*flags, "-c", f"{name}.c", "-o", "glue.o"])
        parts = []
        for number, content in enumerate(model.objects):
            parts.append(f"part{number}.o")
            (self._folder / parts[-1]).write_bytes(content)
        self._tools.compile(self._folder, ["-r", "-nostdlib", "-o", "all.o", "glue.o", *parts])
        self._write(_RENAMES, "".join(f"{old} {new}\n" for old, new in {**RENAMED, **_HALVES}.items()))
        self._tools.run_tool("objcopy", self._folder, [f"--redefine-syms={_RENAMES}", "all.o"])
        shown = [f"--keep-global-symbol={name}_*", *(["--keep-global-symbol=main"] if is_program else [])]
        self._tools.run_tool("objcopy", self._folder, ["--wildcard", *shown, "all.o", _MODEL])

    def _place_weights(self, table: WeightTable, path: Path | None) -> WeightsPart:
        if path is not None:
            part = write_weights(table, path, load_library())
            return WeightsPart(part["size"], None, path.name, part["offset"], part["crc32c"], part["sha256"])
        if table.size >= _MOST_INSIDE:
            raise InvalidInputError(
                f"the weights have {table.size} bytes, and code holds less than {_MOST_INSIDE}; add --weights=separate"
            )
        with (self._folder / _WEIGHTS).open("wb") as stream:
            stream.writelines(piece.data for piece in table.pieces())
        return WeightsPart(table.size, _WEIGHTS)

    def library(self, file: str) -> Path:
        """A shared library, which needs the C library alone."""
        self._write(_EXPORTS, f"{{ global: {self._interface.name}_*; local: *; }};\n")
        shared = ["-shared", f"-Wl,--version-script={_EXPORTS}", f"-Wl,-soname,{file}", "-Wl,--no-undefined"]
        return self._link(file, shared)

    def program(self, file: str) -> Path:
        return self._link(file, [])

    def _link(self, file: str, options: Sequence[str]) -> Path:
        inputs = [_MODEL, str(self._runtime), "-Wl,--gc-sections", "-Wl,-s", "-lm", "-lpthread"]
        self._tools.compile(self._folder, [*options, "-o", f"linked-{file}", *inputs])
        return self._folder / f"linked-{file}"

    def archive(self, file: str) -> Path:
        """The model's object and the runtime's, which several models of a program share."""
        self._tools.run_tool("ar", self._folder, ["x", str(self._runtime), _RUNTIME])
        own = f"{self._interface.name}_model.o"
        (self._folder / _MODEL).rename(self._folder / own)
        self._tools.run_tool("ar", self._folder, ["rcsD", f"made-{file}", own, _RUNTIME])
        return self._folder / f"made-{file}"

    def _write(self, file: str, text: str) -> None:
        (self._folder / file).write_text(text, encoding="utf-8")
