"""Writes a model for a program without threads and without a heap: a folder of C sources, and an object of its code and weights."""

from __future__ import annotations

import tempfile
from pathlib import Path

import dlc
from dlc.analysis.arena_size import BLOCK_ALIGNMENT
from dlc.engines.weight_table import WeightTable
from dlc.errors import InvalidInputError
from dlc.native.building import RENAMED, NativeModel
from dlc.native.header import arena_header_text
from dlc.native.interface import CInterface
from dlc.native.source import EntryPoint, SourceFacts, WeightsPart, arena_source_text, weights_text
from dlc.native.toolchain import Toolchain, runtime_file
from dlc.partial_files import replacing
from dlc.runtime.signature import Signature, TensorSpec
from dlc.targets.machine import host_facts

_OWN_BYTES = 512
"""`DLC_C_RUNTIME_BYTES`: what the runtime has of the arena for itself."""
_WORD = 8
_SOURCES = ("c_runtime/c_runtime.c", "include/dlc/c_runtime.h", "include/dlc/native_model.h")
_PLACES = ("c_runtime.c", "dlc/c_runtime.h", "dlc/native_model.h")
"""The runtime's files, below the folder `runtime`, and where they lie in the folder that is written."""


def write_c_runtime(model: NativeModel, call_bytes: int, folder: Path) -> None:
    """Write `folder`, or the files in it again: NAME.h, NAME.c, NAME_model.o and the runtime. A call takes `call_bytes`.

    `TargetError` where there is no C compiler, `InvalidInputError` where there is another file of that name.
    """
    if folder.exists() and not folder.is_dir():
        raise InvalidInputError(f"'{folder}' is a file, and the C sources are a folder; give another with -o")
    tools, interface = Toolchain.find(model.arch, host_facts().arch), model.interface
    table = WeightTable()
    places = [table.place(array) for array in model.params]
    size = arena_bytes(model.signature, call_bytes)
    content = _object(model, tools, table)
    entry = EntryPoint(_entry_name(interface), model.entry.arguments)
    facts = SourceFacts(
        model.target, model.arch, model.features, entry, model.signature.params, places, WeightsPart(table.size, "weights.bin")
    )
    texts = {
        f"{interface.name}.h": arena_header_text(interface, model.title, dlc.__version__, size, BLOCK_ALIGNMENT),
        f"{interface.name}.c": arena_source_text(interface, facts),
    }
    files = {name: text.encode() for name, text in texts.items()} | {f"{interface.name}_model.o": content}
    files |= {place: runtime_file(source).read_bytes() for source, place in zip(_SOURCES, _PLACES, strict=True)}
    (folder / "dlc").mkdir(parents=True, exist_ok=True)
    for name, written in files.items():
        with replacing(folder / name) as temporary:
            temporary.write_bytes(written)


def arena_bytes(signature: Signature, call_bytes: int) -> int:
    """What the arena must have: the context, descriptors of all tensors, the pointers to them twice, and what a call takes."""
    tensors = (*signature.inputs, *signature.outputs, *signature.params)
    pointers = 2 * (1 + len(signature.inputs) + len(signature.params))
    words = sum(map(_words, tensors)) + pointers
    return _OWN_BYTES + -(-words * _WORD // BLOCK_ALIGNMENT) * BLOCK_ALIGNMENT + call_bytes


def _words(spec: TensorSpec) -> int:
    """Of a descriptor: allocated, aligned, offset, sizes and strides."""
    return 3 + 2 * spec.rank


def _entry_name(interface: CInterface) -> str:
    return f"{interface.name}_entry"


def _object(model: NativeModel, tools: Toolchain, table: WeightTable) -> bytes:
    """Code and weights as one relocatable object, which shows its entry and the weights."""
    name = model.interface.name
    renamed = {**RENAMED, model.entry.name: _entry_name(model.interface)}
    with tempfile.TemporaryDirectory(prefix="dlc-native-") as made:
        folder = Path(made)
        with (folder / "weights.bin").open("wb") as stream:
            stream.writelines(piece.data for piece in table.pieces())
        (folder / "weights.c").write_text(weights_text(name, "weights.bin"), encoding="utf-8")
        (folder / "renamed.txt").write_text("".join(f"{old} {new}\n" for old, new in renamed.items()), encoding="utf-8")
        parts = [f"part{number}.o" for number in range(len(model.objects))]
        for part, content in zip(parts, model.objects, strict=True):
            (folder / part).write_bytes(content)
        tools.compile(folder, ["-c", "weights.c", "-o", "weights.o"])
        tools.compile(folder, ["-r", "-nostdlib", "-o", "all.o", "weights.o", *parts])
        tools.run_tool("objcopy", folder, ["--redefine-syms=renamed.txt", "all.o"])
        tools.run_tool("objcopy", folder, ["--wildcard", f"--keep-global-symbol={name}_*", "all.o", "model.o"])
        return (folder / "model.o").read_bytes()
