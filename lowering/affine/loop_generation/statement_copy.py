"""Copies a statement's ops to a new place, for one instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dlc._mlir import affine, ir
from dlc.analysis.buffers import defining_op
from dlc.lowering.affine.ir.accesses import SUBSCRIPTS_AT
from dlc.lowering.affine.ir.affine_builder import AffineScope, substitute
from dlc.lowering.affine.ir.element_relations import Array
from dlc.lowering.affine.ir.index_maps import applied_map, constant_of
from dlc.lowering.affine.polyhedral.grouping import is_free
from dlc.lowering.affine.polyhedral.model import Statement
from dlc.lowering.affine.polyhedral.packed_buffers import CopyStatement, buffer_accesses


@dataclass
class StatementCopy:
    """Copies a statement's ops for the instance whose loops have `values`.

    The subscripts of its accesses to buffers follow the values of its loops, in the order of the accesses.
    """

    statement: Statement
    values: Sequence[ir.AffineExpr]
    scope: AffineScope
    copies: dict[ir.Value, ir.Value] = field(default_factory=dict)

    def run(self) -> None:
        """Build the ops at the current insertion point."""
        if isinstance(self.statement, CopyStatement):
            return self._move_element(self.statement)
        for op in self.statement.ops:
            if not is_free(op):
                self.copy(op)
        return None

    def _move_element(self, statement: CopyStatement) -> None:
        source, target = statement.accesses
        ends = self.values[: source.array.rank], self.values[source.array.rank :]
        memrefs = [self.scope.buffers.get(access.array.name, access.array.value) for access in (source, target)]
        map, indices = self.scope.map(ends[0])
        kind = ir.MemRefType(memrefs[0].type).element_type
        attributes = {"map": ir.AffineMapAttr.get(map)}
        load = ir.Operation.create("affine.load", [kind], [memrefs[0], *indices], attributes, loc=statement.location)
        map, indices = self.scope.map(ends[1])
        attributes = {"map": ir.AffineMapAttr.get(map)}
        operands = [load.results[0], memrefs[1], *indices]
        ir.Operation.create("affine.store", [], operands, attributes, loc=statement.location)

    def copy(self, op: ir.Operation) -> ir.Operation:
        """Build the copy of one of the statement's ops; those that it needs come first."""
        copy = self._access(op) if op.name in SUBSCRIPTS_AT else self._plain(op)
        self.copies.update(zip(op.results, copy.results, strict=True))
        return copy

    def subscripts(self, op: ir.Operation) -> list[ir.AffineExpr]:
        """Where the copy of a load or store reads or writes."""
        moved = self._moved(op)
        if moved is not None:
            return moved[1]
        indexing = op.attributes["map"].value
        known = [self.expression(index) for index in list(op.operands)[SUBSCRIPTS_AT[op.name] :]]
        return [substitute(result, known[: indexing.n_dims], known[indexing.n_dims :]) for result in indexing.results]

    def memref(self, op: ir.Operation) -> ir.Value:
        """What the copy of a load or store reads or writes."""
        moved = self._moved(op)
        return self.value(op.operands[SUBSCRIPTS_AT[op.name] - 1]) if moved is None else self.scope.buffers[moved[0].name]

    def _moved(self, op: ir.Operation) -> tuple[Array, list[ir.AffineExpr]] | None:
        """The buffer that the access of `op` goes to, and its subscripts; None where it goes where it went."""
        at = len(self.statement.loops)
        for access in buffer_accesses(self.statement):
            if access.op == op:
                return access.array, list(self.values[at : at + access.array.rank])
            at += access.array.rank
        return None

    def _access(self, op: ir.Operation) -> ir.Operation:
        given = [*(self.value(operand) for operand in list(op.operands)[: SUBSCRIPTS_AT[op.name] - 1]), self.memref(op)]
        map, indices = self.scope.map(self.subscripts(op))
        attributes = dict(op.attributes.items()) | {"map": ir.AffineMapAttr.get(map)}
        kinds = [result.type for result in op.results]
        return ir.Operation.create(op.name, kinds, [*given, *indices], attributes, loc=op.location)

    def _plain(self, op: ir.Operation) -> ir.Operation:
        operands = [self.value(operand) for operand in op.operands]
        copy = op.clone().operation
        for at, operand in enumerate(operands):
            copy.operands[at] = operand
        return copy

    def value(self, value: ir.Value) -> ir.Value:
        """What stands for `value` in the copy."""
        if value in self.copies:
            return self.copies[value]
        variable = self.variable(value)
        if variable is not None:
            map, operands = self.scope.map([self.values[variable]])
            return affine.AffineApplyOp(map, operands, loc=self.statement.location).result
        if isinstance(value, ir.BlockArgument) or not self._is_replaced(value.owner.operation):
            return value
        self.copies[value] = self._plain(value.owner.operation).results[0]
        return self.copies[value]

    def _is_replaced(self, op: ir.Operation) -> bool:
        """Whether `op` is a cheap op that goes away with the old loops."""
        return is_free(op) and op.parent.operation.name in ("affine.for", "affine.parallel", "affine.if")

    def variable(self, value: ir.Value) -> int | None:
        """Which of the statement's loops `value` is the variable of."""
        return next((at for at, loop in enumerate(self.statement.loops) if loop.variable == value), None)

    def expression(self, value: ir.Value) -> ir.AffineExpr:
        """The index `value` as an expression at the new place."""
        variable = self.variable(value)
        if variable is not None:
            return self.values[variable]
        number, op = constant_of(value), defining_op(value)
        if number is not None:
            return ir.AffineExpr.get_constant(number)
        applied = applied_map(op) if op is not None else None
        if applied is None:
            return self.scope.symbol(value)
        indexing, known = applied[0], [self.expression(operand) for operand in applied[1]]
        return substitute(indexing.results[0], known[: indexing.n_dims], known[indexing.n_dims :])
