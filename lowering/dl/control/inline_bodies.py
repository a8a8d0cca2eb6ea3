"""`dl-inline-bodies`: bodies of branches and loops return from their functions."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.dl.control.fold_branches import inline_block
from dlc.lowering.dl.matching import BODY, functions
from dlc.lowering.pass_base import Pass, PassFailure


@dataclass(frozen=True)
class InlineBodies(Pass):
    """Put each function with the attribute `dl.body` in the place of its call.

    before:
        %0 = scf.if %p -> (tensor<4xf32>) { %1 = call @body_0(%x) ... scf.yield %1 } else { ... }
        func.func private @body_0(%x) attributes {dl.body} { %1 = call @kernel_0_matmul(%x) ... return %1 }
    after:
        %0 = scf.if %p -> (tensor<4xf32>) { %1 = call @kernel_0_matmul(%x) ... scf.yield %1 } else { ... }
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite the module `op`."""
        bodies = {ir.StringAttr(function.attributes["sym_name"]).value: function for function in functions(op)}
        bodies = {name: function for name, function in bodies.items() if BODY in function.attributes}
        if not bodies:
            return
        calls = {_callee(call): call for call in nested_ops(op) if call.name == "func.call"}
        for name, function in bodies.items():
            if name not in calls:
                raise PassFailure(function, f"nothing calls the body @{name}", "erase it with symbol-dce")
            _inline(calls[name], function)


def _callee(call: ir.Operation) -> str:
    return str(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)


def _inline(call: ir.Operation, function: ir.Operation) -> None:
    block = function.regions[0].blocks[0]
    given = inline_block(block, call, dict(zip(block.arguments, call.operands, strict=True)))
    for result, value in zip(call.results, given, strict=True):
        result.replace_all_uses_with(value)
    call.erase()
    function.erase()
