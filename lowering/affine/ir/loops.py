"""Reading and building `affine.for` loops, and the facts that the affine passes keep on them.

A loop that carries the attribute `dlc.parallel` has independent iterations: any order of them, and any interleaving, gives
the same result. `convert-linalg-to-affine` writes it from the iterator types of linalg; a pass that keeps such a
loop, or splits it, writes it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from dlc._mlir import affine, ir
from dlc.analysis.dim_bounds import DimBounds, bounds_of_index, likely_index
from dlc.lowering.affine.ir.affine_builder import substitute
from dlc.lowering.affine.ir.expressions import bounds_of_extent
from dlc.lowering.policy import policy

PARALLEL = "dlc.parallel"
SCHEDULED = "dlc.polyhedral"
"""Attribute of a function whose loops `affine-polyhedral-schedule` has made."""
SCHEDULE = "dlc.schedule"
"""How a code generator makes code of the nest whose outermost loop this is; `tile.py` says what stands there."""
NEST = "dlc.nest"
"""The number that `affine-assign-schedules` gives each nest of a function; it goes where the schedule goes."""
AS_WRITTEN = "dlc.as_written"
"""Attribute of a loop that a user has scheduled: of nests inside, those count that have `dlc.schedule` or `dlc.search`."""
SEARCH = "dlc.search"
"""Attribute of the outermost loop of a nest that a user leaves to the search."""
PARALLEL_GROUP = "dlc.parallel_group"
"""A number that serial loops share with the parallel loop perfectly nested in them, which may be moved outside of them."""
DOACROSS = "dlc.doacross"
"""What a loop is in a nest whose rows may run at once, each behind the one before: `ROWS`, or `COLUMNS` for the loops right inside.

Iteration `c` of a row waits for iterations up to `c` of the rows before, and for those before it in its own row; for no others.
"""
ROWS = "rows"
COLUMNS = "columns"


def role_of(loop: ir.Operation) -> str:
    """What a loop is in a nest whose rows may run at once: `ROWS` or `COLUMNS`; "" for none."""
    attribute = loop.attributes.get(DOACROSS)
    return attribute.value if isinstance(attribute, ir.StringAttr) else ""


@dataclass(frozen=True)
class Bound:
    """A loop bound: one affine expression over `operands` (dims first, then symbols)."""

    map: ir.AffineMap
    operands: tuple[ir.Value, ...] = ()

    @staticmethod
    def constant(value: int) -> Bound:
        """The bound `value`."""
        return Bound(ir.AffineMap.get_constant(value))

    @staticmethod
    def symbol(value: ir.Value) -> Bound:
        """The bound `value`, an index defined at the top level of the function."""
        return Bound(ir.AffineMap.get(0, 1, [ir.AffineSymbolExpr.get(0)]), (value,))

    @cached_property
    def static(self) -> int | None:
        """The bound as a number, or None."""
        expression = self.map.results[0].maybe_downcast()
        return expression.value if isinstance(expression, ir.AffineConstantExpr) else None

    @cached_property
    def known(self) -> DimBounds:
        """The least and the most that the bound may be, and what divides it."""
        found, dims = [bounds_of_index(value) for value in self.operands], self.map.n_dims
        return bounds_of_extent(self.map.results[0], found[:dims], found[dims:])

    def rounded_down(self, multiple: int) -> Bound:
        """The largest multiple of `multiple` that is not above the bound."""
        if self.static is not None:
            return Bound.constant(self.static - self.static % multiple)
        if self.is_multiple_of(multiple):
            return self
        whole = ir.AffineExpr.get_floor_div(self.map.results[0], multiple) * multiple
        return Bound(ir.AffineMap.get(self.map.n_dims, self.map.n_symbols, [whole]), self.operands)

    def is_multiple_of(self, number: int) -> bool:
        """Whether the bound is known to be a multiple of `number`."""
        rest = ir.AffineExpr.get_mod(self.map.results[0], number).maybe_downcast()
        return (isinstance(rest, ir.AffineConstantExpr) and rest.value == 0) or self.known.multiple % number == 0

    def minus(self, value: ir.Value, offset: int) -> ir.Value:
        """Emit `bound - value - offset` as an index."""
        dims = self.map.n_dims
        distance = self.map.results[0] - ir.AffineDimExpr.get(dims) - offset
        operands = [*self.operands[:dims], value, *self.operands[dims:]]
        return apply(ir.AffineMap.get(dims + 1, self.map.n_symbols, [distance]), operands)


@dataclass(frozen=True, eq=False)
class Loop:
    """One `affine.for %iv = 0 to upper step 1`."""

    op: ir.Operation
    upper: Bound

    @cached_property
    def iv(self) -> ir.Value:
        """The induction variable."""
        return self.body.arguments[0]

    @property
    def body(self) -> ir.Block:
        """The block that the loop repeats."""
        return self.op.regions[0].blocks[0]

    @property
    def extent(self) -> int | None:
        """The number of iterations, None when it is dynamic."""
        static = self.upper.static
        return None if static is None else max(static, 0)

    @property
    def most(self) -> int | None:
        """The most iterations that there may be, None when nothing is known of them."""
        return self.upper.known.most if self.extent is None else self.extent

    @cached_property
    def likely_extent(self) -> int:
        """The number of iterations, where sizes that are not known are taken to be typical ones within their bounds."""
        if self.extent is not None:
            return self.extent
        bound, typical = self.upper.map, policy().cost.assumed_trips
        if isinstance(bound.results[0].maybe_downcast(), ir.AffineModExpr):
            return max(self.upper.known.nearest(typical), 1)
        sizes = [ir.AffineExpr.get_constant(likely_index(each, typical)) for each in self.upper.operands[bound.n_dims :]]
        found = bound.results[0] if bound.n_dims else substitute(bound.results[0], [], sizes).maybe_downcast()
        return max(found.value, 1) if isinstance(found, ir.AffineConstantExpr) else typical

    @property
    def parallel(self) -> bool:
        """Whether the iterations are known to be independent."""
        return PARALLEL in self.op.attributes

    @property
    def inits(self) -> list[ir.Value]:
        """The initial values of the loop's accumulators."""
        lower, upper, _ = self.op.attributes["operandSegmentSizes"]
        return list(self.op.operands)[lower + upper :]


