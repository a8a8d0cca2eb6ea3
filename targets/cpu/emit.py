"""llvm-dialect modules to files: LLVM IR, assembly and objects."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dlc._mlir import execution_engine, ir, llvm_translation
from dlc.analysis.symbols import symbol_name
from dlc.diagnostics import at_location
from dlc.errors import TargetError
from dlc.lowering.affine_to_llvm.interfaces import C_INTERFACE
from dlc.lowering.affine_to_llvm.rotate_loops import OPTIMIZED
from dlc.lowering.llvm_translation import untranslatable
from dlc.runtime.library import load_library
from dlc.targets.machine import facts_of, host_facts

_DECLARING = frozenset({"llvm.func", "llvm.mlir.global"})
_DEFAULT_LEVEL = 2
"""The level up to which kernels that need no optimiser are spared LLVM's."""
_DISASSEMBLER = "objdump"


def emit_llvm_ir(module: ir.Module) -> str:
    """The module as LLVM IR text."""
    require_llvm(module)
    return str(llvm_translation.translate_module_to_llvmir(module.operation))


def emit_object(module: ir.Module, opt_level: int = 2) -> bytes:
    """The module as a relocatable object for its target; what it calls is in the runtime library, libc and libm.

    Its entry has two C interfaces: `_mlir_ciface_<entry>` takes a pointer to each descriptor, `_mlir__mlir_ciface_<entry>` one
    table of pointers to those pointers. Raises `TargetError` when the module cannot be
    compiled.
    """
    require_llvm(module)
    entries = entry_points(module)
    if not entries:
        raise TargetError("the module has no entry point; convert-affine-to-llvm makes one of a public function")
    if _is_foreign(module):
        from dlc.targets.cpu.foreign import foreign_object  # a second LLVM, which workers do without
        from dlc.targets.cpu.packed_interface import packed_interface

        text = emit_llvm_ir(module) + "".join(packed_interface(module, entry) for entry in entries)
        return foreign_object(text, facts_of(module.operation), opt_level)
    return emit_unit(module, f"{C_INTERFACE}{entries[0]}", opt_level)


def _is_foreign(module: ir.Module) -> bool:
    """Whether the module is for another architecture than this machine's."""
    return facts_of(module.operation).arch != host_facts().arch


def emit_unit(module: ir.Module, symbol: str, opt_level: int = 2, callee_prefix: str | None = None) -> bytes:
    """The module, which defines the function `symbol`, as an object of this machine's architecture.

    Undefined `callee_prefix...` functions are in others. A module that is `dlc.optimized` goes to code generation as it is, unless
    `opt_level` is above the default.
    """
    require_llvm(module)
    undefined = dict.fromkeys(_undefined_symbols(module))
    elsewhere = [name for name in undefined if callee_prefix is not None and name.startswith(callee_prefix)]
    library = load_library()
    _require_symbols([name for name in undefined if name not in elsewhere], ctypes.CDLL(str(library.path)))
    if symbol in undefined or symbol not in _symbols(module):
        name = symbol.removeprefix(C_INTERFACE)
        raise TargetError(f"function '{name}' has no C interface; convert-affine-to-llvm makes one of a public function")
    level = 0 if opt_level <= _DEFAULT_LEVEL and OPTIMIZED in module.operation.attributes else opt_level
    try:
        engine = execution_engine.ExecutionEngine(module, opt_level=level, shared_libs=[str(library.path)], enable_pic=True)
    except RuntimeError as error:
        raise TargetError(f"the module cannot be compiled for this machine: {error}") from None
    for name in elsewhere:
        engine.raw_register_runtime(name, ctypes.c_void_p(ctypes.addressof(_NOWHERE)))
    if not engine.raw_lookup(symbol):  # compiles the module; without it, all functions are looked up, internal ones in vain
        raise TargetError(f"function '{symbol}' could not be compiled")
    return _object_of(engine)


_NOWHERE = ctypes.c_int64()
"""Stands for functions of other objects while the engine, whose code never runs, links."""


def _object_of(engine: execution_engine.ExecutionEngine) -> bytes:
    """The object that an engine has made. LLVM ends the process where a disk is full, so that memory takes the file if it can."""
    with contextlib.ExitStack() as stack:
        file = _memory_file(stack) or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "module.o"
        engine.dump_to_object_file(str(file))
        content = file.read_bytes() if file.exists() else b""
    if not content:
        raise TargetError("the compiler wrote no object; its message is on standard error")
    return content


def _memory_file(stack: contextlib.ExitStack) -> Path | None:
    """The path of a file in memory that goes with `stack`; None where the system has none."""
    if not hasattr(os, "memfd_create") or not Path("/proc/self/fd").is_dir():
        return None
    descriptor = os.memfd_create("dlc-object")
    stack.callback(os.close, descriptor)
    return Path(f"/proc/self/fd/{descriptor}")


def emit_assembly(module: ir.Module, opt_level: int = 2) -> str:
    """The module as assembly: disassembled from its object by binutils' objdump, or LLVM's text for another architecture."""
    if _is_foreign(module):
        from dlc.targets.cpu.foreign import foreign_assembly

        return foreign_assembly(emit_llvm_ir(module), facts_of(module.operation), opt_level)
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


def require_llvm(module: ir.Module) -> None:
    """Raise `TargetError` unless every op is of the llvm dialect, with types that LLVM has."""
    for op, problem, remedy in untranslatable(module.operation, ("llvm",), "convert-affine-to-llvm"):
        raise TargetError("", [at_location(op.location, f"{problem}; {remedy}")])


def entry_points(module: ir.Module) -> list[str]:
    """Names of the functions that have a C interface."""
    return [name.removeprefix(C_INTERFACE) for name in _symbols(module) if name.startswith(C_INTERFACE)]


def _symbols(module: ir.Module) -> list[str]:
    symbols = [op for op in module.body.operations if "sym_name" in op.attributes]
    return [symbol_name(op) for op in symbols]


def _require_symbols(names: list[str], library: ctypes.CDLL) -> None:
    """Refuse undefined symbols here: the engine would print them to stderr and then fail without naming them."""
    process = ctypes.CDLL(None)
    missing = [name for name in names if not (hasattr(library, name) or hasattr(process, name))]
    if missing:
        raise TargetError(f"undefined symbols: {', '.join(missing)}; neither the runtime library nor this process has them")


def _undefined_symbols(module: ir.Module) -> Iterator[str]:
    """Names that the module declares and does not define; intrinsics are the compiler's own."""
    for op in module.body.operations:
        if op.operation.name not in _DECLARING or "sym_name" not in op.attributes:
            continue
        name = symbol_name(op)
        has_value = "value" in op.attributes or bool(len(op.regions[0].blocks))
        if not has_value and not name.startswith("llvm."):
            yield name
