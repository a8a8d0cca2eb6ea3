"""What of a block is a static control part, and which values exist before it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, VIEW_OPS, defining_op, is_memref
from dlc.lowering.affine.ir.accesses import is_memory_op, is_store
from dlc.lowering.affine.polyhedral.grouping import is_free

LOOPS = ("affine.for", "affine.parallel")

_PURE = ("arith.", "math.", "complex.", "index.", "vector.", "ub.", "memref.dim")
_IMPURE = frozenset(
    f"vector.{name}"
    for name in ("compressstore", "expandload", "gather", "load", "mask", "maskedload", "maskedstore", "print", "scatter", "store")
) | {"vector.transfer_read", "vector.transfer_write"}


def is_pure(op: ir.Operation) -> bool:
    """Whether `op` has no effect but its results, and reads no memory."""
    return not len(op.regions) and (is_free(op) or (op.name.startswith(_PURE) and op.name not in _IMPURE))


def is_supported(op: ir.Operation) -> bool:
    """Whether the model supports `op`, what is inside left aside."""
    if op.name in (*LOOPS, "affine.if", "memref.dealloc") or op.name in ALLOCATIONS or op.name in VIEW_OPS:
        return True
    return is_memory_op(op) or is_pure(op)


def active_ops(ops: Sequence[ir.Operation]) -> list[ir.Operation]:
    """`ops` from the first to the last one that has loops or writes memory."""
    active = [index for index, op in enumerate(ops) if len(op.regions) or is_store(op)]
    return list(ops[active[0] : active[-1] + 1]) if active else []


@dataclass
class OutsideValues:
    """Tells which values exist before the first of `items`, ops of one block, runs, or may be computed there."""

    items: Sequence[ir.Operation]
    known: dict[ir.Value, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.inside = set(self.items)

    def has(self, value: ir.Value) -> bool:
        """Whether `value` is one of them."""
        if value not in self.known:
            self.known[value] = self._has(value)
        return self.known[value]

    def _has(self, value: ir.Value) -> bool:
        op = defining_op(value)
        if op is None:
            return value.owner.owner.operation.name not in LOOPS
        if op.block == self.items[0].block:
            return op not in self.inside or self.is_early(op)
        return self._is_around(op)

    def is_early(self, op: ir.Operation) -> bool:
        """Whether one of the items needs nothing of the others, but allocations and such as itself."""
        if op.name in ALLOCATIONS:
            return all(self.has(operand) for operand in op.operands)
        return is_pure(op) and all(self.has(operand) for operand in op.operands)

    def _is_around(self, op: ir.Operation) -> bool:
        """Whether `op` lies in a block around that of the items."""
        block = self.items[0].block
        while True:
            owner = block.owner.operation
            if owner.parent is None:
                return False
            block = owner.block
            if block == op.block:
                return True


def is_local(memref: ir.Value, outside: OutsideValues) -> bool:
    """Whether `memref`, an allocation's result, and its views are used by loads and stores of the items alone."""
    for use in memref.uses:
        op = use.owner.operation
        if op.name in ("memref.dealloc", "memref.dim"):
            continue
        if op.name in VIEW_OPS and all(is_memref(result) for result in op.results):
            if not all(is_local(result, outside) for result in op.results):
                return False
        elif not (is_memory_op(op) and is_inside(op, outside)):
            return False
    return True


def is_inside(op: ir.Operation, outside: OutsideValues) -> bool:
    """Whether `op` is one of the items or nested in one."""
    home = outside.items[0].block
    while op.block != home:
        if op.parent is None:
            return False
        op = op.parent.operation
    return op in outside.inside
