"""One `linalg.generic` on buffers, read into plain data."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.affine.ir.expressions import mentions
from dlc.lowering.affine.ir.loops import Bound
from dlc.lowering.linalg.buffer_sizes import axis_size


@dataclass(frozen=True)
class Generic:
    """One `linalg.generic` on buffers, read once: its operands with their indexing maps, and its loop kinds."""

    op: ir.Operation
    operands: tuple[ir.Value, ...]
    maps: tuple[ir.AffineMap, ...]
    parallel: tuple[bool, ...]
    num_inputs: int

    @staticmethod
    def of(op: ir.Operation) -> Generic:
        """Read `op`, a `linalg.generic`."""
        inputs, outputs = op.attributes["operandSegmentSizes"]
        kinds = [str(kind) == "#linalg.iterator_type<parallel>" for kind in op.attributes["iterator_types"]]
        maps = tuple(attribute.value for attribute in op.attributes["indexing_maps"])
        return Generic(op, tuple(op.operands)[: inputs + outputs], maps, tuple(kinds), inputs)

    @property
    def body(self) -> ir.Block:
        """The scalar computation."""
        return self.op.regions[0].blocks[0]

    @property
    def inputs(self) -> tuple[ir.Value, ...]:
        """The operands that are only read."""
        return self.operands[: self.num_inputs]

    @property
    def outputs(self) -> tuple[ir.Value, ...]:
        """The buffers that are written."""
        return self.operands[self.num_inputs :]

    def output_dims(self, output: int) -> set[int]:
        """The loops that select an element of output `output` on their own."""
        return {position for position in map(dim_position, self.maps[output].results) if position is not None}

    @property
    def reductions(self) -> list[int]:
        """The loops that linalg calls reductions."""
        return [loop for loop, parallel in enumerate(self.parallel) if not parallel]

    def moves(self, output: int) -> bool:
        """Whether output `output` moves with a reduction: each step of it writes an element of its own."""
        return any(uses_loop(self.maps[output], loop) for loop in self.reductions)

    def reads(self, operand: int) -> bool:
        """Whether the body asks for what operand `operand` holds, an output before the op."""
        return next(iter(self.body.arguments[operand].uses), None) is not None

    @property
    def ordered(self) -> bool:
        """Whether the order of iterations matters: an output is read that moves with a reduction, or not with a parallel loop.

        An output that moves with a reduction and is only written takes what the accumulators are by then: a running sum.
        """
        parallel = {loop for loop, kind in enumerate(self.parallel) if kind}
        outputs = range(self.num_inputs, len(self.operands))
        selected = all(parallel <= self.output_dims(output) for output in outputs)
        return not selected or any(self.moves(output) and self.reads(output) for output in outputs)

    def sources(self) -> list[tuple[ir.Value, int]]:
        """For every loop, an operand and its axis that the loop indexes alone (linalg demands one); static if any is."""
        found: dict[int, tuple[ir.Value, int]] = {}
        for value, indexing in zip(self.operands, self.maps, strict=True):
            for axis, expression in enumerate(indexing.results):
                position = dim_position(expression)
                if position is not None and (position not in found or not value.type.is_dynamic_dim(axis)):
                    found[position] = (value, axis)
        return [found[position] for position in range(len(self.parallel))]

    def extents(self) -> list[int | None]:
        """The iterations of every loop, None where they are dynamic."""
        return [None if value.type.is_dynamic_dim(axis) else value.type.shape[axis] for value, axis in self.sources()]

    def bounds(self) -> list[Bound]:
        """Emit the upper bound of every loop."""
        return [_axis_bound(value, axis) for value, axis in self.sources()]


def dim_position(expression: ir.AffineExpr) -> int | None:
    """The loop that `expression` is, or None when it is anything else than one loop."""
    expression = expression.maybe_downcast()
    return expression.position if isinstance(expression, ir.AffineDimExpr) else None


def _axis_bound(value: ir.Value, axis: int) -> Bound:
    shaped = ir.MemRefType(value.type)
    return Bound.symbol(axis_size(value, axis)) if shaped.is_dynamic_dim(axis) else Bound.constant(shaped.get_dim_size(axis))


def uses_loop(indexing: ir.AffineMap, loop: int) -> bool:
    """Whether any result of `indexing` moves with loop `loop`."""
    return any(mentions(expression, loop) for expression in indexing.results)
