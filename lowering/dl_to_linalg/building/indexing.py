"""Reading and writing tensors at computed positions, for the lowerings of ops that move elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder
from dlc.lowering.dl_to_linalg.building.extents import Extent

Position = Callable[[Sequence[ir.Value]], Sequence[Extent]]


def element_at(b: Builder, tensor: ir.Value, position: Sequence[Extent]) -> ir.Value:
    """One element of a tensor."""
    return b.create("tensor.extract", [tensor.type.element_type], [tensor, *(b.index(at) for at in position)])


def insert_at(b: Builder, element: ir.Value, tensor: ir.Value, position: Sequence[Extent]) -> ir.Value:
    """`tensor` with one element replaced."""
    return b.create("tensor.insert", [tensor.type], [element, tensor, *(b.index(at) for at in position)])


def read_at(b: Builder, tensor: ir.Value, shape: Sequence[Extent], dtype: str, position: Position) -> ir.Value:
    """A tensor of `shape` whose element at an index is `tensor[position(index)]`."""
    rank = len(shape)

    def body(_: ir.Value) -> ir.Value:
        return element_at(b, tensor, position([b.iteration(axis) for axis in range(rank)]))

    return b.generic([], b.empty(shape, dtype), [ir.AffineMap.get_identity(rank)], [PARALLEL] * rank, body)


def in_range(b: Builder, index: ir.Value, size: Extent) -> ir.Value:
    """An integer scalar as an `index` in [0, size): negative ones count from the end, others move to the nearest."""
    at = b.index_cast(index, ir.IndexType.get())
    limit = b.index(size)
    at = b.select(b.compare_index("lt", at, b.index(0)), b.binary("arith.addi", at, limit), at)
    return clamped(b, at, size)


def clamped(b: Builder, at: ir.Value, size: Extent) -> ir.Value:
    """An `index` value moved into [0, size)."""
    last = b.index(b.extent("sub", size, 1))
    return b.binary("arith.maxsi", b.binary("arith.minsi", at, last), b.index(0))


def repeated(b: Builder, x: ir.Value, counts: Sequence[int]) -> ir.Value:
    """x with each axis repeated as a whole: 0 1 0 1.

    One broadcast along a new axis before each repeated one, and a view that merges the two.
    """
    own = b.shape(x)
    if 0 in counts:
        return b.empty(_times(b, own, counts), x.type.element_type)
    shape: list[Extent] = []
    groups: list[list[int]] = []
    kept: list[ir.AffineExpr] = []
    for size, count in zip(own, counts, strict=True):
        parts: list[Extent] = [size] if count == 1 else [count, size]
        groups.append(list(range(len(shape), len(shape) + len(parts))))
        shape.extend(parts)
        kept.append(ir.AffineExpr.get_dim(len(shape) - 1))
    out = b.empty(shape, x.type.element_type)
    maps = [ir.AffineMap.get(len(shape), 0, kept), ir.AffineMap.get_identity(len(shape))]
    wide = b.generic([x], out, maps, [PARALLEL] * len(shape), lambda element, _: element)
    return b.collapse(wide, groups) if len(shape) > len(own) else wide


def enlarged(b: Builder, x: ir.Value, counts: Sequence[int]) -> ir.Value:
    """x with each element repeated along each axis: 0 0 1 1."""
    shape = _times(b, b.shape(x), counts)
    dims = [ir.AffineExpr.get_dim(axis) for axis in range(len(shape))]
    source = [dim if count == 1 else ir.AffineExpr.get_floor_div(dim, count) for dim, count in zip(dims, counts, strict=True)]
    maps = [ir.AffineMap.get(len(shape), 0, source), ir.AffineMap.get_identity(len(shape))]
    out = b.empty(shape, x.type.element_type)
    return b.generic([x], out, maps, [PARALLEL] * len(shape), lambda element, _: element)


def _times(b: Builder, shape: Sequence[Extent], counts: Sequence[int]) -> list[Extent]:
    return [b.extent("mul", size, count) if count else 0 for size, count in zip(shape, counts, strict=True)]
