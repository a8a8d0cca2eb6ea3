"""Affine loops from a schedule: isl generates the loops, the statements' ops are copied into them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import islpy as isl

from dlc._mlir import affine, ir
from dlc.analysis.buffers import is_memref
from dlc.analysis.polyhedral.grouping import FREE_OPS
from dlc.analysis.polyhedral.model import Scop, Statement
from dlc.lowering.polyhedral.affine_builder import AffineScope, substitute
from dlc.lowering.polyhedral.ast_expressions import EmissionError, affine_expression, bounds, conditions

_Op = isl.ast_expr_op_type
_SUBSCRIPTS_AT = {"affine.load": 1, "affine.store": 2}


def replace_loops(scop: Scop, schedule: isl.Schedule) -> list[ir.Operation]:
    """Build the loops of `schedule` in place of the scop's items; returns the ops at their top level."""
    first = scop.items[0]
    built = emit(scop, schedule, ir.InsertionPoint(first))
    for op in reversed(scop.items):
        if op.name in (*_SUBSCRIPTS_AT, "affine.for", "affine.if", "affine.parallel") or not _is_used(op):
            op.erase()
        else:
            op.move_before(built[0])
    return built


def emit(scop: Scop, schedule: isl.Schedule, where: ir.InsertionPoint) -> list[ir.Operation]:
    """Build the loops of `schedule` at `where`; returns the ops at their top level."""
    tree = generate(scop, schedule)
    builder = _Builder(scop)
    for name, value in scop.parameters.items():
        builder.names[name] = builder.scope.symbol(value)
    with where:
        builder.node(tree)
    return builder.top


def generate(scop: Scop, schedule: isl.Schedule) -> isl.AstNode:
    """isl's AST of `schedule`, whose guards are conjunctions and whose bounds are minima and maxima."""
    context = schedule.get_ctx()
    context.set_ast_build_allow_or(0)
    context.set_ast_build_detect_min_max(1)
    context.set_ast_build_atomic_upper_bound(1)
    return isl.AstBuild.from_context(scop.context).node_from_schedule(schedule)


def _is_used(op: ir.Operation) -> bool:
    return any(True for result in op.results for _ in result.uses)


@dataclass
class _Builder:
    """Turns AST nodes into ops at the current insertion point."""

    scop: Scop
    scope: AffineScope = field(default_factory=AffineScope)
    names: dict[str, ir.AffineExpr] = field(default_factory=dict)
    top: list[ir.Operation] = field(default_factory=list)

    def node(self, node: isl.AstNode) -> None:
        kind = node.get_type()
        if kind == isl.ast_node_type.block:
            children = node.block_get_children()
            for at in range(children.n_ast_node()):
                self.node(children.get_ast_node(at))
        elif kind == isl.ast_node_type.mark:
            self.node(node.mark_get_node())
        elif kind == isl.ast_node_type.for_:
            self._loop(node)
        elif kind == isl.ast_node_type.if_:
            self._condition(node)
        elif kind == isl.ast_node_type.user:
            self._instance(node.user_get_expr())
        else:
            raise EmissionError(f"a node of kind {kind}")

    def _loop(self, node: isl.AstNode) -> None:
        name = node.for_get_iterator().get_id().get_name()
        lower = bounds(node.for_get_init(), _Op.max, self.names)
        if node.for_is_degenerate():
            self.names[name] = lower[0]
            self.node(node.for_get_body())
            return
        condition = node.for_get_cond()
        gap = int(condition.get_op_type() == _Op.le)
        upper = [bound + gap for bound in bounds(condition.get_op_arg(1), _Op.min, self.names)]
        (lower_map, lower_operands), (upper_map, upper_operands) = self.scope.map(lower), self.scope.map(upper)
        step = int(str(node.for_get_inc().get_val()))
        loop = affine.AffineForOp(
            lower_map,
            upper_map,
            step,
            lower_bound_operands=lower_operands,
            upper_bound_operands=upper_operands,
            loc=self._location(),
        )
        self._note(loop.operation)
        self.names[name] = ir.AffineExpr.get_dim(len(self.scope.variables))
        self.scope.variables.append(loop.induction_variable)
        with ir.InsertionPoint(loop.body):
            self.node(node.for_get_body())
            affine.AffineYieldOp([], loc=self._location())
        self.scope.variables.pop()

    def _condition(self, node: isl.AstNode) -> None:
        condition, operands = self.scope.set(conditions(node.if_get_cond(), self.names))
        has_else = node.if_has_else_node()
        op = affine.AffineIfOp(condition, cond_operands=operands, has_else=has_else, loc=self._location())
        self._note(op.operation)
        branches = [(op.then_block, node.if_get_then_node())] + ([(op.else_block, node.if_get_else_node())] if has_else else [])
        for block, branch in branches:
            with ir.InsertionPoint(block):
                self.node(branch)
                affine.AffineYieldOp([], loc=self._location())

    def _instance(self, call: isl.AstExpr) -> None:
        statement = self.scop.by_name[call.get_op_arg(0).get_id().get_name()]
        values = [affine_expression(call.get_op_arg(at), self.names) for at in range(1, call.get_op_n_arg())]
        _Copy(statement, values, self.scope).run(self._note)

    def _note(self, op: ir.Operation) -> None:
        if not self.scope.variables and op.block == self.scop.items[0].block:
            self.top.append(op)

    def _location(self) -> ir.Location:
        return self.scop.items[0].location


