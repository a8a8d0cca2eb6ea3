"""Names of kernels and of their memory that are different in all modules: PTX knows no modules."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.analysis.symbols import symbol_name

_DEFINITIONS = ("llvm.func", "llvm.mlir.global")


def name_apart(host: ir.Operation, modules: Sequence[ir.Operation]) -> None:
    """Rename what a `gpu.module` defines and an earlier one defines too; launches in the module `host` follow.

    The only kernel of a module gets the module's name then.
    """
    taken: set[str] = set()
    renamed: dict[str, str] = {}
    for module in modules:
        for op in [op.operation for op in module.regions[0].blocks[0].operations if _is_definition(op.operation)]:
            old = symbol_name(op)
            new = _free_name(old, symbol_name(module), taken, op.name == "llvm.func")
            taken.add(new)
            if new != old:
                ir.SymbolTable.replace_all_symbol_uses(old, new, module)
                ir.SymbolTable.set_symbol_name(op, new)
                renamed[f"@{symbol_name(module)}::@{old}"] = f"@{symbol_name(module)}::@{new}"
    for launch in [op for op in nested_ops(host) if op.name == "gpu.launch_func"]:
        kernel = str(launch.attributes["kernel"])
        if kernel in renamed:
            launch.attributes["kernel"] = ir.Attribute.parse(renamed[kernel], host.context)


def _is_definition(op: ir.Operation) -> bool:
    """Whether the op makes a symbol of its own; declarations of two modules are of one thing."""
    is_declared = op.name == "llvm.func" and not len(op.regions[0].blocks)
    return op.name in _DEFINITIONS and not is_declared


def _free_name(name: str, module: str, taken: set[str], is_kernel: bool) -> str:
    """`name`, else that of its module (alone for a kernel, before it for others), else with a number."""
    candidates = [name, *([module] if is_kernel else []), f"{module}_{name}"]
    found = next((one for one in candidates if one not in taken), None)
    number = 0
    while found is None:
        number += 1
        found = None if f"{name}_{number}" in taken else f"{name}_{number}"
    return found
