"""Copies a statement for several neighbouring iterations at once, one a lane of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dlc._mlir import affine, ir, vector
from dlc.analysis.buffers import defining_op
from dlc.lowering.affine.ir.accesses import SUBSCRIPTS_AT
from dlc.lowering.affine.ir.affine_builder import AffineScope, substitute
from dlc.lowering.affine.ir.expressions import coefficient, mentions
from dlc.lowering.affine.ir.values import zeros
from dlc.lowering.affine.loop_generation.copy_lanes import can_move_lanes, ends_of, move_lanes
from dlc.lowering.affine.loop_generation.statement_copy import StatementCopy
from dlc.lowering.affine.polyhedral.grouping import is_free
from dlc.lowering.affine.polyhedral.model import Statement
from dlc.lowering.affine.polyhedral.packed_buffers import CopyStatement

_ELEMENTWISE = ("arith.", "math.")


def can_copy_lanes(statement: Statement, values: Sequence[ir.AffineExpr], lane: int, *, masked: bool = False) -> bool:
    """Whether every op of `statement` has a form on vectors along dim `lane`, which its loops' `values` mention.

    Masked vectors must lie in one piece in memory.
    """
    if isinstance(statement, CopyStatement):
        return can_move_lanes(statement, values, lane, masked=masked)
    copy = StatementCopy(statement, values, AffineScope())
    return all(_has_lanes(copy, op, lane, masked) for op in statement.ops if not is_free(op))


def _has_lanes(copy: StatementCopy, op: ir.Operation, lane: int, masked: bool) -> bool:
    if op.name in SUBSCRIPTS_AT:
        strides = [coefficient(result, lane) for result in copy.subscripts(op)]
        if op.name == "affine.store" and not any(strides):
            return False
        if op.name == "affine.store" and _counts_lanes(copy, op.operands[0], lane):
            return False
        return None not in strides and (not masked or (not strides or (strides[-1] in (0, 1) and not any(strides[:-1]))))
    return op.name.startswith(_ELEMENTWISE) and not any(_counts_lanes(copy, operand, lane) for operand in op.operands)


def _counts_lanes(copy: StatementCopy, value: ir.Value, lane: int) -> bool:
    """Whether `value` is computed from the number of the lane."""
    if copy.variable(value) is not None:
        return mentions(copy.expression(value), lane)
    op = defining_op(value)
    return op is not None and is_free(op) and any(_counts_lanes(copy, operand, lane) for operand in op.operands)


@dataclass
class LaneCopy:
    """The copy of a statement whose dim number `lane` runs over `width` values from `start`.

    With `mask`, one bit a lane, the other lanes read and write nothing.
    """

    statement: Statement
    values: Sequence[ir.AffineExpr]
    scope: AffineScope
    lane: int
    start: ir.AffineExpr
    width: int
    mask: ir.Value | None = None
    vectors: dict[ir.Value, ir.Value] = field(default_factory=dict)
    """Values that differ between lanes."""

    def run(self) -> None:
        """Build the ops at the current insertion point."""
        if isinstance(self.statement, CopyStatement):
            lanes = [self._lane_values(offset) for offset in range(self.width)]
            return move_lanes(self.statement, lanes, self.scope, self.lane, ends_of(self.statement, self.values), self.mask)
        uniform = self._at(0)
        for op in self.statement.ops:
            takes_vectors = any(operand in self.vectors for operand in op.operands)
            if is_free(op) and not takes_vectors:
                continue
            if op.name in SUBSCRIPTS_AT:
                self._access(op, uniform)
            elif takes_vectors:
                self._elementwise(op, uniform)
            else:
                uniform.copy(op)
        return None

    def _at(self, offset: int) -> StatementCopy:
        """The scalar copy of one lane."""
        return StatementCopy(self.statement, self._lane_values(offset), self.scope)

    def _lane_values(self, offset: int) -> list[ir.AffineExpr]:
        dims = [ir.AffineExpr.get_dim(at) for at in range(self.lane)] + [self.start + offset]
        symbols = [ir.AffineExpr.get_symbol(at) for at in range(len(self.scope.outside))]
        return [substitute(value, dims, symbols) for value in self.values]

    def _access(self, op: ir.Operation, uniform: StatementCopy) -> None:
        moving = StatementCopy(self.statement, self.values, self.scope)
        strides = [coefficient(result, self.lane) for result in moving.subscripts(op)]
        if op.name == "affine.store":
            self._store(op, strides, uniform)
        elif not any(strides):
            uniform.copy(op)
        elif strides[-1] == 1 and not any(strides[:-1]):
            self.vectors[op.results[0]] = self._row(op, uniform)
        else:
            self.vectors[op.results[0]] = self._gathered(op)

    def _row(self, op: ir.Operation, uniform: StatementCopy) -> ir.Value:
        """A load of neighbouring elements."""
        kind = self._vector_of(op.results[0].type)
        if self.mask is not None:
            filler = zeros(kind, op.location)
            return vector.maskedload(kind, uniform.memref(op), self._indices(op, uniform), self.mask, filler, loc=op.location)
        map, indices = self.scope.map(uniform.subscripts(op))
        return affine.AffineVectorLoadOp(kind, uniform.memref(op), indices, ir.AffineMapAttr.get(map), loc=op.location).result

    def _indices(self, op: ir.Operation, uniform: StatementCopy) -> list[ir.Value]:
        """The subscripts of lane 0 as values."""
        found = []
        for subscript in uniform.subscripts(op):
            map, operands = self.scope.map([subscript])
            found.append(affine.AffineApplyOp(map, operands, loc=op.location).result)
        return found

    def _gathered(self, op: ir.Operation) -> ir.Value:
        """A load of each lane's element."""
        loads = [self._at(offset).copy(op).results[0] for offset in range(self.width)]
        kind = self._vector_of(op.results[0].type)
        return ir.Operation.create("vector.from_elements", [kind], loads, loc=op.location).results[0]

    def _store(self, op: ir.Operation, strides: Sequence[int | None], uniform: StatementCopy) -> None:
        value = self._as_vector(op.operands[0], uniform, op.location)
        if self.mask is not None:
            vector.maskedstore(uniform.memref(op), self._indices(op, uniform), self.mask, value, loc=op.location)
            return
        if strides[-1] == 1 and not any(strides[:-1]):
            map, indices = self.scope.map(uniform.subscripts(op))
            attributes = {"map": ir.AffineMapAttr.get(map)}
            ir.Operation.create("affine.vector_store", [], [value, uniform.memref(op), *indices], attributes, loc=op.location)
            return
        for offset in range(self.width):
            attributes = {"static_position": ir.DenseI64ArrayAttr.get([offset])}
            element = ir.Operation.create("vector.extract", [op.operands[0].type], [value], attributes, loc=op.location).results[0]
            lane = self._at(offset)
            lane.copies[op.operands[0]] = element
            lane.copy(op)

    def _elementwise(self, op: ir.Operation, uniform: StatementCopy) -> None:
        operands = [self._as_vector(operand, uniform, op.location) for operand in op.operands]
        kinds = [self._vector_of(result.type) for result in op.results]
        copy = ir.Operation.create(op.name, kinds, operands, dict(op.attributes.items()), loc=op.location)
        self.vectors.update(zip(op.results, copy.results, strict=True))

    def _as_vector(self, value: ir.Value, uniform: StatementCopy, location: ir.Location) -> ir.Value:
        if value in self.vectors:
            return self.vectors[value]
        scalar = uniform.value(value)
        return ir.Operation.create("vector.broadcast", [self._vector_of(value.type)], [scalar], loc=location).results[0]

    def _vector_of(self, kind: ir.Type) -> ir.VectorType:
        return ir.VectorType.get([self.width], kind)
