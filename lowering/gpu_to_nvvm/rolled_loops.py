"""Loops of kernels on tensor cores stay loops: their products fill the tensor cores, and copies of a step only fill the caches of
instructions."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops

_PRODUCTS = ("nvvm.mma.sync", "nvvm.wgmma.mma_async")
_BRANCHES = ("llvm.br", "llvm.cond_br")
_ROLLED = "#llvm.loop_annotation<unroll = <disable = true>>"


def keep_loops(function: ir.Operation) -> None:
    """State on every branch back of a kernel with products on tensor cores that LLVM is not to unroll the loop."""
    if not any(op.name in _PRODUCTS for op in nested_ops(function)):
        return
    passed: list[ir.Block] = []
    for block in function.regions[0].blocks:
        passed.append(block)
        end = block.operations[len(block.operations) - 1].operation
        if end.name in _BRANCHES and any(target in passed for target in end.successors):
            end.attributes["loop_annotation"] = ir.Attribute.parse(_ROLLED, function.context)
