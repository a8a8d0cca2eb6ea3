"""Accumulators whose partial results may be kept apart and combined at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import arith, ir, vector
from dlc.lowering.affine.ir.loops import Loop, normalized, real_ops

_KINDS = {
    "arith.addf": "add",
    "arith.addi": "add",
    "arith.mulf": "mul",
    "arith.muli": "mul",
    "arith.maximumf": "maximumf",
    "arith.minimumf": "minimumf",
    "arith.maxnumf": "maxnumf",
    "arith.minnumf": "minnumf",
    "arith.maxsi": "maxsi",
    "arith.minsi": "minsi",
    "arith.maxui": "maxui",
    "arith.minui": "minui",
    "arith.andi": "and",
    "arith.ori": "or",
    "arith.xori": "xor",
}
_SELECT = "arith.select"
_PICKS = {2: -float("inf"), 4: float("inf")}
"""`x > acc ? x : acc` and `x < acc ? x : acc`, ordered: one instruction each that passes over NaN; their neutral values."""


@dataclass(frozen=True)
class ReductionNest:
    """A perfect nest of reduction loops, outermost first, and the op that combines each accumulator."""

    loops: tuple[Loop, ...]
    combiners: tuple[ir.Operation, ...]

    @property
    def body(self) -> ir.Block:
        """The innermost body."""
        return self.loops[-1].body


def chain_of(op: ir.Operation) -> ReductionNest | None:
    """The reduction chain that starts at loop `op`; None when its accumulators cannot be split."""
    loops: list[Loop] = []
    current: ir.Operation | None = op
    while current is not None:
        loop = normalized(current)
        if loop is None or not current.results:
            return None
        loops.append(loop)
        inside = real_ops(loop.body)
        current = inside[0] if len(inside) == 1 and inside[0].name == "affine.for" else None
        if current is not None and not _passes_through(loop, current):
            return None
    combiners = [_combiner(loops[-1], index) for index in range(len(loops[-1].inits))]
    if any(combiner is None for combiner in combiners):
        return None
    return ReductionNest(tuple(loops), tuple(combiner for combiner in combiners if combiner is not None))


def _passes_through(loop: Loop, inner: ir.Operation) -> bool:
    """Whether the accumulators of `loop` only start `inner` and take its results."""
    arguments, results = list(loop.body.arguments)[1:], list(inner.results)
    terminator = list(loop.body.operations)[-1]
    lower, upper, inits = inner.attributes["operandSegmentSizes"]
    starts = list(inner.operands)[lower + upper : lower + upper + inits]
    return starts == arguments and list(terminator.operands) == results


def _combiner(loop: Loop, index: int) -> ir.Operation | None:
    """The op `acc' = acc <combiner> x` of accumulator `index`, None when the accumulator is used in another way."""
    accumulator = loop.body.arguments[index + 1]
    yielded = list(loop.body.operations)[-1].operands[index]
    owner = yielded.owner
    if isinstance(owner, ir.Block) or len(list(yielded.uses)) != 1:
        return None
    uses = list(accumulator.uses)
    if owner.name == _SELECT:
        return owner.operation if len(uses) == 2 and _picks(owner.operation, accumulator) else None
    if owner.name not in _KINDS:
        return None
    if len(uses) != 1 or uses[0].owner.operation != owner.operation:
        return None
    return owner.operation


def _picks(select: ir.Operation, accumulator: ir.Value) -> bool:
    """Whether `select` gives the larger, or the smaller, of a number and `accumulator`, which a NaN leaves as it is."""
    condition, other, kept = select.operands
    if isinstance(condition.owner, ir.Block) or condition.owner.name != "arith.cmpf" or len(list(condition.uses)) != 1:
        return False
    predicate = ir.IntegerAttr(condition.owner.attributes["predicate"]).value
    return predicate in _PICKS and kept == accumulator and list(condition.owner.operands) == [other, accumulator]


def is_combiner(op: ir.Operation) -> bool:
    """Whether `op` combines its two operands in a way that associates."""
    return op.name in _KINDS


def identity(combiner: ir.Operation) -> ir.Attribute:
    """The value that `combiner` leaves others unchanged with, as an attribute of its element type."""
    element = combiner.results[0].type
    if combiner.name == _SELECT:
        return ir.FloatAttr.get(element, _PICKS[ir.IntegerAttr(combiner.operands[0].owner.attributes["predicate"]).value])
    kind = _KINDS[combiner.name]
    if isinstance(element, ir.FloatType):
        text = {"add": -0.0, "mul": 1.0, "maximumf": -float("inf"), "maxnumf": -float("inf")}.get(kind, float("inf"))
        return ir.FloatAttr.get(element, text)
    bits = element.width if isinstance(element, ir.IntegerType) else 64
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    values = {"mul": 1, "and": -1, "minui": -1, "maxsi": low, "minsi": high}
    return ir.IntegerAttr.get(element, values.get(kind, 0))


def combine(combiner: ir.Operation, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
    """Emit `combiner` on `lhs` and `rhs`, scalars or vectors."""
    attributes = dict(combiner.attributes.items())
    if combiner.name == _SELECT:
        condition = arith.CmpFOp(ir.IntegerAttr(combiner.operands[0].owner.attributes["predicate"]).value, rhs, lhs).result
        return arith.SelectOp(condition, rhs, lhs).result
    return ir.Operation.create(combiner.name, results=[lhs.type], operands=[lhs, rhs], attributes=attributes).results[0]


def reduce_lanes(combiner: ir.Operation, partial: Sequence[ir.Value], start: ir.Value) -> ir.Value:
    """Combine `start` with every lane of the vectors `partial`, in pairs: a chain would wait for each step of it."""
    left = list(partial)
    while len(left) > 1:
        pairs = zip(left[::2], left[1::2], strict=False)
        left = [*(combine(combiner, *pair) for pair in pairs), *left[len(left) & ~1 :]]
    if combiner.name == _SELECT:
        return combine(combiner, start, _halved(combiner, left[0]))
    kind = ir.Attribute.parse(f"#vector.kind<{_KINDS[combiner.name]}>")
    lanes = vector.ReductionOp(start.type, kind, left[0])
    if isinstance(start.type, ir.FloatType):
        lanes.operation.attributes["fastmath"] = ir.Attribute.parse("#arith.fastmath<reassoc>")
    return combine(combiner, start, lanes.result)


def _halved(combiner: ir.Operation, lanes: ir.Value) -> ir.Value:
    """All lanes of a vector combined: the two halves of it, the halves of those, and so on."""
    count = ir.VectorType(lanes.type).shape[0]
    while count > 1:
        count //= 2
        low, high = (vector.ShuffleOp(lanes, lanes, list(range(first, first + count))).result for first in (0, count))
        lanes = combine(combiner, low, high)
    return vector.ExtractOp(lanes, [], [0]).result
