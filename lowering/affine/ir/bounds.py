"""The bounds of `affine.for` loops, to compare them, and to build loops anew with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from dlc._mlir import affine, ir
from dlc.lowering.affine.ir.affine_builder import substitute
from dlc.lowering.affine.ir.expressions import Linear, linear_forms

LoopBounds = tuple[ir.Value, "Bounds"]
"""A loop's variable and its bounds."""

BOUND_ATTRIBUTES = ("lowerBoundMap", "upperBoundMap", "step", "operandSegmentSizes")
"""The attributes of a loop that say its bounds; others stay when it is built anew."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """The bounds of an `affine.for`."""

    lower: ir.AffineMap
    upper: ir.AffineMap
    lower_operands: tuple[ir.Value, ...]
    upper_operands: tuple[ir.Value, ...]
    step: int

    @classmethod
    def of(cls, loop: ir.Operation) -> Bounds:
        """Those of `loop`."""
        lowers, uppers, _ = ir.DenseI32ArrayAttr(loop.attributes["operandSegmentSizes"])
        operands = tuple(loop.operands)
        return cls(
            loop.attributes["lowerBoundMap"].value,
            loop.attributes["upperBoundMap"].value,
            operands[:lowers],
            operands[lowers : lowers + uppers],
            ir.IntegerAttr(loop.attributes["step"]).value,
        )

    @cached_property
    def lowers(self) -> tuple[Linear | None, ...]:
        """The lower bounds, of which the largest counts; None for those that are not linear."""
        return linear_forms(self.lower, self.lower_operands)

    @cached_property
    def uppers(self) -> tuple[Linear | None, ...]:
        """The upper bounds, of which the least counts; None for those that are not linear."""
        return linear_forms(self.upper, self.upper_operands)

    @property
    def surely_run(self) -> bool:
        """Whether there is an iteration, whatever the operands are."""
        gaps = [gap.maybe_downcast() for gap in self._gaps()[0]]
        return all(isinstance(gap, ir.AffineConstantExpr) and gap.value >= 0 for gap in gaps)

    def guard(self, loop: ir.Operation) -> affine.AffineIfOp:
        """A condition before `loop` that holds where there is an iteration."""
        gaps, dims, symbols, operands = self._gaps()
        condition = ir.IntegerSet.get(dims, symbols, gaps, [False] * len(gaps))
        return affine.AffineIfOp(condition, cond_operands=operands, loc=loop.location, ip=ir.InsertionPoint(loop))

    def _gaps(self) -> tuple[list[ir.AffineExpr], int, int, list[ir.Value]]:
        """`upper - lower - 1` for all pairs of bounds, the numbers of their dims and symbols, and the operands for these."""
        lower, upper, operands = self.together()
        return [high - low - 1 for high in upper.results for low in lower.results], lower.n_dims, lower.n_symbols, operands

    def together(self) -> tuple[ir.AffineMap, ir.AffineMap, list[ir.Value]]:
        """The two bounds as maps of the same operands."""
        low, high = self.lower, self.upper
        dims, symbols = low.n_dims + high.n_dims, low.n_symbols + high.n_symbols
        shifted_dims = [ir.AffineExpr.get_dim(low.n_dims + at) for at in range(high.n_dims)]
        shifted_symbols = [ir.AffineExpr.get_symbol(low.n_symbols + at) for at in range(high.n_symbols)]
        uppers = [substitute(result, shifted_dims, shifted_symbols) for result in high.results]
        operands = [
            *self.lower_operands[: low.n_dims],
            *self.upper_operands[: high.n_dims],
            *self.lower_operands[low.n_dims :],
            *self.upper_operands[high.n_dims :],
        ]
        return ir.AffineMap.get(dims, symbols, list(low.results)), ir.AffineMap.get(dims, symbols, uppers), operands


def loops_around(loop: ir.Operation) -> list[LoopBounds]:
    """`loop`, an `affine.for`, and those around it, the innermost first."""
    found = []
    around: ir.Operation | None = loop
    while around is not None and around.name != "func.func":
        if around.name == "affine.for":
            found.append((around.regions[0].blocks[0].arguments[0], Bounds.of(around)))
        around = None if around.parent is None else around.parent.operation
    return found


def least_over(loops: Sequence[LoopBounds], form: Linear) -> int | None:
    """The least value of `form` over the iterations of `loops`, the innermost first, where it is a number.

    Each loop's variable is replaced by each of its bounds in turn, which are over variables further out.
    """
    if not form.factors:
        return form.constant
    if not loops:
        return None
    (variable, bounds), *outer = loops
    factor = form.of(variable)
    if not factor:
        return least_over(outer, form)
    found = [
        least_over(outer, form.without(variable).plus(Linear(end.factors, end.constant - (factor < 0)), factor))
        for end in (bounds.lowers if factor > 0 else bounds.uppers)
        if end is not None
    ]
    return max((least for least in found if least is not None), default=None)


def ends_before(one: Bounds, other: Bounds, loops: Sequence[LoopBounds]) -> bool:
    """Whether all values of the loop with the bounds `one` are surely less than those of `other`, both in the same `loops`."""
    gaps = [start.plus(end, -1) for end in one.uppers for start in other.lowers if end is not None and start is not None]
    return any((least := least_over(loops, gap)) is not None and least >= 0 for gap in gaps)
