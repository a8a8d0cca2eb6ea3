"""Serial loops that the parallel loops inside may be moved out of, with copies to local memory beside these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, is_allocation, may_alias, nested_ops, touched_roots, written_roots
from dlc.lowering.affine.cost.loop_work import likely_trips, range_at, work_of
from dlc.lowering.affine.ir.loops import PARALLEL, PARALLEL_GROUP, Bound, build_for, real_ops
from dlc.lowering.affine_to_llvm.parallel.ranges import loop_range
from dlc.lowering.outlining import noalias_arguments
from dlc.lowering.policy import policy


@dataclass(frozen=True)
class ParallelGroup:
    """A serial loop `root` with the `loops` in it that are parts of one parallel loop: equal values of their variables may depend
    on each other over all iterations of `root`, others do not.

    Each part needs memory of its own for what `scratch` allocates, and fills it by the ops `others` beside the loops.
    """

    root: ir.Operation
    loops: tuple[ir.Operation, ...]
    scratch: tuple[ir.Operation, ...]
    others: tuple[ir.Operation, ...] = ()

    @property
    def work_beside(self) -> int:
        """The work of what each part does again, by estimate."""
        return sum(work_of(op) * _runs(op, self.root) for op in self.others)

    @property
    def least_share(self) -> int:
        """The least work of a part, for what each does again: copies, which wait for memory. Two parts are worth it."""
        return min(
            policy().parallel.repeated_part * policy().parallel.copy_instructions * self.work_beside, work_of(self.root) // 2
        )

    @property
    def forks(self) -> int:
        """How often the pool would be asked if the parallel loops inside were parallel regions, by estimate."""
        return sum(_runs(op, self.root) for op in (*self.loops, *self.others))

    @property
    def pays(self) -> bool:
        """Whether one parallel region is better than many. Where all copies are loops that can be shared, what counts is the cost
        of asking the pool; else that each thread copies as long as all would wait for one."""
        if all(PARALLEL in op.attributes for op in self.others):
            return policy().parallel.copy_instructions * self.work_beside <= policy().parallel.fork_instructions * self.forks
        return policy().parallel.beside_gain * self.work_beside <= work_of(self.root)

    @property
    def moved(self) -> list[ir.Operation]:
        """The ops of a parallel region: `root` between what allocates and what frees the scratch memory."""
        users = [use.owner.operation for op in self.scratch for use in op.results[0].uses]
        return [*self.scratch, self.root, *(user for user in users if user.name == "memref.dealloc")]

    @property
    def is_known_before(self) -> bool:
        """Whether the bounds of the loops are known before `root`."""
        inside = {block for op in nested_ops(self.root) for region in op.regions for block in region.blocks}
        return all(inside.isdisjoint(_operand_blocks(loop)) for loop in self.loops)

    def weights(self) -> dict[int, int]:
        """The work for the first and for the last value of the loops' variable, by estimate; nothing where bounds are not known."""
        ranges = [(loop, at, range_at(loop, at)) for loop in self.loops for at in _samples(loop, self.root)]
        known = [(loop, at, each) for loop, at, each in ranges if each]
        if not known or any(each is None for _, _, each in ranges):
            return {}
        first, last = min(each[0] for _, _, each in known), max(each[-1] for _, _, each in known)
        found = {first: 1, last: 1}
        for loop, at, each in known:
            for value in (value for value in found if value in each):
                found[value] += sum(work_of(op, {**at, loop.regions[0].blocks[0].arguments[0]: value}) for op in _body(loop))
        whole, share = work_of(self.root), sum(found.values()) * (last - first + 1) // 2
        return {value: max(1, work * whole // max(1, share)) for value, work in found.items()}

    def clip(self, lower: ir.Value, upper: ir.Value) -> None:
        """Leave the iterations of the loops from `lower` to below `upper`, which are defined at the top of the function."""
        for loop in self.loops:
            found = loop_range(loop)
            below, above = found.lower, found.upper
            with ir.InsertionPoint(loop), loop.location:
                new = build_for(_also(below, lower), _also(above, upper), parallel=True)
            block, old = new.regions[0].blocks[0], loop.regions[0].blocks[0]
            old.arguments[0].replace_all_uses_with(block.arguments[0])
            with ir.InsertionPoint(block), loop.location:
                end = ir.Operation.create("affine.yield")
            for op in real_ops(old):
                op.move_before(end)
            loop.erase()


def _samples(loop: ir.Operation, root: ir.Operation) -> list[dict[ir.Value, int]]:
    """Values of the variables of the serial loops from `root` to `loop`, spread evenly over their ranges."""
    found: list[dict[ir.Value, int]] = [{}]
    around = _loops_around(loop, root)
    for each in around:
        most = policy().limits.sampled_iterations if each == around[-1] else policy().limits.sampled_outer_iterations
        variable = each.regions[0].blocks[0].arguments[0]
        found = [{**at, variable: value} for at in found for value in _spread(range_at(each, at), most)]
    return found


def _loops_around(op: ir.Operation, root: ir.Operation) -> list[ir.Operation]:
    """The loops from `root` to `op`, the outermost first."""
    around: list[ir.Operation] = []
    while op != root:
        op = op.parent.operation
        if op.name == "affine.for":
            around.insert(0, op)
    return around


def _runs(op: ir.Operation, root: ir.Operation) -> int:
    """How often `op` runs in one run of `root`, about."""
    return prod(likely_trips(loop) or 1 for loop in _loops_around(op, root))


def _spread(values: range | None, most: int) -> list[int]:
    """So many of the values at most; none of a range that is not known."""
    if not values:
        return []
    length = (values[-1] - values[0]) // values.step + 1  # `len` takes no more than 2^63 - 1
    count = min(most, length)
    return [values[(2 * at + 1) * length // (2 * count)] for at in range(count)]


def _body(loop: ir.Operation) -> list[ir.Operation]:
    return real_ops(loop.regions[0].blocks[0])


def _operand_blocks(loop: ir.Operation) -> list[ir.Block]:
    """The blocks that the operands of a loop belong to."""
    return [value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block for value in loop.operands]


@dataclass
class _Reading:
    """What is inside of a serial loop: parts of the parallel loop, and what else there is."""

    group: ir.Attribute
    loops: list[ir.Operation] = field(default_factory=list)
    others: list[ir.Operation] = field(default_factory=list)

    def read(self, block: ir.Block) -> None:
        for op in real_ops(block):
            belongs = PARALLEL_GROUP in op.attributes and op.attributes[PARALLEL_GROUP] == self.group
            if belongs and PARALLEL in op.attributes:
                self.loops.append(op)
            elif (belongs and not len(op.results)) or op.name == "affine.if":
                for region in op.regions:
                    for inner in region.blocks:
                        self.read(inner)
            elif op.name != "affine.apply":
                self.others.append(op)


def parallel_group(root: ir.Operation) -> ParallelGroup | None:
    """The nest of the serial loop `root`; None where there is none, or nothing is known of bounds."""
    if PARALLEL_GROUP not in root.attributes or PARALLEL in root.attributes or len(root.results):
        return None
    reading = _Reading(root.attributes[PARALLEL_GROUP])
    reading.read(root.regions[0].blocks[0])
    if not reading.loops or any(not _is_plain(loop) for loop in reading.loops):
        return None
    scratch = _private_memory(reading, root)
    nest = None if scratch is None else ParallelGroup(root, tuple(reading.loops), scratch, tuple(reading.others))
    if nest is None or not nest.pays:
        return None
    return nest if nest.is_known_before or nest.weights() else None


def _is_plain(loop: ir.Operation) -> bool:
    """Whether a loop takes steps of one and carries no values."""
    return ir.IntegerAttr(loop.attributes["step"]).value == 1 and not len(loop.results)


def _private_memory(reading: _Reading, root: ir.Operation) -> tuple[ir.Operation, ...] | None:
    """The allocations of all that is written beside the loops; None where more than that happens there.

    Nothing else may see that memory, and what is read there must not be written by the loops.
    """
    written = list(dict.fromkeys(value for op in reading.others for value in written_roots(op)))
    inside = set(nested_ops(root))
    for memref in written:
        users = [use.owner.operation for use in memref.uses]
        if not is_allocation(memref) or any(user not in inside and user.name != "memref.dealloc" for user in users):
            return None
    known = noalias_arguments(_function_of(root))
    changed = [value for loop in reading.loops for value in written_roots(loop)]
    for value in _read_only(reading.others, written):
        if any(value == other or (value not in known and other not in known and may_alias(value, other)) for other in changed):
            return None
    allocations = [defining_op(memref) for memref in written]
    return tuple(op for op in allocations if op is not None and op not in inside)


def _read_only(ops: Sequence[ir.Operation], written: Sequence[ir.Value]) -> Iterator[ir.Value]:
    return (value for op in ops for value in touched_roots(op) if value not in written)


def _function_of(op: ir.Operation) -> ir.Operation:
    while op.name != "func.func":
        op = op.parent.operation
    return op


def _also(bound: Bound, value: ir.Value) -> Bound:
    """`bound` with `value` as one more result."""
    map = bound.map
    results = [*map.results, ir.AffineSymbolExpr.get(map.n_symbols)]
    return Bound(ir.AffineMap.get(map.n_dims, map.n_symbols + 1, results), (*bound.operands, value))
