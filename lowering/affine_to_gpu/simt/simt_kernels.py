"""Kernels of contractions without tensor cores: a thread multiplies vectors of rows by vectors of columns, step by step.

The rows of a thread are vectors as far apart as those of a warp's lanes together, and so are its columns: lanes read neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import arith, ir
from dlc.lowering.affine_to_gpu.launches import dynamic_shared_memory, views_of
from dlc.lowering.affine_to_gpu.simt.simt_panels import SimtCopy, vector_elements
from dlc.lowering.affine_to_gpu.simt.simt_tiles import SimtTile, panels_of, shared_bytes
from dlc.lowering.affine_to_gpu.tensor_cores.contraction_kernels import ContractionKernel, launch_kernel
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction
from dlc.lowering.affine_to_gpu.tensor_cores.epilogues import Epilogue
from dlc.lowering.affine_to_gpu.tensor_cores.fragments import element_of
from dlc.lowering.affine_to_gpu.tensor_cores.shared_addresses import flat
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import PanelCopy, end_group
from dlc.targets.machine import VECTOR_BYTES, GpuMachine


def launch_contraction(contraction: Contraction, tile: SimtTile, facts: GpuMachine) -> None:
    """Emit the launch of the kernel at the insertion point; the loops stay."""
    shared = shared_bytes(tile, panels_of(contraction, tile))
    launch_kernel(lambda body: SimtKernel(contraction, tile, facts, body), contraction, tile, tile.threads, shared)


@dataclass(eq=False)
class SimtKernel(ContractionKernel):
    """The kernel of a contraction by multiply-adds of threads."""

    tile: SimtTile

    @property
    def _vector(self) -> int:
        return vector_elements(self.contraction.lhs)

    @property
    def _lanes(self) -> tuple[int, int]:
        """Lanes of a warp along rows and columns."""
        lanes = self.tile.lanes(self.facts.warp_threads)
        assert lanes is not None
        return lanes

    @property
    def _first(self) -> tuple[ir.AffineExpr, ir.AffineExpr]:
        """The thread's first row and column in its block.

        Two neighbouring lanes have neighbouring rows, and pairs go along columns. So lanes that differ by one have the same columns
        and those that differ by two the same rows, and both are read in half the passes.
        """
        (down, across), lane = self._lanes, self._lane
        warp, warps = _divided(self._thread, self.facts.warp_threads), self.tile.grid[1] // across
        row = _modulo(lane, 2) + _divided(lane, 2 * across) * 2
        column = _modulo(_divided(lane, 2), across)
        below, beside = (
            _divided(warp, warps) * (down * self.tile.thread_rows),
            _modulo(warp, warps) * (across * self.tile.thread_columns),
        )
        return below + row * self._vector, beside + column * self._vector

    def _starts_of(self, axis: int) -> range:
        """Where the vectors of a thread start along rows (0) or columns (1), from the first on."""
        count = (self.tile.thread_rows, self.tile.thread_columns)[axis]
        return range(0, count * self._lanes[axis], self._vector * self._lanes[axis])

    def _copies(self) -> list[PanelCopy]:
        panels = panels_of(self.contraction, self.tile)
        kinds = [ir.MemRefType.get([self.tile.stages, *panel.stored_shape], panel.operand.element) for panel in panels]
        targets = views_of(dynamic_shared_memory(), kinds)
        return [
            SimtCopy(
                panel,
                flat(panel.operand.memref),
                target,
                self.extents,
                self._thread,
                self.tile.threads,
                first,
                self._batch,
                self.facts,
                panel.operand.open_strides(),
            )
            for panel, target, first in zip(panels, targets, self._block, strict=True)
        ]

    def _starts(self) -> list[ir.Value]:
        start = arith.constant(self.contraction.total.type, self._start)
        return [start] * (self.tile.thread_rows * self.tile.thread_columns)

    def _step(self, number: ir.AffineExpr, copies: Sequence[PanelCopy], sums: list[ir.Value]) -> list[ir.Value]:
        stages = self.tile.stages
        self._wait()
        ahead = number + (stages - 1)
        is_whole = self.contraction.sums.multiple % self.tile.depth == 0
        with self.extents.when([(self._steps - 1 - ahead, False)]):
            for copy in copies:
                copy.start(ahead, ir.AffineExpr.get_mod(ahead, stages), is_whole)
        end_group()
        return self._multiplied(self.extents.value(ir.AffineExpr.get_mod(number, stages)), copies, sums)

    def _multiplied(self, stage: ir.Value, copies: Sequence[PanelCopy], sums: list[ir.Value]) -> list[ir.Value]:
        """Emit the products of a tile that is in shared memory; operands are read a step ahead."""
        ahead = self._operands(stage, 0, copies)
        for step in range(self.tile.depth):
            (rows, columns), last = ahead, step + 1 == self.tile.depth
            ahead = ahead if last else self._operands(stage, step + 1, copies)
            pairs = [(row, column) for row in rows for column in columns]
            sums = [_multiply_add(row, column, total) for (row, column), total in zip(pairs, sums, strict=True)]
        return sums

    def _operands(self, stage: ir.Value, step: int, copies: Sequence[PanelCopy]) -> list[list[ir.Value]]:
        """Emit the reads of a thread's rows and columns in a step."""
        found = []
        for axis, (copy, first) in enumerate(zip(copies, self._first, strict=True)):
            row = self.extents.value(ir.AffineExpr.get_constant(step))
            vectors = [
                _read(copy.target, [stage, row, self.extents.value(first + at)], self._vector) for at in self._starts_of(axis)
            ]
            found.append([element_of(vector, [place]) for vector in vectors for place in range(self._vector)])
        return found

    def _epilogue(self, sums: Sequence[ir.Value]) -> None:
        epilogue = Epilogue(self.contraction, self.extents, self._batch, (self.tile.rows, self.tile.columns))
        row, column = (block + first for block, first in zip(self._block, self._first, strict=True))
        places = [(row + (start + place)) for start in self._starts_of(0) for place in range(self._vector)]
        for at, down in enumerate(places):
            own = sums[at * self.tile.thread_columns : (at + 1) * self.tile.thread_columns]
            for number, start in enumerate(self._starts_of(1)):
                epilogue.emit(down, column + start, own[number * self._vector : (number + 1) * self._vector])


def _multiply_add(row: ir.Value, column: ir.Value, total: ir.Value) -> ir.Value:
    return ir.Operation.create("math.fma", [total.type], [row, column, total]).results[0]


def _read(memory: ir.Value, place: Sequence[ir.Value], count: int) -> ir.Value:
    """Emit the read of `count` neighbours, which start at a whole vector."""
    kind = ir.VectorType.get([count], ir.MemRefType(memory.type).element_type)
    attributes = {"alignment": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), VECTOR_BYTES)}
    return ir.Operation.create("vector.load", [kind], [memory, *place], attributes).results[0]


def _modulo(expression: ir.AffineExpr, number: int) -> ir.AffineExpr:
    return ir.AffineExpr.get_mod(expression, number)


def _divided(expression: ir.AffineExpr, number: int) -> ir.AffineExpr:
    return ir.AffineExpr.get_floor_div(expression, number)
