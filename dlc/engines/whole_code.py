"""The code of a model for another architecture than this machine's, compiled as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dlc._mlir import ir
from dlc.errors import TargetError
from dlc.lowering.deadline import Progress
from dlc.sources import Source
from dlc.targets.model_code import ModelCode
from dlc.targets.registry import find_target
from dlc.targets.signature import signature_of

if TYPE_CHECKING:
    from dlc.compile_options import CompileOptions


def whole_code(source: Source, options: CompileOptions, progress: Progress | None) -> tuple[ModelCode, list[np.ndarray]]:
    """One object of `source` for `options.target`, and the arrays that its entry reads. `TargetError` where there is none."""
    return emit_whole(*lower_whole(source, options, progress), options, progress)


def lower_whole(source: Source, options: CompileOptions, progress: Progress | None) -> tuple[Source, ir.Module]:
    """`source` with the weights that code reads, and its module at the last level."""
    from dlc.compiler import lower, optimize

    optimized = optimize(source, progress, options.target)
    return optimized, lower(optimized, progress=progress, target=options.target, schedule=options.schedules)


def emit_whole(
    optimized: Source, module: ir.Module, options: CompileOptions, progress: Progress | None
) -> tuple[ModelCode, list[np.ndarray]]:
    """One object of `module`, which is consumed, and the arrays that its entry reads."""
    signature = signature_of(module)
    if signature.precompute is not None:
        raise TargetError(
            f"its weights are laid out by code for '{options.target}', which cannot run here; compile it on such a machine"
        )
    if progress:
        progress("generate machine code")
    content = find_target(options.target).emit(module, "obj", options.opt_level)
    params = [_array(optimized.params[spec.name], spec.numpy_dtype) for spec in signature.params]
    return ModelCode(signature, (content,)), params


def _array(weights: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return np.ascontiguousarray(weights).astype(dtype, copy=False)


def require_no_profile(options: CompileOptions, arch: str) -> None:
    """`TargetError` where a profile is asked for, which needs kernels that are compiled each once."""
    if options.profile:
        raise TargetError(f"code for {arch} is compiled as a whole, which has no profile of kernels; compile without --profile")
