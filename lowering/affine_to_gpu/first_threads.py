"""What one thread of a row does for all of them, in the body of a `gpu.launch`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, nested_ops
from dlc.analysis.integer_sets import constraints_of
from dlc.lowering.affine.ir.accesses import is_store
from dlc.lowering.affine.ir.loops import real_ops
from dlc.lowering.affine_to_gpu.grid import power_above
from dlc.targets.machine import GpuMachine

_BLOCK_SIZES = slice(3, 6)
_THREAD_IDS = slice(3, 6)


@dataclass(frozen=True)
class WarpRows:
    """A `gpu.launch` whose blocks have `lanes` threads along x, which share a row: all of these agree on every id but `lane`.

    They are one warp, or, where a block has one row, several.
    """

    op: ir.Operation
    lane: ir.Value
    lanes: int

    @property
    def body(self) -> ir.Block:
        """What each thread runs."""
        return self.op.regions[0].blocks[0]

    @property
    def ids(self) -> list[ir.Value]:
        """The ids of the block and of the thread, each x first."""
        return list(self.body.arguments)[:6]

    @property
    def thread_ids(self) -> list[ir.Value]:
        """The thread's numbers in its block, x first."""
        return self.ids[_THREAD_IDS]

    def size_of(self, place: int) -> int | None:
        """How many values the id number `place` has; None where that is not constant."""
        source = defining_op(self.op.operands[place])
        return None if source is None or source.name != "arith.constant" else int(source.attributes["value"].value)

    @property
    def block_sizes(self) -> list[int | None]:
        """Threads of a block, x first."""
        return [self.size_of(place) for place in range(_BLOCK_SIZES.start, _BLOCK_SIZES.stop)]

    def is_uniform(self, value: ir.Value) -> bool:
        """Whether all lanes of a row that get here have the same `value`, an index."""
        if value == self.lane:
            return False
        source = defining_op(value)
        if source is None:
            return value in self.ids or self._is_uniform_loop(value)
        if source.name.startswith(("affine.apply", "affine.min", "affine.max")):
            return all(self.is_uniform(operand) for operand in source.operands)
        return source.name == "arith.constant" or not is_inside(source, self.op)

    def _is_uniform_loop(self, value: ir.Value) -> bool:
        """Whether `value` is the variable of a loop whose bounds are uniform, or one of the host."""
        around = value.owner.owner.operation
        if not is_inside(around, self.op):
            return True
        return around.name == "affine.for" and value == value.owner.arguments[0] and self.has_uniform_bounds(around)

    def has_uniform_bounds(self, op: ir.Operation) -> bool:
        """Whether all lanes of a row run an `affine.for` equally often, or take the same branch of an `affine.if`."""
        sizes = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[:2] if op.name == "affine.for" else []
        count = sum(sizes) if sizes else len(op.operands)
        return all(self.is_uniform(operand) for operand in list(op.operands)[:count])

    def meets(self, op: ir.Operation) -> bool:
        """Whether all lanes of a row come to `op`, or none."""
        around = op.parent.operation
        while around != self.op:
            if around.name not in ("affine.for", "affine.if") or not self.has_uniform_bounds(around):
                return False
            around = around.parent.operation
        return True

    def of_first_lane(self) -> Iterator[ir.Operation]:
        """The `affine.if` ops that hold for the first lane of a row alone, where all lanes of it come to."""
        for op in nested_ops(self.op):
            if op.name == "affine.if" and not len(op.results) and self._is_first_lane(op) and self.meets(op):
                yield op

    def _is_first_lane(self, op: ir.Operation) -> bool:
        if len(op.regions[1].blocks):
            return False
        sides, relations = constraints_of(op.attributes["condition"])
        threads, operands = list(self.body.arguments)[_THREAD_IDS], list(op.operands)
        if any(one != "=" for one in relations):
            return False
        found = [operands[place] for side in sides.results if (place := _operand_of(side, sides.n_dims)) is not None]
        return len(found) == len(relations) and self.lane in found and all(value in threads for value in found)


def _operand_of(side: ir.AffineExpr, dims: int) -> int | None:
    """The place of the operand that an expression is."""
    side = side.maybe_downcast()
    if isinstance(side, ir.AffineDimExpr):
        return int(side.position)
    return dims + int(side.position) if isinstance(side, ir.AffineSymbolExpr) else None


def warp_rows(function: ir.Operation, facts: GpuMachine) -> list[WarpRows]:
    """The launches of `function` whose rows have one warp, or a block of several to themselves.

    Blocks of no threads, or of more than a GPU runs, are left to the driver, which refuses them.
    """
    found = []
    for op in [inner for inner in nested_ops(function) if inner.name == "gpu.launch"]:
        rows = WarpRows(op, op.regions[0].blocks[0].arguments[_THREAD_IDS.start], 0)
        lanes, *others = rows.block_sizes
        is_one_row = lanes is not None and lanes % facts.warp_threads == 0 and power_above(lanes) == lanes and others == [1, 1]
        known = [size for size in rows.block_sizes if size is not None]
        if min(known, default=1) < 1 or prod(known) > facts.most_threads:
            continue
        if lanes is not None and (lanes == facts.warp_threads or (lanes and is_one_row)):
            found.append(replace(rows, lanes=lanes))
    return found


def is_inside(op: ir.Operation, outer: ir.Operation) -> bool:
    """Whether `op` lies in a region of `outer`."""
    around = op.parent
    while around is not None and around.operation != outer:
        around = around.operation.parent
    return around is not None


def only_chain(outer: ir.Operation, op: ir.Operation) -> list[ir.Operation] | None:
    """The `affine.if` ops without another branch between `outer` and `op`, outermost first; None where something else is."""
    found: list[ir.Operation] = []
    around = op.parent.operation
    while around != outer:
        if around.name != "affine.if" or len(around.results) or len(around.regions[1].blocks):
            return None
        found.insert(0, around)
        around = around.parent.operation
    return found


def written_in(op: ir.Operation) -> list[ir.Operation]:
    """The stores inside of an `affine.if`."""
    return [inner for block in op.regions[0].blocks for one in real_ops(block) for inner in nested_ops(one) if is_store(inner)]
