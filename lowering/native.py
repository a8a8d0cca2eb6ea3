"""Running upstream's passes from inside a Python pass."""

from __future__ import annotations

from dlc._mlir import ir, passmanager


def run_native(op: ir.Operation, *passes: str) -> None:
    """Run upstream `passes` (pipeline text, e.g. "func.func(cse)") on `op`; a failure raises `ir.MLIRError`."""
    passmanager.PassManager.parse(f"{op.name}({','.join(passes)})", op.context).run(op)
