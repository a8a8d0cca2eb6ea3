"""Functions and other symbols of a module by name."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops

_MODULES = ("builtin.module", "gpu.module")


def symbol_name(op: ir.Operation) -> str:
    """The name of an op that is a symbol; "" for one that is none."""
    return ir.StringAttr(op.attributes["sym_name"]).value if "sym_name" in op.attributes else ""


def functions_of(module: ir.Operation) -> list[ir.Operation]:
    """The `func.func` ops of a module's body, in order."""
    return [op.operation for op in module.regions[0].blocks[0].operations if op.operation.name == "func.func"]


def names_in(op: ir.Operation, module: ir.Operation) -> bool:
    """Whether what `op`, somewhere in a module, names are that module's functions: ops of a module inside name that one's."""
    around = op.parent.operation
    while around.name not in _MODULES:
        around = around.parent.operation
    return bool(around == module)


def callee_of(call: ir.Operation) -> str:
    """The name of the function that a `func.call` calls."""
    return str(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)


def calls_of(module: ir.Operation) -> dict[str, list[ir.Operation] | None]:
    """The calls of each function of `module` that something names, by its name; None for one that is named in another way too."""
    found: dict[str, list[ir.Operation] | None] = {}
    for op in nested_ops(module):
        for attribute in op.attributes.values():
            if not isinstance(attribute, ir.FlatSymbolRefAttr):
                continue
            sites = found.setdefault(attribute.value, [])
            if op.name != "func.call":
                found[attribute.value] = None
            elif sites is not None and names_in(op, module):
                sites.append(op)
    return found
