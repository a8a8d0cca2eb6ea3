"""Lowerings of reductions: one `linalg.generic` over the whole input, then rounding where the accumulator is wider."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.dialects.dl.reduce import reduced_axes
from dlc.dialects.dl.types import FLOATS
from dlc.lowering.dl_to_linalg.builder import PARALLEL, REDUCTION, Builder, Extent, accumulator_dtype
from dlc.lowering.dl_to_linalg.elementwise import safe_divide
from dlc.lowering.dl_to_linalg.lowerings import SourceOp, lowering

_COMBINERS = {"reduce_sum": "add", "reduce_mean": "add", "reduce_max": "max", "reduce_min": "min", "reduce_prod": "mul"}


@lowering(*_COMBINERS)
def lower_reduction(b: Builder, op: SourceOp) -> ir.Value:
    """Accumulate in the accumulator's dtype, then divide (mean) and round, then put the axes of size 1 back."""
    x, kind = op.operands[0], op.types[0]
    dtype, gone = kind.dtype, reduced_axes(op["axes"], kind.rank)
    wide, combiner = accumulator_dtype(dtype), _COMBINERS[op.name.removeprefix("dl.")]

    def body(element: ir.Value, total: ir.Value) -> ir.Value:
        return b.arith(combiner, b.widen(element, dtype), total, wide)

    found = b.reduce([x], gone, _identity(b, combiner, wide), body)
    if op.name == "dl.reduce_mean":
        found = _divided(b, found, [b.dim(x, axis) for axis in gone], dtype)
    elif wide != dtype:
        found = b.map([found], b.shape(found), dtype, lambda total: b.narrow(total, dtype))
    return b.insert_ones(found, gone) if op["keepdims"] else found


def _identity(b: Builder, combiner: str, dtype: str) -> ir.Value:
    match combiner:
        case "max":
            return b.lowest(dtype)
        case "min":
            return b.highest(dtype)
    return b.scalar(1 if combiner == "mul" else 0, dtype)


def _divided(b: Builder, total: ir.Value, sizes: Sequence[Extent], dtype: str) -> ir.Value:
    """Sums over `sizes` elements as means of `dtype`."""
    count = b.num_elements(sizes)
    i64 = b.element("i64")
    divisor_dtype = accumulator_dtype(dtype) if dtype in FLOATS else "i64"
    counted = None if isinstance(count, int) else b.convert(b.index_cast(count, i64), "i64", divisor_dtype)

    def body(value: ir.Value) -> ir.Value:
        divisor = b.scalar(count, divisor_dtype) if isinstance(count, int) else counted
        if dtype in FLOATS:
            return b.narrow(b.arith("div", value, divisor, divisor_dtype), dtype)
        return b.convert(safe_divide(b, b.convert(value, dtype, "i64"), divisor, "i64"), "i64", dtype)

    return b.map([total], b.shape(total), dtype, body)


@lowering("arg_max", "arg_min")
def lower_arg_extremum(b: Builder, op: SourceOp) -> ir.Value:
    """One generic that carries the extremum and its index; the order in which elements are combined does not matter.

    Indices are i32 on the way where they fit: as many of them as of f32 are in a vector.
    """
    x, kind = op.operands[0], op.types[0]
    axis, dtype = op["axis"] % kind.rank, b.wide(kind.dtype)
    is_max = op.name == "dl.arg_max"
    kept = [size for at, size in enumerate(b.shape(x)) if at != axis]
    target = ir.AffineMap.get(kind.rank, 0, [ir.AffineExpr.get_dim(at) for at in range(kind.rank) if at != axis])
    size = kind.shape[axis]
    counter = "i32" if isinstance(size, int) and size < 1 << 31 else "i64"
    starts = [b.full(kept, b.lowest(dtype) if is_max else b.highest(dtype)), b.full(kept, b.scalar(0, counter))]

    def body(element: ir.Value, best: ir.Value, place: ir.Value) -> list[ir.Value]:
        value = b.widen(element, kind.dtype)
        index = b.index_cast(b.iteration(axis), b.element(counter))
        takes = _beats(b, value, best, "gt" if is_max else "lt", dtype)
        nearer = b.compare("gt" if op["select_last_index"] else "lt", index, place, counter)
        takes = b.binary("arith.ori", takes, b.binary("arith.andi", nearer, _ties(b, value, best, dtype)))
        return [b.select(takes, value, best), b.select(takes, index, place)]

    iterators = [REDUCTION if at == axis else PARALLEL for at in range(kind.rank)]
    maps = [ir.AffineMap.get_identity(kind.rank), target, target]
    found = b.generics([x], starts, maps, iterators, body)[1]
    if counter != "i64":
        found = b.map([found], kept, "i64", lambda place: b.convert(place, counter, "i64"))
    return b.insert_ones(found, [axis]) if op["keepdims"] else found


def _beats(b: Builder, value: ir.Value, best: ir.Value, predicate: str, dtype: str) -> ir.Value:
    """True where `value` comes before `best`; NaN comes before all else."""
    if dtype not in FLOATS:
        return b.compare(predicate, value, best, dtype)
    return b.binary("arith.andi", b.compare(f"u{predicate}", value, best, dtype), b.compare("ord", best, best, dtype))


def _ties(b: Builder, value: ir.Value, best: ir.Value, dtype: str) -> ir.Value:
    """True where both are equal or both NaN."""
    same = b.compare("eq", value, best, dtype)
    if dtype not in FLOATS:
        return same
    nans = [b.compare("uno", item, item, dtype) for item in (value, best)]
    return b.binary("arith.ori", same, b.binary("arith.andi", *nans))


@lowering("cumsum")
def lower_cumsum(b: Builder, op: SourceOp) -> ir.Value:
    """A loop along the axis whose steps add one slice to the running sums of all other axes at once."""
    x, kind = op.operands[0], op.types[0]
    axis, dtype = op["axis"] % kind.rank, kind.dtype
    shape, wide = b.shape(x), accumulator_dtype(dtype)
    sizes: list[Extent] = [1 if at == axis else size for at, size in enumerate(shape)]
    starts = [b.empty(shape, dtype), b.full(sizes, b.scalar(0, wide))]

    def add(element: ir.Value, total: ir.Value) -> ir.Value:
        return b.arith("add", total, b.widen(element, dtype), wide)

    def step(index: ir.Value, result: ir.Value, sums: ir.Value) -> list[ir.Value]:
        count = b.index(shape[axis])
        place = b.extent("sub", b.extent("sub", count, 1), index) if op["reverse"] else index
        offsets: list[Extent] = [place if at == axis else 0 for at in range(kind.rank)]
        part = b.slice(x, offsets, sizes, [1] * kind.rank)
        if op["exclusive"]:
            result = _store_sums(b, sums, result, offsets, dtype)
        identity = ir.AffineMap.get_identity(kind.rank)
        sums = b.generic([part], sums, [identity, identity], [PARALLEL] * kind.rank, add)
        return [result if op["exclusive"] else _store_sums(b, sums, result, offsets, dtype), sums]

    return b.loop(shape[axis], starts, step)[0]


def _store_sums(b: Builder, sums: ir.Value, result: ir.Value, offsets: Sequence[Extent], dtype: str) -> ir.Value:
    """`result` with the running sums, rounded to `dtype`, at `offsets`."""
    sizes = b.shape(sums)
    if accumulator_dtype(dtype) != dtype:
        sums = b.map([sums], sizes, dtype, lambda total: b.narrow(total, dtype))
    return b.insert_slice(sums, result, offsets, sizes, [1] * len(sizes))
