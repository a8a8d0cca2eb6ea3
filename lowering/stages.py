"""Tells which level a module is at from its ops and types."""

from __future__ import annotations

from dlc._mlir import ir

_FRAME = {"builtin.module", "func.func", "func.return"}


def stage_of(module: ir.Module) -> str:
    """`dl`, `linalg`, `affine`, `llvm`, or `gpu` and `nvvm` with kernels for GPUs: the highest level whose ops it holds.

    A module with dl ops, or that only hands tensors through, is at dl; one with llvm functions only at llvm; one on tensors at
    linalg; the rest, on memrefs, at affine.
    """
    names: set[str] = set()
    tensors = False

    def visit(operation: ir.Operation) -> ir.WalkResult:
        nonlocal tensors
        names.add(operation.name)
        if operation.name == "func.func" and not tensors:
            tensors = "tensor<" in str(operation.attributes["function_type"])
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    bare = tensors and names <= _FRAME and "dl.signature" not in module.operation.attributes
    if bare or any(name.startswith("dl.") for name in names):
        return "dl"
    if "gpu.module" in names or "gpu.launch_func" in names:
        return "gpu" if "gpu.func" in names else "nvvm"
    if "func.func" not in names and "llvm.func" in names:
        return "llvm"
    return "linalg" if tensors else "affine"
