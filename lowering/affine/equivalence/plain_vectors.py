"""Vectors taken apart into lanes and plain arithmetic, for a comparison: what emitters write, in ops that the reader knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dlc._mlir import arith, ir, vector
from dlc.analysis.buffers import nested_ops

_COMBINERS: Mapping[str, Callable[[ir.Value, ir.Value], ir.Value]] = {
    "add": lambda a, b: arith.addf(a, b) if _is_float(a) else arith.addi(a, b),
    "mul": lambda a, b: arith.mulf(a, b) if _is_float(a) else arith.muli(a, b),
    "maximumf": arith.maximumf,
    "minimumf": arith.minimumf,
    "maxnumf": arith.maxnumf,
    "minnumf": arith.minnumf,
    "maxsi": arith.maxsi,
    "minsi": arith.minsi,
    "maxui": arith.maxui,
    "minui": arith.minui,
    "and": arith.andi,
    "or": arith.ori,
    "xor": arith.xori,
}


def make_plain(function: ir.Operation) -> None:
    """Rewrite the ops of a function, which is only read afterwards.

    Prefetches go. A fused multiply-add becomes a product and a sum, slices and shuffles become lanes, and the reduction of a vector
    a chain over its lanes: the same values but for rounding.
    """
    for op in nested_ops(function):
        if op.name == "memref.prefetch":
            op.erase()
            continue
        rewrite = _REWRITES.get(op.name)
        if rewrite is None:
            continue
        with ir.InsertionPoint(op), op.location:
            new = rewrite(op)
        if new is not None:
            op.results[0].replace_all_uses_with(new)
            op.erase()


def _is_float(value: ir.Value) -> bool:
    kind = value.type.element_type if isinstance(value.type, ir.VectorType) else value.type
    return isinstance(kind, ir.FloatType)


def _fma(op: ir.Operation) -> ir.Value:
    a, b, c = op.operands
    return arith.addf(arith.mulf(a, b), c)


def _slice(op: ir.Operation) -> ir.Value | None:
    if ir.VectorType(op.operands[0].type).rank != 1:
        return None
    first = ir.IntegerAttr(ir.ArrayAttr(op.attributes["offsets"])[0]).value
    count = ir.VectorType(op.results[0].type).shape[0]
    return _gathered(op.results[0].type, op.operands[:1], range(first, first + count))


def _shuffle(op: ir.Operation) -> ir.Value | None:
    if any(ir.VectorType(value.type).rank != 1 for value in op.operands):
        return None
    return _gathered(op.results[0].type, list(op.operands), list(ir.DenseI64ArrayAttr(op.attributes["mask"])))


def _gathered(kind: ir.Type, sources: Sequence[ir.Value], lanes: Sequence[int]) -> ir.Value:
    """The vector of the `lanes` of the sources put one after the other."""
    places = [(source, lane) for source in sources for lane in range(ir.VectorType(source.type).shape[0])]
    return vector.from_elements(kind, [_lane(*places[lane]) for lane in lanes])


def _lane(source: ir.Value, lane: int) -> ir.Value:
    return vector.extract(source, [], [lane])


def _reduction(op: ir.Operation) -> ir.Value | None:
    kind = str(op.attributes["kind"]).split("<")[-1].rstrip(">")
    if kind not in _COMBINERS:
        return None
    lanes = [_lane(op.operands[0], lane) for lane in range(ir.VectorType(op.operands[0].type).shape[0])]
    total, *rest = [*list(op.operands)[1:], *lanes]
    for value in rest:
        total = _COMBINERS[kind](total, value)
    return total


_REWRITES: Mapping[str, Callable[[ir.Operation], ir.Value | None]] = {
    "math.fma": _fma,
    "vector.fma": _fma,
    "vector.extract_strided_slice": _slice,
    "vector.shuffle": _shuffle,
    "vector.reduction": _reduction,
}
