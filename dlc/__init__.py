"""dlc: a deep-learning compiler in Python on MLIR.

    import dlc
    model = dlc.compile("model.onnx")
    outputs = model({"x": array})

`dlc.lowering` holds every pass as a class, `dlc.dialects.dl` a builder for every op, `dlc.lower` takes a module from level to
level. Names are imported when they are first used, so that `import dlc` costs nothing.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # type checkers read True; importing typing takes longer than all the rest

__version__ = "0.1.0"

_PUBLIC = {
    "compile": "dlc.compiler",
    "import_onnx": "dlc.compiler",
    "lower": "dlc.compiler",
    "optimize": "dlc.compiler",
    "coverage": "dlc.coverage_report",
    "explain": "dlc.explanation",
    "kernels": "dlc.model_kernels",
    "schedules_of": "dlc.scheduling",
    "verify_schedules": "dlc.verification",
    "load": "dlc.runtime.engine",
    "Engine": "dlc.runtime.engine",
    "CompiledModel": "dlc.compiled_model",
    "SpecializingModel": "dlc.specializing_model",
    "CompileOptions": "dlc.compile_options",
    "count_ops": "dlc.compiler",
    "random_inputs": "dlc.random_inputs",
    "parse_module": "dlc.sources",
    "save_params": "dlc.sources",
    "load_params": "dlc.sources",
    "make_context": "dlc.dialects",
    "Pass": "dlc.lowering.pass_base",
    "PassFailure": "dlc.lowering.pass_base",
    "Pipeline": "dlc.lowering.pipeline",
    "Schedule": "dlc.lowering.affine.schedule.schedule",
    "Target": "dlc.targets.base",
    "register_target": "dlc.targets.registry",
    "DLCError": "dlc.errors",
    "ParseError": "dlc.errors",
    "VerifyError": "dlc.errors",
    "PassError": "dlc.errors",
    "ScheduleError": "dlc.errors",
    "UnsupportedError": "dlc.errors",
    "UnsupportedNode": "dlc.errors",
    "ValuesNeededError": "dlc.errors",
    "InvalidInputError": "dlc.errors",
    "OutOfMemoryError": "dlc.errors",
    "LenientWarning": "dlc.errors",
    "CancelledError": "dlc.errors",
    "CompileTimeoutError": "dlc.errors",
    "TargetError": "dlc.errors",
    "RuntimeLoadError": "dlc.errors",
}

__all__ = ["__version__", *_PUBLIC]

if TYPE_CHECKING:
    from typing import Any

    from dlc.compile_options import (
        CompileOptions as CompileOptions,
    )
    from dlc.compiled_model import (
        CompiledModel as CompiledModel,
    )
    from dlc.compiler import (
        compile as compile,
    )
    from dlc.compiler import (
        count_ops as count_ops,
    )
    from dlc.compiler import (
        import_onnx as import_onnx,
    )
    from dlc.compiler import (
        lower as lower,
    )
    from dlc.compiler import (
        optimize as optimize,
    )
    from dlc.coverage_report import coverage as coverage
    from dlc.dialects import make_context as make_context
    from dlc.errors import (
        CancelledError as CancelledError,
    )
    from dlc.errors import (
        CompileTimeoutError as CompileTimeoutError,
    )
    from dlc.errors import (
        DLCError as DLCError,
    )
    from dlc.errors import (
        InvalidInputError as InvalidInputError,
    )
    from dlc.errors import (
        LenientWarning as LenientWarning,
    )
    from dlc.errors import (
        OutOfMemoryError as OutOfMemoryError,
    )
    from dlc.errors import (
        ParseError as ParseError,
    )
    from dlc.errors import (
        PassError as PassError,
    )
    from dlc.errors import (
        RuntimeLoadError as RuntimeLoadError,
    )
    from dlc.errors import (
        ScheduleError as ScheduleError,
    )
    from dlc.errors import (
        TargetError as TargetError,
    )
    from dlc.errors import (
        UnsupportedError as UnsupportedError,
    )
    from dlc.errors import (
        UnsupportedNode as UnsupportedNode,
    )
    from dlc.errors import (
        ValuesNeededError as ValuesNeededError,
    )
    from dlc.errors import (
        VerifyError as VerifyError,
    )
    from dlc.explanation import explain as explain
    from dlc.lowering.affine.schedule.schedule import Schedule as Schedule
    from dlc.lowering.pass_base import Pass as Pass
    from dlc.lowering.pass_base import PassFailure as PassFailure
    from dlc.lowering.pipeline import Pipeline as Pipeline
    from dlc.model_kernels import kernels as kernels
    from dlc.random_inputs import random_inputs as random_inputs
    from dlc.runtime.engine import Engine as Engine
    from dlc.runtime.engine import load as load
    from dlc.scheduling import schedules_of as schedules_of
    from dlc.sources import load_params as load_params
    from dlc.sources import parse_module as parse_module
    from dlc.sources import save_params as save_params
    from dlc.specializing_model import SpecializingModel as SpecializingModel
    from dlc.targets.base import Target as Target
    from dlc.targets.registry import register_target as register_target
    from dlc.verification import verify_schedules as verify_schedules


def __getattr__(name: str) -> Any:
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'dlc' has no attribute '{name}'")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
