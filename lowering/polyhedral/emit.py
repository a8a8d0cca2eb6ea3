"""Affine loops from a schedule: isl generates the loops, the statements' ops are copied into them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import islpy as isl
import numpy as np

from dlc._mlir import affine, ir
from dlc.analysis.buffers import defining_op
from dlc.analysis.polyhedral.model import Scop, Statement
from dlc.lowering.affine import loops
from dlc.lowering.polyhedral.affine_builder import AffineScope
from dlc.lowering.polyhedral.ast_expressions import Constraint, EmissionError, affine_expression, bounds, conjunctions
from dlc.lowering.polyhedral.ast_nodes import calls_in, children_of, first_statement, iterator_of, statement_of, step_of
from dlc.lowering.polyhedral.buffers import Buffer, allocate, buffer_accesses, subscripts_at
from dlc.lowering.polyhedral.lane_copy import LaneCopy, can_copy_lanes
from dlc.lowering.polyhedral.lane_masks import begins_whole, lane_mask
from dlc.lowering.polyhedral.loop_marks import (
    COPIES,
    LANES,
    LOOP,
    NAME,
    PARALLEL,
    UNORDERED,
    mark_parallel_bands,
    parts_of,
    scratch_of,
    words_of,
)
from dlc.lowering.polyhedral.statement_copy import StatementCopy

_Op = isl.ast_expr_op_type

_MOST_COPIES = 32
"""Iterations that are written out at most."""


def replace_loops(scop: Scop, schedule: isl.Schedule, lanes: int | None = 0) -> None:
    """Build the loops of `schedule` in place of the scop's items; vectors have `lanes` lanes.

    With None, a loop of lanes is one vector, or an error where it can't be. Raises EmissionError, with the IR as it was, where
    isl generates code that the affine dialect cannot hold.
    """
    kept = {*scop.prologue, *scop.epilogue}
    staging = _staged(scop, schedule, lanes)
    for op in [inner.operation for inner in staging.regions[0].blocks[0].operations]:
        op.move_before(staging)
    for op in reversed([op for op in scop.items if op not in kept]):
        op.erase()
    staging.erase()


def try_loops(scop: Scop, schedule: isl.Schedule, lanes: int | None = 0) -> None:
    """Raise the EmissionError that `replace_loops` would raise, if any; the loops stay as they are."""
    _staged(scop, schedule, lanes).erase()


def _staged(scop: Scop, schedule: isl.Schedule, lanes: int | None) -> ir.Operation:
    """An op before the loops that holds the new ones; the prologue is before it."""
    _refuse_values(scop)
    _refuse_divided_starts(scop)
    places: dict[str, list[isl.AstExpr]] = {}
    tree = generate(scop, schedule, places)
    for op in scop.prologue:
        op.move_before(scop.items[0])
    kept = {*scop.prologue, *scop.epilogue}
    first = next(op for op in scop.items if op not in kept)
    staging = ir.Operation.create(
        "affine.if", regions=2, attributes={"condition": _always()}, loc=first.location, ip=ir.InsertionPoint(first)
    )
    block = staging.regions[0].blocks.append()
    try:
        _Builder(scop, lanes, places).build(tree, block)
    except EmissionError:
        staging.erase()
        raise
    return staging


def _refuse_values(scop: Scop) -> None:
    """Statements exchange values through memory alone, and memory exists once."""
    for array in scop.arrays:
        if not array.is_memory:
            raise EmissionError(f"{array.name} is computed by one statement and used by another; run --affine-demote-values first")
        if array.loops:
            raise EmissionError(f"{array.name} is allocated inside loops; run --affine-expand-buffers first")


def _refuse_divided_starts(scop: Scop) -> None:
    """isl loses iterations of loops of a step that start at a quotient or remainder of a parameter."""
    for op in {loop.op for statement in scop.statements for loop in statement.loops}:
        is_for = op.name == "affine.for"
        steps = [op.attributes["step"]] if is_for else ir.ArrayAttr(op.attributes["steps"])
        applied = [defining_op(operand) for operand in op.operands]
        texts = [str(op.attributes["lowerBoundMap" if is_for else "lowerBoundsMap"])]
        texts += [str(inner.attributes["map"]) for inner in applied if inner is not None and inner.name == "affine.apply"]
        divides = any(word in text for word in ("floordiv", "ceildiv", "mod") for text in texts)
        if divides and any(ir.IntegerAttr(step).value != 1 for step in steps):
            raise EmissionError("a loop of a step starts at a quotient or remainder; run --affine-loop-normalize first")


def _always() -> ir.Attribute:
    return ir.Attribute.parse("affine_set<() : (0 == 0)>")


def generate(scop: Scop, schedule: isl.Schedule, places: dict[str, list[isl.AstExpr]] | None = None) -> isl.AstNode:
    """isl's AST of `schedule`, whose bounds are minima and maxima.

    Guards may be disjunctions: told to make none (allow_or 0), isl leaves out statements under guards that need them.
    `places` receives the subscripts of accesses to buffers, by the annotations of the user nodes that run these.
    """
    context = schedule.get_ctx()
    context.set_ast_build_allow_or(1)
    context.set_ast_build_detect_min_max(1)
    context.set_ast_build_atomic_upper_bound(1)
    build = isl.AstBuild.from_context(scop.context)
    if places is not None and any(buffer_accesses(statement) for statement in scop.statements):
        build, _kept = build.set_at_each_domain(_Placer(scop, places))  # the second keeps the callback alive
    return build.node_from_schedule(mark_parallel_bands(schedule))


@dataclass
class _Placer:
    """Called for each user node while isl builds it: notes the subscripts of its accesses to buffers."""

    scop: Scop
    places: dict[str, list[isl.AstExpr]]

    def __call__(self, node: isl.AstNode, build: isl.AstBuild) -> isl.AstNode:
        name = node.user_get_expr().get_op_arg(0).get_id().get_name()
        note = f"at{len(self.places)}"
        self.places[note] = []
        try:
            for access in buffer_accesses(self.scop.by_name[name]):
                self.places[note] += subscripts_at(build, access)
        except isl.Error:  # an exception would end the process; the missing subscripts make an error later
            self.places[note] = []
        return node.set_annotation(isl.Id(note))


@dataclass
class _Builder:
    """Turns AST nodes into ops at the current insertion point."""

    scop: Scop
    lanes: int | None = 0
    places: dict[str, list[isl.AstExpr]] = field(default_factory=dict)
    scope: AffineScope = field(default_factory=AffineScope)
    names: dict[str, ir.AffineExpr] = field(default_factory=dict)
    loop_names: Counter[str] = field(default_factory=Counter)
    """How many loops have been given each name: where isl makes several of one, the names get numbers."""
    homes: list[tuple[ir.Block, list[Buffer]]] = field(default_factory=list)
    """The blocks that buffers may be allocated in, the innermost last, each with the buffers that are."""

    def build(self, tree: isl.AstNode, block: ir.Block) -> None:
        """Build the whole of `tree` in an empty block."""
        for name, value in self.scop.parameters.items():
            self.names[name] = self.scope.symbol(value)
        with ir.InsertionPoint(block), self._home(block):
            self._node(tree)

    @contextmanager
    def _home(self, block: ir.Block) -> Iterator[None]:
        """Buffers are allocated where `block` begins and freed where it ends: once for all loops in it that run in order."""
        self.homes.append((block, []))
        yield
        for buffer in self.homes.pop()[1]:
            memref = self.scope.buffers.pop(buffer.name)
            if not buffer.is_on_stack:
                ir.Operation.create("memref.dealloc", [], [memref], loc=self._location())

    def _scratch(self, name: str) -> None:
        """Allocate the buffer of that name, if there is one and code that isl makes twice has it not already."""
        buffer = next((array for array in self.scop.arrays if array.name == name), None)
        if name in self.scope.buffers or not isinstance(buffer, Buffer):
            return
        block, allocated = self.homes[-1]
        self.scope.buffers[name] = allocate(buffer, self._location(), ir.InsertionPoint.at_block_begin(block))
        allocated.append(buffer)

    def _node(self, node: isl.AstNode, words: tuple[str, ...] = ()) -> None:
        """Build `node`; `words` say what becomes of the loops of the innermost band around that are still to come."""
        kind = node.get_type()
        if kind == isl.ast_node_type.block:
            for child in children_of(node):
                self._node(child, words)
        elif kind == isl.ast_node_type.mark:
            mark, body = node.mark_get_id().get_name(), node.mark_get_node()
            self._scratch(scratch_of(mark))
            self._node(body, words_of(mark) or words)
        elif kind == isl.ast_node_type.for_:
            self._for(node, words)
        elif kind == isl.ast_node_type.if_:
            self._condition(node, words)
        elif kind == isl.ast_node_type.user:
            StatementCopy(*self._instance(node), self.scope).run()
        else:
            raise EmissionError(f"a node of kind {kind}")

    def _for(self, node: isl.AstNode, words: tuple[str, ...]) -> None:
        """A loop, or what stands for it: its body at the only value, a copy for each value, or vectors."""
        (word, name), inner = (parts_of(words[0]), words[1:]) if words else ((LOOP, ""), ())
        if node.for_is_degenerate():
            return self._body_at(node, affine_expression(node.for_get_init(), self.names), inner)
        if word == LANES and self._vectors(node):
            return None
        values = self._values(node)
        if word == LANES and self.lanes is None:
            names = ", ".join(statement_of(call) for call in calls_in(node.for_get_body()) or [])
            raise EmissionError(f"a vector form of {names or 'a loop'}, which has none")
        if word == COPIES and values is not None and len(values) <= _MOST_COPIES:
            for value in values:
                self._body_at(node, ir.AffineExpr.get_constant(value), inner)
            return None
        if word == UNORDERED:
            return self._parallel(node, inner, name)
        return self._loop(node, inner, word in (PARALLEL, LANES), name)

    def _body_at(self, node: isl.AstNode, value: ir.AffineExpr, words: tuple[str, ...]) -> None:
        self.names[iterator_of(node)] = value
        self._node(node.for_get_body(), words)

    def _values(self, node: isl.AstNode) -> range | None:
        """The values of a loop's variable; None where they are not numbers."""
        lower, upper = self._bounds(node)
        numbers = [bound.maybe_downcast() for bound in (*lower, *upper)]
        if len(numbers) != 2 or not all(isinstance(number, ir.AffineConstantExpr) for number in numbers):
            return None
        return range(numbers[0].value, numbers[1].value, step_of(node))

    def _bounds(self, node: isl.AstNode) -> tuple[list[ir.AffineExpr], list[ir.AffineExpr]]:
        """The lower bounds of a loop, and the upper ones, which its variable stays below."""
        condition = node.for_get_cond()
        gap = int(condition.get_op_type() == _Op.le)
        lower = bounds(node.for_get_init(), _Op.max, self.names)
        return lower, [bound + gap for bound in bounds(condition.get_op_arg(1), _Op.min, self.names)]

    def _loop(self, node: isl.AstNode, inner: tuple[str, ...], is_parallel: bool, name: str) -> None:
        lower, upper = self._bounds(node)
        (lower_map, lower_operands), (upper_map, upper_operands) = self.scope.map(lower), self.scope.map(upper)
        loop = affine.AffineForOp(
            lower_map,
            upper_map,
            step_of(node),
            lower_bound_operands=lower_operands,
            upper_bound_operands=upper_operands,
            loc=self._loop_location(node),
        )
        if is_parallel:
            loop.operation.attributes[loops.PARALLEL] = ir.UnitAttr.get()
        self._fill(loop.operation, loop.body, node, inner, name)

    def _parallel(self, node: isl.AstNode, inner: tuple[str, ...], name: str) -> None:
        lower, upper = self._bounds(node)
        (lower_map, lower_operands), (upper_map, upper_operands) = self.scope.map(lower), self.scope.map(upper)
        index = ir.IndexType.get()
        loop = ir.Operation.create(
            "affine.parallel",
            operands=[*lower_operands, *upper_operands],
            attributes={
                "reductions": ir.ArrayAttr.get([]),
                "lowerBoundsMap": ir.AffineMapAttr.get(lower_map),
                "lowerBoundsGroups": _group(len(lower)),
                "upperBoundsMap": ir.AffineMapAttr.get(upper_map),
                "upperBoundsGroups": _group(len(upper)),
                "steps": ir.ArrayAttr.get([ir.IntegerAttr.get(ir.IntegerType.get_signless(64), step_of(node))]),
            },
            regions=1,
            loc=self._loop_location(node),
        )
        self._fill(loop, loop.regions[0].blocks.append(index, arg_locs=[self._loop_location(node)]), node, inner, name)

    def _fill(self, loop: ir.Operation, body: ir.Block, node: isl.AstNode, inner: tuple[str, ...], name: str) -> None:
        """Name a loop and build its body."""
        if name:
            self.loop_names[name] += 1
            number = self.loop_names[name]
            loop.attributes[NAME] = ir.StringAttr.get(name if number == 1 else f"{name}.{number}")
        self.scope.variables.append(body.arguments[0])
        has_order = loop.name == "affine.for" and loops.PARALLEL not in loop.attributes
        with ir.InsertionPoint(body):
            with nullcontext() if has_order else self._home(body):
                self._body_at(node, ir.AffineExpr.get_dim(len(self.scope.variables) - 1), inner)
            affine.AffineYieldOp([], loc=self._location())
        self.scope.variables.pop()

    def _vectors(self, node: isl.AstNode) -> bool:
        """Build the loop as vectors; False, with nothing built, where a statement has no form on vectors."""
        calls = calls_in(node.for_get_body())
        values = self._values(node)
        width = len(values or ()) if self.lanes is None else self.lanes
        if calls is None or not width or step_of(node) != 1:
            return False
        is_fixed = values is not None and len(values) <= _MOST_COPIES * width
        lane = len(self.scope.variables) + (not is_fixed)
        self.names[iterator_of(node)] = ir.AffineExpr.get_dim(lane)
        instances = [self._instance(call) for call in calls]
        masked = not is_fixed or values is None or bool(len(values) % width)
        if not all(can_copy_lanes(*instance, lane, masked=masked) for instance in instances):
            return False
        if values is None or not is_fixed:
            self._masked_vectors(node, lane, width)
            return True
        for start in values[::width]:
            mask = (
                lane_mask(self.scope, width, [], [ir.AffineExpr.get_constant(values.stop - start)], self._location())
                if values.stop < start + width
                else None
            )
            for instance in instances:
                LaneCopy(*instance, self.scope, lane, ir.AffineExpr.get_constant(start), width, mask).run()
        return True

    def _masked_vectors(self, node: isl.AstNode, lane: int, width: int) -> None:
        """A loop over those vectors, counted from variable 0, that hold some of the iterations."""
        lower, upper = self._bounds(node)
        constraints = [(high - low - 1, False) for low in lower for high in upper]
        condition, operands = self.scope.set(constraints)
        guard = affine.AffineIfOp(condition, cond_operands=operands, loc=self._location())
        with ir.InsertionPoint(guard.then_block):
            (lower_map, lower_operands), (upper_map, upper_operands) = (
                self.scope.map([ir.AffineExpr.get_floor_div(bound, width) for bound in lower]),
                self.scope.map([ir.AffineExpr.get_ceil_div(bound, width) for bound in upper]),
            )
            loop = affine.AffineForOp(
                lower_map,
                upper_map,
                lower_bound_operands=lower_operands,
                upper_bound_operands=upper_operands,
                loc=self._location(),
            )
            loop.operation.attributes[loops.PARALLEL] = ir.UnitAttr.get()
            start = ir.AffineExpr.get_dim(lane - 1) * width
            self.scope.variables.append(loop.induction_variable)
            with ir.InsertionPoint(loop.body):
                before = [] if begins_whole(lower, width) else [bound - start for bound in lower]
                mask = lane_mask(self.scope, width, before, [bound - start for bound in upper], self._location())
                self.names[iterator_of(node)] = ir.AffineExpr.get_dim(lane)
                for call in calls_in(node.for_get_body()) or []:
                    LaneCopy(*self._instance(call), self.scope, lane, start, width, mask).run()
                affine.AffineYieldOp([], loc=self._location())
            self.scope.variables.pop()
            affine.AffineYieldOp([], loc=self._location())

    def _condition(self, node: isl.AstNode, words: tuple[str, ...]) -> None:
        """An `affine.if`; where one of several conjunctions may hold, one for each in the `else` of the one before."""
        self._choice(node, conjunctions(node.if_get_cond(), self.names), words)

    def _choice(self, node: isl.AstNode, choices: Sequence[Sequence[Constraint]], words: tuple[str, ...]) -> None:
        condition, operands = self.scope.set(choices[0])
        has_else = len(choices) > 1 or node.if_has_else_node()
        op = affine.AffineIfOp(condition, cond_operands=operands, has_else=has_else, loc=self._location())
        with ir.InsertionPoint(op.then_block):
            self._node(node.if_get_then_node(), words)
            affine.AffineYieldOp([], loc=self._location())
        if not has_else:
            return
        with ir.InsertionPoint(op.else_block):
            if len(choices) > 1:
                self._choice(node, choices[1:], words)
            else:
                self._node(node.if_get_else_node(), words)
            affine.AffineYieldOp([], loc=self._location())

    def _instance(self, node: isl.AstNode) -> tuple[Statement, list[ir.AffineExpr]]:
        """The statement that a user node runs, and the values of its loops."""
        call = node.user_get_expr()
        statement = self.scop.by_name[call.get_op_arg(0).get_id().get_name()]
        given = [call.get_op_arg(at) for at in range(1, call.get_op_n_arg())]
        if buffer_accesses(statement):
            given = self._with_places(given, node, statement)
        return statement, [affine_expression(value, self.names) for value in given]

    def _with_places(self, given: list[isl.AstExpr], node: isl.AstNode, statement: Statement) -> list[isl.AstExpr]:
        """The values of the loops, where the statement has ops that use them, and the subscripts of accesses to buffers."""
        found = self.places[node.get_annotation().get_name()]
        if len(found) != sum(access.array.rank for access in buffer_accesses(statement)):
            raise EmissionError(f"subscripts of {statement.name} in its buffer that are not affine")
        return [*given[: len(statement.loops)], *found]

    def _loop_location(self, node: isl.AstNode) -> ir.Location:
        """Where the loop that the first statement inside had at this depth comes from, or else that statement."""
        first = first_statement(node)
        if not first:
            return self._location()
        statement, depth = self.scop.by_name[first], len(self.scope.variables)
        return statement.loops[depth].op.location if depth < len(statement.loops) else statement.location

    def _location(self) -> ir.Location:
        return self.scop.items[0].location


def _group(count: int) -> ir.Attribute:
    """How many results of a bounds' map belong to the only variable of an `affine.parallel`."""
    return ir.DenseIntElementsAttr.get(np.array([count], np.int32))
