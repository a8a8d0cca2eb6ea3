"""llvm-dialect modules to running code."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dlc._mlir import ir
from dlc.lowering.affine_to_llvm.interfaces import C_INTERFACE
from dlc.runtime.session import Session
from dlc.runtime.signature import Signature
from dlc.targets.cpu.emit import emit_unit
from dlc.targets.model_code import ModelCode


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
    code = ModelCode(signature, (emit_unit(module, f"{C_INTERFACE}{signature.entry}", opt_level),))
    return code.session(params, num_threads)
