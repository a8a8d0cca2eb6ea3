"""Numbers that the lanes of a block's first warp compute: the base of what is said of their accesses.

A kernel is looked at where its first block and the first iterations of its loops run. What data decides is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dlc._mlir import ir
from dlc.analysis.integer_sets import constraints_of

Lanes = np.ndarray
"""i64, one for each lane."""

_INTEGERS: Mapping[str, Callable[[Lanes, Lanes], Lanes]] = {
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.minsi": np.minimum,
    "arith.maxsi": np.maximum,
    "arith.xori": np.bitwise_xor,
    "arith.andi": np.bitwise_and,
    "arith.divui": np.floor_divide,
    "arith.remui": np.remainder,
}
_COMPARED: Mapping[int, Callable[[Lanes, Lanes], Lanes]] = {
    0: np.equal,
    1: np.not_equal,
    2: np.less,
    3: np.less_equal,
    4: np.greater,
    5: np.greater_equal,
}
"""By the number of an `arith.cmpi` predicate, of those for signed numbers."""
_SAME = ("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci")


@dataclass
class WarpValues:
    """Values of a kernel by lane; `size` is the block's, x first, of which `lanes` threads are looked at."""

    size: Sequence[int]
    lanes: int
    known: dict[ir.Value, Lanes] = field(default_factory=dict)

    def of(self, value: ir.Value) -> Lanes | None:
        """The numbers of an index or integer; None where they are not known."""
        if value not in self.known and not isinstance(value, ir.BlockArgument):
            found = self._computed(value.owner.operation)
            if found is not None:
                self.known[value] = found
        return self.known.get(value)

    def ids(self) -> list[Lanes]:
        """The coordinates of the lanes in their block, x first."""
        number = np.arange(self.lanes)
        across, down = self.size[0], self.size[0] * self.size[1]
        return [number % across, number // across % self.size[1], number // down]

    def _computed(self, op: ir.Operation) -> Lanes | None:
        if op.name == "arith.constant":
            value = getattr(op.attributes["value"], "value", None)
            return np.full(self.lanes, value) if isinstance(value, int) else None
        if op.name in ("gpu.thread_id", "gpu.block_id", "gpu.block_dim"):
            dim = "xyz".index(str(op.attributes["dimension"]).rsplit(" ", 1)[1].rstrip(">"))
            fixed = {"gpu.block_id": 0, "gpu.block_dim": self.size[dim]}
            return np.full(self.lanes, fixed[op.name]) if op.name in fixed else self.ids()[dim]
        if op.name in ("affine.apply", "affine.min", "affine.max"):
            return self.extreme(op.attributes["map"].value, list(op.operands), largest=op.name == "affine.max")
        given = [self.of(operand) for operand in op.operands]
        known = [one for one in given if one is not None]
        if len(known) < len(given) or not known:
            return None
        if op.name in _SAME:
            return known[0]
        if op.name == "arith.select":
            return np.where(known[0] != 0, known[1], known[2])
        if op.name == "arith.cmpi":
            compare = _COMPARED.get(ir.IntegerAttr(op.attributes["predicate"]).value)
            return None if compare is None else compare(known[0], known[1]).astype(np.int64)
        return _INTEGERS[op.name](known[0], known[1]) if op.name in _INTEGERS else None

    def extreme(self, map: ir.AffineMap, operands: Sequence[ir.Value], *, largest: bool) -> Lanes | None:
        """The largest or least of a map's results."""
        results = self.results(map, operands)
        known = [one for one in results if one is not None]
        pick = np.maximum.reduce if largest else np.minimum.reduce
        return pick(known) if known and len(known) == len(results) else None

    def results(self, map: ir.AffineMap, operands: Sequence[ir.Value]) -> list[Lanes | None]:
        """The results of a map on values."""
        given = [self.of(operand) for operand in operands]
        return [self._expression(result, given, map.n_dims) for result in map.results]

    def _expression(self, expression: ir.AffineExpr, given: Sequence[Lanes | None], dims: int) -> Lanes | None:
        expression = expression.maybe_downcast()
        if isinstance(expression, ir.AffineConstantExpr):
            return np.full(self.lanes, expression.value)
        if isinstance(expression, ir.AffineDimExpr):
            return given[expression.position]
        if isinstance(expression, ir.AffineSymbolExpr):
            return given[dims + expression.position]
        one, other = (self._expression(side, given, dims) for side in (expression.lhs, expression.rhs))
        if one is None or other is None:
            return None
        if isinstance(expression, ir.AffineAddExpr):
            return one + other
        if isinstance(expression, ir.AffineMulExpr):
            return one * other
        if isinstance(expression, ir.AffineModExpr):
            return one % other
        return -(-one // other) if isinstance(expression, ir.AffineCeilDivExpr) else one // other

    def holds(self, condition: ir.Operation) -> Lanes | None:
        """Whether an `affine.if` lets each lane in; None where that is not known."""
        sides, relations = constraints_of(condition.attributes["condition"])
        values = self.results(sides, list(condition.operands))
        found = np.full(self.lanes, True)
        for value, relation in zip(values, relations, strict=True):
            if value is None:
                return None
            found &= value == 0 if relation == "=" else value >= 0
        return found
