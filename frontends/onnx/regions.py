"""Branches and loops over tensors (`scf.if`, `scf.for`, `scf.while`), built from what their bodies turn out to give.

Carried values keep their element type and rank; a dim that a body changes is of no fixed size. So a body is built again, with fewer
fixed sizes, until it gives what it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from dlc._mlir import ir
from dlc.dialects.dl.types import TensorType, mlir_type, type_of_value
from dlc.frontends.onnx.importers import Imported
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.stacks import (
    Placement,
    Slices,
    Stack,
    arith,
    bool_type,
    compared,
    constant,
    index_of,
    relaxed,
    scalar,
    stack_of,
)


@dataclass(frozen=True)
class BodyStep:
    """What a body gives: whether another step follows (None: that is not asked), what it hands on, and what is kept of it."""

    go_on: Imported | None
    carried: Sequence[Imported]
    kept: Sequence[Imported]


Body = Callable[[ir.Value, Sequence[ir.Value]], BodyStep]
"""Builds a step at the insertion point, from its number (an index) and the carried values."""


def build_if(node: NodeContext, condition: ir.Value, branches: Sequence[Callable[[], Sequence[Imported]]]) -> list[ir.Value]:
    """What one of two branches gives, by a tensor of one truth value."""
    blocks = [_Draft([]) for _ in branches]
    given: list[list[ir.Value]] = []
    for draft, branch in zip(blocks, branches, strict=True):
        with draft.place():
            given.append([as_value(node, item) for item in branch()])
    if len(given[0]) != len(given[1]):
        node.unsupported(f"its branches give {len(given[0])} and {len(given[1])} values; both have to give those of the node")
    names = list(node.node.output)
    for name, left, right in zip(names, *given, strict=False):
        _require_one_rank(node, name, type_of_value(left), type_of_value(right))
    kinds = [
        _joined(node, f"output '{name}'", type_of_value(left), type_of_value(right), "branches give it")
        for name, left, right in zip(names, *given, strict=False)
    ]
    op = ir.Operation.create(
        "scf.if", results=[mlir_type(kind) for kind in kinds], operands=[scalar(condition)], regions=len(branches)
    )
    for draft, values, region in zip(blocks, given, op.regions, strict=True):
        with draft.place():
            ir.Operation.create("scf.yield", operands=[relaxed(value, kind) for value, kind in zip(values, kinds, strict=False)])
        draft.block.append_to(region)
    return list(op.results)


def build_loop(
    node: NodeContext,
    steps: ir.Value | int | None,
    start: ir.Value | None,
    carried: Sequence[ir.Value],
    body: Body,
    placements: Sequence[Placement] | None = None,
) -> list[ir.Value]:
    """Run `body` `steps` times (None: without end), as long as it wants to go on; `start` says whether it begins (None: it does).

    Returns the carried values after the last step, then what was kept of all steps, stacked as `placements` says.
    """
    kinds = [type_of_value(value) for value in carried]
    while True:
        draft = _Draft([ir.IndexType.get(), *(mlir_type(kind) for kind in kinds)])
        with draft.place():
            step = body(draft.block.arguments[0], list(draft.block.arguments)[1:])
            given = [as_value(node, item) for item in step.carried]
        wider = [
            _joined(node, f"carried value {index}", before, type_of_value(after), "the body takes and gives it")
            for index, (before, after) in enumerate(zip(kinds, given, strict=True))
        ]
        if wider == kinds:
            break
        kinds = wider
    return _Loop(node, steps, start, draft, kinds, placements).finish(carried, step, given)


@dataclass
class _Loop:
    """A loop whose body is built; `draft` has the step's number and the carried values as arguments."""

    node: NodeContext
    steps: ir.Value | int | None
    start: ir.Value | None
    draft: _Draft
    kinds: Sequence[TensorType]
    placements: Sequence[Placement] | None
    stacked: list[Stack] = field(default_factory=list)

    def finish(self, carried: Sequence[ir.Value], step: BodyStep, given: Sequence[ir.Value]) -> list[ir.Value]:
        go_on = None if step.go_on is None or _is_true(step.go_on) else step.go_on
        counted = go_on is None and self.start is None and self.steps is not None
        placements = self.placements or [Placement()] * len(step.kept)
        steps = self._count()
        for item, placement in zip(step.kept, placements, strict=True):
            with self.draft.place():
                value = as_value(self.node, item)
            self.stacked.append(stack_of(value, placement, self.steps, steps, counted))
        arguments = [relaxed(value, kind) for value, kind in zip(carried, self.kinds, strict=True)]
        arguments += [stack.begin() for stack in self.stacked]
        with self.draft.place():
            values = [relaxed(value, kind) for value, kind in zip(given, self.kinds, strict=True)]
            for stack in self.stacked:
                argument = self.draft.add(stack.kind)
                values.append(stack.add(self.draft.block.arguments[0], argument))
        # Upstream takes what an `scf.for` carries to keep its shape.
        is_shaped = all(kind.is_static for kind in self.kinds) and all(isinstance(stack, Slices) for stack in self.stacked)
        is_for = counted and is_shaped
        count, *results = self._for(steps, arguments, values) if is_for else self._while(steps, arguments, values, go_on)
        ends = [stack.end(value, count) for stack, value in zip(self.stacked, results[len(self.kinds) :], strict=True)]
        return [*results[: len(self.kinds)], *ends]

    def _count(self) -> ir.Value:
        """The number of steps as an index, 0 where it is negative."""
        most = np.iinfo(np.int64).max
        if self.steps is None or isinstance(self.steps, int):
            return constant(most if self.steps is None else max(self.steps, 0))
        return arith("maxsi", index_of(self.steps), constant(0))

    def _for(self, steps: ir.Value, arguments: Sequence[ir.Value], values: Sequence[ir.Value]) -> list[ir.Value]:
        """The number of steps, then what is carried."""
        operands = [constant(0), steps, constant(1), *arguments]
        op = ir.Operation.create("scf.for", results=[value.type for value in arguments], operands=operands, regions=1)
        with self.draft.place():
            ir.Operation.create("scf.yield", operands=values)
        self.draft.block.append_to(op.regions[0])
        return [steps, *op.results]

    def _while(
        self, steps: ir.Value, arguments: Sequence[ir.Value], values: Sequence[ir.Value], go_on: Imported | None
    ) -> list[ir.Value]:
        """The number of steps, then what is carried. The loop itself carries whether to go on, too."""
        starts = [constant(0), *arguments, constant(1, bool_type()) if self.start is None else scalar(self.start)]
        kinds = [value.type for value in starts]
        op = ir.Operation.create("scf.while", results=kinds, operands=starts, regions=2)
        asked = op.regions[0].blocks.append(*kinds, arg_locs=[ir.Location.current] * len(kinds))
        with ir.InsertionPoint(asked):
            number, *_, wanted = asked.arguments
            going = arith("andi", compared("slt", number, steps), wanted)
            ir.Operation.create("scf.condition", operands=[going, *asked.arguments])
        self.draft.block.add_argument(bool_type(), ir.Location.current)
        with self.draft.place():
            following = arith("addi", self.draft.block.arguments[0], constant(1))
            wish = constant(1, bool_type()) if go_on is None else scalar(as_value(self.node, go_on))
            ir.Operation.create("scf.yield", operands=[following, *values, wish])
        self.draft.block.append_to(op.regions[1])
        return list(op.results)[:-1]


