"""`dl-inline-bodies`: bodies of branches and loops return from their functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
        calls: dict[str, list[ir.Operation]] = {name: [] for name in bodies}
        for call in nested_ops(op):
            if call.name == "func.call" and _callee(call) in calls:
                calls[_callee(call)].append(call)
        for name, function in bodies.items():
            _check(name, function, calls[name])
            _inline(calls[name][0], function)


def _check(name: str, function: ir.Operation, calls: Sequence[ir.Operation]) -> None:
    """Refuse a body that no single place takes."""
    if not calls:
        raise PassFailure(function, f"nothing calls the body @{name}", "erase it with symbol-dce")
    if len(calls) > 1:
        raise PassFailure(calls[1], f"the body @{name} has another call", "give each call a body of its own")
    if len(function.regions[0].blocks) > 1:
        raise PassFailure(function, f"the body @{name} has several blocks", "write branches with scf.if")
    if any(parent == function for parent in _parents(calls[0])):
        raise PassFailure(calls[0], f"the body @{name} calls itself", "write a loop with scf.while")


def _parents(op: ir.Operation) -> Iterator[ir.Operation]:
    while op.parent is not None:
        op = op.parent.operation
        yield op


def _callee(call: ir.Operation) -> str:
    return str(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)


def _inline(call: ir.Operation, function: ir.Operation) -> None:
    block = function.regions[0].blocks[0]
    given = inline_block(block, call, dict(zip(block.arguments, call.operands, strict=True)))
    for result, value in zip(call.results, given, strict=True):
        result.replace_all_uses_with(value)
    call.erase()
    function.erase()
