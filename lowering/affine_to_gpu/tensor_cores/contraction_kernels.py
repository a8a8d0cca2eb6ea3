"""What kernels of contractions have in common: copies some tiles of the sum ahead, sums in registers, an epilogue.

copy tiles 0 .. stages - 2 of the sum
for each tile: wait for it; barrier; begin to copy the tile stages - 1 ahead; multiply
epilogue on the sums
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from dlc._mlir import affine, arith, ir
from dlc.lowering.affine_to_gpu.extents import LoopExtents, constant_of
from dlc.lowering.affine_to_gpu.kernel_body import BLOCK_X, BLOCK_Y, BLOCK_Z, KernelBody
from dlc.lowering.affine_to_gpu.launches import empty_launch, load_kernel_dialects
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction
from dlc.lowering.affine_to_gpu.tensor_cores.mma_tiles import ContractionTile, grid_of
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import PanelCopy, end_group, wait_for_groups
from dlc.targets.machine import GpuMachine


def launch_kernel(
    kernel: Callable[[ir.Block], ContractionKernel],
    contraction: Contraction,
    tile: ContractionTile,
    threads: int,
    shared_bytes: int,
) -> None:
    """Emit the launch of a kernel of `threads` threads a block at the insertion point; the loops stay.

    `shared_bytes` of shared memory are dynamic.
    """
    load_kernel_dialects()
    threads_of_block = [arith.constant(ir.IndexType.get(), size) for size in (threads, 1, 1)]
    sizes = [*_blocks(contraction, tile), *threads_of_block]
    body = empty_launch(sizes, shared_bytes)
    with ir.InsertionPoint(list(body.operations)[-1]):
        kernel(body).emit()


def _blocks(contraction: Contraction, tile: ContractionTile) -> list[ir.Value]:
    """Emit the sizes of the grid; that of a contraction whose extents run time knows has one dim, which takes the most blocks."""
    if not contraction.is_open:
        return [arith.constant(ir.IndexType.get(), size) for size in grid_of(contraction, tile)]
    extents = LoopExtents()
    columns, rows, batch = (extents.value(count) for count in _open_grid_of(contraction, tile, extents))
    one = arith.constant(ir.IndexType.get(), 1)
    return [arith.muli(arith.muli(columns, rows), batch), one, one]


def _open_grid_of(
    contraction: Contraction, tile: ContractionTile, extents: LoopExtents
) -> tuple[ir.AffineExpr, ir.AffineExpr, ir.AffineExpr]:
    """Blocks along columns, rows and the batch, of extents that run time knows."""
    columns, rows = contraction.columns.count(extents), contraction.rows.count(extents)
    ceil_div = ir.AffineExpr.get_ceil_div
    return ceil_div(columns, tile.columns), ceil_div(rows, tile.rows), contraction.batch.count(extents)


@dataclass(eq=False)
class ContractionKernel(KernelBody, ABC):
    """The kernel of a contraction in the launch `body`."""

    contraction: Contraction
    tile: ContractionTile
    facts: GpuMachine
    body: ir.Block

    def emit(self) -> None:
        """Emit the body."""
        copies = self._copies()
        self._first_tiles(copies)
        self._epilogue(self._sums(copies, self._starts()))

    @abstractmethod
    def _copies(self) -> list[PanelCopy]:
        """Copies of both operands, the left one first."""

    @abstractmethod
    def _starts(self) -> list[ir.Value]:
        """Emit a thread's sums before the first product."""

    @abstractmethod
    def _step(self, number: ir.AffineExpr, copies: Sequence[PanelCopy], sums: list[ir.Value]) -> list[ir.Value]:
        """Emit one tile of the sum."""

    @abstractmethod
    def _epilogue(self, sums: Sequence[ir.Value]) -> None:
        """Emit what is done to the sums."""

    @property
    def _lane(self) -> ir.AffineExpr:
        return ir.AffineExpr.get_mod(self._thread, self.facts.warp_threads)

    @property
    def _block(self) -> tuple[ir.AffineExpr, ir.AffineExpr]:
        """The block's first row and column."""
        if self.contraction.is_open:
            across, down, _ = self._open_place
            return down * self.tile.rows, across * self.tile.columns
        return self._argument(BLOCK_Y) * self.tile.rows, self._argument(BLOCK_X) * self.tile.columns

    @property
    def _batch(self) -> dict[ir.Value, ir.AffineExpr]:
        number = self._open_place[2] if self.contraction.is_open else self._argument(BLOCK_Z)
        return {loop.iv: place for loop, place in self.contraction.batch.places(number)}

    @cached_property
    def _open_place(self) -> tuple[ir.AffineExpr, ir.AffineExpr, ir.AffineExpr]:
        """The block's number along columns, rows and the batch, of a grid of one dim; first asked for at the begin of the body."""
        columns, rows, _ = _open_grid_of(self.contraction, self.tile, self.extents)
        number, across = self._divided(self._argument(BLOCK_X), columns)
        number, down = self._divided(number, rows)
        return across, down, number

    def _divided(self, number: ir.AffineExpr, count: ir.AffineExpr) -> tuple[ir.AffineExpr, ir.AffineExpr]:
        """Emit the quotient and the rest."""
        if constant_of(count) is not None:
            return ir.AffineExpr.get_floor_div(number, count), ir.AffineExpr.get_mod(number, count)
        word = ir.IntegerType.get_signless(32)  # blocks are counted in these
        pair = [arith.index_cast(word, self.extents.value(one)) for one in (number, count)]
        found = [arith.index_castui(ir.IndexType.get(), one) for one in (arith.divui(*pair), arith.remui(*pair))]
        return self.extents.dim(found[0]), self.extents.dim(found[1])

    def _first_tiles(self, copies: Sequence[PanelCopy]) -> None:
        """Emit the copies of what the first steps multiply, a group each."""
        ahead = self.tile.stages - 1
        is_inside = not self.contraction.sums.is_open and ahead * self.tile.depth <= self.contraction.sums.extent
        loop = affine.AffineForOp(0, ahead)
        with ir.InsertionPoint(loop.body):
            tile = self.extents.dim(loop.induction_variable)
            for copy in copies:
                if copy.is_async:
                    copy.start(tile, tile, is_inside)
                else:
                    copy.store(copy.load(tile, is_inside), tile)
            end_group()
            affine.AffineYieldOp([])

    def _sums(self, copies: Sequence[PanelCopy], starts: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit the loop over tiles of the sum; what `starts` comes to."""
        loop = self._loop_of_steps(starts)
        with ir.InsertionPoint(loop.body):
            sums = self._step(self.extents.dim(loop.induction_variable), copies, list(loop.inner_iter_args))
            affine.AffineYieldOp(sums)
        return list(loop.results)

    def _loop_of_steps(self, starts: Sequence[ir.Value] = ()) -> affine.AffineForOp:
        """Emit a loop over tiles of the sum, of which each hands sums on to the next."""
        map, operands = self.extents.scope.map([self._steps])
        return affine.AffineForOp(0, map, upper_bound_operands=operands, iter_args=list(starts))

    @property
    def _steps(self) -> ir.AffineExpr:
        """Tiles of the sum."""
        return ir.AffineExpr.get_ceil_div(self.contraction.sums.count(self.extents), self.tile.depth)

    @property
    def _start(self) -> ir.Attribute:
        """What a sum is before the first product."""
        element = self.contraction.total.type
        zero = ir.IntegerAttr.get(element, 0) if isinstance(element, ir.IntegerType) else ir.FloatAttr.get(element, 0.0)
        return self.contraction.start.owner.attributes["value"] if self.contraction.starts_at_constant else zero

    def _wait(self) -> None:
        """Emit the wait for the tile that is multiplied next, whichever thread brought it."""
        self._wait_for_copies()
        ir.Operation.create("gpu.barrier")

    def _wait_for_copies(self) -> None:
        """Emit the wait for this thread's own copies of that tile."""
        wait_for_groups(self.tile.stages - 2)
