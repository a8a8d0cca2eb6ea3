"""Builds affine loops from isl's AST."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TypeVar

import islpy as isl

from dlc._mlir import affine, ir
from dlc.lowering.affine.ir import loops
from dlc.lowering.affine.loop_generation.ast_nodes import calls_in, children_of, depth_of, iterator_of, statement_of, step_of
from dlc.lowering.affine.loop_generation.loop_ops import affine_for, affine_parallel
from dlc.lowering.affine.loop_generation.loop_site import LoopSite
from dlc.lowering.affine.loop_generation.statement_copy import StatementCopy
from dlc.lowering.affine.loop_generation.vector_loops import build_vectors
from dlc.lowering.affine.polyhedral.ast_expressions import Constraint, EmissionError, affine_expression, cases, conjunctions
from dlc.lowering.affine.polyhedral.loop_marks import (
    LANES,
    NAME,
    PARALLEL,
    UNORDERED,
    UNROLL,
    LoopMark,
    loop_marks_at,
    scratch_of,
)
from dlc.lowering.affine.polyhedral.packed_buffers import Buffer, allocate
from dlc.lowering.policy import policy

_Value = TypeVar("_Value")
LoopMarks = Mapping[int, LoopMark]
"""What becomes of loops, by how many the schedule has around each: a loop that is not there is a plain one."""
_NO_MARKS: LoopMarks = {}


@dataclass
class LoopBuilder:
    """Turns AST nodes into ops at the current insertion point."""

    site: LoopSite
    loop_names: Counter[str] = field(default_factory=Counter)
    """How many loops have been given each name: where isl makes several of one, the names get numbers."""
    allocation_scopes: list[tuple[ir.Block, list[Buffer]]] = field(default_factory=list)
    """The blocks that buffers may be allocated in, the innermost last, each with the buffers that are."""

    def build(self, tree: isl.AstNode, block: ir.Block) -> None:
        """Build the whole of `tree` in an empty block."""
        for name, value in self.site.scop.parameters.items():
            self.site.names[name] = self.site.scope.symbol(value)
        with ir.InsertionPoint(block), self._allocation_scope(block):
            self._node(tree)

    @contextmanager
    def _allocation_scope(self, block: ir.Block) -> Iterator[None]:
        """Buffers are allocated where `block` begins and freed where it ends: once for all loops in it that run in order."""
        self.allocation_scopes.append((block, []))
        yield
        for buffer in self.allocation_scopes.pop()[1]:
            memref = self.site.scope.buffers.pop(buffer.name)
            if not buffer.is_on_stack:
                ir.Operation.create("memref.dealloc", [], [memref], loc=self.site.location)

    def _scratch(self, name: str) -> None:
        """Allocate the buffer of that name, if there is one and code that isl makes twice has it not already."""
        buffer = next((array for array in self.site.scop.arrays if array.name == name), None)
        if name in self.site.scope.buffers or not isinstance(buffer, Buffer):
            return
        block, allocated = self.allocation_scopes[-1]
        self.site.scope.buffers[name] = allocate(buffer, self.site.location, ir.InsertionPoint.at_block_begin(block))
        allocated.append(buffer)

    def _node(self, node: isl.AstNode, marks: LoopMarks = _NO_MARKS) -> None:
        """Build `node`, where `marks` say what becomes of the loops inside."""
        kind = node.get_type()
        if kind == isl.ast_node_type.block:
            for child in children_of(node):
                self._node(child, marks)
        elif kind == isl.ast_node_type.mark:
            mark, body = node.mark_get_id().get_name(), node.mark_get_node()
            self._scratch(scratch_of(mark))
            self._node(body, {**marks, **loop_marks_at(mark)})
        elif kind == isl.ast_node_type.for_:
            self._for(node, marks)
        elif kind == isl.ast_node_type.if_:
            self._condition(node, marks)
        elif kind == isl.ast_node_type.user:
            statement, choices = self.site.instances(node)
            self._first(choices, lambda values: StatementCopy(statement, values, self.site.scope).run())
        else:
            raise EmissionError(f"a node of kind {kind}")

    def _for(self, node: isl.AstNode, marks: LoopMarks) -> None:
        """A loop, or what stands for it: its body at the only value, a copy for each value, or vectors."""
        mark = marks.get(depth_of(node), LoopMark())
        if node.for_is_degenerate() and not (mark.kind == PARALLEL and mark.group):  # a part of a loop that others clip stays one
            return self._first(cases(node.for_get_init(), self.site.names), lambda value: self._body_at(node, value, marks))
        if mark.kind == LANES and build_vectors(self.site, node):
            return None
        values = self.site.values(node)
        if mark.kind == LANES and self.site.lanes is None:
            names = ", ".join(statement_of(call) for call in calls_in(node.for_get_body()) or [])
            raise EmissionError(f"a vector form of {names or 'a loop'}, which has none")
        if mark.kind == UNROLL and values is not None and len(values) <= policy().limits.lane_copies:
            for value in values:
                self._body_at(node, ir.AffineExpr.get_constant(value), marks)
            return None
        lower, upper = self._range(node)
        build = affine_parallel if mark.kind == UNORDERED else affine_for
        loop = build(
            self.site.scope, lower, upper, 1 if node.for_is_degenerate() else step_of(node), self.site.loop_location(node)
        ).operation
        if mark.kind in (PARALLEL, LANES):
            loop.attributes[loops.PARALLEL] = ir.UnitAttr.get()
        if mark.group:
            loop.attributes[loops.PARALLEL_GROUP] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), int(mark.group))
        if mark.role:
            loop.attributes[loops.DOACROSS] = ir.StringAttr.get(mark.role)
        return self._fill(loop, node, marks, mark.name)

    def _range(self, node: isl.AstNode) -> tuple[list[ir.AffineExpr], list[ir.AffineExpr]]:
        """The lower bounds of a loop, and the upper ones, which its variable stays below."""
        if not node.for_is_degenerate():
            return self.site.bounds(node)
        value = affine_expression(node.for_get_init(), self.site.names)
        return [value], [value + 1]

    def _body_at(self, node: isl.AstNode, value: ir.AffineExpr, marks: LoopMarks) -> None:
        self.site.names[iterator_of(node)] = value
        self._node(node.for_get_body(), marks)

    def _fill(self, loop: ir.Operation, node: isl.AstNode, marks: LoopMarks, name: str) -> None:
        """Name a loop and build its body."""
        body = loop.regions[0].blocks[0]
        if name:
            self.loop_names[name] += 1
            number = self.loop_names[name]
            loop.attributes[NAME] = ir.StringAttr.get(name if number == 1 else f"{name}.{number}")
        self.site.scope.variables.append(body.arguments[0])
        has_order = loop.name == "affine.for" and loops.PARALLEL not in loop.attributes
        with ir.InsertionPoint(body):
            with nullcontext() if has_order else self._allocation_scope(body):
                self._body_at(node, ir.AffineExpr.get_dim(len(self.site.scope.variables) - 1), marks)
            affine.AffineYieldOp([], loc=self.site.location)
        self.site.scope.variables.pop()

    def _first(self, choices: Sequence[tuple[Sequence[Constraint], _Value]], build: Callable[[_Value], None]) -> None:
        """Build with the first of the values whose constraints hold; the last has none."""
        guard, value = choices[0]
        if not guard:
            return build(value)
        condition, operands = self.site.scope.set(guard)
        op = affine.AffineIfOp(condition, cond_operands=operands, has_else=True, loc=self.site.location)
        with ir.InsertionPoint(op.then_block):
            build(value)
            affine.AffineYieldOp([], loc=self.site.location)
        with ir.InsertionPoint(op.else_block):
            self._first(choices[1:], build)
            affine.AffineYieldOp([], loc=self.site.location)
        return None

    def _condition(self, node: isl.AstNode, marks: LoopMarks) -> None:
        """An `affine.if`; where one of several conjunctions may hold, one for each in the `else` of the one before."""
        self._choice(node, conjunctions(node.if_get_cond(), self.site.names), marks)

    def _choice(self, node: isl.AstNode, choices: Sequence[Sequence[Constraint]], marks: LoopMarks) -> None:
        condition, operands = self.site.scope.set(choices[0])
        has_else = len(choices) > 1 or node.if_has_else_node()
        op = affine.AffineIfOp(condition, cond_operands=operands, has_else=has_else, loc=self.site.location)
        with ir.InsertionPoint(op.then_block):
            self._node(node.if_get_then_node(), marks)
            affine.AffineYieldOp([], loc=self.site.location)
        if not has_else:
            return
        with ir.InsertionPoint(op.else_block):
            if len(choices) > 1:
                self._choice(node, choices[1:], marks)
            else:
                self._node(node.if_get_else_node(), marks)
            affine.AffineYieldOp([], loc=self.site.location)