@dataclass
class _Copy:
    """Copies a statement's ops for the instance whose loops have `values`."""

    statement: Statement
    values: Sequence[ir.AffineExpr]
    scope: AffineScope
    copies: dict[ir.Value, ir.Value] = field(default_factory=dict)

    def run(self, note: Callable[[ir.Operation], None]) -> None:
        for op in self.statement.ops:
            if op.name in FREE_OPS:
                continue
            copy = self._access(op) if op.name in _SUBSCRIPTS_AT else self._plain(op)
            note(copy)
            self.copies.update(zip(op.results, copy.results, strict=True))

    def _access(self, op: ir.Operation) -> ir.Operation:
        at = _SUBSCRIPTS_AT[op.name]
        operands = list(op.operands)
        given, indices = [self._value(operand) for operand in operands[:at]], operands[at:]
        indexing = op.attributes["map"].value
        known = [self._expression(index) for index in indices]
        results = [substitute(result, known[: indexing.n_dims], known[indexing.n_dims :]) for result in indexing.results]
        map, used = self.scope.map(results)
        attributes = dict(op.attributes.items()) | {"map": ir.AffineMapAttr.get(map)}
        kinds = [result.type for result in op.results]
        return ir.Operation.create(op.name, kinds, [*given, *used], attributes, loc=op.location)

    def _plain(self, op: ir.Operation) -> ir.Operation:
        operands = [self._value(operand) for operand in op.operands]
        copy = op.clone().operation
        for at, operand in enumerate(operands):
            copy.operands[at] = operand
        return copy

    def _value(self, value: ir.Value) -> ir.Value:
        """What stands for `value` in the copy."""
        if value in self.copies:
            return self.copies[value]
        variable = self._variable(value)
        if variable is not None:
            map, operands = self.scope.map([self.values[variable]])
            return affine.AffineApplyOp(map, operands, loc=self.statement.location).result
        if isinstance(value, ir.BlockArgument) or is_memref(value) or not self._is_replaced(value.owner.operation):
            return value
        self.copies[value] = self._plain(value.owner.operation).results[0]
        return self.copies[value]

    def _is_replaced(self, op: ir.Operation) -> bool:
        """Whether `op` is a cheap op that goes away with the old loops."""
        return op.name in FREE_OPS and any(op.parent.operation == loop.op for loop in self.statement.loops)

    def _variable(self, value: ir.Value) -> int | None:
        """Which of the statement's loops `value` is the variable of."""
        return next((at for at, loop in enumerate(self.statement.loops) if loop.variable == value), None)

    def _expression(self, value: ir.Value) -> ir.AffineExpr:
        """The index `value` as an expression at the new place."""
        variable = self._variable(value)
        if variable is not None:
            return self.values[variable]
        op = None if isinstance(value, ir.BlockArgument) else value.owner.operation
        if op is not None and op.name == "affine.apply":
            indexing, known = op.attributes["map"].value, [self._expression(operand) for operand in op.operands]
            return substitute(indexing.results[0], known[: indexing.n_dims], known[indexing.n_dims :])
        if op is not None and op.name == "arith.constant":
            return ir.AffineExpr.get_constant(ir.IntegerAttr(op.attributes["value"]).value)
        return self.scope.symbol(value)
