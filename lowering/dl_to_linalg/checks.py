"""Checks at run time that operands of one dl op have sizes that fit each other, where their types leave it open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dlc.dialects.dl import op_class
from dlc.lowering.dl_to_linalg.builder import Builder, Extent, Named
from dlc.lowering.dl_to_linalg.lowerings import SourceOp

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
