"""The kernel of a product of few rows with a large matrix, whose elements each thread reads once, by vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd

from dlc._mlir import affine, arith, gpu, ir, math
from dlc.lowering.affine.ir.accesses import access_of
from dlc.lowering.affine_to_gpu.gemv_tiles import GemvTile
from dlc.lowering.affine_to_gpu.kernel_body import BLOCK_X, BLOCK_Y, KernelBody
from dlc.lowering.affine_to_gpu.launches import empty_launch, load_kernel_dialects, shared_memory
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Axis, Contraction
from dlc.lowering.affine_to_gpu.tensor_cores.epilogues import Epilogue
from dlc.lowering.affine_to_gpu.tensor_cores.operands import Operand
from dlc.targets.machine import VECTOR_BYTES, GpuMachine


def launch_gemv(contraction: Contraction, tile: GemvTile, facts: GpuMachine) -> None:
    """Emit the launch of a kernel at the insertion point; the loops stay."""
    load_kernel_dialects()
    blocks = (-(-contraction.columns.extent // tile.columns), contraction.batch.extent, 1)
    sizes = [arith.constant(ir.IndexType.get(), size) for size in (*blocks, tile.threads, 1, 1)]
    body = empty_launch(sizes)
    with ir.InsertionPoint(list(body.operations)[-1]):
        _Gemv(contraction, tile, facts, body).emit()


@dataclass(frozen=True, eq=False)
class _Gemv(KernelBody):
    """The kernel in the launch `body`. A thread's sums are rows outermost, then its neighbours."""

    contraction: Contraction
    tile: GemvTile
    facts: GpuMachine
    body: ir.Block

    @property
    def rows(self) -> int:
        """Rows of results."""
        return self.contraction.rows.extent

    def emit(self) -> None:
        """Emit the body: a thread's sums, those of a warp, those of the block, what is done with them."""
        self._epilogue(self._through_shared_memory(self._of_warp(self._of_thread())))

    @cached_property
    def _column(self) -> ir.AffineExpr:
        """The thread's first column; behind the last one it is the last ones again."""
        group = self._argument(BLOCK_X) * self.tile.lanes + ir.AffineExpr.get_mod(self._thread, self.tile.lanes)
        count = self.contraction.columns.extent
        if count % self.tile.columns:
            last = ir.AffineExpr.get_constant(count // self.tile.neighbours - 1)
            group = self.extents.dim(self.extents.least([group, last]))
        return group * self.tile.neighbours

    @property
    def _part(self) -> ir.AffineExpr:
        """The part of the sum that the thread has."""
        return ir.AffineExpr.get_floor_div(self._thread, self.tile.lanes)

    # Sums of a thread.

    def _of_thread(self) -> list[ir.Value]:
        """Emit the positions of the sum that are the thread's."""
        tile, sum_axis = self.tile, self.contraction.sums
        element = self.contraction.total.type
        zero = ir.IntegerAttr.get(element, 0) if isinstance(element, ir.IntegerType) else ir.FloatAttr.get(element, 0.0)
        sums = [arith.ConstantOp(element, zero).result] * (self.rows * tile.neighbours)
        _ = self._column  # before the loops
        count, positions = sum_axis.count(self.extents), tile.parts * tile.steps
        whole = ir.AffineExpr.get_floor_div(count, positions)
        if sum_axis.is_open or sum_axis.extent >= positions:
            sums = self._loop(whole, sums, ir.AffineExpr.get_constant(0), tile.steps)
        first = whole * positions
        if sum_axis.multiple % positions:
            sums = self._loop(ir.AffineExpr.get_ceil_div(count - first - self._part, tile.parts), sums, first, 1)
        return sums

    def _loop(self, upper: ir.AffineExpr, sums: Sequence[ir.Value], first: ir.AffineExpr, steps: int) -> list[ir.Value]:
        """Emit a loop that takes `steps` positions of the sum in each iteration, by groups of neighbours that a row's load gives.

        The parts take groups in turn, from position `first` on.
        """
        part, together = self._part, self._together(steps)
        map, operands = self.extents.scope.map([upper])
        loop = affine.AffineForOp(0, map, upper_bound_operands=operands, iter_args=list(sums))
        with ir.InsertionPoint(loop.body):
            number = self.extents.dim(loop.induction_variable) * (steps // together)
            groups = [((number + group) * self.tile.parts + part) * together + first for group in range(steps // together)]
            right = [self._right(group + step) for group in groups for step in range(together)]
            rows = [[value for group in groups for value in self._left(row, group, together)] for row in range(self.rows)]
            left = zip(*rows, strict=True)
            found = list(loop.inner_iter_args)
            for factors, values in zip(left, right, strict=True):
                found = self._added(found, factors, values)
            affine.AffineYieldOp(found)
        return list(loop.results)

    def _right(self, place: ir.AffineExpr) -> list[ir.Value]:
        """Emit the load of a thread's neighbours at a position of the sum."""
        contraction = self.contraction
        return self._load(contraction.rhs, [(contraction.columns, self._column), (contraction.sums, place)], self.tile.neighbours)

    def _together(self, steps: int) -> int:
        """Neighbours of the sum that one load gives of a row: a vector's, where these are aligned and `steps` a multiple."""
        count = gcd(steps, VECTOR_BYTES // self.contraction.lhs.bytes)
        while count > 1 and not self.contraction.sums.aligned(self.contraction.lhs, count):
            count //= 2
        return count

    def _left(self, row: int, place: ir.AffineExpr, count: int) -> list[ir.Value]:
        """Emit the load of a row's neighbours at a position of the sum."""
        contraction = self.contraction
        axes = [(contraction.rows, ir.AffineExpr.get_constant(row)), (contraction.sums, place)]
        return self._load(contraction.lhs, axes, count)

    def _load(self, operand: Operand, places: Sequence[tuple[Axis, ir.AffineExpr]], count: int) -> list[ir.Value]:
        """Emit the load of so many neighbours of an operand, from positions along axes on."""
        map, operands = self.extents.scope.map(self._subscripts(operand, places))
        attributes = {"map": ir.AffineMapAttr.get(map)}
        if count == 1:
            return list(ir.Operation.create("affine.load", [operand.element], [operand.memref, *operands], attributes).results)
        kind = ir.VectorType.get([count], operand.element)
        vector = ir.Operation.create("affine.vector_load", [kind], [operand.memref, *operands], attributes).results[0]
        position = [{"static_position": ir.DenseI64ArrayAttr.get([number])} for number in range(count)]
        return [ir.Operation.create("vector.extract", [operand.element], [vector], one).results[0] for one in position]

    def _subscripts(self, operand: Operand, places: Sequence[tuple[Axis, ir.AffineExpr]]) -> list[ir.AffineExpr]:
        """Subscripts of an element: what a loop moves by goes to the outermost dims whose strides divide it."""
        if operand.open_parts:
            return self._open_subscripts(operand, places)
        strides, _ = ir.MemRefType(operand.memref.type).get_strides_and_offset()
        parts = [(operand.form.constant, ir.AffineExpr.get_constant(1))]
        for axis, position in [*places, (self.contraction.batch, self._argument(BLOCK_Y))]:
            parts += [(operand.factor(loop), place) for loop, place in axis.places(position)]
        found = []
        for stride in strides:
            found.append(ir.AffineExpr.get_constant(0))
            for number, (factor, place) in enumerate(parts):
                found[-1] = found[-1] + place * (factor // stride)
                parts[number] = (factor % stride, place)
        return found

    def _open_subscripts(self, operand: Operand, places: Sequence[tuple[Axis, ir.AffineExpr]]) -> list[ir.AffineExpr]:
        """Subscripts in memory whose strides run time knows: those of the load that the operand is."""
        given = [*places, (self.contraction.batch, self._argument(BLOCK_Y))]
        at = {loop.iv: place for axis, position in given for loop, place in axis.places(position)}
        forms = [form for form in access_of(operand.load).starts if form is not None]
        return [
            sum((place * form.of(variable) for variable, place in at.items()), ir.AffineExpr.get_constant(form.constant))
            for form in forms
        ]

    def _added(self, sums: Sequence[ir.Value], factors: Sequence[ir.Value], values: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit the sums with products of each row's factor and each neighbour's value."""
        left, right = ([self._wide(one) for one in ones] for ones in (factors, values))
        pairs = [(one, other) for one in left for other in right]
        return [self._plus_product(total, *pair) for total, pair in zip(sums, pairs, strict=True)]

    def _wide(self, value: ir.Value) -> ir.Value:
        kind = self.contraction.total.type
        if value.type == kind:
            return value
        return arith.extsi(kind, value) if isinstance(kind, ir.IntegerType) else arith.extf(kind, value)

    def _plus_product(self, total: ir.Value, one: ir.Value, other: ir.Value) -> ir.Value:
        return arith.addi(total, arith.muli(one, other)) if isinstance(total.type, ir.IntegerType) else math.fma(one, other, total)

    # Sums of a block.

    def _plus(self, one: ir.Value, other: ir.Value) -> ir.Value:
        return arith.addi(one, other) if isinstance(one.type, ir.IntegerType) else arith.addf(one, other)

    def _of_warp(self, sums: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit the sums over those threads of a warp that have the same columns."""
        word, found = ir.IntegerType.get_signless(32), list(sums)
        width, distance = arith.constant(word, self.facts.warp_threads), self.facts.warp_threads // 2
        while distance >= self.tile.lanes:
            apart = arith.constant(word, distance)
            others = [gpu.ShuffleOp(value, apart, width, gpu.ShuffleMode.XOR).shuffleResult for value in found]
            found = [self._plus(one, other) for one, other in zip(found, others, strict=True)]
            distance //= 2
        return found

    @property
    def _warps(self) -> int:
        return -(-self.tile.threads // self.facts.warp_threads)

    def _through_shared_memory(self, sums: Sequence[ir.Value]) -> ir.Value:
        """Emit the way of the warps' sums through shared memory, where a row of it has the block's results by rows and columns."""
        tile, warp = self.tile, self.facts.warp_threads
        kind = ir.MemRefType.get([self._warps, self.rows * tile.columns], self.contraction.total.type)
        shared = shared_memory(self.body, kind, ir.Location.current)
        place = ir.AffineExpr.get_mod(self._thread, warp)
        with self.extents.when([(tile.lanes - 1 - place, False)]) if tile.lanes < warp else ir.InsertionPoint.current:
            for number, value in enumerate(sums):
                row, neighbour = divmod(number, tile.neighbours)
                column = ir.AffineExpr.get_mod(place, tile.lanes) * tile.neighbours + (row * tile.columns + neighbour)
                map, operands = self.extents.scope.map([ir.AffineExpr.get_floor_div(self._thread, warp), column])
                affine.AffineStoreOp(value, shared, operands, ir.AffineMapAttr.get(map))
        ir.Operation.create("gpu.barrier")
        return shared

    def _epilogue(self, shared: ir.Value) -> None:
        """Emit the sums over the warps, a thread for each result, and what is done with them."""
        tile, contraction = self.tile, self.contraction
        results = self.rows * tile.columns
        batch = {loop.iv: place for loop, place in contraction.batch.places(self._argument(BLOCK_Y))}
        epilogue = Epilogue(contraction, self.extents, batch, (self.rows, tile.columns))
        for first in range(0, results, tile.threads):
            number = self._thread + first
            inside = first + tile.threads <= results
            with ir.InsertionPoint.current if inside else self.extents.when([(results - 1 - number, False)]):
                total = self._total(shared, number)
                row, place = ir.AffineExpr.get_floor_div(number, tile.columns), ir.AffineExpr.get_mod(number, tile.columns)
                epilogue.emit(row, self._argument(BLOCK_X) * tile.columns + place, [total])

    def _total(self, shared: ir.Value, number: ir.AffineExpr) -> ir.Value:
        total = arith.ConstantOp(self.contraction.total.type, self.contraction.start.owner.attributes["value"]).result
        for warp in range(self._warps):
            map, operands = self.extents.scope.map([ir.AffineExpr.get_constant(warp), number])
            value = affine.AffineLoadOp(self.contraction.total.type, shared, operands, ir.AffineMapAttr.get(map)).result
            total = self._plus(total, value)
        return total
