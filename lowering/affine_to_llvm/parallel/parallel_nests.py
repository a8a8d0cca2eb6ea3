"""Which parallel loops are worth a trip to the thread pool, and the nests of them that are counted as one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlc._mlir import affine, ir
from dlc.lowering.affine.cost.loop_work import likely_trips, work_of, work_of_iteration
from dlc.lowering.affine.ir.loops import PARALLEL, Bound, build_for, real_ops
from dlc.lowering.affine_to_llvm.parallel.parallel_groups import ParallelGroup, parallel_group
from dlc.lowering.affine_to_llvm.parallel.ranges import LoopRange, loop_range
from dlc.lowering.policy import policy


def parallel_loop(op: ir.Operation) -> LoopRange | None:
    """`op` as a loop with independent iterations and no accumulators; None when it is anything else."""
    if op.name != "affine.for" or PARALLEL not in op.attributes or len(op.results):
        return None
    return loop_range(op)


@dataclass(frozen=True)
class ParallelNest:
    """Loops that count as one range, the outermost first. `first` and `last` are the work of its first and last iteration."""

    loops: tuple[LoopRange, ...]
    first: int
    last: int

    @property
    def root(self) -> ir.Operation:
        """The op that becomes a parallel region."""
        return self.loops[0].op

    @property
    def inner(self) -> int:
        """Iterations of the range for each of the outermost loop."""
        return math.prod(loop.trips or 0 for loop in self.loops[1:])


def parallel_nests(function: ir.Operation, min_work: int) -> Iterator[ParallelNest | ParallelGroup]:
    """The outermost parallel loops of `function` whose work reaches `min_work`, each with the loops merged into it.

    A nest of few iterations around several parallel loops becomes one nest for each of these loops, which then has more iterations
    to share: the tiles of a convolution 7 pixels wide are one row of 32 panels, in ten steps of three and one of two.
    """
    least = least_work(function, min_work)
    for region in function.regions:
        for block in region.blocks:
            for op in real_ops(block):
                if not len(op.regions) or work_of(op) < least:
                    continue
                loop = parallel_loop(op)
                apart = parallel_group(op)
                if loop is not None:
                    yield from (nest for nest in _distributed(_merged(loop)) if work_of(nest.root) >= least)
                elif apart is not None:
                    yield apart
                else:
                    yield from parallel_nests(op, min_work)


def least_work(around: ir.Operation, min_work: int) -> int:
    """The least work of a parallel region in the body of `around`, where the least of all is `min_work`."""
    while around.name not in ("func.func", "affine.for", "scf.for"):
        around = around.parent.operation
    return min_work if around.name == "func.func" else policy().parallel.serial_work_factor * min_work


def _merged(outer: LoopRange) -> ParallelNest:
    """`outer` and the loops perfectly nested in it, until they have enough iterations to share out.

    Long loops of short iterations are cut into blocks, of which the nest has so many that they can still be shared out evenly.
    """
    first, last = (work_of_iteration(outer.op, at) for at in (0, -1))
    nest = [outer]
    while _iterations(nest) < policy().parallel.enough_iterations:
        inside = real_ops(nest[-1].body)
        loop = parallel_loop(inside[0]) if len(inside) == 1 else None
        if loop is None or loop.trips is None:
            break
        nest.append(_in_blocks(loop, loop.trips * _iterations(nest) // policy().parallel.block_iterations))
    return ParallelNest(tuple(nest), first, last)


def _in_blocks(loop: LoopRange, size: int) -> LoopRange:
    """`loop` cut into a loop over blocks of `size` iterations and one in a block; the first of them, or `loop` if it stays."""
    light = sum(work_of(op) for op in real_ops(loop.body)) < policy().parallel.light_instructions
    if size < 2 or not light:
        return loop
    width = size * loop.step
    with ir.InsertionPoint(loop.op), loop.op.location:
        blocks = build_for(loop.lower, loop.upper, width, parallel=True)
        start = blocks.regions[0].blocks[0].arguments[0]
        with ir.InsertionPoint(blocks.regions[0].blocks[0]):
            here = ir.AffineDimExpr.get(0)
            ends = [here + width, *([] if (loop.trips or 0) % size == 0 else loop.upper.map.results)]
            upper = Bound(ir.AffineMap.get(1, 0, ends), (start,))
            inner = build_for(Bound(ir.AffineMap.get_identity(1), (start,)), upper, loop.step, parallel=True)
            with ir.InsertionPoint(inner.regions[0].blocks[0]):
                end = affine.AffineYieldOp([]).operation
            affine.AffineYieldOp([])
    loop.body.arguments[0].replace_all_uses_with(inner.regions[0].blocks[0].arguments[0])
    for op in real_ops(loop.body):
        op.move_before(end)
    loop.op.erase()
    found = parallel_loop(blocks)
    assert found is not None
    return found


def _iterations(nest: Sequence[LoopRange]) -> int:
    """Iterations of a nest; a count about which nothing is known is taken for one."""
    return math.prod(loop.trips or likely_trips(loop.op) or 1 for loop in nest)


def _distributed(nest: ParallelNest) -> Iterator[ParallelNest]:
    """The nest itself, or, where it has few iterations, a copy of it around each of the parallel loops that are its body.

    That is legal because iterations of the nest are independent: the copies run all of them up to one loop, then up to the
    next.
    """
    count = len(real_ops(nest.loops[-1].body))
    kept = _shared_loops(nest.loops) if _iterations(nest.loops) < policy().parallel.enough_iterations else []
    if not kept:
        yield nest
        return
    outer = nest.loops[0]
    for position in kept:
        copy = outer.op
        if position != kept[-1]:
            copy = outer.op.clone(ip=ir.InsertionPoint(outer.op)).operation
        body = _body_below(copy, len(nest.loops))
        for index in reversed(range(count)):
            if index in kept and index != position:
                real_ops(body)[index].erase()
        loop = parallel_loop(copy)
        assert loop is not None
        yield from _distributed(_merged(loop))


def _shared_loops(nest: Sequence[LoopRange]) -> list[int]:
    """Positions of the parallel loops in the body of a nest; none unless there are several, and nothing but values besides."""
    found = []
    for index, op in enumerate(real_ops(nest[-1].body)):
        loop = parallel_loop(op)
        if loop is not None and loop.trips is not None:
            found.append(index)
        elif not op.name.startswith("arith.") and op.name != "affine.apply":
            return []
    return found if len(found) > 1 else []


def _body_below(op: ir.Operation, depth: int) -> ir.Block:
    """The body of the innermost of `depth` loops, the first of which is `op`."""
    body = op.regions[0].blocks[0]
    for _ in range(depth - 1):
        body = real_ops(body)[0].regions[0].blocks[0]
    return body
