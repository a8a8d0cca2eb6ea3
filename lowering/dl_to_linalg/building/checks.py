"""Checks at run time that operands of one dl op have sizes that fit each other, where their types leave it open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op
from dlc.dialects.dl import op_class
from dlc.dialects.dl.types import width_of
from dlc.lowering.dl_to_linalg.building.builder import REDUCTION, Builder
from dlc.lowering.dl_to_linalg.building.extents import Extent, Named
from dlc.lowering.dl_to_linalg.building.indexing import element_at
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp

Axis = tuple[int, int]
"""An operand by its position and one of its axes."""


def operand_name(op: SourceOp, operand: int) -> str:
    """What the op's definition calls an operand."""
    found = op_class(op.name)
    assert found is not None
    return str(found.operand_fields[operand].name)


def size_of(b: Builder, op: SourceOp, axis: Axis) -> Named:
    """The size of an operand along an axis."""
    operand, at = axis[0], axis[1] % op.types[axis[0]].rank
    return f"{operand_name(op, operand)} dim {at}", b.dim(op.operands[operand], at)


def size_at(b: Builder, op: SourceOp, operand: int, position: Sequence[int]) -> Extent:
    """An element of an operand as a size, which run time requires not to be negative."""
    size = b.index_cast(element_at(b, op.operands[operand], position), ir.IndexType.get())
    where = f"{operand_name(op, operand)}{list(position) if position else ''}"
    b.require_at_most(("the least size", 0), (where, size))
    return size


def require_same(b: Builder, op: SourceOp, left: Axis, right: Axis) -> None:
    """Fail at run time unless two operands are as large along these axes; equal symbols are. Absent operands are right."""
    kinds = op.types[left[0]], op.types[right[0]]
    if None in kinds or kinds[0].shape[left[1]] == kinds[1].shape[right[1]]:
        return
    b.require_equal(size_of(b, op, left), size_of(b, op, right))


def require_groups(b: Builder, size: Named, groups: Extent) -> None:
    """Fail at run time unless `size` is a multiple of `groups`."""
    count = b.extent("floordiv", size[1], b.extent("max", groups, 1))
    b.require_equal(size, ("what its groups hold", b.extent("mul", count, groups)))


def require_indices_within(b: Builder, op: SourceOp, axis: int) -> None:
    """Fail at run time if operand 1, indices, is larger than operand 0 along another axis than `axis`."""
    x, indices = op.types[:2]
    for at in range(x.rank):
        if at != axis and x.shape[at] != indices.shape[at]:
            b.require_at_most(size_of(b, op, (1, at)), size_of(b, op, (0, at)))


def require_elements(b: Builder, op: SourceOp, axes: Iterable[int], indices: Sequence[Extent]) -> None:
    """Fail at run time if operand 0 is empty along one of `axes` while there are indices, of extents `indices`."""
    count = b.num_elements(indices)
    for axis in axes:
        if isinstance(op.types[0].shape[axis], int) and op.types[0].shape[axis] > 0:
            continue
        needed = b.extent("min", count, 1)
        b.require_at_most(("the least size for its indices", needed), size_of(b, op, (0, axis)))


def require_positions(b: Builder, op: SourceOp, axis: int, size: Extent) -> None:
    """Fail at run time unless operand 1, indices, holds numbers from -size to size - 1, with `size` of `axis` of operand 0."""
    loops = op.types[1].rank
    _require_within(b, op, [(axis, size, ir.AffineMap.get_identity(loops))], loops)


def require_tuples(b: Builder, op: SourceOp, first: int, sizes: Sequence[Extent]) -> None:
    """As `require_positions` of operand 1 whose last axis holds places of the axes of operand 0 from `first` on, of `sizes`."""
    loops = op.types[1].rank - 1
    rows = [ir.AffineExpr.get_dim(at) for at in range(loops)]
    maps = [ir.AffineMap.get(loops, 0, [*rows, ir.AffineExpr.get_constant(part)]) for part in range(len(sizes))]
    _require_within(b, op, [(first + part, size, maps[part]) for part, size in enumerate(sizes)], loops)


def _require_within(b: Builder, op: SourceOp, given: Sequence[tuple[int, Extent, ir.AffineMap]], loops: int) -> None:
    """Fail unless the indices that a map takes are places of an axis of that size; all ends come from one pass, in vectors."""
    indices, kind = op.operands[1], op.types[1]
    if kind.num_elements == 0 or not given:
        return
    widest = 1 << (width_of(kind.dtype) - 1)
    ends = [b.full([], b.scalar(start, kind.dtype)) for start in (widest - 1, -widest)] * len(given)
    maps = [*(taken for _, _, taken in given), *[ir.AffineMap.get(loops, 0, [])] * len(ends)]

    def body(*elements: ir.Value) -> Sequence[ir.Value]:
        taken, so_far = elements[: len(given)], elements[len(given) :]
        kinds = ("arith.minsi", "arith.maxsi") * len(given)
        return [b.binary(name, so_far[at], taken[at // 2]) for at, name in enumerate(kinds)]

    found = b.generics([indices] * len(given), ends, maps, [REDUCTION] * loops, body)
    values = [b.index_cast(b.create("tensor.extract", [end.type.element_type], [end]), ir.IndexType.get()) for end in found]
    for (axis, size, _), least, most in zip(given, values[::2], values[1::2], strict=True):
        b.require_at_most((f"the least index of axis {axis}", b.extent("sub", 0, size)), ("the smallest that is given", least))
        b.require_at_most(("the largest index that is given", most), (f"the last of axis {axis}", b.extent("sub", size, 1)))


def require_no_zero(b: Builder, op: SourceOp) -> None:
    """Fail at run time if operand 1, integers that divide, holds a 0; constants are looked at here."""
    divisor, kind = op.operands[1], op.types[1]
    if kind.num_elements == 0 or _has_no_zero(divisor):
        return
    zero = b.scalar(0, kind.dtype)
    require_each(b, divisor, lambda element: b.compare("ne", element, zero, kind.dtype), "integer division by zero")


def require_each(b: Builder, tensor: ir.Value, holds: Callable[[ir.Value], ir.Value], what: str) -> None:
    """Fail at run time with `what` unless the i1 that `holds` makes of it is true for every element of a tensor."""
    rank = ir.RankedTensorType(tensor.type).rank
    start = b.full([], b.scalar(1, "i1"))
    maps = [ir.AffineMap.get_identity(rank), ir.AffineMap.get(rank, 0, [])]
    found = b.generic(
        [tensor], start, maps, [REDUCTION] * rank, lambda element, so_far: b.binary("arith.andi", so_far, holds(element))
    )
    b.require(b.create("tensor.extract", [found.type.element_type], [found]), what)


def _has_no_zero(value: ir.Value) -> bool:
    """Whether a tensor is a constant without a 0."""
    op = defining_op(value)
    if op is None or op.name != "arith.constant" or not isinstance(op.attributes["value"], ir.DenseIntElementsAttr):
        return False
    return all(element != 0 for element in ir.DenseIntElementsAttr(op.attributes["value"]))
