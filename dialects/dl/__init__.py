"""The dl dialect: ops by family, one class each, with their shape rules, verifiers and NumPy meanings.

Every op has a builder of its name: `dl.matmul(a, b)`, `dl.softmax(x, axis=1)`. Families are found by listing this folder.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from dlc._mlir import ir
from dlc.dialects.dl.base import DL, OPS, DLOp

_HELPERS = {"__init__", "attributes", "base", "graph", "interpreter", "numerics", "types"}


@functools.lru_cache(maxsize=1)
def ops() -> Mapping[str, type[DLOp]]:
    """Every op class by its name without the `dl.` prefix."""
    for file in sorted(Path(__file__).parent.glob("*.py")):
        if file.stem not in _HELPERS:
            importlib.import_module(f"{__name__}.{file.stem}")
    # Importing a family sets it as an attribute here; where an op has the same name (conv, attention), the builder wins.
    globals().update({name: op.build for name, op in OPS.items() if isinstance(globals().get(name), ModuleType)})
    return OPS


def load(context: ir.Context) -> None:
    """Load the dialect into a context; nothing happens where it is loaded already."""
    ops()
    with context:
        if not context.is_dialect_loaded("dl"):
            DL.load()


def op_class(name: str) -> type[DLOp] | None:
    """Class of the op called `dl.<op>`, or None."""
    return ops().get(name.removeprefix("dl."))


def __getattr__(name: str) -> Callable[..., Any]:
    """The builder of op `name` (a trailing underscore avoids Python's keywords)."""
    if name.startswith("__"):
        raise AttributeError(name)
    found = ops().get(name.rstrip("_"))
    if found is None:
        raise AttributeError(f"the dl dialect has no op '{name}'")
    builder: Callable[..., Any] = found.build
    return builder


def __dir__() -> list[str]:
    return sorted((*globals(), *ops()))
