"""llvm-dialect modules to running code."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from dlc._mlir import execution_engine, ir
from dlc.errors import TargetError
from dlc.runtime.library import load_library
from dlc.runtime.session import Session
from dlc.runtime.signature import Signature

Engine: TypeAlias = Any
"""MLIR's `ExecutionEngine`, whose bindings have no types."""

C_INTERFACE = "_mlir_ciface_"
_DECLARING = frozenset({"llvm.func", "llvm.mlir.global"})


def build_session(
    module: ir.Module,
    signature: Signature,
    params: Mapping[str, np.ndarray],
    opt_level: int = 2,
    num_threads: int | None = None,
) -> Session:
    """Compile the llvm-dialect `module` for this machine and bind its parameters.

    `params` holds an array for each name in `signature.weights`. Raises `TargetError` when the module cannot be
    compiled, `InvalidInputError` when a parameter is missing or unfit. The module is not needed afterwards.
    """
    engine = make_engine(module, opt_level)
    precompute = lookup(engine, signature.precompute.entry) if signature.precompute else 0
    return Session(lookup(engine, signature.entry), signature, params, engine, num_threads, precompute)


def make_engine(module: ir.Module, opt_level: int = 2, position_independent: bool = False) -> Engine:
    """An engine for the module, linked with the runtime library; nothing is compiled before its first lookup."""
    require_llvm(module)
    library = load_library()
    _require_symbols(module, ctypes.CDLL(str(library.path)))
    try:
        return execution_engine.ExecutionEngine(
            module, opt_level=opt_level, shared_libs=[str(library.path)], enable_pic=position_independent
        )
    except RuntimeError as error:
        raise TargetError(f"the module cannot be compiled for this machine: {error}") from None


def require_llvm(module: ir.Module) -> None:
    """Raise `TargetError` unless every function is in the llvm dialect."""
    for op in module.body.operations:
        if not op.operation.name.startswith("llvm."):
            found = op.operation.name
            raise TargetError(f"emission needs the llvm dialect, found '{found}'; run convert-affine-to-llvm first")


def lookup(engine: Engine, entry: str) -> int:
    """Address of the packed C interface of the function `entry`; the first look-up compiles the whole module."""
    address = int(engine.raw_lookup(f"{C_INTERFACE}{entry}") or 0)
    if not address:
        raise TargetError(f"function '{entry}' has no C interface, or could not be compiled and linked")
    return address


def entry_points(module: ir.Module) -> list[str]:
    """Names of the functions that have a C interface."""
    symbols = [op for op in module.body.operations if "sym_name" in op.attributes]
    names = [ir.StringAttr(op.attributes["sym_name"]).value for op in symbols]
    return [name.removeprefix(C_INTERFACE) for name in names if name.startswith(C_INTERFACE)]


def _require_symbols(module: ir.Module, library: ctypes.CDLL) -> None:
    """Refuse undefined symbols here: the engine would print them to stderr and then fail without naming them."""
    process = ctypes.CDLL(None)
    missing = [name for name in _undefined_symbols(module) if not (hasattr(library, name) or hasattr(process, name))]
    if missing:
        names = ", ".join(missing)
        raise TargetError(f"undefined symbols: {names}; neither the runtime library nor this process has them")


def _undefined_symbols(module: ir.Module) -> Iterator[str]:
    """Names that the module declares and does not define; intrinsics are the compiler's own."""
    for op in module.body.operations:
        if op.operation.name not in _DECLARING or "sym_name" not in op.attributes:
            continue
        name = ir.StringAttr(op.attributes["sym_name"]).value
        has_value = "value" in op.attributes or bool(len(op.regions[0].blocks))
        if not has_value and not name.startswith("llvm."):
            yield name
