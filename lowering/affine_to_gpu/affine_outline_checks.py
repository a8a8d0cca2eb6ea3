"""affine-outline-checks: checks of what data holds become functions of their own, before the kernels that rely on them."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import VIEW_OPS, defining_op, nested_ops, root_of, written_roots
from dlc.analysis.symbols import names_in, symbol_name
from dlc.lowering.outlining import captures_of, clone_replacing, fresh_name, is_kernel, noalias_marks, private_function, symbols_in
from dlc.lowering.pass_base import Pass

CHECKS = "dlc.checks"
"""Attribute of a function that does nothing but check."""

_ASSERT = "cf.assert"


@dataclass(frozen=True)
class AffineOutlineChecks(Pass):
    """Give the checks of a kernel's arguments a function, called where the kernel is: loops without them can be mapped to a GPU.

    before: func.func private @k(%ids, ...) { %m = affine.for ... { largest of %ids }   %ok = arith.cmpi sle, %m, %c49
              cf.assert %ok, "..."   affine.for ... }                               call @k(%ids, ...)
    after:  func.func private @k_checks(%ids) attributes {dlc.checks} { %m = ...   cf.assert %ok, "..." }
            func.func private @k(%ids, ...) { affine.for ... }                      call @k_checks(%ids)   call @k(%ids, ...)

    A check stays where it is if the kernel writes what it reads, or nothing in the module calls the kernel.
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite the module `op`."""
        taken = symbols_in(op)
        for function in [inner.operation for inner in op.regions[0].blocks[0].operations]:
            if (
                function.name == "func.func"
                and len(function.regions[0].blocks) == 1
                and is_kernel(function)
                and CHECKS not in function.attributes
            ):
                calls = [call for call in nested_ops(op) if _calls(call, symbol_name(function)) and names_in(call, op)]
                if calls:
                    _outline(function, calls, taken)


def _calls(op: ir.Operation, name: str) -> bool:
    return op.name == "func.call" and op.attributes["callee"].value == name


def _outline(function: ir.Operation, calls: list[ir.Operation], taken: set[str]) -> None:
    """Move the checks of `function` that can be into a function of their own, which `calls` get a call before."""
    (block,) = function.regions[0].blocks
    written = {root for op in block.operations for root in written_roots(op.operation)}
    checks = [op.operation for op in block.operations if op.operation.name == _ASSERT]
    needed: set[ir.Operation] = set()
    moved = []
    for check in checks:
        slice_ = _slice(check, block, written)
        if slice_ is not None:
            needed |= slice_
            moved.append(check)
    if not moved:
        return
    with ir.InsertionPoint(moved[0]), function.location:
        copies = _copies([op.operation for op in block.operations if op.operation in needed])
        captured, constants = captures_of(copies, _is_repeated)
        marks = noalias_marks(function, [], captured)
        places = [ir.BlockArgument(value).arg_number for value in captured]
        made = private_function(fresh_name(f"{symbol_name(function)}_checks", taken, "_"), copies, captured, constants)
        made.attributes[CHECKS] = ir.UnitAttr.get()
        made.attributes["arg_attrs"] = ir.ArrayAttr.get(marks)
    function.block.append(made)
    for check in moved:
        check.erase()
    for call in calls:
        operands = [call.operands[place] for place in places]
        callee = {"callee": ir.FlatSymbolRefAttr.get(symbol_name(made), function.context)}
        ir.Operation.create("func.call", operands=operands, attributes=callee, ip=ir.InsertionPoint(call), loc=call.location)


def _is_repeated(op: ir.Operation) -> bool:
    return op.name in ("arith.constant", "memref.get_global")


def _slice(check: ir.Operation, block: ir.Block, written: set[ir.Value]) -> set[ir.Operation] | None:
    """The check and the ops of `block` that it depends on; None where these read what is written, or more than arguments and views
    of them."""
    found: set[ir.Operation] = set()
    waiting = [check]
    while waiting:
        op = waiting.pop()
        if op in found:
            continue
        found.add(op)
        for inner in nested_ops(op):
            for value in inner.operands:
                source = defining_op(value)
                is_given = source is None or source.name in VIEW_OPS
                if isinstance(value.type, ir.MemRefType) and (root_of(value) in written or not is_given):
                    return None
                if source is not None and source.block == block and not _is_repeated(source):
                    waiting.append(source)
    return found


def _copies(ops: list[ir.Operation]) -> list[ir.Operation]:
    """Clones of `ops`, which use each other's results, at the insertion point."""
    values: dict[ir.Value, ir.Value] = {}
    return [clone_replacing(op, values) for op in ops]
