"""Emits tiles whose innermost reduction loop is unrolled and fetches the panel of the next tiles on the way."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.lowering.affine.codegen.emitter import TileEmitter
from dlc.lowering.affine.ir.lanes import LaneFacts
from dlc.lowering.affine.ir.loops import Bound
from dlc.lowering.affine.ir.reductions import ReductionNest
from dlc.lowering.affine.ir.values import TileValues
from dlc.lowering.affine.search.prefetch import PrefetchedPanel


class UnrollingEmitter(TileEmitter):
    """A `TileEmitter` that runs `unroll` steps of the innermost loop of `chain` in each of its iterations."""

    def __init__(
        self, values: TileValues, facts: LaneFacts | None, chain: ReductionNest, unroll: int, panels: Sequence[PrefetchedPanel] = ()
    ) -> None:
        super().__init__(values, facts)
        self.chain = chain
        self.unroll = unroll
        self.panels = panels
        self._starts: list[ir.Value] = []
        self._unrolled = False

    def _loop(self, op: ir.Operation) -> None:
        if op == self.chain.loops[0].op:
            self._starts = [panel.start(self.values) for panel in self.panels]
        if op != self.chain.loops[-1].op:
            super()._loop(op)
            return
        loop, carried = self.chain.loops[-1], self._inits(op)
        _, upper, _ = self._bounds(op)
        whole = upper.rounded_down(self.unroll)
        if whole.static != 0:
            self._unrolled = True
            carried = self._run(op, Bound.constant(0), whole, 1, carried, self.unroll)
            self._unrolled = False
        if loop.extent is None and not loop.upper.is_multiple_of(self.unroll):
            carried = self._run(op, whole, upper, 1, carried)
        elif loop.extent is not None and loop.extent % self.unroll:
            carried = self._run(op, whole, upper, 1, carried, loop.extent % self.unroll)
        self._define_all(list(op.results), carried)

    def _enter(self, op: ir.Operation, iv: ir.Value) -> None:
        if not self._unrolled or op != self.chain.loops[-1].op:
            return
        ivs = [self.values.scalar(loop.iv, {}) for loop in self.chain.loops[:-1]] + [iv]
        for panel, start in zip(self.panels, self._starts, strict=True):
            panel.fetch(self.values, start, ivs)
