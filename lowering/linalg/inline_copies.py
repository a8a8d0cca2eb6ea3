"""Functions that only copy go where they are called, so that it can be seen what is copied where."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.buffers import VIEW_OPS
from dlc.analysis.symbols import functions_of, symbol_name
from dlc.lowering.outlining import clone_in_terms

_FREE = VIEW_OPS | {"memref.dim", "memref.copy", "memref.load", "cf.assert"}


def inline_copies(module: ir.Operation) -> None:
    """Inline private functions without results that copy between views of their arguments, and else compute and check places."""
    functions = functions_of(module)
    copying = {symbol_name(function): function for function in functions if _only_copies(function)}
    if not copying:
        return
    for function in functions:
        if symbol_name(function) in copying or len(function.regions[0].blocks) != 1:
            continue
        for op in [op.operation for op in function.regions[0].blocks[0].operations]:
            if op.name == "func.call" and _callee(op) in copying:
                _inline(op, copying[_callee(op)])
    called = _called(module)
    for name, function in copying.items():
        if name not in called:
            function.erase()


def _callee(call: ir.Operation) -> str:
    return str(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)


def _called(module: ir.Operation) -> set[str]:
    found: set[str] = set()

    def visit(op: ir.Operation) -> ir.WalkResult:
        found.update(value.value for value in op.attributes.values() if isinstance(value, ir.FlatSymbolRefAttr))
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    return found


def _only_copies(function: ir.Operation) -> bool:
    if "sym_visibility" not in function.attributes or len(function.regions[0].blocks) != 1:
        return False
    *ops, end = [op.operation for op in function.regions[0].blocks[0].operations]
    copies = any(op.name == "memref.copy" for op in ops)
    return copies and not end.operands and all(op.name in _FREE or op.name.startswith("arith.") for op in ops)


def _inline(call: ir.Operation, function: ir.Operation) -> None:
    """Replace `call` by the ops of `function`, at their own locations."""
    block = function.regions[0].blocks[0]
    values: dict[ir.Value, ir.Value] = dict(zip(block.arguments, call.operands, strict=True))
    with ir.InsertionPoint(call), call.location:
        for op in [op.operation for op in block.operations][:-1]:
            clone_in_terms(op, values)
    call.erase()
