"""Results of an entry in memory that its caller may give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, nested_ops

ALLOC, _FREE = "_mlir_memref_to_llvm_alloc", "_mlir_memref_to_llvm_free"
RESULT = "dlc_result_memory"
_ALLOCATED = 0
"""The field of a memref's descriptor that holds what was allocated."""


def take_result_memory(interface: ir.Operation) -> None:
    """Let a C interface in the llvm dialect ask the runtime's `dlc_result_memory` for the memory of its results.

    before: %p = llvm.call @_mlir_memref_to_llvm_alloc(%bytes)  // in the descriptor of result 1
    after:  %p = llvm.call @dlc_result_memory(%one, %bytes)

    Left alone are allocations that may run several times, and those that the function may free.
    """
    freed = _freed(interface)
    if freed is None:
        return
    for index, descriptor in _results(interface):
        pointer = _inserted(descriptor, [_ALLOCATED])
        call = None if pointer is None else defining_op(pointer)
        if call is None or not _calls(call, ALLOC) or pointer in freed or _repeats(call.block):
            continue
        _ask(call, index)


def _results(interface: ir.Operation) -> Iterator[tuple[int, ir.Value]]:
    """The descriptors that the function stores at its first argument, with their positions among the results."""
    block = interface.regions[0].blocks[0]
    stores = [use.owner.operation for use in block.arguments[0].uses] if len(block.arguments) else []
    stores = [op for op in stores if op.name == "llvm.store" and op.operands[1] == block.arguments[0]]
    if len(stores) != 1:
        return
    record = stores[0].operands[0]
    if not str(record.type).startswith("!llvm.struct<(struct<"):
        yield 0, record
        return
    op = defining_op(record)
    while op is not None and op.name == "llvm.insertvalue":
        position = _position(op)
        if len(position) == 1:
            yield position[0], op.operands[1]
        op = defining_op(op.operands[0])


def _inserted(struct: ir.Value, position: Sequence[int]) -> ir.Value | None:
    """The value that a chain of insertvalue ops puts at `position` of `struct`; None if it comes from elsewhere."""
    op = defining_op(struct)
    while op is not None and op.name == "llvm.insertvalue":
        if _position(op) == list(position):
            return op.operands[1]
        op = defining_op(op.operands[0])
    return None


def _position(op: ir.Operation) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes["position"]))


def callee_of(op: ir.Operation) -> str:
    """The name of the function that an op of the llvm dialect calls; empty for any other op, and for calls by address."""
    if op.name != "llvm.call" or "callee" not in op.attributes:
        return ""
    return str(ir.FlatSymbolRefAttr(op.attributes["callee"]).value)


def _calls(op: ir.Operation, name: str) -> bool:
    return callee_of(op) == name


def _freed(function: ir.Operation) -> set[ir.Value] | None:
    """What the function frees; None where that is one pointer or another."""
    freed = [op.operands[0] for op in nested_ops(function) if _calls(op, _FREE)]
    known = [op is not None and _calls(op, ALLOC) for op in map(defining_op, freed)]
    return set(freed) if all(known) else None


def _repeats(block: ir.Block) -> bool:
    """Whether control may come back to `block`."""
    seen: list[ir.Block] = []
    waiting = [block]
    while waiting:
        for successor in waiting.pop().successors:
            if successor == block:
                return True
            if successor not in seen:
                seen.append(successor)
                waiting.append(successor)
    return False


def _ask(call: ir.Operation, index: int) -> None:
    """Replace a call of the allocator by one that names the result."""
    long = ir.IntegerType.get_signless(64, call.context)
    with ir.InsertionPoint(call), call.location:
        number = ir.Operation.create("llvm.mlir.constant", results=[long], attributes={"value": ir.IntegerAttr.get(long, index)})
        attributes = dict(call.attributes.items()) | {
            "callee": ir.FlatSymbolRefAttr.get(RESULT),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([2, 0]),
        }
        operands = [number.result, call.operands[0]]
        made = ir.Operation.create("llvm.call", results=[call.results[0].type], operands=operands, attributes=attributes)
    call.results[0].replace_all_uses_with(made.result)
    module_block = _function_of(call).block
    call.erase()
    _declare(module_block)


def _function_of(op: ir.Operation) -> ir.Operation:
    while op.name != "llvm.func":
        op = op.parent.operation
    return op


def _declare(block: ir.Block) -> None:
    names = [item.attributes["sym_name"] for item in block.operations if "sym_name" in item.attributes]
    if ir.StringAttr.get(RESULT) in names:
        return
    kind = ir.TypeAttr.get(ir.Type.parse("!llvm.func<ptr (i64, i64)>"))
    attributes = {"sym_name": ir.StringAttr.get(RESULT), "function_type": kind}
    with ir.InsertionPoint.at_block_begin(block):
        ir.Operation.create("llvm.func", attributes=attributes, regions=1)
