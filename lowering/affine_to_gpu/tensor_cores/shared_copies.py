"""Panels of operands in shared memory, and the copies that bring them there: by `cp.async`, or through registers.

The chunks of 16 bytes of a row are swizzled: chunk c of row r lies at c xor s(r), so that the eight rows that `ldmatrix` reads at a
time lie in different banks (CUTLASS, "Efficient GEMM in CUDA"). In rows of 128, 64 and 32 bytes these are the swizzles that `wgmma`
knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from dlc._mlir import arith, ir, memref
from dlc.lowering.affine.ir.expressions import Linear
from dlc.lowering.affine_to_gpu.extents import LoopExtents, constant_of
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Axis
from dlc.lowering.affine_to_gpu.tensor_cores.operands import Operand
from dlc.targets.machine import ASYNC_COPY_BYTES, MATRIX_ROW_BYTES, MATRIX_ROWS, TRANSPOSED_BYTES, GpuMachine

_Places = Mapping[ir.Value, ir.AffineExpr]


@dataclass(frozen=True, eq=False)
class Panel:
    """What a block keeps of an operand for one tile of the sum: `side` positions along `axis`, `depth` along `sums`.

    Neighbours along the sum lie side by side in it (`along_sums`), else those along the axis. A thread copies `chunk` neighbours at
    a time; 0 stands for one element through a register. Rows longer than `span` elements lie in memory as pieces of that length,
    the first pieces of all rows before the second ones.
    """

    operand: Operand
    axis: Axis
    sums: Axis
    side: int
    depth: int
    along_sums: bool
    chunk: int
    span: int

    @classmethod
    def of(cls, operand: Operand, axis: Axis, sums: Axis, side: int, depth: int, row_bytes: int) -> Panel:
        """In the order in which the largest chunks can be copied, rows in pieces of `row_bytes` at most.

        `ldmatrix` and `wgmma` transpose elements of one size alone.
        """
        widths = [size // operand.bytes for size in ASYNC_COPY_BYTES if size >= operand.bytes]
        inner = next((width for width in widths if sums.aligned(operand, width)), 0)
        outer = next((width for width in widths if axis.aligned(operand, width)), 0) if operand.bytes == TRANSPOSED_BYTES else 0
        is_longer = (inner, sums.run(operand)) >= (outer, axis.run(operand))
        along = operand.bytes != TRANSPOSED_BYTES or is_longer
        span = min(depth if along else side, row_bytes // operand.bytes)
        return cls(operand, axis, sums, side, depth, along, inner if along else outer, span)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and elements of a row."""
        return (self.side, self.depth) if self.along_sums else (self.depth, self.side)

    @property
    def stored_shape(self) -> tuple[int, int]:
        """Pieces of rows in memory, and elements of each."""
        return self.side * self.depth // self.span, self.span

    @property
    def row_bytes(self) -> int:
        """Bytes of a piece of a row."""
        return self.span * self.operand.bytes

    @property
    def bytes(self) -> int:
        """Bytes of all."""
        return self.side * self.depth * self.operand.bytes

    def stored(self, row: ir.AffineExpr, column: ir.AffineExpr) -> tuple[ir.AffineExpr, ir.AffineExpr]:
        """The piece that an element lies in, and where in it, before the swizzle."""
        rows, columns = self.shape
        if self.span == columns:
            return row, column
        return ir.AffineExpr.get_floor_div(column, self.span) * rows + row, ir.AffineExpr.get_mod(column, self.span)

    @property
    def chunk_elements(self) -> int:
        """Elements of a swizzled chunk."""
        return MATRIX_ROW_BYTES // self.operand.bytes

    def swizzle(self, row: ir.AffineExpr) -> ir.AffineExpr:
        """What chunks of a row are exchanged by."""
        chunks = self.span // self.chunk_elements
        line = max(1, MATRIX_ROWS // chunks)
        return ir.AffineExpr.get_mod(ir.AffineExpr.get_floor_div(row, line), min(chunks, MATRIX_ROWS))


@dataclass(frozen=True, eq=False)
class Held:
    """An element on its way from global to shared memory, and its place in the panel."""

    value: ir.Value
    row: ir.Value
    column: ir.Value


@dataclass(frozen=True, eq=False)
class PanelCopy:
    """Copies of one panel by `threads` threads: from `source`, the operand as one dim, to `target`, a panel for each stage.

    `thread` is the thread's number, `first` the block's first position along the axis, `batch` the places of batch loops, `strides`
    those of the operand's open parts.
    """

    panel: Panel
    source: ir.Value
    target: ir.Value
    extents: LoopExtents
    thread: ir.AffineExpr
    threads: int
    first: ir.AffineExpr
    batch: dict[ir.Value, ir.AffineExpr]
    facts: GpuMachine
    strides: tuple[ir.Value, ...] = ()

    @property
    def is_async(self) -> bool:
        """Whether `cp.async` does it."""
        return self.panel.chunk > 0

    def start(self, tile: ir.AffineExpr, stage: ir.AffineExpr, is_inside: bool) -> None:
        """Emit the copies of a tile of the sum to a stage. What lies outside becomes zero."""
        slot = self.extents.value(stage)
        for row, column in self._places(self.panel.chunk):
            address, holds = self._address(row, column, tile, is_inside)
            self._copy(address, holds, [slot, *self._stored(row, column)])

    def load(self, tile: ir.AffineExpr, is_inside: bool) -> list[Held]:
        """Emit loads of a tile of the sum, element by element; zero for what lies outside."""
        held = []
        zero = arith.constant(self.panel.operand.element, 0.0 if self._is_float else 0)
        for row, column in self._places(1):
            address, holds = self._address(row, column, tile, is_inside)
            if holds is not None and (self.panel.operand.inside or self.panel.sums.is_open):
                address = arith.select(holds, address, _index(0))
            value = memref.load(self.source, [address])
            value = value if holds is None else arith.select(holds, value, zero)
            held.append(Held(value, *self._stored(row, column)))
        return held

    def store(self, held: Sequence[Held], stage: ir.AffineExpr) -> None:
        """Emit stores of what was loaded to a stage."""
        slot = self.extents.value(stage)
        for one in held:
            memref.store(one.value, self.target, [slot, one.row, one.column])

    def _stored(self, row: ir.AffineExpr, column: ir.AffineExpr) -> tuple[ir.Value, ir.Value]:
        """Emit where an element of the panel lies: its piece of a row, and the place there."""
        piece, inside = self.panel.stored(row, column)
        return self.extents.value(piece), swizzled(self.panel, self.extents, piece, inside)

    @property
    def _is_float(self) -> bool:
        return isinstance(self.panel.operand.element, ir.FloatType)

    def _places(self, chunk: int) -> Iterator[tuple[ir.AffineExpr, ir.AffineExpr]]:
        """The row and first column in the panel of each chunk that a thread copies.

        Where panels are small, several threads copy the same.
        """
        across = self.panel.shape[1] // chunk
        count = self.panel.shape[0] * across
        for step in range(max(1, count // self.threads)):
            number = self.thread + step * self.threads
            number = ir.AffineExpr.get_mod(number, count) if count < self.threads else number
            if chunk == 1 and self._turns:
                yield self._turned(number)
            else:
                yield ir.AffineExpr.get_floor_div(number, across), ir.AffineExpr.get_mod(number, across) * chunk

    @property
    def _turns(self) -> bool:
        """Whether neighbours in memory are those along the axis, but those in the panel along the sum."""
        panel = self.panel
        return panel.along_sums and panel.axis.run(panel.operand) > panel.sums.run(panel.operand)

    def _turned(self, number: ir.AffineExpr) -> tuple[ir.AffineExpr, ir.AffineExpr]:
        """Lanes along the axis as far as their elements share half a sector at least, then along the sum: to different banks."""
        lanes = max(MATRIX_ROWS, self.facts.sector_bytes // self.panel.operand.bytes // 2)
        lanes = min(lanes, self.panel.side, self.facts.warp_threads)
        rest = self.facts.warp_threads // lanes
        warp = ir.AffineExpr.get_floor_div(number, self.facts.warp_threads)
        groups = self.panel.side // lanes
        row = ir.AffineExpr.get_mod(number, lanes) + ir.AffineExpr.get_mod(warp, groups) * lanes
        inner = ir.AffineExpr.get_mod(ir.AffineExpr.get_floor_div(number, lanes), rest)
        return row, ir.AffineExpr.get_floor_div(warp, groups) * rest + inner

    def _address(
        self, row: ir.AffineExpr, column: ir.AffineExpr, tile: ir.AffineExpr, is_inside: bool
    ) -> tuple[ir.Value, ir.Value | None]:
        """The element of the source, and whether there is one; None where there always is.

        What is the same for all tiles of the sum is one value and what is the same for all threads another, so that a copy adds
        the two in the loop, and does not compute its place anew.
        """
        panel = self.panel
        along, other = (column, row) if panel.along_sums else (row, column)
        count = max(1, panel.chunk)
        is_whole = panel.axis.multiple % panel.side == 0
        axis, holds = self._kept(self.first + other, panel.axis, 1 if panel.along_sums else count, is_whole)
        start, within = tile * panel.depth, ir.AffineExpr.get_constant(0)
        if panel.sums.is_cut_by(panel.depth):
            start, is_there = self._kept(start, panel.sums, panel.depth, is_inside)
            within = along
        else:
            start, is_there = self._kept(start + along, panel.sums, count if panel.along_sums else 1, is_inside)
        fixed, moving = {**self.batch, **_by_variable(panel.axis, axis)}, _by_variable(panel.sums, start)
        checks = [check for check in (holds, is_there) if check is not None]
        for form, extent in panel.operand.inside:
            place = self._sum(form, fixed, moving, within)
            checks.append(arith.cmpi(arith.CmpIPredicate.ult, place, _index(extent)))
        address = self._sum(panel.operand.form, fixed, moving, within)
        for part, stride in zip(panel.operand.open_parts, self.strides, strict=True):
            address = arith.addi(address, arith.muli(self._sum(part.form, fixed, moving, within), stride))
        return address, reduce(arith.andi, checks) if checks else None

    def _sum(self, form: Linear, fixed: _Places, moving: _Places, within: ir.AffineExpr) -> ir.Value:
        """Emit a form as the sum of what is the same for all tiles and of what is the same for all threads. `within` is how far the
        innermost loop of the sum is beyond the place in `moving`."""
        kept = _linear(form, fixed) + form.constant
        if self.panel.sums.loops:
            kept = kept + within * form.of(self.panel.sums.loops[-1].iv)
        return arith.addi(self.extents.value(kept), self.extents.value(_linear(form, moving)))

    def _kept(self, position: ir.AffineExpr, axis: Axis, count: int, is_inside: bool) -> tuple[ir.AffineExpr, ir.Value | None]:
        """The first of `count` positions along `axis`, the last such where they are not there, and whether they were; None where
        they always are."""
        if is_inside:
            return position, None
        value, end = self.extents.value(position), axis.count(self.extents)
        holds = arith.cmpi(arith.CmpIPredicate.slt, value, self._count(end))
        return self.extents.dim(arith.minsi(value, self._count(end - count))), holds

    def _count(self, number: ir.AffineExpr) -> ir.Value:
        """Emit a number of positions."""
        constant = constant_of(number)
        return self.extents.value(number) if constant is None else _index(constant)

    def _copy(self, address: ir.Value, holds: ir.Value | None, place: Sequence[ir.Value]) -> None:
        """Emit one `cp.async`."""
        chunk = self.panel.chunk
        count = [] if holds is None else [arith.select(holds, _index(chunk), _index(0))]
        attributes: dict[str, ir.Attribute] = {
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 3, 1, 1, len(count)]),
            "dstElements": ir.IntegerAttr.get(ir.IndexType.get(), chunk),
        }
        if chunk * self.panel.operand.bytes == MATRIX_ROW_BYTES:
            attributes["bypassL1"] = ir.UnitAttr.get()
        operands = [self.target, *place, self.source, address, *count]
        token = ir.Type.parse("!nvgpu.device.async.token")
        ir.Operation.create("nvgpu.device_async_copy", [token], operands, attributes)


def _linear(form: Linear, places: _Places) -> ir.AffineExpr:
    """What loops at these places add to a form."""
    found = ir.AffineExpr.get_constant(0)
    for variable, place in places.items():
        found = found + place * form.of(variable) if form.of(variable) else found
    return found


def _by_variable(axis: Axis, position: ir.AffineExpr) -> dict[ir.Value, ir.AffineExpr]:
    """The places of an axis' loops at a position."""
    return {loop.iv: place for loop, place in axis.places(position)}


def swizzled(panel: Panel, extents: LoopExtents, row: ir.AffineExpr, column: ir.AffineExpr) -> ir.Value:
    """Emit where the element at a row and column of a panel lies in its row."""
    size = panel.chunk_elements
    chunk = extents.value(ir.AffineExpr.get_floor_div(column, size))
    moved = arith.xori(chunk, extents.value(panel.swizzle(row)))
    start = arith.muli(moved, _index(size))
    inside = ir.AffineExpr.get_mod(column, size)
    return start if str(inside) == "0" else arith.addi(start, extents.value(inside))


def end_group() -> None:
    """Emit the end of a group of copies, which may be empty."""
    ir.Operation.create("nvvm.cp.async.commit.group")


def wait_for_groups(left: int) -> None:
    """Emit the wait of a thread for its copies, but for those of the last `left` groups."""
    count = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), left)
    ir.Operation.create("nvvm.cp.async.wait.group", attributes={"n": count})


def _index(number: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), number)
