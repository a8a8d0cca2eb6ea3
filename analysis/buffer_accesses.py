"""Who reads and writes the buffers of a block, when, and which part of them.

A step is the position of an op in the block; an op with regions is one step. The part is a box in the buffer's own axes; where a
view is no plain window, it is the whole buffer. Calls are followed into the functions they name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, is_memref, nested_ops, root_of, touched_roots, written_roots, written_values
from dlc.analysis.size_polynomials import Polynomial, SizeReader

_DYNAMIC: int = ir.ShapedType.get_dynamic_size()


@dataclass(frozen=True)
class SymbolicBox:
    """Per axis the first element and how many from there; an axis that is not known is None."""

    axes: tuple[tuple[Polynomial, Polynomial] | None, ...]

    @cached_property
    def _numbers(self) -> tuple[tuple[int, int] | None, ...]:
        """Per axis the first element and the one behind the last; None where that is no number."""
        return tuple(None if axis is None else _numbers_of(*axis) for axis in self.axes)

    def is_apart_from(self, other: SymbolicBox) -> bool:
        """Whether the two boxes of one buffer surely share no element."""
        for own, their in zip(self._numbers, other._numbers, strict=True):
            if own is not None and their is not None and (own[1] <= their[0] or their[1] <= own[0]):
                return True
        if None not in self._numbers and None not in other._numbers:  # a concat of a thousand parts asks for each two of them
            return False
        return any(
            own is not None and their is not None and (_ends_before(own, their) or _ends_before(their, own))
            for own, their in zip(self.axes, other.axes, strict=True)
        )

    def moved_by(self, outer: SymbolicBox) -> SymbolicBox:
        """The part of a buffer that is this part of its part `outer`."""
        axes: list[tuple[Polynomial, Polynomial] | None] = []
        for own, frame in zip(self.axes, outer.axes, strict=True):
            axes.append(frame if own is None or frame is None else (frame[0] + own[0], own[1]))
        return SymbolicBox(tuple(axes))


def _numbers_of(start: Polynomial, size: Polynomial) -> tuple[int, int] | None:
    first, count = start.value, size.value
    return None if first is None or count is None else (first, first + count)


def _ends_before(low: tuple[Polynomial, Polynomial], high: tuple[Polynomial, Polynomial]) -> bool:
    """Whether low ends before high starts for any sizes: what is left between them has no negative term."""
    gap = high[0] - low[0] - low[1]
    return all(factor >= 0 for _, factor in gap.terms)


@dataclass(frozen=True)
class BufferUse:
    """One step that touches a part of a buffer; None stands for all of it."""

    step: int
    box: SymbolicBox | None
    writes: bool


def overlap(one: SymbolicBox | None, other: SymbolicBox | None) -> bool:
    """Whether two parts of one buffer may share elements."""
    return one is None or other is None or len(one.axes) != len(other.axes) or not one.is_apart_from(other)


class Effects:
    """Which memref operands ops write; private functions are read once each."""

    def __init__(self, module: ir.Operation) -> None:
        self._functions = {
            op.operation.attributes["sym_name"].value: op.operation
            for op in module.regions[0].blocks[0].operations
            if op.operation.name == "func.func"
        }
        self._written: dict[str, list[bool]] = {}

    def function(self, name: str) -> ir.Operation:
        """The function that is called `name`."""
        return self._functions[name]

    def knows(self, name: str) -> bool:
        """Whether the module has had a function called `name`."""
        return name in self._functions

    def add(self, name: str, function: ir.Operation) -> None:
        """Know a function that is new."""
        self._functions[name] = function

    def written_operands(self, op: ir.Operation) -> list[ir.Value]:
        """The memref operands that `op` itself may write."""
        if op.name != "func.call":
            return written_values(op)
        marks = self.written_arguments(ir.FlatSymbolRefAttr(op.attributes["callee"]).value, len(op.operands))
        return [value for value, written in zip(op.operands, marks, strict=True) if written and is_memref(value)]

    def written_arguments(self, name: str, count: int) -> list[bool]:
        """For each argument of a function whether it may write it; all, where its body is not known."""
        if name not in self._written:
            function = self._functions.get(name)
            if function is None or len(function.regions[0].blocks) != 1:
                return [True] * count
            self._written[name] = [True] * count  # for functions that call themselves
            self._written[name] = self._read_body(function)
        return self._written[name]

    def _read_body(self, function: ir.Operation) -> list[bool]:
        written: set[ir.Value] = set()
        for inner in nested_ops(function):
            if inner.name == "func.call":
                written.update(root_of(value) for value in self.written_operands(inner))
            elif not inner.regions:
                written.update(written_roots(inner))
            else:
                written.update(root_of(value) for value in written_values(inner) if inner.name != "func.func")
        return [argument in written for argument in function.regions[0].blocks[0].arguments]


class Accesses:
    """The accesses of every buffer of one block, by its root."""

    def __init__(self, block: ir.Block, effects: Effects, sizes: SizeReader) -> None:
        self._sizes = sizes
        self._of: dict[ir.Value, list[BufferUse]] = {}
        self.ops = [op.operation for op in block.operations]
        for step, op in enumerate(self.ops):
            for root, access in self._of_step(step, op, effects):
                self._of.setdefault(root, []).append(access)

    def of(self, root: ir.Value) -> list[BufferUse]:
        """The accesses of one buffer, in order."""
        return self._of.get(root, [])

    def roots(self) -> list[ir.Value]:
        """All buffers that are accessed."""
        return list(self._of)

    def merge(self, root: ir.Value, into: ir.Value, box: SymbolicBox | None, same_axes: bool, without: int) -> None:
        """`root` is now the part `box` of `into`, and step `without` is gone."""
        moved = [
            BufferUse(access.step, access.box.moved_by(box) if access.box and box and same_axes else box, access.writes)
            for access in self._of.pop(root, [])
        ]
        kept = [access for access in (*self.of(into), *moved) if access.step != without]
        self._of[into] = sorted(kept, key=lambda access: access.step)

    def _of_step(self, step: int, op: ir.Operation, effects: Effects) -> Iterator[tuple[ir.Value, BufferUse]]:
        for inner in nested_ops(op):
            touched = set(touched_roots(inner)) if not inner.regions or inner.name.startswith("linalg.") else set()
            written = set(effects.written_operands(inner))
            for value in dict.fromkeys(inner.operands):
                if is_memref(value) and (root_of(value) in touched or value in written):
                    yield root_of(value), BufferUse(step, self.box(value), value in written)

    def box(self, value: ir.Value) -> SymbolicBox | None:
        """The part of its root that a view shows; None where that is no window along the root's axes."""
        windows: list[ir.Operation] = []
        op = defining_op(value)
        while op is not None and op.name in ("memref.subview", "memref.cast"):
            if op.name == "memref.subview":
                windows.append(op)
            value = op.operands[0]
            op = defining_op(value)
        if value != root_of(value) or not windows:
            return None
        box: SymbolicBox | None = None
        for window in reversed(windows):
            own = self._window(window)
            if own is None:
                break
            box = own if box is None else own.moved_by(box)
        return box

    def _window(self, op: ir.Operation) -> SymbolicBox | None:
        """A subview as a box of its source; None where it drops axes."""
        if ir.MemRefType(op.results[0].type).rank != ir.MemRefType(op.operands[0].type).rank:
            return None
        _, *counts = op.attributes["operandSegmentSizes"]
        rest = list(op.operands)[1:]
        parts = []
        for name, count in zip(("static_offsets", "static_sizes", "static_strides"), counts, strict=True):
            parts.append(self._extents(list(op.attributes[name]), rest[:count]))
            rest = rest[count:]
        axes: list[tuple[Polynomial, Polynomial] | None] = []
        for offset, size, stride in zip(*parts, strict=True):
            axes.append(None if offset is None or size is None or stride is None else (offset, size * stride))
        return SymbolicBox(tuple(axes))

    def _extents(self, statics: Sequence[int], dynamic: Sequence[ir.Value]) -> list[Polynomial | None]:
        given = iter(dynamic)
        return [self._sizes.polynomial(next(given)) if size == _DYNAMIC else Polynomial.constant(size) for size in statics]
