"""Lowerings of ops that find elements by their values: a pass that counts, and one that writes as many as there are."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder
from dlc.lowering.dl_to_linalg.building.checks import size_of
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.filtering import Matches
from dlc.lowering.dl_to_linalg.building.indexing import element_at, insert_at
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering


@lowering("nonzero")
def lower_nonzero(b: Builder, op: SourceOp) -> ir.Value:
    """Rows are all axes but the last as one; the indices of a row are computed once."""
    x, kind = op.operands[0], op.types[0]
    outer = b.shape(x)[:-1]
    if kind.rank == 0:
        x = b.expand(x, [], [1])
    elif kind.rank > 2:
        x = b.collapse(x, [list(range(kind.rank - 1)), [kind.rank - 1]])
    dtype, i64 = kind.dtype, b.element("i64")
    found = Matches.of(b, x, lambda element: b.convert(element, dtype, "i1"))

    def indices(row: ir.Value) -> Sequence[ir.Value]:
        parts: list[ir.Value] = []
        rest = row
        for size in reversed(outer[1:]):
            divisor = b.index(b.extent("max", size, 1))
            parts.insert(0, b.binary("arith.remsi", rest, divisor))
            rest = b.binary("arith.divsi", rest, divisor)
        return [b.index_cast(part, i64) for part in ([rest, *parts] if outer else [])]

    def write(outs: Sequence[ir.Value], at: ir.Value, context: Sequence[ir.Value], column: ir.Value) -> Sequence[ir.Value]:
        (out,) = outs
        for axis, index in enumerate([*context, b.index_cast(column, i64)]):
            out = insert_at(b, index, out, [b.index(axis), at])
        return [out]

    out = b.empty([kind.rank, found.count], "i64")
    return out if kind.rank == 0 else found.write(b, [out], indices, write)[0]


@lowering("compress")
def lower_compress(b: Builder, op: SourceOp) -> ir.Value:
    """A list is written as it is read; of other tensors the places come first, then the slices there."""
    x, condition = op.operands
    kind = op.types[0]
    axis = op["axis"] % kind.rank
    b.require_at_most(size_of(b, op, (1, 0)), size_of(b, op, (0, axis)))
    found = Matches.of(b, condition, lambda element: element)
    if kind.rank == 1:

        def write(outs: Sequence[ir.Value], at: ir.Value, _: object, column: ir.Value) -> Sequence[ir.Value]:
            return [insert_at(b, element_at(b, x, [column]), outs[0], [at])]

        return found.write(b, [b.empty([found.count], kind.dtype)], lambda row: [], write)[0]
    return slices_at(b, x, axis, found.places(b))


def slices_at(b: Builder, x: ir.Value, axis: int, places: ir.Value) -> ir.Value:
    """x with its axis replaced by `places`, i64 that are known to be places along it."""
    shape: list[Extent] = b.shape(x)
    rank, shape[axis] = len(shape), b.dim(places, 0)
    maps = [ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(axis)]), ir.AffineMap.get_identity(rank)]

    def body(place: ir.Value, _: ir.Value) -> ir.Value:
        at: list[Extent] = [b.iteration(dim) for dim in range(rank)]
        at[axis] = b.index_cast(place, ir.IndexType.get())
        return element_at(b, x, at)

    return b.generic([places], b.empty(shape, x.type.element_type), maps, [PARALLEL] * rank, body)
