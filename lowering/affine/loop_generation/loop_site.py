"""Where ops are being built: the values that names of the AST stand for, and what they say about loops and statements."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import islpy as isl

from dlc._mlir import ir
from dlc.lowering.affine.ir.affine_builder import AffineScope
from dlc.lowering.affine.loop_generation.ast_nodes import first_statement, step_of
from dlc.lowering.affine.polyhedral.ast_expressions import Constraint, EmissionError, affine_expression, bounds, cases
from dlc.lowering.affine.polyhedral.model import Scop, Statement
from dlc.lowering.affine.polyhedral.packed_buffers import buffer_accesses

_Op = isl.ast_expr_op_type


@dataclass
class LoopSite:
    """The loops around the insertion point, and the lanes of vectors: None makes each loop of lanes one vector."""

    scop: Scop
    lanes: int | None = 0
    places: dict[str, list[isl.AstExpr]] = field(default_factory=dict)
    """The subscripts of accesses to buffers (`generate.py`)."""
    scope: AffineScope = field(default_factory=AffineScope)
    names: dict[str, ir.AffineExpr] = field(default_factory=dict)

    def values(self, node: isl.AstNode) -> range | None:
        """The values of a loop's variable; None where they are not numbers."""
        lower, upper = self.bounds(node)
        numbers = [bound.maybe_downcast() for bound in (*lower, *upper)]
        if len(numbers) != 2 or not all(isinstance(number, ir.AffineConstantExpr) for number in numbers):
            return None
        return range(numbers[0].value, numbers[1].value, step_of(node))

    def bounds(self, node: isl.AstNode) -> tuple[list[ir.AffineExpr], list[ir.AffineExpr]]:
        """The lower bounds of a loop, and the upper ones, which its variable stays below."""
        condition = node.for_get_cond()
        gap = int(condition.get_op_type() == _Op.le)
        lower = bounds(node.for_get_init(), _Op.max, self.names)
        return lower, [bound + gap for bound in bounds(condition.get_op_arg(1), _Op.min, self.names)]

    def instance(self, node: isl.AstNode) -> tuple[Statement, list[ir.AffineExpr]]:
        """The statement that a user node runs, and the values of its loops."""
        statement, given = self._call(node)
        return statement, [affine_expression(value, self.names) for value in given]

    def instances(self, node: isl.AstNode) -> tuple[Statement, list[tuple[list[Constraint], list[ir.AffineExpr]]]]:
        """As `instance`, with values of which the first are meant whose constraints hold; the last have none."""
        statement, given = self._call(node)
        chosen = product(*(cases(value, self.names) for value in given))
        found = [([one for guard, _ in each for one in guard], [value for _, value in each]) for each in chosen]
        return statement, found

    def _call(self, node: isl.AstNode) -> tuple[Statement, list[isl.AstExpr]]:
        call = node.user_get_expr()
        statement = self.scop.by_name[call.get_op_arg(0).get_id().get_name()]
        given = [call.get_op_arg(at) for at in range(1, call.get_op_n_arg())]
        return statement, self._with_places(given, node, statement) if buffer_accesses(statement) else given

    def _with_places(self, given: list[isl.AstExpr], node: isl.AstNode, statement: Statement) -> list[isl.AstExpr]:
        """The values of the loops, where the statement has ops that use them, and the subscripts of accesses to buffers."""
        found = self.places[node.get_annotation().get_name()]
        if len(found) != sum(access.array.rank for access in buffer_accesses(statement)):
            raise EmissionError(f"subscripts of {statement.name} in its buffer that are not affine")
        return [*given[: len(statement.loops)], *found]

    def loop_location(self, node: isl.AstNode) -> ir.Location:
        """Where the loop that the first statement inside had at this depth comes from, or else that statement."""
        first = first_statement(node)
        if not first:
            return self.location
        statement, depth = self.scop.by_name[first], len(self.scope.variables)
        return statement.loops[depth].op.location if depth < len(statement.loops) else statement.location

    @property
    def location(self) -> ir.Location:
        """Where the loops as a whole come from."""
        return self.scop.items[0].location
