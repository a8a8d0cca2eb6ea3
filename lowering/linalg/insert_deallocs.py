"""Freeing buffers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, VIEW_OPS, ancestor_in, defining_op, is_memref, nested_ops, root_of
from dlc.analysis.carried_buffers import LOOPS, carried_buffers, end_of, is_understood, moved_by, reach_of
from dlc.analysis.symbols import functions_of, symbol_name
from dlc.lowering.linalg.require_buffers import require_buffers
from dlc.lowering.native import run_native
from dlc.lowering.pass_base import Pass

_TRACKED_OWNERSHIP = (
    "ownership-based-buffer-deallocation",
    "canonicalize",
    "buffer-deallocation-simplification",
    "bufferization-lower-deallocations",
    "cse",
    "canonicalize",
    "convert-bufferization-to-memref",
    "func.func(optimize-allocation-liveness)",
)
_SOURCES = ALLOCATIONS | {"memref.get_global"}


@dataclass(frozen=True)
class InsertDeallocs(Pass):
    """Free every buffer that a function allocates and does not return, right after its last use.

    Buffers that branches and loops hand on are freed where their owner is known, at run time if need be. What a
    function returns belongs to its caller.

    before:
        %a = memref.alloc() : memref<4xf32>
        call @k0(%x, %a) : (memref<4xf32>, memref<4xf32>) -> ()
        call @k1(%a, %y) : (memref<4xf32>, memref<4xf32>) -> ()
        call @k2(%y, %z) : (memref<4xf32>, memref<4xf32>) -> ()
    after:
        %a = memref.alloc() : memref<4xf32>
        call @k0(%x, %a) : (memref<4xf32>, memref<4xf32>) -> ()
        call @k1(%a, %y) : (memref<4xf32>, memref<4xf32>) -> ()
        memref.dealloc %a : memref<4xf32>
        call @k2(%y, %z) : (memref<4xf32>, memref<4xf32>) -> ()
    """

    def run(self, op: ir.Operation) -> None:
        require_buffers(op, "run it only once")
        givers = {symbol_name(function) for function in functions_of(op) if _gives_memory(function)}
        if not all(_is_followed(inner, givers) for inner in nested_ops(op)):
            run_native(op, *_TRACKED_OWNERSHIP)
        else:
            _free_after_last_use(op)


def _gives_memory(function: ir.Operation) -> bool:
    """Whether a private function returns buffers that it allocates, each once: they are its caller's."""
    if "sym_visibility" not in function.attributes or len(function.regions[0].blocks) != 1:
        return False
    block = function.regions[0].blocks[0]
    roots = [root_of(value) for value in end_of(block).operands if is_memref(value)]
    own = [root for root in roots if (op := defining_op(root)) is not None and op.name == "memref.alloc" and op.block == block]
    return len(set(own)) == len(roots)


def _is_followed(op: ir.Operation, givers: Collection[str]) -> bool:
    """Whether it is known which buffer each result and block argument of `op` may be, and who frees it.

    `givers` are the functions that return memory of their own.
    """
    if op.name in LOOPS or op.name == "scf.if":
        return is_understood(op)
    if any(is_memref(result) for result in op.results):
        is_given = op.name == "func.call" and ir.FlatSymbolRefAttr(op.attributes["callee"]).value in givers
        return op.name in VIEW_OPS or op.name in _SOURCES or is_given
    blocks = [block for region in op.regions for block in region.blocks]
    entries = blocks[:1] if op.name == "func.func" else []
    return not any(is_memref(value) for block in blocks if block not in entries for value in block.arguments)


def _free_after_last_use(op: ir.Operation) -> None:
    """Free the buffers of each block below `op`. Upstream's passes do the same in time that is quadratic in their number."""
    for region in op.regions:
        for block in region.blocks:
            ops = [inner.operation for inner in block.operations]
            positions = {inner: position for position, inner in enumerate(ops)}
            for value in _taken_over(op, block):
                _free(value, block, ops, positions, 0)
            for value in _left_behind(op, block):
                _free_here(value, block, ops, positions, 0)
            for inner in ops:
                if inner.name != "memref.alloc":
                    _free_after_last_use(inner)
                for value in _owned_results(inner):
                    _free(value, block, ops, positions, positions[inner])


def _owned_results(op: ir.Operation) -> list[ir.Value]:
    """The results of an op that are memory which its block then owns."""
    if op.name in ("memref.alloc", "scf.if", "func.call"):
        return [result for result in op.results if is_memref(result)]
    if op.name in LOOPS:
        return [result for carried in carried_buffers(op) if carried.is_owned for result in carried.results]
    return []


def _taken_over(op: ir.Operation, block: ir.Block) -> list[ir.Value]:
    """The arguments of a block of the loop `op` that are memory which a step owns."""
    if op.name not in LOOPS:
        return []
    owned = [carried for carried in carried_buffers(op) if carried.is_owned]
    return [name for carried in owned for name in carried.arguments if name.owner == block]


def _left_behind(op: ir.Operation, block: ir.Block) -> list[ir.Value]:
    """The buffers that another block of the branch `op` moves to the next step, and that end in this one."""
    if op.name != "scf.if":
        return []
    given = list(end_of(block).operands)
    return [value for value in moved_by(op) if value not in given]


def _free(value: ir.Value, block: ir.Block, ops: Sequence[ir.Operation], positions: Mapping[ir.Operation, int], first: int) -> None:
    """Free the buffer after the last op of its block that uses it, itself or inside; not if the block hands it on."""
    reach = reach_of(value)
    if not reach.is_given_away and not any(user.name == "func.return" for user in reach.users):
        _free_here(value, block, ops, positions, first)


def _free_here(
    value: ir.Value, block: ir.Block, ops: Sequence[ir.Operation], positions: Mapping[ir.Operation, int], first: int
) -> None:
    """Free the buffer after the last op of `block` that uses it, itself or inside."""
    users = [user for user in reach_of(value).users if _is_inside(user, block)]
    last = max((positions[ancestor_in(user, block)] for user in users), default=first)
    op = defining_op(value)
    with (op or ops[last]).location, ir.InsertionPoint(ops[min(last + 1, len(ops) - 1)]):
        ir.Operation.create("memref.dealloc", operands=[value])


def _is_inside(op: ir.Operation, block: ir.Block) -> bool:
    """Whether `op` is in a block, or in a region of an op there."""
    around = op
    while around.block != block and around.parent is not None and around.parent.operation.name != "func.func":
        around = around.parent.operation
    return bool(around.block == block)
