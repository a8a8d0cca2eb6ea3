"""The graph of kernel calls of an optimized model, and its picture for Graphviz."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.work_graph import kind_of
from dlc.dialects.dl.control import CONTROL, SCALAR_OPS
from dlc.dialects.dl.types import tensor_type
from dlc.runtime.signature import show_type


@dataclass(frozen=True)
class Flow:
    """A value that goes from one call to another, or from or to the caller; `type` shows it."""

    source: str
    target: str
    type: str


@dataclass(frozen=True)
class KernelGraph:
    """Calls by their place, each with the name of its kernel; `flows` join `call<n>`, `input<n>` and `output<n>`."""

    calls: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    flows: tuple[Flow, ...]

    def to_dot(self, title: str, labels: Mapping[str, str]) -> str:
        """Graphviz text; `labels` says more of each kernel, by its name."""
        lines = [f"digraph {_quoted(title)} {{", "  rankdir=TB;", '  node [shape=box, fontname="Helvetica"];']
        for prefix, names in (("input", self.inputs), ("output", self.outputs)):
            lines += [f"  {prefix}{number} [shape=ellipse, label={_quoted(name)}];" for number, name in enumerate(names)]
        for number, name in enumerate(self.calls):
            text = "\n".join(part for part in (name, labels.get(name, "")) if part)
            lines.append(f"  call{number} [label={_quoted(text)}];")
        lines += [f"  {flow.source} -> {flow.target} [label={_quoted(flow.type)}];" for flow in self.flows]
        return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def kernel_graph(functions: Sequence[ir.Operation]) -> KernelGraph:
    """The graph of entry functions, whose work is all in calls. Views and numbers are passed over, weights left out."""
    reader = _Reader()
    for function in functions:
        reader.read(function)
    return KernelGraph(tuple(reader.calls), tuple(reader.inputs), tuple(reader.outputs), tuple(dict.fromkeys(reader.flows)))


class _Reader:
    def __init__(self) -> None:
        self.calls: list[str] = []
        self.inputs: list[str] = []
        self.outputs: list[str] = []
        self.flows: list[Flow] = []
        self._sources: dict[ir.Value, tuple[str, ...]] = {}

    def read(self, function: ir.Operation) -> None:
        block = function.regions[0].blocks[0]
        for argument, name in zip(block.arguments, _labels(function, "arg_attrs", len(block.arguments), "arg"), strict=True):
            self._sources[argument] = (f"input{len(self.inputs)}",)
            self.inputs.append(name)
        end = self._read_block(block)
        self._end(end, _labels(function, "res_attrs", len(end.operands), "out"))

    def _read_block(self, block: ir.Block) -> ir.Operation:
        """Note the calls of a block; its terminator."""
        *inner, end = [op.operation for op in block.operations]
        for op in inner:
            if op.name in CONTROL:
                self._read_control(op)
            elif kind_of(op) == "view" or op.name in SCALAR_OPS:
                sources = self._sources_of(op.operands)
                self._sources.update((result, sources) for result in op.results)
            elif kind_of(op) == "work":
                self._call(op)
        return end

    def _read_control(self, op: ir.Operation) -> None:
        """The calls of a branch or loop are nodes like others. What a step hands on to the next one is not drawn."""
        taken = self._sources_of(op.operands)
        found: list[tuple[str, ...]] = [()] * len(op.results)
        for block in (block for region in op.regions for block in region.blocks):
            self._sources.update((argument, taken) for argument in block.arguments)
            given = list(self._read_block(block).operands)[-len(found) :] if found else []
            found = [(*known, *self._sources_of([value])) for known, value in zip(found, given, strict=True)]
        self._sources.update((result, tuple(dict.fromkeys(sources))) for result, sources in zip(op.results, found, strict=True))

    def _sources_of(self, values: Iterable[ir.Value]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(source for value in values for source in self._sources.get(value, ())))

    def _call(self, op: ir.Operation) -> None:
        name = f"call{len(self.calls)}"
        self.calls.append(op.attributes["callee"].value if op.name == "func.call" else op.name)
        for value in op.operands:
            self._flow(value, name)
        self._sources.update((result, (name,)) for result in op.results)

    def _end(self, op: ir.Operation, names: Sequence[str]) -> None:
        for value, name in zip(op.operands, names, strict=True):
            target = f"output{len(self.outputs)}"
            self.outputs.append(name)
            self._flow(value, target)

    def _flow(self, value: ir.Value, target: str) -> None:
        plain = tensor_type(value.type)
        text = str(value.type) if plain is None else show_type(plain.dtype, plain.shape)
        self.flows += [Flow(source, target, text) for source in self._sources.get(value, ())]


def _labels(function: ir.Operation, key: str, count: int, prefix: str) -> list[str]:
    """The `dl.name` of each argument or result, else `arg0`, `out0`, ..."""
    marks = list(ir.ArrayAttr(function.attributes[key])) if key in function.attributes else []
    known = [ir.DictAttr(mark) for mark in marks] or [ir.DictAttr.get({}, function.context)] * count
    return [mark["dl.name"].value if "dl.name" in mark else f"{prefix}{number}" for number, mark in enumerate(known)]
