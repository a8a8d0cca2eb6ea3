"""Runs engine files of dlc without the compiler: `dlc_runtime.load("model.dlce")` gives a model that is called like a compiled one.

The modules below are dlc's own: what `dlc.load` gives is the same code.
"""

from __future__ import annotations

from pathlib import Path

from .errors import CancelledError, DLCError, InvalidInputError, OutOfMemoryError, RuntimeLoadError, TargetError
from .runtime.engine import Engine, load
from .runtime.library import find_library
from .runtime.signature import TensorSpec

__version__ = "0.1.0"

__all__ = [
    "CancelledError",
    "DLCError",
    "Engine",
    "InvalidInputError",
    "OutOfMemoryError",
    "RuntimeLoadError",
    "TargetError",
    "TensorSpec",
    "include_folder",
    "library_file",
    "load",
]


def library_file() -> Path:
    """The native library, for C programs."""
    return find_library()


def include_folder() -> Path:
    """Where C programs find `dlc/runtime.h`."""
    return Path(__file__).parent / "runtime" / "include"
