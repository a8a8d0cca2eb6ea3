"""llvm-dialect modules to files: LLVM IR, assembly and objects."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from dlc._mlir import ir, llvm
from dlc.errors import TargetError
from dlc.targets.cpu.jit import entry_points, lookup, make_engine, require_llvm

_DISASSEMBLER = "objdump"


def emit_llvm_ir(module: ir.Module) -> str:
    """The module as LLVM IR text."""
    require_llvm(module)
    return str(llvm.translate_module_to_llvmir(module.operation))


def emit_object(module: ir.Module, opt_level: int = 2) -> bytes:
    """The module as a relocatable object for this machine; what it calls is in the runtime library, libc and libm.

    Its entry has two C interfaces: `_mlir_ciface_<entry>` takes a pointer to each descriptor,
    `_mlir__mlir_ciface_<entry>` one table of pointers to those pointers.
    """
    entries = entry_points(module)
    if not entries:
        raise TargetError("the module has no entry point; convert-affine-to-llvm makes one of a public function")
    engine = make_engine(module, opt_level, position_independent=True)
    # The engine would otherwise look up all functions, and fail at those that are internal.
    lookup(engine, entries[0])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "module.o"
        engine.dump_to_object_file(str(file))
        content = file.read_bytes() if file.exists() else b""
    if not content:
        raise TargetError("the compiler wrote no object; its message is on standard error")
    return content


def emit_assembly(module: ir.Module, opt_level: int = 2) -> str:
    """The module as assembly of this machine, disassembled from its object by binutils' objdump."""
    tool = shutil.which(_DISASSEMBLER)
    if tool is None:
        raise TargetError(f"assembly needs '{_DISASSEMBLER}', which is missing; install binutils, or emit an object")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "module.o"
        file.write_bytes(emit_object(module, opt_level))
        command = [tool, "--disassemble", "--reloc", "--no-show-raw-insn", "--no-addresses", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TargetError(f"'{_DISASSEMBLER}' failed: {done.stderr.strip()}")
    _, _, listing = done.stdout.partition("Disassembly of section")
    return f"Disassembly of section{listing}"
