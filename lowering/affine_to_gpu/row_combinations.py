"""Results of the lanes of a row combined so that each lane gets the same bits: by shuffles, between warps by shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import affine, arith, gpu, ir
from dlc.lowering.affine.ir.reductions import combine
from dlc.lowering.affine_to_gpu.first_threads import WarpRows
from dlc.lowering.affine_to_gpu.launches import shared_memory

UNIFORM = "dlc.uniform"
"""Attribute of an op whose result all lanes of a row have."""


@dataclass(frozen=True)
class RowCombination:
    """What the lanes of `rows` combine by `combiners`, in warps of `warp` threads."""

    rows: WarpRows
    warp: int
    combiners: Sequence[ir.Operation]

    def emit(self, values: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit the results of a row at the insertion point, where all its lanes come to."""
        found = self._butterfly(values, self.warp)
        if self.rows.lanes > self.warp:
            found = self._butterfly(self._exchanged(found), self.rows.lanes // self.warp)
        for value in found:
            value.owner.attributes[UNIFORM] = ir.UnitAttr.get()
        return found

    def _butterfly(self, values: Sequence[ir.Value], lanes: int) -> list[ir.Value]:
        """Emit exchanges between lanes half as far apart each time, in groups of `lanes`; all of a group get the same results."""
        word = ir.IntegerType.get_signless(32)
        width, distance = arith.ConstantOp(word, self.warp).result, lanes // 2
        found = list(values)
        while distance:
            apart = arith.ConstantOp(word, distance).result
            others = [gpu.ShuffleOp(value, apart, width, gpu.ShuffleMode.XOR).shuffleResult for value in found]
            found = [combine(one, value, other) for one, value, other in zip(self.combiners, found, others, strict=True)]
            distance //= 2
        return found

    def _exchanged(self, values: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit the way of the warps' results through shared memory: each lane gets that of one warp, all warps' in order again."""
        here, lane = ir.AffineDimExpr.get(0), self.rows.lane
        warps = self.rows.lanes // self.warp
        home = ir.Location.current
        buffers = [shared_memory(self.rows.body, ir.MemRefType.get([warps], value.type), home) for value in values]
        if self._is_repeated():
            ir.Operation.create("gpu.barrier")  # others may still read what the iteration before wrote
        first = affine.AffineIfOp(ir.IntegerSet.get(1, 0, [ir.AffineExpr.get_mod(here, self.warp)], [True]), cond_operands=[lane])
        with ir.InsertionPoint(first.then_block):
            own = ir.AffineMap.get(1, 0, [ir.AffineExpr.get_floor_div(here, self.warp)])
            for value, buffer in zip(values, buffers, strict=True):
                affine.AffineStoreOp(value, buffer, [lane], ir.AffineMapAttr.get(own))
            affine.AffineYieldOp([])
        ir.Operation.create("gpu.barrier")
        place = ir.AffineMapAttr.get(ir.AffineMap.get(1, 0, [ir.AffineExpr.get_mod(here, warps)]))
        return [
            affine.AffineLoadOp(value.type, buffer, [lane], place).result for value, buffer in zip(values, buffers, strict=True)
        ]

    def _is_repeated(self) -> bool:
        """Whether a loop of the kernel is around the insertion point."""
        around = ir.InsertionPoint.current.block.owner.operation
        while around != self.rows.op:
            if around.name == "affine.for":
                return True
            around = around.parent.operation
        return False
