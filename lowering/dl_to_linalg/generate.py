"""Lowerings of ops whose values depend on their position."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.dialects.dl.types import FLOATS, MOST_BYTES
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder
from dlc.lowering.dl_to_linalg.building.checks import size_at
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.indexing import element_at
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering


@lowering("range")
def lower_range(b: Builder, op: SourceOp) -> ir.Value:
    """start + i * step, as many as fit before limit."""
    start, limit, step = op.operands
    dtype = op.result.dtype
    wide = b.wide(dtype)
    count = b.declared(0, _count(b, start, limit, step, dtype), op.result.shape[0])
    constant = ir.AffineMap.get(1, 0, [])

    def body(first: ir.Value, distance: ir.Value, _: ir.Value) -> ir.Value:
        at = b.index_cast(b.iteration(0), b.element("i64"))
        offset = b.arith("mul", b.convert(at, "i64", wide), b.widen(distance, dtype), wide)
        return b.narrow(b.arith("add", b.widen(first, dtype), offset, wide), dtype)

    maps = [constant, constant, ir.AffineMap.get_identity(1)]
    return b.generic([start, step], b.empty([count], dtype), maps, [PARALLEL], body)


def _count(b: Builder, start: ir.Value, limit: ir.Value, step: ir.Value, dtype: str) -> ir.Value:
    """max(ceil((limit - start) / step), 0), in f64 or exactly; a step of 0 is an error at run time."""
    kind = "f64" if dtype in FLOATS else "ui64" if dtype == "ui64" else "i64"
    first, last, distance = (b.convert(element_at(b, value, []), dtype, kind) for value in (start, limit, step))
    moves = b.compare("ne", distance, b.scalar(0, kind), kind)
    b.require(moves, "the step is 0")
    distance = b.select(moves, distance, b.scalar(1, kind))
    if kind == "f64":
        length = b.arith("sub", last, first, kind)
        count = b.convert(b.unary("math.ceil", b.arith("div", length, distance, kind)), kind, "i64")
        count = b.binary("arith.maxsi", count, b.scalar(0, "i64"))
    else:
        count = _whole_count(b, first, last, distance, kind)
    return b.index_cast(count, ir.IndexType.get())


def _whole_count(b: Builder, first: ir.Value, last: ir.Value, distance: ir.Value, kind: str) -> ir.Value:
    """The same of integers, whose distances only an unsigned number always holds. Counts beyond i64 are its largest number."""
    zero, one, most = (b.scalar(number, "i64") for number in (0, 1, 2**63 - 1))
    rises = b.compare("gt", distance, zero, kind)
    low, high = b.select(rises, first, last), b.select(rises, last, first)
    stride = b.select(rises, distance, b.binary("arith.subi", zero, distance))
    before = b.binary("arith.subi", b.binary("arith.subi", high, low), one)  # from the first to the last place that may count
    count = b.binary("arith.addi", b.arith("div", before, stride, "ui64"), one)
    count = b.select(b.compare("lt", count, one, "i64"), most, count)
    return b.select(b.compare("lt", low, high, kind), count, zero)


@lowering("trilu")
def lower_trilu(b: Builder, op: SourceOp) -> ir.Value:
    """x where the column is on the kept side of row + k, else 0."""
    rank, dtype = op.result.rank, op.result.dtype
    predicate = "ge" if op["upper"] else "le"
    diagonal = max(min(op["k"], MOST_BYTES), -MOST_BYTES)  # beyond all columns, and the sum with a row does not overflow

    def body(element: ir.Value) -> ir.Value:
        edge = b.binary("arith.addi", b.iteration(rank - 2), b.index(diagonal))
        kept = b.compare_index(predicate, b.iteration(rank - 1), edge)
        return b.select(kept, element, b.scalar(0, dtype))

    return b.map(op.operands, b.shape(op.operands[0]), dtype, body)


@lowering("one_hot")
def lower_one_hot(b: Builder, op: SourceOp) -> ir.Value:
    """values[1] where the position along the new axis is the index, else values[0]."""
    indices, values, size = op.operands
    rank, dtype = op.result.rank, op.types[0].dtype
    axis = op["axis"] % rank
    shape: list[Extent] = b.shape(indices)
    shape.insert(axis, op["depth"] if size is None else b.declared(axis, size_at(b, op, 2, []), op.result.shape[axis]))
    depth = b.index_cast(b.index(shape[axis]), b.element("i64"))
    others = ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(at) for at in range(rank) if at != axis])
    picks = [ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_constant(at)]) for at in (0, 1)]

    def body(index: ir.Value, off: ir.Value, on: ir.Value, _: ir.Value) -> ir.Value:
        at = b.convert(index, dtype, "i64")
        at = b.select(b.compare("lt", at, b.scalar(0, "i64"), "i64"), b.binary("arith.addi", at, depth), at)
        here = b.index_cast(b.iteration(axis), b.element("i64"))
        return b.select(b.compare("eq", at, here, "i64"), on, off)

    maps = [others, *picks, ir.AffineMap.get_identity(rank)]
    return b.generic([indices, values, values], b.empty(shape, op.result.dtype), maps, [PARALLEL] * rank, body)
