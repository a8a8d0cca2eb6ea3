"""How much memory a call takes from a stack of blocks: what the arena of a program without a heap must have.

The walk follows a module of the llvm dialect as one thread runs it, with the allocator of `runtime/c_runtime/c_runtime.c`: a new
block goes on top of the last one, and a block that is freed while others lie above it keeps its memory until these are freed, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op
from dlc.analysis.symbols import symbol_name
from dlc.errors import TargetError

BLOCK_ALIGNMENT = 64
"""`DLC_C_RUNTIME_ALIGNMENT`: what blocks begin at, and what the record before each takes."""
_ALLOCATIONS = {"dlc_allocate": 0, "_mlir_memref_to_llvm_alloc": 0, "_mlir_memref_to_llvm_aligned_alloc": 1}
"""The functions of the runtime that give blocks, and which of their operands is the size."""
_FREE = "_mlir_memref_to_llvm_free"
_LOOPS = frozenset({"dlc_parallel_for", "dlc_parallel_for_uneven", "dlc_doacross"})
"""Functions that run the body which their first operand points at."""

_THREADS = "dlc_num_threads"
"""A function that gives how many threads run loops: one."""


@dataclass(frozen=True)
class _Block:
    """A block of `bytes` with its record; `pointer` is what frees it, None for what is never freed."""

    pointer: ir.Value | None
    bytes: int
    is_free: bool = False


_Stack = tuple[_Block, ...]


def arena_size(module: ir.Module, entry: str) -> int:
    """Bytes that one call of the function `entry` may have on the stack at once, for an arena that begins at a multiple of 64.

    `TargetError` where sizes, or which blocks there are, depend on the call.
    """
    functions = {symbol_name(op.operation): op.operation for op in module.body.operations if op.operation.name == "llvm.func"}
    return _Walk(functions).function(entry)[0]


class _Walk:
    def __init__(self, functions: dict[str, ir.Operation]) -> None:
        self._functions = functions
        self._known: dict[str, tuple[int, int]] = {}

    def function(self, name: str) -> tuple[int, int]:
        """The most bytes that a call of a function has at once, and those that it leaves."""
        if name not in self._known:
            blocks = self._functions[name].regions[0].blocks if name in self._functions else ()
            self._known[name] = self._blocks(list(blocks)) if len(blocks) else (0, 0)
        return self._known[name]

    def _blocks(self, blocks: Sequence[ir.Block]) -> tuple[int, int]:
        """Each block once, from what its first predecessor leaves; all others must leave the same."""
        most, left = 0, 0
        entered: dict[ir.Block, _Stack] = {blocks[0]: ()}
        waiting = [blocks[0]]
        while waiting:
            block = waiting.pop()
            stack = entered[block]
            for operation in block.operations:
                stack, peak = self._step(operation.operation, stack)
                most = max(most, peak)
            end = block.operations[len(block.operations) - 1].operation
            if end.name == "llvm.return":
                left = max(left, _bytes(stack))
            for successor in end.successors:
                if successor not in entered:
                    entered[successor] = stack
                    waiting.append(successor)
                elif entered[successor] != stack:
                    raise _unknown(end, "allocates memory on some ways through it only")
        return most, left

    def _step(self, op: ir.Operation, stack: _Stack) -> tuple[_Stack, int]:
        """The stack after `op`, and the most bytes during it."""
        if op.name != "llvm.call":
            return stack, 0
        name = _callee(op)
        if name in _ALLOCATIONS:
            stack = (*stack, _Block(op.results[0], _block_bytes(op, _ALLOCATIONS[name])))
            return stack, _bytes(stack)
        if name == _FREE:
            return _freed(stack, op.operands[0]), 0
        most, left = self.function(_body(op) if name in _LOOPS else name)
        return (*stack, _Block(None, left)) if left else stack, _bytes(stack) + most


def _bytes(stack: _Stack) -> int:
    return sum(block.bytes for block in stack)


def _freed(stack: _Stack, pointer: ir.Value) -> _Stack:
    """Without the blocks at the end that are free; one that is not known stays, which takes more."""
    found = [replace(block, is_free=block.is_free or block.pointer == pointer) for block in stack]
    while found and found[-1].is_free:
        found.pop()
    return tuple(found)


def _block_bytes(op: ir.Operation, place: int) -> int:
    size = _number(op.operands[place])
    alignment = _number(op.operands[0]) if place else BLOCK_ALIGNMENT
    if size is None or alignment is None:
        raise _unknown(op, "allocates memory whose size calls decide")
    skipped = alignment if alignment > BLOCK_ALIGNMENT else BLOCK_ALIGNMENT
    return skipped + -(-max(size, 1) // BLOCK_ALIGNMENT) * BLOCK_ALIGNMENT


def _callee(op: ir.Operation) -> str:
    if "callee" not in op.attributes:
        raise _unknown(op, "calls a function by its address")
    return str(ir.FlatSymbolRefAttr(op.attributes["callee"]).value)


def _body(op: ir.Operation) -> str:
    address = defining_op(op.operands[0])
    if address is None or address.name != "llvm.mlir.addressof":
        raise _unknown(op, "runs a loop by the address of its body")
    return str(ir.FlatSymbolRefAttr(address.attributes["global_name"]).value)


def _number(value: ir.Value) -> int | None:
    """What an integer, or the place of an element behind a null pointer, comes to; None where a call decides it."""
    op = defining_op(value)
    if op is None:
        return None
    if op.name == "llvm.mlir.zero":
        return 0
    if op.name == "llvm.mlir.constant":
        return int(ir.IntegerAttr(op.attributes["value"]).value)
    if op.name == "llvm.call":
        return 1 if _callee(op) == _THREADS else None
    if op.name == "llvm.getelementptr":
        return _element_place(op)
    operands = [_number(operand) for operand in op.operands]
    known = [number for number in operands if number is not None]
    if len(known) < len(operands) or op.name not in _RULES:
        return None
    return _RULES[op.name](known)


_RULES: Mapping[str, Callable[[Sequence[int]], int]] = {
    "llvm.ptrtoint": lambda numbers: numbers[0],
    "llvm.sext": lambda numbers: numbers[0],
    "llvm.add": lambda numbers: numbers[0] + numbers[1],
    "llvm.sub": lambda numbers: numbers[0] - numbers[1],
    "llvm.mul": lambda numbers: numbers[0] * numbers[1],
    "llvm.and": lambda numbers: numbers[0] & numbers[1],
    "llvm.intr.smax": max,
    "llvm.intr.smin": min,
}


def _element_place(op: ir.Operation) -> int | None:
    """Bytes from address 0 to an element of a scalar type, as upstream computes the bytes of an array."""
    element = ir.TypeAttr(op.attributes["elem_type"]).value
    width = getattr(element, "width", None)
    indices = list(_indices(op))
    base = _number(op.operands[0])
    if width is None or base is None or len(indices) != 1 or indices[0] is None:
        return None
    return base + indices[0] * -(-int(width) // 8)


def _indices(op: ir.Operation) -> Iterator[int | None]:
    """Constant indices stand in an attribute, in which others have the least number."""
    given = iter(list(op.operands)[1:])
    for index in ir.DenseI32ArrayAttr(op.attributes["rawConstantIndices"]):
        yield _number(next(given)) if index == -(1 << 31) else index


def _unknown(op: ir.Operation, what: str) -> TargetError:
    function = op
    while function.name != "llvm.func":
        function = function.parent.operation
    name = symbol_name(function)
    return TargetError(f"a program without a heap needs to know its memory, and '{name}' {what}; write another form, as static-lib")
