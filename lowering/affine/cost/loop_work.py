"""How many instructions loops take, by estimate: bounds that depend on loops around are taken in the middle of these."""

from __future__ import annotations

from collections.abc import Mapping

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op
from dlc.analysis.integer_sets import constraints_of
from dlc.lowering.affine.ir.affine_builder import substitute
from dlc.lowering.affine.ir.loops import real_ops
from dlc.lowering.policy import policy

_BOUNDS = ("lowerBoundMap", "upperBoundMap")


def work_of(op: ir.Operation, at: Mapping[ir.Value, int] | None = None) -> int:
    """An estimate of the instructions that one run of `op` takes; an op on a vector counts as one.

    `at` gives values of loop variables; other loops around `op` are in the middle of their ranges.
    """
    return _Estimate(dict(at or {})).op(op)


def work_of_iteration(loop: ir.Operation, iteration: int) -> int:
    """The instructions of one iteration of an `affine.for`: number `iteration` from its first, or, below 0, from its last."""
    lower, upper = _Estimate({}).range_of(loop)
    step = ir.IntegerAttr(loop.attributes["step"]).value
    at = {}
    if lower is not None and upper is not None:
        last = max(lower, upper - 1 - (upper - 1 - lower) % step)
        at = {loop.regions[0].blocks[0].arguments[0]: lower + iteration * step if iteration >= 0 else last + (iteration + 1) * step}
    return sum(work_of(op, at) for op in real_ops(loop.regions[0].blocks[0]))


def range_at(loop: ir.Operation, at: Mapping[ir.Value, int]) -> range | None:
    """The values of a loop's variable where those of loops around are as given, or in the middle; None if not known."""
    lower, upper = _Estimate(dict(at)).range_of(loop)
    if lower is None or upper is None:
        return None
    return range(lower, max(lower, upper), ir.IntegerAttr(loop.attributes["step"]).value)


def likely_trips(loop: ir.Operation) -> int | None:
    """How often an `affine.for` runs, about; None where its bounds are not known."""
    return _Estimate({}).trips(loop)


class _Estimate:
    """Counts instructions. `values` holds what is known of index values, and all that was found out."""

    def __init__(self, values: dict[ir.Value, int]) -> None:
        self.values: dict[ir.Value, int | None] = dict(values)

    def op(self, op: ir.Operation) -> int:
        if not len(op.regions):
            return 1
        branches = [sum(map(self._block, region.blocks)) for region in op.regions]
        if op.name == "affine.if":
            holds = self._holds(op)
            return (
                max(branches) if holds is None else branches[0 if holds else 1] if len(branches) > 1 else int(holds) * branches[0]
            )
        trips = self.trips(op) if op.name == "affine.for" else None if op.name == "scf.for" else 1
        return (policy().cost.assumed_inner_trips if trips is None else trips) * sum(branches)

    def _block(self, block: ir.Block) -> int:
        ops = real_ops(block)
        with_regions = [op for op in ops if len(op.regions)]
        return len(ops) - len(with_regions) + sum(map(self.op, with_regions))

    def trips(self, loop: ir.Operation) -> int | None:
        """The iterations of an `affine.for`; None where they are not known."""
        lower, upper = self.range_of(loop)
        if lower is None or upper is None:
            return None
        return max(0, -((lower - upper) // ir.IntegerAttr(loop.attributes["step"]).value))

    def range_of(self, loop: ir.Operation) -> tuple[int | None, int | None]:
        """The bounds of a loop; None where they are not known."""
        below, above, _ = loop.attributes["operandSegmentSizes"]
        operands = list(loop.operands)
        parts = operands[:below], operands[below : below + above]
        lower, upper = (self._results(loop.attributes[name].value, part) for name, part in zip(_BOUNDS, parts, strict=True))
        return max(lower) if lower else None, min(upper) if upper else None

    def _holds(self, op: ir.Operation) -> bool | None:
        """Whether the condition of an `affine.if` holds; None where that is not known."""
        sides, relations = constraints_of(op.attributes["condition"])
        values = self._results(sides, list(op.operands))
        if not values:
            return None
        return all(value == 0 if relation == "=" else value >= 0 for value, relation in zip(values, relations, strict=True))

    def _results(self, map: ir.AffineMap, operands: list[ir.Value]) -> list[int]:
        """The values of a map's results; none where an operand is not known, or a result is divided by no positive number."""
        given = [self._value(operand) for operand in operands]
        known = [ir.AffineExpr.get_constant(value) for value in given if value is not None]
        if len(known) < len(given):
            return []
        results = [substitute(result, known[: map.n_dims], known[map.n_dims :]).maybe_downcast() for result in map.results]
        found = [result.value for result in results if isinstance(result, ir.AffineConstantExpr)]
        return found if len(found) == len(results) else []

    def _value(self, value: ir.Value) -> int | None:
        """About what an index is."""
        if value not in self.values:
            self.values[value] = self._find(value)
        return self.values[value]

    def _find(self, value: ir.Value) -> int | None:
        op = defining_op(value)
        if op is None:
            return self._middle(value)
        if op.name == "arith.constant" and isinstance(op.attributes["value"], ir.IntegerAttr):
            return int(ir.IntegerAttr(op.attributes["value"]).value)
        if op.name != "affine.apply":
            return None
        results = self._results(op.attributes["map"].value, list(op.operands))
        return results[0] if results else None

    def _middle(self, argument: ir.Value) -> int | None:
        """The middle of a loop's range; None for another argument of a block."""
        loop = argument.owner.owner.operation
        if loop.name != "affine.for" or argument != loop.regions[0].blocks[0].arguments[0]:
            return None
        lower, upper = self.range_of(loop)
        return None if lower is None or upper is None else (lower + upper) // 2
