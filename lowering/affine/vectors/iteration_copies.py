"""Several iterations of an innermost loop as one: the loop of these, the loop of what is left over, and copies of the body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dlc._mlir import affine, ir
from dlc.analysis.buffers import is_memref
from dlc.lowering.affine.ir.bounds import BOUND_ATTRIBUTES, Bounds
from dlc.lowering.affine.ir.expressions import shifted


@dataclass(frozen=True, eq=False)
class CutLoop:
    """An `affine.for` with bounds of one map result each, and the loop before it that takes `count` of its iterations at a time."""

    loop: ir.Operation
    count: int
    whole: ir.Operation

    @classmethod
    def of(cls, loop: ir.Operation, count: int) -> CutLoop:
        """Make the loop of whole steps, whose body is empty."""
        bounds = Bounds.of(loop)
        lower, _, _ = bounds.together()
        inits = list(loop.operands)[len(bounds.lower_operands) + len(bounds.upper_operands) :]
        return cls(loop, count, _loop(loop, lower.results, [_end(bounds, count)], bounds.step * count, inits))

    def finish(self) -> None:
        """Move the body into a loop of the iterations that are left over, which goes on with what the other has carried."""
        bounds = Bounds.of(self.loop)
        left = _left_over(bounds, self.count)
        results = list(self.whole.results)
        if left != 0:
            begin = _end(bounds, self.count)
            # With fewer iterations than none, there are not some left over.
            begins = [begin] if left else [begin, bounds.together()[0].results[0]]
            rest = _loop(self.loop, begins, bounds.together()[1].results, bounds.step, results)
            _move_body(self.loop, rest)
            results = list(rest.results)
        for before, after in zip(self.loop.results, results, strict=True):
            before.replace_all_uses_with(after)
        self.loop.erase()


def _end(bounds: Bounds, count: int) -> ir.AffineExpr:
    """Where the last whole step of `count` iterations ends."""
    lower, upper, _ = bounds.together()
    first, size = lower.results[0], bounds.step * count
    return first + ir.AffineExpr.get_floor_div(upper.results[0] - first + (bounds.step - 1), size) * size


def _left_over(bounds: Bounds, count: int) -> int | None:
    """Iterations that are no whole step; None where the run time knows, or there may be fewer than none."""
    lower, upper, _ = bounds.together()
    distance = (upper.results[0] - lower.results[0]).maybe_downcast()
    if not isinstance(distance, ir.AffineConstantExpr) or distance.value < 0:
        return None
    return -(-distance.value // bounds.step) % count


def _loop(
    loop: ir.Operation, lower: Sequence[ir.AffineExpr], upper: Sequence[ir.AffineExpr], step: int, inits: Sequence[ir.Value]
) -> ir.Operation:
    """A loop before `loop` with its attributes, bounds of the operands of both of its bounds, and an empty body."""
    like, _, operands = Bounds.of(loop).together()
    low, high = (ir.AffineMap.get(like.n_dims, like.n_symbols, list(results)) for results in (lower, upper))
    with ir.InsertionPoint(loop):
        made = affine.AffineForOp(
            low, high, step, list(inits), lower_bound_operands=operands, upper_bound_operands=operands, loc=loop.location
        )
    for name, attribute in loop.attributes.items():
        if name not in BOUND_ATTRIBUTES:
            made.operation.attributes[name] = attribute
    return made.operation


def _move_body(loop: ir.Operation, other: ir.Operation) -> None:
    old, new = loop.regions[0].blocks[0], other.regions[0].blocks[0]
    for before, after in zip(old.arguments, new.arguments, strict=True):
        before.replace_all_uses_with(after)
    for op in [inner.operation for inner in old.operations]:
        new.append(op)


@dataclass
class IterationCopies:
    """Emits ops of the iterations `0 .. count - 1` of a step of `cut.loop` in `cut.whole`, at the insertion point."""

    cut: CutLoop
    made: dict[tuple[int, ir.Value], ir.Value] = field(default_factory=dict)

    def value(self, value: ir.Value, at: int) -> ir.Value:
        """What stands for `value` in iteration `at`; what computes it is made where it has not been."""
        body = self.cut.loop.regions[0].blocks[0]
        arguments = list(body.arguments)
        if value in arguments:
            return self._argument(arguments.index(value), at)
        if isinstance(value, ir.BlockArgument) or value.owner.operation.block != body:
            return value
        if (at, value) not in self.made:
            self.make(value.owner.operation, at)
        return self.made[at, value]

    def make(self, op: ir.Operation, at: int) -> None:
        """Build `op` in iteration `at`."""
        copy = self._moved(op, at) if "map" in op.attributes else None
        if copy is None:
            operands = [self.value(operand, at) for operand in op.operands]
            kinds = [result.type for result in op.results]
            copy = ir.Operation.create(op.name, kinds, operands, dict(op.attributes.items()), loc=op.location)
        self.made.update(((at, old), new) for old, new in zip(op.results, copy.results, strict=True))

    def _argument(self, which: int, at: int) -> ir.Value:
        own = self.cut.whole.regions[0].blocks[0].arguments[which]
        if at == 0:
            return own
        if which:
            body = self.cut.loop.regions[0].blocks[0]
            return self.value(body.operations[len(body.operations) - 1].operands[which - 1], at - 1)
        return affine.AffineApplyOp(ir.AffineMap.get(1, 0, [ir.AffineExpr.get_dim(0) + at * self._step]), [own]).result

    @property
    def _step(self) -> int:
        return Bounds.of(self.cut.loop).step

    def _moved(self, op: ir.Operation, at: int) -> ir.Operation | None:
        """The copy of an op with a map, moved by `at`; None where the loop's variable is none of the map's dims."""
        variable = self.cut.loop.regions[0].blocks[0].arguments[0]
        indexing, first = op.attributes["map"].value, _first_index(op)
        places = [place - first for place, operand in enumerate(op.operands) if operand == variable]
        if any(not 0 <= place < indexing.n_dims for place in places):
            return None
        operands = [self.value(operand, 0 if operand == variable else at) for operand in op.operands]
        attributes = dict(op.attributes.items())
        attributes["map"] = ir.AffineMapAttr.get(shifted(indexing, dict.fromkeys(places, at * self._step)))
        return ir.Operation.create(op.name, [result.type for result in op.results], operands, attributes, loc=op.location)


def _first_index(op: ir.Operation) -> int:
    """Which operand is the first of the map's."""
    return next((at + 1 for at, operand in enumerate(op.operands) if is_memref(operand)), 0)
