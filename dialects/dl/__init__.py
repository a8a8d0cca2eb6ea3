"""The dl dialect: ops by family, one class each, with their shape rules, verifiers and reference implementations.

Every op has a builder of its name: `dl.matmul(a, b)`, `dl.softmax(x, axis=1)`. Families are found by listing this folder.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from dlc._mlir import ext, ir
from dlc.diagnostics import did_you_mean
from dlc.dialects.dl.attributes import REQUIRED
from dlc.dialects.dl.base import OPS, DLOp
from dlc.dialects.dl.dialect import DL

_LOADING = threading.Lock()  # the bindings load a dialect through state of its class: threads at once crash
_HELPERS = {
    *("__init__", "attributes", "base", "control", "dialect", "graph", "interpreter", "numerics"),
    *("op_builder", "operand_types", "resize_taps", "storage", "types"),
}


@functools.lru_cache(maxsize=1)
def ops() -> Mapping[str, type[DLOp]]:
    """Every op class by its name without the `dl.` prefix."""
    for file in sorted(Path(__file__).parent.glob("*.py")):
        if file.stem not in _HELPERS:
            importlib.import_module(f"{__name__}.{file.stem}")
    # Importing a family sets it as an attribute here; where an op has the same name (conv, attention), the builder wins.
    globals().update({name: _builder(name) for name in OPS if isinstance(globals().get(name), ModuleType)})
    return OPS


def load(context: ir.Context) -> None:
    """Load the dialect into a context; nothing happens where it is loaded already."""
    ops()
    with _LOADING, context:
        if not context.is_dialect_loaded("dl"):
            DL.load()


def op_class(name: str) -> type[DLOp] | None:
    """Class of the op called `dl.<op>`, or None."""
    return ops().get(name.removeprefix("dl."))


@functools.cache
def _builder(name: str) -> Callable[..., Any]:
    """A function that builds the op, with its specification as docstring and its operands and attributes as parameters."""
    op = OPS[name]

    def build(*operands: Any, **keywords: Any) -> Any:
        return op.build(*operands, **keywords)

    build.__name__ = build.__qualname__ = name
    build.__module__ = __name__
    build.__doc__ = _builder_doc(op)
    build.__signature__ = _builder_signature(op)  # type: ignore[attr-defined]
    return build


def _builder_signature(op: type[DLOp]) -> inspect.Signature:
    """Operands by position or name, then attributes, location and insertion point by name only."""
    parameter = inspect.Parameter
    optional = {field.name: field.variadicity == ext.Variadicity.optional for field in op.operand_fields}
    defaults = {field.name: field.default for field in op.attribute_fields.values()} | {"loc": None, "ip": None}
    parameters = [
        parameter(name, parameter.POSITIONAL_OR_KEYWORD, default=None if absent else parameter.empty)
        for name, absent in optional.items()
    ]
    parameters += [
        parameter(name, parameter.KEYWORD_ONLY, default=parameter.empty if default is REQUIRED else default)
        for name, default in defaults.items()
    ]
    return inspect.Signature(parameters)


def _builder_doc(op: type[DLOp]) -> str:
    attributes = [f"{field.name}: {field.doc} ({field.kind})" for field in op.attribute_fields.values()]
    ending = "Raises `ConstraintError` or `AttributeMismatch`, both `dlc.VerifyError`s, where an argument does not fit."
    return "\n\n".join([inspect.getdoc(op) or "", *(["\n".join(attributes)] if attributes else []), ending])


def __getattr__(name: str) -> Callable[..., Any]:
    """The builder of op `name` (a trailing underscore avoids Python's keywords)."""
    if name.startswith("__"):
        raise AttributeError(name)
    known = ops()
    if name.rstrip("_") not in known:
        raise AttributeError(f"the dl dialect has no op '{name}'{did_you_mean(name, known)}")
    return _builder(name.rstrip("_"))


def __dir__() -> list[str]:
    return sorted({*globals(), *ops()})
