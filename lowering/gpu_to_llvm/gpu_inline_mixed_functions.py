"""gpu-inline-mixed-functions: functions that launch kernels and call functions of the host become parts of their callers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.analysis.symbols import callee_of, functions_of, symbol_name
from dlc.lowering.outlining import clone_replacing
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class GpuInlineMixedFunctions(Pass):
    """Write what a function does in place of its calls where kernels and functions of the host work on the same memory.

    `gpu-place-copies` puts copies between the two into the entry, which has to call each of them itself.

    before: func.func @main(...) { call @attention(%x, %y) }
            func.func private @attention(%x, %y) { %s = gpu.alloc ()   gpu.launch_func @scores ...(%x, %s)   call @loops(%s, %y) }
            func.func private @loops(...)                // no launch in it
    after:  func.func @main(...) { %s = gpu.alloc ()   gpu.launch_func @scores ...(%x, %s)   call @loops(%s, %y) }
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite the module `op`."""
        functions = {symbol_name(each): each for each in functions_of(op)}
        mixed = {name: each for name, each in functions.items() if _is_mixed(each, functions)}
        others = [each for name, each in functions.items() if name not in mixed]
        while calls := [
            call for each in others for call in nested_ops(each) if call.name == "func.call" and callee_of(call) in mixed
        ]:
            for call in calls:
                _inline(call, mixed[callee_of(call)])
        for function in mixed.values():
            function.erase()


def _is_mixed(function: ir.Operation, functions: Mapping[str, ir.Operation]) -> bool:
    if "sym_visibility" not in function.attributes or len(function.regions[0].blocks) != 1 or not _launches(function):
        return False
    called = [functions.get(callee_of(inner)) for inner in nested_ops(function) if inner.name == "func.call"]
    return any(each is not None and len(each.regions[0].blocks) and not _launches(each) for each in called)


def _launches(function: ir.Operation) -> bool:
    return any(inner.name == "gpu.launch_func" for inner in nested_ops(function))


def _inline(call: ir.Operation, function: ir.Operation) -> None:
    (block,) = function.regions[0].blocks
    values: dict[ir.Value, ir.Value] = dict(zip(block.arguments, call.operands, strict=True))
    *body, end = [op.operation for op in block.operations]
    with ir.InsertionPoint(call):
        for op in body:
            clone_replacing(op, values)
    for result, value in zip(call.results, end.operands, strict=True):
        result.replace_all_uses_with(values.get(value, value))
    call.erase()
