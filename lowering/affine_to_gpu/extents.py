"""What the variables of loops may be, whatever the loops around them do: bounds as affine expressions of values of the host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from dlc._mlir import affine, ir
from dlc.lowering.affine.ir.affine_builder import AffineScope, substitute
from dlc.lowering.policy import policy

Ends = tuple[list[ir.AffineExpr], list[ir.AffineExpr]]
"""Lower bounds of a variable, all of which hold, and upper ones, which it stays below."""


@dataclass
class LoopExtents:
    """The loops of a kernel from the outside in. Expressions are over `scope`, whose dims are all values that occur."""

    scope: AffineScope = field(default_factory=AffineScope)
    ranges: dict[int, Ends] = field(default_factory=dict)
    """By the dim of a loop's variable: its bounds over values of the host."""
    of_host: dict[int, Ends] = field(default_factory=dict)
    """The same for the host's own loops around the kernel, over what none of them changes."""

    def dim(self, value: ir.Value) -> ir.AffineExpr:
        """The expression of `value`."""
        if value not in self.scope.variables:
            self.scope.variables.append(value)
        return ir.AffineExpr.get_dim(self.scope.variables.index(value))

    def replace(self, old: ir.Value, new: ir.Value) -> None:
        """Let `new` stand for the loop variable `old`, which goes away."""
        self.scope.variables[self.scope.variables.index(old)] = new

    def bounds_of(self, loop: ir.Operation) -> Ends:
        """The results of an `affine.for`'s bounds."""
        lowers, uppers, _ = ir.DenseI32ArrayAttr(loop.attributes["operandSegmentSizes"])
        operands = list(loop.operands)
        lower = self._results(loop.attributes["lowerBoundMap"].value, operands[:lowers])
        return lower, self._results(loop.attributes["upperBoundMap"].value, operands[lowers : lowers + uppers])

    def add(self, loop: ir.Operation) -> Ends:
        """Note the variable of an `affine.for`; returns bounds of it over values of the host."""
        return self._note(loop, self.ranges)

    def add_of_host(self, kernel: ir.Operation) -> None:
        """Note the variables of the host's loops around a kernel."""
        around, found = kernel.parent, []
        while around is not None and around.operation.name != "func.func":
            found += [around.operation] if around.operation.name == "affine.for" else []
            around = around.operation.parent
        for loop in reversed(found):
            self._note(loop, self.of_host)

    def numbers(self, ends: Ends) -> tuple[int | None, int | None]:
        """Of bounds over values of the host the constants that hold for all of these; None where there is none."""
        low = self._hull(ends[0], self.of_host, largest=False)
        return only_number(low), only_number(self._hull(ends[1], self.of_host, largest=True))

    def _note(self, loop: ir.Operation, ranges: dict[int, Ends]) -> Ends:
        lowers, uppers = self.bounds_of(loop)
        ends = self._hull(lowers, ranges, largest=False), self._hull(uppers, ranges, largest=True)
        variable = self.dim(loop.regions[0].blocks[0].arguments[0]).maybe_downcast()
        ranges[variable.position] = ends
        return ends

    def _results(self, map: ir.AffineMap, operands: Sequence[ir.Value]) -> list[ir.AffineExpr]:
        given = [self.dim(operand) for operand in operands]
        return [substitute(result, given[: map.n_dims], given[map.n_dims :]) for result in map.results]

    def _hull(self, bounds: Sequence[ir.AffineExpr], ranges: Mapping[int, Ends], *, largest: bool) -> list[ir.AffineExpr]:
        """What holds for the bound of a variable in every iteration of the loops `ranges`; of constants the tightest."""
        found = [end for bound in bounds for end in self._extremes(bound, ranges, largest)]
        numbers = [constant for end in found if (constant := constant_of(end)) is not None]
        tightest = [ir.AffineExpr.get_constant(min(numbers) if largest else max(numbers))] if numbers else []
        others = list({str(end): end for end in found if constant_of(end) is None}.values())
        return [*tightest, *others][: policy().limits.guard_bounds]

    def _extremes(self, expression: ir.AffineExpr, ranges: Mapping[int, Ends], largest: bool) -> list[ir.AffineExpr]:
        """Expressions none of which `expression` passes."""
        expression = expression.maybe_downcast()
        if isinstance(expression, ir.AffineDimExpr) and expression.position in ranges:
            lower, upper = ranges[expression.position]
            return [end - 1 for end in upper] if largest else lower
        if not isinstance(expression, ir.AffineBinaryExpr):
            return [expression]
        if isinstance(expression, ir.AffineAddExpr):
            pairs = product(self._extremes(expression.lhs, ranges, largest), self._extremes(expression.rhs, ranges, largest))
            return [one + other for one, other in pairs]
        factor = constant_of(expression.rhs)
        if factor is None:
            return [expression]
        if isinstance(expression, ir.AffineModExpr):
            return [ir.AffineExpr.get_constant(factor - 1 if largest else 0)]
        if isinstance(expression, ir.AffineMulExpr):
            return [end * factor for end in self._extremes(expression.lhs, ranges, largest == (factor > 0))]
        ceil = isinstance(expression, ir.AffineCeilDivExpr)
        build = ir.AffineExpr.get_ceil_div if ceil else ir.AffineExpr.get_floor_div
        return [build(end, factor) for end in self._extremes(expression.lhs, ranges, largest)]

    # Values.

    def least(self, expressions: Sequence[ir.AffineExpr]) -> ir.Value:
        """Emit the least of `expressions`."""
        map, operands = self.scope.map(expressions)
        return affine.AffineMinOp(map, operands).result

    def greatest(self, expressions: Sequence[ir.AffineExpr]) -> ir.Value:
        """Emit the greatest of `expressions`."""
        map, operands = self.scope.map(expressions)
        return affine.AffineMaxOp(map, operands).result

    def when(self, constraints: Sequence[tuple[ir.AffineExpr, bool]]) -> ir.InsertionPoint:
        """Emit an `affine.if` on `(expression, is_equality)` constraints; where to emit what is done then."""
        condition, operands = self.scope.set(constraints)
        guard = affine.AffineIfOp(condition, cond_operands=operands)
        with ir.InsertionPoint(guard.then_block):
            return ir.InsertionPoint(affine.AffineYieldOp([]))

    def value(self, expression: ir.AffineExpr) -> ir.Value:
        """Emit `expression`."""
        expression = expression.maybe_downcast()
        if isinstance(expression, ir.AffineDimExpr):
            return self.scope.variables[expression.position]
        map, operands = self.scope.map([expression])
        return affine.AffineApplyOp(map, operands).result


def constant_of(expression: ir.AffineExpr) -> int | None:
    """The number that an expression is; None for one that varies."""
    expression = expression.maybe_downcast()
    return int(expression.value) if isinstance(expression, ir.AffineConstantExpr) else None


def only_number(ends: Sequence[ir.AffineExpr]) -> int | None:
    """The constant among bounds; None where there is none."""
    numbers = [number for end in ends if (number := constant_of(end)) is not None]
    return numbers[0] if numbers else None
