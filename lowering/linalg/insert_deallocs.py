"""Freeing buffers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, VIEW_OPS, ancestor_in, is_linalg, is_memref, nested_ops
from dlc.lowering.native import run_native
from dlc.lowering.pass_base import Pass, PassFailure

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
        for inner in nested_ops(op):
            if is_linalg(inner) and len(inner.results):
                what = f"needs buffers, found '{inner.name}' on tensors"
                raise PassFailure(inner, what, "run linalg-bufferize-tensors first")
            if inner.name == "memref.dealloc":
                raise PassFailure(inner, "needs buffers that nobody frees, found 'memref.dealloc'", "run it only once")
        if any(_hands_on_buffers(inner) for inner in nested_ops(op)):
            run_native(op, *_TRACKED_OWNERSHIP)
        else:
            _free_after_last_use(op)


def _hands_on_buffers(op: ir.Operation) -> bool:
    """Whether `op` has results or block arguments that may be one buffer or another: a branch, a loop, a call."""
    if any(is_memref(result) for result in op.results):
        return op.name not in VIEW_OPS and op.name not in _SOURCES
    blocks = [block for region in op.regions for block in region.blocks]
    entries = blocks[:1] if op.name == "func.func" else []
    return any(is_memref(value) for block in blocks if block not in entries for value in block.arguments)


def _free_after_last_use(op: ir.Operation) -> None:
    """Free the buffers of each block below `op`. Upstream's passes do the same in time that is quadratic in their number."""
    for region in op.regions:
        for block in region.blocks:
            ops = [inner.operation for inner in block.operations]
            positions = {inner: position for position, inner in enumerate(ops)}
            for inner in ops:
                if inner.name == "memref.alloc":
                    _free(inner, block, ops, positions)
                else:
                    _free_after_last_use(inner)


def _free(alloc: ir.Operation, block: ir.Block, ops: Sequence[ir.Operation], positions: Mapping[ir.Operation, int]) -> None:
    """Free the buffer after the last op of its block that uses it, itself or inside; not if the function returns it."""
    users = list(_users(alloc.result))
    if any(user.name == "func.return" for user in users):
        return
    last = max((positions[ancestor_in(user, block)] for user in users), default=positions[alloc])
    with alloc.location, ir.InsertionPoint(ops[last + 1]):
        ir.Operation.create("memref.dealloc", operands=[alloc.result])


def _users(value: ir.Value) -> Iterator[ir.Operation]:
    """The ops that use `value` or a view of it."""
    for use in value.uses:
        user = use.owner.operation
        yield user
        if user.name in VIEW_OPS:
            for result in user.results:
                yield from _users(result)
