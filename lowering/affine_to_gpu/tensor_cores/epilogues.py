"""Epilogues on fragments: what a contraction does with its sums, done by the threads that hold them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dlc._mlir import ir
from dlc.analysis.buffers import is_allocation, root_of
from dlc.lowering.affine.ir.accesses import MemRefAccess, access_of
from dlc.lowering.affine.ir.affine_builder import substitute
from dlc.lowering.affine_to_gpu.extents import Extents
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction, is_dense
from dlc.lowering.affine_to_gpu.tensor_cores.fragments import element_of
from dlc.lowering.outlining import clone_replacing
from dlc.targets.machine import VECTOR_BYTES

_Places = dict[ir.Value, ir.AffineExpr]


@dataclass(frozen=True, eq=False)
class Epilogue:
    """What is done to the sums of a block, where `batch` gives the places of batch loops and `sides` the block's tile.

    Neighbours of a row are loaded and stored at once where memory allows. `held` are results of ops of the contraction that the
    thread has already.
    """

    contraction: Contraction
    extents: Extents
    batch: _Places
    sides: tuple[int, int]
    held: Mapping[ir.Value, ir.Value] = field(default_factory=dict)

    def emit(self, row: ir.AffineExpr, column: ir.AffineExpr, sums: Sequence[ir.Value]) -> None:
        """Emit it for neighbours from `column` on, a multiple of their number, where the row and the columns exist."""
        for columns, totals in self._together(column, sums):
            self._guarded(row, columns, totals)

    def _together(
        self, column: ir.AffineExpr, sums: Sequence[ir.Value]
    ) -> Iterator[tuple[list[ir.AffineExpr], Sequence[ir.Value]]]:
        """Neighbours that are taken at once."""
        columns = [column + place for place in range(len(sums))]
        if len(sums) == 1 or self._are_neighbours(len(sums)):
            yield columns, sums
            return
        yield from (([place], [total]) for place, total in zip(columns, sums, strict=True))

    def _are_neighbours(self, count: int) -> bool:
        """Whether `count` columns from a multiple of it on are neighbours in the innermost loop."""
        loops = self.contraction.columns.loops
        return bool(loops) and (loops[-1].extent or 1) % count == 0

    def _guarded(self, row: ir.AffineExpr, columns: Sequence[ir.AffineExpr], sums: Sequence[ir.Value]) -> None:
        checks = []
        for axis, place, side in (
            (self.contraction.rows, row, self.sides[0]),
            (self.contraction.columns, columns[-1], self.sides[1]),
        ):
            checks += [] if axis.extent % side == 0 else [(axis.extent - 1 - place, False)]
        if not checks:
            self._body(row, columns, sums)
            return
        with self.extents.when(checks):
            self._body(row, columns, sums)

    def _body(
        self, row: ir.AffineExpr, columns: Sequence[ir.AffineExpr], sums: Sequence[ir.Value]
    ) -> list[dict[ir.Value, ir.Value]]:
        """Emit it without a guard; for each neighbour what values of the contraction have become."""
        rows = {loop.iv: place for loop, place in self.contraction.rows.places(row)}
        places = [
            self.batch | rows | {loop.iv: place for loop, place in self.contraction.columns.places(column)} for column in columns
        ]
        values = [dict(self.held) for _ in sums]
        self._ops(self.contraction.before, places, values)
        for known, total in zip(values, sums, strict=True):
            known[self.contraction.total] = self._started(total, known)
        self._ops(self.contraction.epilogue, places, values)
        return values

    def _started(self, total: ir.Value, known: dict[ir.Value, ir.Value]) -> ir.Value:
        """Emit the sum with what it starts at, unless fragments began with that."""
        if self.contraction.starts_at_constant:
            return total
        name = "arith.addi" if isinstance(total.type, ir.IntegerType) else "arith.addf"
        return ir.Operation.create(name, [total.type], [known[self.contraction.start], total]).results[0]

    def _ops(self, ops: Sequence[ir.Operation], places: Sequence[_Places], values: Sequence[dict[ir.Value, ir.Value]]) -> None:
        for op in ops:
            if any(result in self.held for result in op.results):
                continue
            if op.name in ("affine.load", "affine.store"):
                self._access(access_of(op), places, values)
                continue
            for place, known in zip(places, values, strict=True):
                self._clone(op, place, known)

    def _clone(self, op: ir.Operation, places: _Places, known: dict[ir.Value, ir.Value]) -> None:
        for operand in op.operands:
            if operand in places and operand not in known:
                known[operand] = self.extents.value(places[operand])
        clone_replacing(op, known)

    def _access(self, access: MemRefAccess, places: Sequence[_Places], values: Sequence[dict[ir.Value, ir.Value]]) -> None:
        """Emit a load or store for all neighbours, at once where they lie side by side from a multiple of their number on."""
        indices = [self._indices(access, place, known) for place, known in zip(places, values, strict=True)]
        kind = ir.MemRefType(access.memref.type)
        moves = self._step(access, len(places)) if len(places) > 1 else None
        if moves == 0 and not access.writes:
            loaded = ir.Operation.create("memref.load", [kind.element_type], [access.memref, *indices[0]]).results[0]
            for known in values:
                known[access.op.results[0]] = loaded
            return
        if moves == 1:
            self._vector(access, kind.element_type, indices[0], values)
            return
        for at, known in zip(indices, values, strict=True):
            if access.writes:
                ir.Operation.create("memref.store", operands=[_known(access.op.operands[0], known), access.memref, *at])
            else:
                known[access.op.results[0]] = ir.Operation.create("memref.load", [kind.element_type], [access.memref, *at]).results[
                    0
                ]

    def _vector(
        self, access: MemRefAccess, element: ir.Type, at: Sequence[ir.Value], values: Sequence[dict[ir.Value, ir.Value]]
    ) -> None:
        """Emit one access of all neighbours."""
        kind, size = ir.VectorType.get([len(values)], element), -(-int(element.width) // 8)
        attributes = {"alignment": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), len(values) * size)}
        if access.writes:
            given = [_known(access.op.operands[0], known) for known in values]
            stored = ir.Operation.create("vector.from_elements", [kind], given).results[0]
            ir.Operation.create("vector.store", operands=[stored, access.memref, *at], attributes=attributes)
            return
        loaded = ir.Operation.create("vector.load", [kind], [access.memref, *at], attributes).results[0]
        for place, known in enumerate(values):
            known[access.op.results[0]] = element_of(loaded, [place])

    def _step(self, access: MemRefAccess, count: int) -> int | None:
        """Elements between what each of `count` neighbours and the next touch: 0, or 1 from a multiple of `count` on, as far as one
        access takes them; None for all else."""
        innermost, form = self.contraction.columns.loops[-1], access.distance
        kind = ir.MemRefType(access.memref.type)
        root = root_of(access.memref)
        if form is None or not is_dense(kind) or not (isinstance(root, ir.BlockArgument) or is_allocation(root)):
            return None
        step = form.factors.get(innermost.iv, 0)
        others = [factor for value, factor in form.factors.items() if value != innermost.iv]
        is_aligned = all(number % count == 0 for number in (form.constant, *others))
        bits = int(kind.element_type.width)
        return step if step == 0 or (step == 1 and is_aligned and 8 <= bits <= 8 * VECTOR_BYTES // count) else None

    def _indices(self, access: MemRefAccess, places: _Places, known: dict[ir.Value, ir.Value]) -> list[ir.Value]:
        """Emit the subscripts of an access at a place."""
        given = [places[value] if value in places else self.extents.dim(_known(value, known)) for value in access.indices]
        dims, symbols = given[: access.map.n_dims], given[access.map.n_dims :]
        return [self.extents.value(substitute(result, dims, symbols)) for result in access.map.results]


def _known(value: ir.Value, known: dict[ir.Value, ir.Value]) -> ir.Value:
    return known.get(value, value)