class _Draft:
    """A block under construction that is in no op yet."""

    def __init__(self, kinds: Sequence[ir.Type]) -> None:
        self._holder = ir.Operation.create("scf.execute_region", regions=1, ip=False)
        self.block = self._holder.regions[0].blocks.append(*kinds, arg_locs=[ir.Location.current] * len(kinds))

    def place(self) -> ir.InsertionPoint:
        return ir.InsertionPoint(self.block)

    def add(self, kind: TensorType) -> ir.Value:
        return self.block.add_argument(mlir_type(kind), ir.Location.current)


def _is_true(item: Imported) -> bool:
    return isinstance(item, np.ndarray) and bool(item.all())


def _require_one_rank(node: NodeContext, name: str, left: TensorType, right: TensorType) -> None:
    """Branches whose values have other ranks are no code: which one is taken must be known."""
    if left.dtype == right.dtype and left.rank != right.rank:
        reason = f"branches give '{name}' as {left} and {right}, so that the condition (input 0) must be known at compile time"
        node.unknown(0, reason)


def _joined(node: NodeContext, what: str, left: TensorType, right: TensorType, how: str) -> TensorType:
    """The type that says of both what they share; sizes that differ are not fixed."""
    if left.dtype != right.dtype or left.rank != right.rank:
        node.unsupported(f"{what} has two types: {how} as {left} and {right}; element type and rank have to be the same")
    dims = [one if one == other and isinstance(one, int) else None for one, other in zip(left.shape, right.shape, strict=True)]
    return left.with_shape(dims)


def as_value(node: NodeContext, item: Imported) -> ir.Value:
    """The MLIR value of a result of an importer."""
    return node.new_param(item, "constant") if isinstance(item, np.ndarray) else item