def apply(map: ir.AffineMap, operands: Sequence[ir.Value]) -> ir.Value:
    """Emit `map(operands)`; a map that only picks an operand or a constant costs no affine.apply."""
    expression = map.results[0].maybe_downcast()
    if isinstance(expression, ir.AffineDimExpr):
        return operands[expression.position]
    if isinstance(expression, ir.AffineSymbolExpr):
        return operands[map.n_dims + expression.position]
    return affine.AffineApplyOp(map, list(operands)).result


def normalized(op: ir.Operation) -> Loop | None:
    """`op` as a Loop from 0 by 1 to a single upper bound; None when it is anything else."""
    if op.name != "affine.for" or ir.IntegerAttr(op.attributes["step"]).value != 1:
        return None
    lower, upper, _ = op.attributes["operandSegmentSizes"]
    upper_map = op.attributes["upperBoundMap"].value
    if Bound(op.attributes["lowerBoundMap"].value).static != 0 or len(upper_map.results) != 1:
        return None
    return Loop(op, Bound(upper_map, tuple(list(op.operands)[lower : lower + upper])))


def real_ops(block: ir.Block) -> list[ir.Operation]:
    """The ops of `block` without its terminator."""
    return [op.operation for op in block.operations][:-1]


def build_for(lower: Bound, upper: Bound, step: int = 1, inits: Sequence[ir.Value] = (), parallel: bool = False) -> ir.Operation:
    """Create an `affine.for` at the insertion point; the caller fills and terminates its body."""
    loop = affine.AffineForOp(
        lower.map,
        upper.map,
        step,
        iter_args=list(inits),
        lower_bound_operands=list(lower.operands),
        upper_bound_operands=list(upper.operands),
    ).operation
    if parallel:
        loop.attributes[PARALLEL] = ir.UnitAttr.get()
    return loop


def top_level_loops(function: ir.Operation) -> Iterator[ir.Operation]:
    """The `affine.for` ops of `function` that are in no other `affine.for`, found before any is rewritten."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name != "affine.for":
            return ir.WalkResult.ADVANCE
        found.append(op)
        return ir.WalkResult.SKIP

    function.walk(visit, ir.WalkOrder.PRE_ORDER)
    return iter(found)
