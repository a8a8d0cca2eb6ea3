"""Epilogues on fragments: what a contraction does with its sums, done by the threads that hold them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd

from dlc._mlir import ir
from dlc.lowering.affine.ir.accesses import MemRefAccess, access_of
from dlc.lowering.affine.ir.affine_builder import substitute
from dlc.lowering.affine_to_gpu.extents import LoopExtents
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Axis, Contraction
from dlc.lowering.affine_to_gpu.tensor_cores.fragments import element_of
from dlc.lowering.affine_to_gpu.tensor_cores.open_strides import has_open_rows, parts_of
from dlc.lowering.affine_to_gpu.tensor_cores.operands import is_dense, starts_aligned
from dlc.lowering.outlining import clone_replacing
from dlc.lowering.policy import policy
from dlc.targets.machine import VECTOR_BYTES

_Places = dict[ir.Value, ir.AffineExpr]


@dataclass(frozen=True, eq=False)
class _Part:
    """Neighbours of a row that are taken at once: their places and their sums."""

    row: ir.AffineExpr
    columns: list[ir.AffineExpr]
    sums: Sequence[ir.Value]


@dataclass(frozen=True, eq=False)
class Epilogue:
    """What is done to the sums of a block, where `batch` gives the places of batch loops and `sides` the block's tile.

    Neighbours of a row are loaded and stored at once where memory allows. `held` are results of ops of the contraction that the
    thread has already.
    """

    contraction: Contraction
    extents: LoopExtents
    batch: _Places
    sides: tuple[int, int]
    held: Mapping[ir.Value, ir.Value] = field(default_factory=dict)

    def emit(self, row: ir.AffineExpr, column: ir.AffineExpr, sums: Sequence[ir.Value]) -> None:
        """Emit it for neighbours from `column` on, as one part after the other, under a guard where they may not exist."""
        for columns, totals in self._together(column, sums):
            part = _Part(row, columns, totals)
            checks = self._checks(part)
            if not checks:
                self._known([part], [[]])
                continue
            with self.extents.when(checks):
                self._known([part], [[]])

    def emit_all(self, parts: Sequence[tuple[ir.AffineExpr, ir.AffineExpr, Sequence[ir.Value]]]) -> None:
        """Emit it for neighbours of rows, each by its row, its first column and its sums, where they exist.

        It is done op by op for as many as a thread may hold, so that their loads wait together. Loads read what exists, whether
        the place does or not; stores alone have guards.
        """
        found = [_Part(row, columns, totals) for row, at, sums in parts for columns, totals in self._together(at, sums)]
        most = max(1, policy().gpu.mma_held // max(len(part.sums) for part in found))
        for start in range(0, len(found), most):
            self._parts(found[start : start + most])

    def _together(
        self, column: ir.AffineExpr, sums: Sequence[ir.Value]
    ) -> Iterator[tuple[list[ir.AffineExpr], Sequence[ir.Value]]]:
        """Neighbours that are taken at once: those of the innermost loop, as many as its iterations are a multiple of."""
        loops, count = self.contraction.columns.loops, len(sums)
        while count > 1 and not (loops and Axis(loops[-1:]).multiple % count == 0):
            count //= 2
        for start in range(0, len(sums), count):
            yield [column + place for place in range(start, start + count)], sums[start : start + count]

    def _checks(self, part: _Part) -> list[tuple[ir.AffineExpr, bool]]:
        """What holds for a part whose row and columns exist, as far as they may not."""
        checks = []
        for axis, place, side in (
            (self.contraction.rows, part.row, self.sides[0]),
            (self.contraction.columns, part.columns[-1], self.sides[1]),
        ):
            checks += [] if axis.multiple % side == 0 else [(axis.count(self.extents) - 1 - place, False)]
        return checks

    def _inside(self, part: _Part) -> _Part:
        """The part, or the last one along an axis where it lies behind its end."""
        row, columns = part.row, part.columns
        if self.contraction.rows.multiple % self.sides[0]:
            row = self._at_most(row, self.contraction.rows.count(self.extents) - 1)
        if self.contraction.columns.multiple % self.sides[1]:
            first = self._at_most(columns[0], self.contraction.columns.count(self.extents) - len(columns))
            columns = [first + place for place in range(len(columns))]
        return _Part(row, columns, part.sums)

    def _at_most(self, place: ir.AffineExpr, last: ir.AffineExpr) -> ir.AffineExpr:
        return self.extents.dim(self.extents.least([place, last]))

    def _body(
        self, row: ir.AffineExpr, columns: Sequence[ir.AffineExpr], sums: Sequence[ir.Value]
    ) -> list[dict[ir.Value, ir.Value]]:
        """Emit it for one part that exists; for each neighbour what values of the contraction have become."""
        return self._known([_Part(row, list(columns), sums)], [[]])[0]

    def _parts(self, parts: Sequence[_Part]) -> None:
        self._known([self._inside(part) for part in parts], [self._checks(part) for part in parts])

    def _known(
        self, parts: Sequence[_Part], checks: Sequence[list[tuple[ir.AffineExpr, bool]]]
    ) -> list[list[dict[ir.Value, ir.Value]]]:
        """Emit one op after the other for all parts, stores where `checks` hold; for each neighbour of each part what values have
        become."""
        places = [self._places(part) for part in parts]
        values = [[dict(self.held) for _ in part.sums] for part in parts]
        self._ops(self.contraction.before, places, values, checks)
        for part, found in zip(parts, values, strict=True):
            for known, total in zip(found, part.sums, strict=True):
                known[self.contraction.total] = self._started(total, known)
        self._ops(self.contraction.epilogue, places, values, checks)
        return values

    def _places(self, part: _Part) -> list[_Places]:
        """The places of all loops, for each neighbour."""
        rows = {loop.iv: place for loop, place in self.contraction.rows.places(part.row)}
        axis = self.contraction.columns
        return [self.batch | rows | {loop.iv: at for loop, at in axis.places(column)} for column in part.columns]

    def _started(self, total: ir.Value, known: dict[ir.Value, ir.Value]) -> ir.Value:
        """Emit the sum with what it starts at, unless fragments began with that."""
        if self.contraction.starts_at_constant:
            return total
        name = "arith.addi" if isinstance(total.type, ir.IntegerType) else "arith.addf"
        return ir.Operation.create(name, [total.type], [known[self.contraction.start], total]).results[0]

    def _ops(
        self,
        ops: Sequence[ir.Operation],
        places: Sequence[list[_Places]],
        values: Sequence[list[dict[ir.Value, ir.Value]]],
        checks: Sequence[list[tuple[ir.AffineExpr, bool]]],
    ) -> None:
        for op in ops:
            if any(result in self.held for result in op.results):
                continue
            for at, known, guard in zip(places, values, checks, strict=True):
                if op.name != "affine.store" or not guard:
                    self._op(op, at, known)
                    continue
                with self.extents.when(guard):
                    self._op(op, at, known)

    def _op(self, op: ir.Operation, places: Sequence[_Places], values: Sequence[dict[ir.Value, ir.Value]]) -> None:
        """Emit an op for the neighbours of a part."""
        if op.name in ("affine.load", "affine.store"):
            self._access(access_of(op), places, values)
            return
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
        moves = self._neighbour_step(access, len(places)) if len(places) > 1 else None
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
            vector = ir.Operation.create("vector.from_elements", [kind], given).results[0]
            ir.Operation.create("vector.store", operands=[vector, access.memref, *at], attributes=attributes)
            return
        vector = ir.Operation.create("vector.load", [kind], [access.memref, *at], attributes).results[0]
        for place, known in enumerate(values):
            known[access.op.results[0]] = element_of(vector, [place])

    def _neighbour_step(self, access: MemRefAccess, count: int) -> int | None:
        """Elements between what `count` neighbours touch: 0, 1 from a multiple of `count` on; None for all else."""
        innermost, kind = self.contraction.columns.loops[-1], ir.MemRefType(access.memref.type)
        found = parts_of(access) if has_open_rows(kind) else None
        form, open_parts = found or (access.distance, ())
        is_whole = is_dense(kind) or found is not None
        is_open_along = any(part.form.of(innermost.iv) for part in open_parts)
        if form is None or not is_whole or is_open_along or not starts_aligned(access.root):
            return None
        step = form.factors.get(innermost.iv, 0)
        others = [factor for value, factor in form.factors.items() if value != innermost.iv]
        others += [part.factor * gcd(part.form.constant, *part.form.factors.values()) for part in open_parts]
        width = int(kind.element_type.width)
        fits = 8 <= width <= 8 * VECTOR_BYTES // count and all(number % count == 0 for number in (form.constant, *others))
        return step if step == 0 or (step == 1 and fits) else None

    def _indices(self, access: MemRefAccess, places: _Places, known: dict[ir.Value, ir.Value]) -> list[ir.Value]:
        """Emit the subscripts of an access at a place."""
        given = [places[value] if value in places else self.extents.dim(_known(value, known)) for value in access.indices]
        dims, symbols = given[: access.map.n_dims], given[access.map.n_dims :]
        return [self.extents.value(substitute(result, dims, symbols)) for result in access.map.results]


def _known(value: ir.Value, known: dict[ir.Value, ir.Value]) -> ir.Value:
    return known.get(value, value)
