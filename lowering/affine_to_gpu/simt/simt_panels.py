"""Panels of operands in shared memory for threads that multiply: in each step of the sum, neighbours along the axis side by side.

So a thread reads several rows or columns at once, whichever way the operand lies in memory: `cp.async` turns it by single elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dlc._mlir import arith, ir
from dlc.lowering.affine_to_gpu.extents import constant_of
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Axis
from dlc.lowering.affine_to_gpu.tensor_cores.operands import Operand
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import Panel, PanelCopy
from dlc.targets.machine import ASYNC_COPY_BYTES, VECTOR_BYTES, GpuMachine


def vector_elements(operand: Operand) -> int:
    """Elements that a thread reads from a panel at once."""
    return VECTOR_BYTES // operand.bytes


@dataclass(frozen=True, eq=False)
class SimtPanel(Panel):
    """A panel of `depth` rows of `side` elements, longer by `padding` elements that stay unused."""

    padding: int

    @classmethod
    def of_tile(cls, operand: Operand, axis: Axis, sums: Axis, side: int, depth: int) -> SimtPanel:
        """Copied in the largest chunks that lie side by side along the axis.

        Where neighbours in memory are those along the sum, rows are padded: lanes store to columns of the panel.
        """
        widths = [size // operand.bytes for size in ASYNC_COPY_BYTES if size > operand.bytes]
        chunk = next((width for width in widths if axis.aligned(operand, width)), 1)
        is_turned = chunk == 1 and sums.run(operand) > axis.run(operand)
        padding = vector_elements(operand) if is_turned else 0
        return cls(operand, axis, sums, side, depth, False, chunk, side, padding)

    @property
    def is_turned(self) -> bool:
        """Whether neighbours in memory are those along the sum."""
        return self.padding > 0

    @property
    def stored_shape(self) -> tuple[int, int]:
        """Rows, and elements of each with the padding."""
        return self.depth, self.side + self.padding

    def lanes(self, threads: int, facts: GpuMachine) -> tuple[int, int]:
        """Of `threads` threads, those along the sum and those along the axis that copy a chunk each at a time.

        Neighbours in memory come first: along the sum those that share a sector, along the axis a warp.
        """
        across = self.side // self.chunk
        if self.is_turned:
            down = min(self.depth, facts.sector_bytes // self.operand.bytes)
            return down, min(across, threads // down)
        across = min(across, max(facts.warp_threads, threads // self.depth))
        return min(self.depth, threads // across), across

    def copies(self, threads: int, facts: GpuMachine) -> int:
        """Copies of a thread for all of the panel."""
        down, across = self.lanes(threads, facts)
        return self.depth // down * (self.side // self.chunk // across)


@dataclass(frozen=True, eq=False)
class SimtCopy(PanelCopy):
    """Copies of one panel by all threads of a block; `panel` is a `SimtPanel`."""

    panel: SimtPanel

    def _places(self, chunk: int) -> Iterator[tuple[ir.AffineExpr, ir.AffineExpr]]:
        """The row and first column in the panel of each chunk that a thread copies.

        Where the panel is small, several threads copy the same.
        """
        down, across = self.panel.lanes(self.threads, self.facts)
        number = _modulo(self.thread, down * across) if down * across < self.threads else self.thread
        inner = down if self.panel.is_turned else across
        fast, slow = _modulo(number, inner), _divided(number, inner)
        row, column = (fast, slow) if self.panel.is_turned else (slow, fast)
        for below in range(0, self.panel.depth, down):
            for beside in range(0, self.panel.side // chunk, across):
                yield row + below, (column + beside) * chunk

    def _address(
        self, row: ir.AffineExpr, column: ir.AffineExpr, tile: ir.AffineExpr, is_inside: bool
    ) -> tuple[ir.Value, ir.Value | None]:
        """As in kernels on tensor cores. What depends on the tile of the sum is apart from all else, which stays in registers."""
        panel = self.panel
        position, total = self.first + column, tile * panel.depth + row
        places = {loop.iv: place for loop, place in panel.axis.places(position)}
        own, beside = self._distance(places), self._distance(self.batch) + self._constant()
        along = self._along_sums(self.extents.value(total))
        exists = None if panel.axis.multiple % panel.side == 0 else self._below(self.extents.value(position), panel.axis)
        start = self._where(exists, self.extents.value(own))
        if not is_inside:
            follows = self._below(self.extents.value(total), panel.sums)
            along = self._where(follows, along)
            exists = follows if exists is None else arith.andi(exists, follows)
        return arith.addi(arith.addi(self.extents.value(beside), start), along), exists

    def _distance(self, places: Mapping[ir.Value, ir.AffineExpr]) -> ir.AffineExpr:
        """Elements from the start of memory to where the operand is at some iterations of some loops."""
        found = ir.AffineExpr.get_constant(0)
        for variable, place in places.items():
            found = found + place * self.panel.operand.form.factors.get(variable, 0)
        for part, stride in zip(self.panel.operand.open_parts, self.strides, strict=True):
            steps = ir.AffineExpr.get_constant(0)
            for variable, place in places.items():
                steps = steps + place * part.form.of(variable)
            found = found + self._times(steps, stride)
        return found

    def _constant(self) -> ir.AffineExpr:
        """Elements to where the operand is in the first iteration of all loops."""
        found = ir.AffineExpr.get_constant(self.panel.operand.form.constant)
        for part, stride in zip(self.panel.operand.open_parts, self.strides, strict=True):
            found = found + self._times(ir.AffineExpr.get_constant(part.form.constant), stride)
        return found

    def _times(self, steps: ir.AffineExpr, stride: ir.Value) -> ir.AffineExpr:
        """Emit `steps` times a stride."""
        return steps if constant_of(steps) == 0 else self.extents.dim(arith.muli(self.extents.value(steps), stride))

    def _along_sums(self, total: ir.Value) -> ir.Value:
        """Emit the elements from the first product's to that of number `total`, by quotients of 32 bits."""
        panel, found = self.panel, _index(0)
        stride = panel.sums.stride(panel.operand)
        if stride is not None:
            return arith.muli(total, _index(stride))
        if len(panel.sums.loops) == 1:
            return self.extents.value(self._distance({panel.sums.loops[0].iv: self.extents.dim(total)}))
        word = ir.IntegerType.get_signless(32)
        number = arith.index_cast(word, total)
        for at, loop in reversed(list(enumerate(panel.sums.loops))):
            extent = arith.constant(word, loop.extent or 1)
            place = arith.remui(number, extent) if at else number
            number = arith.divui(number, extent) if at else number
            distance = arith.muli(arith.index_castui(ir.IndexType.get(), place), _index(panel.operand.factor(loop)))
            found = arith.addi(found, distance)
        return found

    def _below(self, place: ir.Value, axis: Axis) -> ir.Value:
        """Emit whether an axis has a position."""
        return arith.cmpi(arith.CmpIPredicate.slt, place, self._count(axis.count(self.extents)))

    @staticmethod
    def _where(holds: ir.Value | None, distance: ir.Value) -> ir.Value:
        """Emit the distance where an element exists, else that of the first one."""
        return distance if holds is None else arith.select(holds, distance, _index(0))

    def _stored(self, row: ir.AffineExpr, column: ir.AffineExpr) -> tuple[ir.Value, ir.Value]:
        """Emit where an element of the panel lies."""
        return self.extents.value(row), self.extents.value(column)


def _modulo(expression: ir.AffineExpr, number: int) -> ir.AffineExpr:
    return ir.AffineExpr.get_mod(expression, number)


def _divided(expression: ir.AffineExpr, number: int) -> ir.AffineExpr:
    return ir.AffineExpr.get_floor_div(expression, number)


def _index(number: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), number)
