"""Vectors of i1 in memory: one byte each, as scalars are, where LLVM would pack them into bits."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import arith, ir

_LOADS = ("llvm.load", "llvm.intr.masked.load")
_STORES = ("llvm.store", "llvm.intr.masked.store")


def move_bools_as_bytes(ops: Sequence[ir.Operation]) -> None:
    """Let loads and stores of i1 vectors among `ops`, those of an llvm-dialect module, move vectors of i8; a byte not 0 is true.

    before: %b = llvm.load %p : !llvm.ptr -> vector<16xi1>
    after:  %y = llvm.load %p : !llvm.ptr -> vector<16xi8>    %b = llvm.icmp "ne" %y, %zero
    """
    for op in ops:
        if op.name in _LOADS and _is_bools(op.results[0].type):
            _load(op)
        elif op.name in _STORES and _is_bools(op.operands[0].type):
            _store(op)


def _is_bools(kind: ir.Type) -> bool:
    return isinstance(kind, ir.VectorType) and isinstance(kind.element_type, ir.IntegerType) and kind.element_type.width == 1


def _as_bytes(kind: ir.Type) -> ir.VectorType:
    return ir.VectorType.get(ir.VectorType(kind).shape, ir.IntegerType.get_signless(8))


def _load(op: ir.Operation) -> None:
    """The pointer and the mask of a masked load stay, what its other lanes hold is widened."""
    kind = op.results[0].type
    with op.location, ir.InsertionPoint(op):
        wide = _as_bytes(kind)
        operands = [*list(op.operands)[:2], *(_widened(value) for value in list(op.operands)[2:])]
        moved = ir.Operation.create(op.name, results=[wide], operands=operands, attributes=_attributes(op)).results[0]
        zero = ir.Operation.create("llvm.mlir.zero", results=[wide]).results[0]
        predicate = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), int(arith.CmpIPredicate.ne))
        compared = ir.Operation.create("llvm.icmp", results=[kind], operands=[moved, zero], attributes={"predicate": predicate})
        op.results[0].replace_all_uses_with(compared.results[0])
    op.erase()


def _store(op: ir.Operation) -> None:
    with op.location, ir.InsertionPoint(op):
        operands = [_widened(op.operands[0]), *list(op.operands)[1:]]
        ir.Operation.create(op.name, operands=operands, attributes=_attributes(op))
    op.erase()


def _attributes(op: ir.Operation) -> dict[str, ir.Attribute]:
    return {name: op.attributes[name] for name in op.attributes}


def _widened(value: ir.Value) -> ir.Value:
    return ir.Operation.create("llvm.zext", results=[_as_bytes(value.type)], operands=[value]).results[0]
