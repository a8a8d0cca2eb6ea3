"""dlc: a deep-learning compiler in Python on MLIR.

    import dlc
    model = dlc.compile("model.onnx")
    outputs = model({"x": array})

`dlc.lowering` holds every pass as a class, `dlc.dialects.dl` a builder for every op, `dlc.lower` takes a module from level to level.
Names are imported when they are first used, so that `import dlc` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PUBLIC = {
    "compile": "dlc.compiler",
    "import_onnx": "dlc.compiler",
    "lower": "dlc.compiler",
    "CompiledModel": "dlc.compiler",
    "CompileOptions": "dlc.compiler",
    "count_ops": "dlc.compiler",
    "random_inputs": "dlc.compiler",
    "parse_module": "dlc.sources",
    "save_params": "dlc.sources",
    "load_params": "dlc.sources",
    "make_context": "dlc.dialects",
    "Pass": "dlc.lowering.pass_base",
    "PassFailure": "dlc.lowering.pass_base",
    "Pipeline": "dlc.lowering.pipeline",
    "DLCError": "dlc.errors",
    "ParseError": "dlc.errors",
    "VerifyError": "dlc.errors",
    "PassError": "dlc.errors",
    "UnsupportedError": "dlc.errors",
    "UnsupportedNode": "dlc.errors",
    "InvalidInputError": "dlc.errors",
    "TargetError": "dlc.errors",
    "RuntimeLoadError": "dlc.errors",
}

__all__ = ["__version__", *_PUBLIC]

if TYPE_CHECKING:
    from dlc.compiler import CompiledModel, CompileOptions, compile, count_ops, import_onnx, lower, random_inputs
    from dlc.dialects import make_context
    from dlc.errors import (
        DLCError,
        InvalidInputError,
        ParseError,
        PassError,
        RuntimeLoadError,
        TargetError,
        UnsupportedError,
        UnsupportedNode,
        VerifyError,
    )
    from dlc.lowering.pass_base import Pass, PassFailure
    from dlc.lowering.pipeline import Pipeline
    from dlc.sources import load_params, parse_module, save_params


def __getattr__(name: str) -> Any:
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'dlc' has no attribute '{name}'")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
