"""Attention by `wgmma` on panels by TMA (Shah et al., "FlashAttention-3", 2024): exponentials are computed while products run.

producer:   queries; for each tile: wait until its stage is empty; begin to copy keys, and then values
warpgroups: scores of the first tile, their exponentials
            for each further tile: begin its scores; begin exponentials of the last tile x values; wait for the scores;
              their exponentials; wait for the results; scale these
            exponentials of the last tile x values; divide by the sums of rows; epilogue on the results
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dlc._mlir import affine, arith, ir, memref
from dlc.lowering.affine_to_gpu.launches import dynamic_shared_memory, views_of
from dlc.lowering.affine_to_gpu.tensor_cores.attention_fragments import FragmentRows
from dlc.lowering.affine_to_gpu.tensor_cores.attention_rows import RowState, as_operands
from dlc.lowering.affine_to_gpu.tensor_cores.attention_warpgroup_tiles import WarpgroupAttentionTiles, tensor_maps_of
from dlc.lowering.affine_to_gpu.tensor_cores.barriers import StageBarriers
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape
from dlc.lowering.affine_to_gpu.tensor_cores.tensor_maps import TensorCopy
from dlc.lowering.affine_to_gpu.tensor_cores.warpgroup_products import (
    WarpgroupOperand,
    end_products,
    fence_registers,
    multiply_registers,
    multiply_warpgroup,
    set_registers,
    sums_of,
    sums_type,
    values_of,
    wait_for_products,
)
from dlc.targets.machine import BARRIER_BYTES, FRAGMENT_HALVES, SUM_NEIGHBOURS


@dataclass(frozen=True, eq=False)
class _Stream:
    """Tiles of keys or of values on their way: copies, and barriers of stages that are full and that are empty."""

    copy: TensorCopy
    full: StageBarriers
    empty: StageBarriers

    def stage(self, tile: ir.AffineExpr) -> ir.AffineExpr:
        """The stage of a tile."""
        return ir.AffineExpr.get_mod(tile, self.full.stages)

    def turn(self, tile: ir.AffineExpr) -> ir.AffineExpr:
        """How often its stage was used before."""
        return ir.AffineExpr.get_floor_div(tile, self.full.stages)

    def produce(self, tile: ir.AffineExpr, copy: TensorCopy, number: ir.AffineExpr) -> None:
        """Emit the copy of a tile, which is tile `number` of the sum of `copy`, once its stage is empty."""
        stage = self.stage(tile)
        self.empty.wait(stage, self.turn(tile) - 1)
        copy.start(number, stage, self.full.expect(stage, copy.panel.bytes))

    def wait(self, tile: ir.AffineExpr) -> None:
        """Emit the wait for a tile."""
        self.full.wait(self.stage(tile), self.turn(tile))


@dataclass(frozen=True, eq=False)
class _Carried:
    """What the loop over tiles carries: rows, whose results are without the last tile's values, and its weights as operands."""

    rows: RowState
    weights: list[ir.Value]

    @property
    def all(self) -> list[ir.Value]:
        return [*self.rows.all, *self.weights]

    def of(self, values: Sequence[ir.Value]) -> _Carried:
        """The same with other values."""
        count = len(self.rows.all)
        return _Carried(self.rows.of(values[:count]), list(values[count:]))


