"""Lowerings of ops that read at positions that are values: one `linalg.generic` over the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder
from dlc.lowering.dl_to_linalg.building.checks import (
    require_each,
    require_elements,
    require_indices_within,
    require_positions,
    require_same,
    require_tuples,
)
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.indexing import clamped, element_at, in_range
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering

Placed = Callable[[Sequence[ir.Value], Sequence[ir.Value]], Sequence[Extent]]


@lowering("gather")
def lower_gather(b: Builder, op: SourceOp) -> ir.Value:
    """result[a.., i.., b..] = x[a.., indices[i..], b..]; indices are streamed, x is read at their positions.

    A single index without axes gives a slice of x, which is no copy.
    """
    x, indices = op.operands
    axis, count = op["axis"] % op.types[0].rank, op.types[1].rank
    own, given = b.shape(x), b.shape(indices)
    require_elements(b, op, [axis], given)
    size = own[axis]
    require_positions(b, op, axis, size)
    if count == 0 and 0 not in own:
        return b.slice_at(x, axis, in_range(b, element_at(b, indices, []), size))
    inner = [ir.AffineExpr.get_dim(axis + at) for at in range(count)]

    def position(index: ir.Value, at: Sequence[ir.Value]) -> Sequence[Extent]:
        return [*at[:axis], in_range(b, index, size), *at[axis + count :]]

    return _read(b, x, [(indices, inner)], [*own[:axis], *given, *own[axis + 1 :]], op, lambda i, at: position(i[0], at))


@lowering("gather_elements")
def lower_gather_elements(b: Builder, op: SourceOp) -> ir.Value:
    """result[i, j, ...] = x[i, .., indices[i, j, ...], ..]."""
    x, indices = op.operands
    axis = op["axis"] % op.types[0].rank
    require_indices_within(b, op, axis)
    require_elements(b, op, [axis], b.shape(indices))
    size = b.dim(x, axis)
    require_positions(b, op, axis, size)
    every = [ir.AffineExpr.get_dim(at) for at in range(op.types[0].rank)]

    def position(found: Sequence[ir.Value], at: Sequence[ir.Value]) -> Sequence[Extent]:
        return [*at[:axis], in_range(b, found[0], size), *at[axis + 1 :]]

    return _read(b, x, [(indices, every)], b.shape(indices), op, position)


@lowering("gather_nd")
def lower_gather_nd(b: Builder, op: SourceOp) -> ir.Value:
    """result[b.., i.., s..] = x[b.., indices[b.., i.., :], s..]; each part of a tuple is an input of its own."""
    x, indices = op.operands
    own, given = b.shape(x), b.shape(indices)
    batch, lead, count = op["batch_dims"], op.types[1].rank - 1, op.types[1].shape[-1]
    for axis in range(batch):
        require_same(b, op, (1, axis), (0, axis))
    require_elements(b, op, range(batch, batch + count), given[:-1])
    sizes = own[batch : batch + count]
    require_tuples(b, op, batch, sizes)
    loops = [ir.AffineExpr.get_dim(at) for at in range(lead)]
    inputs = [(indices, [*loops, ir.AffineExpr.get_constant(part)]) for part in range(count)]

    def position(found: Sequence[ir.Value], at: Sequence[ir.Value]) -> Sequence[Extent]:
        taken = [in_range(b, index, size) for index, size in zip(found, sizes, strict=True)]
        return [*at[:batch], *taken, *at[lead:]]

    return _read(b, x, inputs, [*given[:-1], *own[batch + count :]], op, position)


@lowering("reverse_sequence")
def lower_reverse_sequence(b: Builder, op: SourceOp) -> ir.Value:
    """x read from the end of each row's first elements."""
    x, lengths = op.operands
    rank, dtype = op.types[0].rank, op.types[1].dtype
    axis, batch = op["axis"] % rank, op["batch_axis"] % rank
    require_same(b, op, (1, 0), (0, batch))
    size = b.dim(x, axis)

    def fits(length: ir.Value) -> ir.Value:
        most = b.index_cast(b.index(size), b.element(dtype))
        low, high = b.compare("ge", length, b.scalar(0, dtype), dtype), b.compare("le", length, most, dtype)
        return b.binary("arith.andi", low, high)

    require_each(b, lengths, fits, f"a length is negative or more than x has elements along axis {axis}")

    def position(found: Sequence[ir.Value], at: Sequence[ir.Value]) -> Sequence[Extent]:
        length = b.index_cast(found[0], ir.IndexType.get())
        mirrored = b.binary("arith.subi", b.binary("arith.subi", length, b.index(1)), at[axis])
        place = b.select(b.compare_index("lt", at[axis], length), mirrored, at[axis])
        return [*at[:axis], clamped(b, place, size), *at[axis + 1 :]]

    return _read(b, x, [(lengths, [ir.AffineExpr.get_dim(batch)])], b.shape(x), op, position)


def _read(
    b: Builder,
    x: ir.Value,
    inputs: Sequence[tuple[ir.Value, Sequence[ir.AffineExpr]]],
    shape: Sequence[Extent],
    op: SourceOp,
    position: Placed,
) -> ir.Value:
    """A tensor whose element at `at` is x at `position(elements of inputs, at)`; inputs stand with their maps' results."""
    rank = len(shape)
    maps = [ir.AffineMap.get(rank, 0, list(results)) for _, results in inputs]

    def body(*scalars: ir.Value) -> ir.Value:
        return element_at(b, x, position(scalars[:-1], [b.iteration(axis) for axis in range(rank)]))

    sources = [value for value, _ in inputs]
    out = b.empty(shape, op.result.dtype)
    return b.generic(sources, out, [*maps, ir.AffineMap.get_identity(rank)], [PARALLEL] * rank, body)
