"""Freeing buffers."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import is_linalg, nested_ops
from dlc.lowering.native import run_native
from dlc.lowering.pass_base import Pass, PassFailure

_RESULTS_CARRY_OWNERSHIP = (
    "ownership-based-buffer-deallocation",
    "canonicalize",
    "buffer-deallocation-simplification",
    "bufferization-lower-deallocations",
    "cse",
    "canonicalize",
    "convert-bufferization-to-memref",
)
_AFTER_LAST_USE = "func.func(optimize-allocation-liveness)"


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
        run_native(op, *_RESULTS_CARRY_OWNERSHIP)
        run_native(op, _AFTER_LAST_USE)
