"""The C interface that takes one table, as LLVM IR. MLIR's execution engine adds it to code of its own architecture."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.symbols import symbol_name
from dlc.lowering.affine_to_llvm.interfaces import C_INTERFACE


def packed_interface(module: ir.Module, entry: str) -> str:
    """`void _mlir__mlir_ciface_<entry>(void **table)`, which calls `_mlir_ciface_<entry>` of the llvm-dialect `module`.

    The table has the address of each argument, all of which are pointers.
    """
    name = f"{C_INTERFACE}{entry}"
    function = next(op for op in module.body.operations if "sym_name" in op.attributes and symbol_name(op) == name)
    count = len(function.regions[0].blocks[0].arguments)
    loads = "".join(
        f"  %w{number} = getelementptr ptr, ptr %table, i64 {number}\n"
        f"  %a{number} = load ptr, ptr %w{number}\n"
        f"  %p{number} = load ptr, ptr %a{number}\n"
        for number in range(count)
    )
    arguments = ", ".join(f"ptr %p{number}" for number in range(count))
    return f'\ndefine void @"_mlir_{name}"(ptr %table) {{\n{loads}  call void @"{name}"({arguments}) noinline\n  ret void\n}}\n'
