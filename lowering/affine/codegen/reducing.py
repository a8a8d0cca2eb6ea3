"""Emits reduction loops whose iterations become lanes: vectors of partial results, combined after the loops."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import affine, ir
from dlc.lowering.affine.codegen.emitter import TileEmitter
from dlc.lowering.affine.ir.expressions import shifted
from dlc.lowering.affine.ir.lanes import LaneFacts, element_bits
from dlc.lowering.affine.ir.loops import Bound, Loop, build_for, real_ops
from dlc.lowering.affine.ir.masks import LaneMask, Segment, segments, tail_masks
from dlc.lowering.affine.ir.reductions import ReductionNest, identity, reduce_lanes
from dlc.lowering.affine.ir.values import Instance, TileDim, TileValues, splat_constant
from dlc.lowering.policy import policy
from dlc.targets.machine import PAGE_BYTES

Key = tuple[int, int, int]
"""One vector of partial results: accumulator, copy of the body, number of the vector in the step."""
_SECOND_LEVEL = 2
"""The hint of affine.prefetch for the second level of cache."""


@dataclass(frozen=True)
class LaneReduction:
    """Which loop of `chain` becomes lanes, and into how many vectors a step it is cut."""

    chain: ReductionNest
    loop: Loop
    vectors: int


class ReducingEmitter(TileEmitter):
    """A `TileEmitter` for bodies whose one inner nest is `reduction.chain`."""

    def __init__(self, values: TileValues, facts: LaneFacts, reduction: LaneReduction) -> None:
        super().__init__(values, facts)
        self.reduction = reduction
        self.tiles = [dict(at) for at in values.instances(range(len(values.dims)))]
        self._ahead = 0

    def _loop(self, op: ir.Operation) -> None:
        """The whole chain: start from neutral vectors, run the loops, combine the lanes with the old start values."""
        values, combiners = self.values, self.reduction.chain.combiners
        keys = [
            (index, tile, number)
            for index in range(len(combiners))
            for tile in range(len(self.tiles))
            for number in range(self.reduction.vectors)
        ]
        neutral = [splat_constant(values.vector_type(combiner.results[0].type), identity(combiner)) for combiner in combiners]
        partial = self._chain(0, {key: neutral[key[0]] for key in keys})
        inits = self.reduction.chain.loops[0].inits
        every = tuple(range(len(values.dims)))
        for index, combiner in enumerate(combiners):
            totals = []
            for tile, at in enumerate(self.tiles):
                vectors = [partial[index, tile, number] for number in range(self.reduction.vectors)]
                totals.append(reduce_lanes(combiner, vectors, values.scalar(inits[index], at)))
            values.define(op.results[index], every, totals, False)

    def _chain(self, depth: int, partial: dict[Key, ir.Value]) -> dict[Key, ir.Value]:
        """Emit loop `depth` of the chain and those inside it; returns the vectors after it."""
        if depth == len(self.reduction.chain.loops):
            return self._innermost(partial)
        loop = self.reduction.chain.loops[depth]
        if loop.op != self.reduction.loop.op:
            whole = Segment(Bound.constant(0), loop.upper, 1, 1, False)
            return self._carry(depth, loop, whole, partial)
        page = self._page(loop)
        done = (loop.extent or 0) // (page * self.reduction.vectors) * page * self.reduction.vectors if page else 0
        if done:
            partial = self._carry_pages(depth, loop, done, page, partial)
        for segment in segments(loop.upper, self.values.lanes, self.reduction.vectors, dynamic_tail=True, start=done):
            used = {key: value for key, value in partial.items() if key[2] < segment.vectors}
            partial = partial | self._carry(depth, loop, segment, used)
        return partial

    def _page(self, loop: Loop) -> int:
        """Iterations that read a page of memory, where `loop` reads one row that is longer than caches; else 0."""
        strides = self.facts.strides if self.facts else {}
        moving = [op for op in real_ops(loop.body) if strides.get(op)]
        if self.reduction.vectors == 1 or loop.extent is None or len(moving) != 1:
            return 0
        load = moving[0]
        if load.name != "affine.load" or strides[load] != 1:
            return 0
        bits = element_bits(load.results[0].type) or 0
        return 8 * PAGE_BYTES // bits if bits % 8 == 0 and loop.extent * bits >= 8 * policy().memory.paged_bytes else 0

    def _carry_pages(self, depth: int, loop: Loop, done: int, page: int, partial: dict[Key, ir.Value]) -> dict[Key, ir.Value]:
        """Emit the loop up to `done` with as many pages in turn as a step has vectors."""
        blocks = build_for(Bound.constant(0), Bound.constant(done), page * self.reduction.vectors, list(partial.values()))
        start, *carried = blocks.regions[0].blocks[0].arguments
        with ir.InsertionPoint(blocks.regions[0].blocks[0]):
            first = Bound(ir.AffineMap.get_identity(1), (start,))
            last = Bound(ir.AffineMap.get(1, 0, [ir.AffineDimExpr.get(0) + page]), (start,))
            whole = Segment(first, last, self.values.lanes, self.reduction.vectors, False)
            self._ahead = page * self.reduction.vectors
            ends = self._carry(depth, loop, whole, dict(zip(partial, carried, strict=True)), apart=page)
            self._ahead = 0
            affine.AffineYieldOp(list(ends.values()))
        return dict(zip(partial, blocks.results, strict=True))

    def _carry(self, depth: int, loop: Loop, segment: Segment, partial: dict[Key, ir.Value], apart: int = 0) -> dict[Key, ir.Value]:
        """Emit one loop that carries the vectors `partial`, which are neighbours, or so many iterations `apart`."""
        made = build_for(segment.lower, segment.upper, segment.step, list(partial.values()))
        body = made.regions[0].blocks[0]
        iv, *carried = body.arguments
        values = self.values
        with ir.InsertionPoint(body):
            values.enter_body()
            in_lanes = loop.op == self.reduction.loop.op
            if in_lanes:
                values.dims.append(TileDim(loop.iv, iv, segment.vectors, apart or values.lanes))
                values.lane_dim = len(values.dims) - 1
                values.masks = tail_masks(loop.upper, iv, segment, values.lanes)
            else:
                values.define(loop.iv, (), [iv], False)
            ends = self._chain(depth + 1, dict(zip(partial, carried, strict=True)))
            if in_lanes:
                values.dims.pop()
                values.lane_dim, values.masks = None, ()
            affine.AffineYieldOp([ends[key] for key in partial])
            values.leave_body()
        return dict(zip(partial, made.results, strict=True))

    def _load(self, op: ir.Operation) -> None:
        """In turns of pages, fetch what the same load reads in the next turn, too."""
        super()._load(op)
        if not self._ahead or not self._stride(op):
            return
        subscripts = list(op.operands)[1:]
        for at in self.values.instances(self.values.dims_of(subscripts)):
            here, operands = self.values.subscripts(subscripts, op.attributes["map"].value, at)
            place = next(number for number, value in enumerate(subscripts) if value == self.reduction.loop.iv)
            attributes = {
                "map": ir.AffineMapAttr.get(shifted(here, {place: self._ahead})),
                "isWrite": ir.BoolAttr.get(False),
                "localityHint": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), _SECOND_LEVEL),
                "isDataCache": ir.BoolAttr.get(True),
            }
            ir.Operation.create("affine.prefetch", operands=[op.operands[0], *operands], attributes=attributes)

    def _innermost(self, partial: dict[Key, ir.Value]) -> dict[Key, ir.Value]:
        """Emit the body; lanes beyond the extent keep their old partial results."""
        values, body = self.values, self.reduction.chain.body
        every = tuple(range(len(values.dims)))
        arguments = list(body.arguments)[1:]
        for index, argument in enumerate(arguments):
            values.define(argument, every, [partial[key] for key in partial if key[0] == index], True)
        self.block(body)
        ends = list(list(body.operations)[-1].operands)
        after = [values.vector(end, at) for end in ends for at in values.instances(every)]
        places = [at for _ in ends for at in values.instances(every)]
        return {
            key: self._kept(values.mask(at), new, old) for (key, old), new, at in zip(partial.items(), after, places, strict=True)
        }

    def _vectors_last(self, at: Instance) -> tuple[list[int], int]:
        """The loop with the fewest copies goes fastest, so that the side with fewer vectors stays in registers.

        With 16 registers, 12 sums of 4 by 3 rows spill where the four stay: 16x768x768 with a transposed right side takes 0.64 of
        the time like this.
        """
        steps, number = [index for index in at if index != self.values.lane_dim], at.get(self.values.lane_dim or 0, 0)
        steps.sort(key=lambda index: -self.values.dims[index].count)
        return [at[index] for index in steps], number if self.values.lane_dim is not None else 0

    @staticmethod
    def _kept(mask: LaneMask | None, new: ir.Value, old: ir.Value) -> ir.Value:
        if mask is None:
            return new
        return ir.Operation.create("arith.select", results=[new.type], operands=[mask.vector(), new, old]).results[0]