@dataclass(eq=False)
class WarpgroupAttention(FragmentRows):
    """The kernel of a producer, a warpgroup of which one thread works and which leaves its registers to the others, and of
    warpgroups that have 64 queries each; sums are one struct of a thread."""

    tiles: WarpgroupAttentionTiles

    @property
    def shape(self) -> MmaShape:
        return self.tiles.shape

    def emit(self) -> None:
        """Emit the body, and the tensor maps before the launch."""
        queries, keys, values = self._streams()
        self._begin((queries, keys, values))
        consumers, (few, many) = self.tile.warps * self.facts.warp_threads, self.tiles.register_shares(self.tile)
        with self.extents.when([(self._thread - consumers, False)]):
            set_registers(few, "decrease")
            with self.extents.when([(self._thread - consumers, True)]):
                self._produce(queries, keys, values)
        with self.extents.when([(consumers - 1 - self._thread, False)]):
            set_registers(many, "increase")
            self._finish(self._consume(queries, keys, values))

    # Memory.

    @cached_property
    def _memory(self) -> ir.Value:
        """All of the block's dynamic shared memory; first asked for at the begin of the body."""
        return dynamic_shared_memory()

    @property
    def _stages(self) -> tuple[int, int, int]:
        """Those of queries, keys and values."""
        return 1, self.tile.stages, self.tile.stages

    def _streams(self) -> tuple[_Stream, _Stream, _Stream]:
        maps = tensor_maps_of(self.attention, self.panels)
        with ir.InsertionPoint(self.body.owner.operation):
            pointers = [described.create() for described in maps]
        parts = zip(self._stages, self.panels.copied, strict=True)
        kinds = [ir.MemRefType.get([stages, *panel.stored_shape], panel.operand.element) for stages, panel in parts]
        targets, zero = views_of(self._memory, kinds), ir.AffineExpr.get_constant(0)
        scores, values = self._batch(self.attention.scores), self._batch(self.attention.values)
        firsts, batches = (self._block_row, zero, zero), (scores, scores, values)
        places = zip(maps, pointers, targets, firsts, batches, strict=True)
        copies = [TensorCopy(map, pointer, target, self.extents, first, batch) for map, pointer, target, first, batch in places]
        barriers = self._barriers()
        queries, keys, weighted = (_Stream(copy, *pair) for copy, pair in zip(copies, barriers, strict=True))
        return queries, keys, weighted

    def _barriers(self) -> list[tuple[StageBarriers, StageBarriers]]:
        """Of queries, keys and values those of stages that are full, and that are empty; queries are never brought again."""
        start, found = self.panels.bytes, list[StageBarriers]()
        for stages in (1, *[self.tile.stages] * 4):
            space = self._memory.type.memory_space
            kind = ir.MemRefType.get([stages], ir.IntegerType.get_signless(64), memory_space=space)
            place = arith.constant(ir.IndexType.get(), start)
            found.append(StageBarriers(memref.view(kind, self._memory, place, []), stages, self.extents))
            start += stages * BARRIER_BYTES
        queries, *others = found
        return [(queries, queries), (others[0], others[1]), (others[2], others[3])]

    def _begin(self, streams: Sequence[_Stream]) -> None:
        """Emit the barriers' begin by one thread, which the others and TMA see."""
        with self.extents.when([(self._thread, True)]):
            for stream in streams:
                stream.full.initialize(1)
            for stream in streams[1:]:
                stream.empty.initialize(self.tile.warps)
            ir.Operation.create("nvvm.fence.mbarrier.init")
        ir.Operation.create("gpu.barrier")

    # The producer.

    def _produce(self, queries: _Stream, keys: _Stream, values: _Stream) -> None:
        """Emit the copies of queries and of all tiles."""
        zero = ir.AffineExpr.get_constant(0)
        queries.copy.start(zero, zero, queries.full.expect(zero, queries.copy.panel.bytes))
        self._bring(zero, keys, values)
        lower, upper = self._further[0][0][0], self._further[-1][0][1]
        loop = self._for(lower, upper, [])
        with ir.InsertionPoint(loop.body):
            self._bring(self.extents.dim(loop.induction_variable), keys, values)
            affine.AffineYieldOp([])

    def _bring(self, tile: ir.AffineExpr, keys: _Stream, values: _Stream) -> None:
        zero = ir.AffineExpr.get_constant(0)
        keys.produce(tile, replace(keys.copy, first=tile * self.tile.keys), zero)
        values.produce(tile, values.copy, tile)

    # Warpgroups.

    @property
    def _further(self) -> list[tuple[tuple[list[ir.AffineExpr], list[ir.AffineExpr]], bool]]:
        """The ranges of tiles behind the first one."""
        one = ir.AffineExpr.get_constant(1)
        return [(([one, *lower[1:]], upper), is_masked) for (lower, upper), is_masked in self._ranges()]

    def _for(
        self, lower: Sequence[ir.AffineExpr], upper: Sequence[ir.AffineExpr], carried: Sequence[ir.Value]
    ) -> affine.AffineForOp:
        (low, below), (high, above) = self.extents.scope.map(lower), self.extents.scope.map(upper)
        return affine.AffineForOp(low, high, iter_args=list(carried), lower_bound_operands=below, upper_bound_operands=above)

    def _last(self) -> ir.AffineExpr:
        """Emit the last tile; the first one is always computed."""
        upper = self._ranges()[-1][0][1]
        if len(upper) == 1:
            return upper[0] - 1
        one = ir.AffineExpr.get_constant(1)
        return self.extents.dim(self.extents.greatest([self.extents.dim(self.extents.least(upper)), one])) - 1

    def _consume(self, queries: _Stream, keys: _Stream, values: _Stream) -> RowState:
        """Emit the warpgroups' part; results of all tiles."""
        zero, places, last = ir.AffineExpr.get_constant(0), self._existing_rows(), self._last()
        queries.wait(zero)
        keys.wait(zero)
        fence_registers()
        scores = wait_for_products(0, self._scores(queries, keys, zero))
        self._release(keys, zero)
        weighted = self._weighted(zero, places, self.attention.lead is not None, self._row_results([scores]), self._starts())
        carried = _Carried(weighted.rows, self._operands(weighted.weights))
        for (lower, upper), is_masked in self._further:
            loop = self._for(lower, upper, carried.all)
            with ir.InsertionPoint(loop.body):
                tile = self.extents.dim(loop.induction_variable)
                step = self._step(tile, (queries, keys, values), places, is_masked, carried.of(list(loop.inner_iter_args)))
                affine.AffineYieldOp(step.all)
            carried = carried.of(list(loop.results))
        values.wait(last)
        results = wait_for_products(0, self._results(carried, values, last))
        return replace(carried.rows, results=[results])

    def _step(
        self,
        tile: ir.AffineExpr,
        streams: tuple[_Stream, _Stream, _Stream],
        places: Sequence[ir.AffineExpr],
        is_masked: bool,
        carried: _Carried,
    ) -> _Carried:
        """Emit the scores and exponentials of a tile, and the products of the values before it."""
        queries, keys, values = streams
        keys.wait(tile)
        fence_registers()
        scores = self._scores(queries, keys, tile)
        values.wait(tile - 1)
        results = self._results(carried, values, tile - 1)
        scores = wait_for_products(1, scores)
        self._release(keys, tile)
        weighted = self._weighted(tile, places, is_masked, self._row_results([scores]), carried.rows)
        results = wait_for_products(0, results)
        self._release(values, tile - 1)
        scaled = [
            arith.mulf(value, weighted.factors[place // SUM_NEIGHBOURS % FRAGMENT_HALVES])
            for place, value in enumerate(values_of(results))
        ]
        return _Carried(replace(weighted.rows, results=[sums_of(scaled)]), self._operands(weighted.weights))

    def _release(self, stream: _Stream, tile: ir.AffineExpr) -> None:
        """Emit that this warp is done with a tile."""
        with self.extents.when([(self._lane, True)]):
            stream.empty.arrive(stream.stage(tile))

    def _scores(self, queries: _Stream, keys: _Stream, tile: ir.AffineExpr) -> ir.Value:
        """Emit the begin of the products of queries and a tile of keys, as a group."""
        rows = self.shape.rows * self.shape.warps
        first = ir.AffineExpr.get_floor_div(self._warp_row, rows) * rows
        zero, stage = ir.AffineExpr.get_constant(0), keys.stage(tile)
        left, right = self._operand(queries, first), self._operand(keys, zero)
        kind = sums_type(self.attention.scores.total.type, self.tile.keys * self.shape.rows // self.facts.warp_threads)
        total = ir.Operation.create("llvm.mlir.poison", [kind]).results[0]
        for step in range(self.panels.depth // self.shape.depth):
            total = multiply_warpgroup(self.tile.keys, left, right, ((zero, step), (stage, step)), total, is_first=step == 0)
        end_products()
        return total

    def _results(self, carried: _Carried, values: _Stream, tile: ir.AffineExpr) -> ir.Value:
        """Emit the begin of the products of weights and a tile of values, as a group."""
        right, (total,) = self._operand(values, ir.AffineExpr.get_constant(0)), carried.rows.results
        fence_registers()
        for step, weights in enumerate(carried.weights):
            total = multiply_registers(self.panels.width, weights, right, (values.stage(tile), step), total)
        end_products()
        return total

    def _operand(self, stream: _Stream, first: ir.AffineExpr) -> WarpgroupOperand:
        return WarpgroupOperand(stream.copy.panel, self.shape, stream.copy.target, self.extents, first)

    def _operands(self, weights: Sequence[Sequence[ir.Value]]) -> list[ir.Value]:
        """Emit weights as left operands, by steps of the sum."""
        return [operand for (operand,) in as_operands(self.shape, self.attention.element, weights)]

    def _zero_results(self) -> list[ir.Value]:
        zero = arith.constant(self.attention.scores.total.type, 0.0)
        return [sums_of([zero] * (self.panels.width * self.shape.rows // self.facts.warp_threads))]

    def _row_results(self, results: Sequence[ir.Value]) -> list[list[ir.Value]]:
        own = values_of(results[0])
        halves: list[list[ir.Value]] = [[] for _ in range(FRAGMENT_HALVES)]
        for place, value in enumerate(own):
            halves[place // SUM_NEIGHBOURS % FRAGMENT_HALVES].append(value)
        return halves
