"""The only door to MLIR's Python bindings.

Everything else in dlc writes `from dlc._mlir import ir, linalg, ...` and gets the real modules of whichever package is
installed: upstream's `mlir` where present, else torch-mlir's `torch_mlir`. `DLC_MLIR_PACKAGE` forces one of them.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from dlc.package_versions import version_of, wanted_bindings

_TOP_LEVEL = ("ir", "passmanager", "rewrite", "runtime", "execution_engine")
_WHERE = {name: name for name in _TOP_LEVEL} | {
    "structured": "dialects.transform.structured",
    "interpreter": "dialects.transform.interpreter",
    "linalg_regions": "_mlir_libs._mlirDialectsLinalg",
    "llvm_translation": "_mlir_libs._mlirDialectsLLVM",
}


def _find_package() -> str:
    """Name of the installed bindings package; ImportError with the remedy when there is none."""
    for name in wanted_bindings():
        try:
            importlib.import_module(f"{name}.ir")
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] != name:
                raise
        else:
            return name
    raise ImportError(
        f"no MLIR Python bindings found (tried {', '.join(wanted_bindings())}); install them with `pip install torch-mlir`"
    )


PACKAGE = _find_package()


def load(path: str) -> ModuleType:
    """Import submodule `path` of the bindings package, e.g. `load("dialects.linalg")`."""
    return importlib.import_module(f"{PACKAGE}.{path}")


def __getattr__(name: str) -> Any:  # Any, so that `ir.Operation` may stand in annotations
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        module = load(_WHERE.get(name, f"dialects.{name}"))
    except ModuleNotFoundError as error:
        raise AttributeError(f"the MLIR bindings '{PACKAGE}' have no '{name}'") from error
    globals()[name] = module
    return module


# Without the prefix every creation of a `dl` op view retries a failing import: 30 times slower walks. Ours come first.
_GLOBALS = load("_mlir_libs._mlir").globals
_GLOBALS.dialect_search_modules = ["dlc.dialects", *_GLOBALS.dialect_search_modules]


@dataclass(frozen=True)
class Capabilities:
    """What the installed bindings can do; printed by `dlc-opt --version`."""

    package: str
    version: str
    python_dialects: bool
    pattern_rewriting: bool
    dialect_conversion: bool
    execution_engine: bool

    def lines(self) -> list[str]:
        """One `name: value` line a fact, in a fixed order."""
        yes = {True: "yes", False: "no"}
        return [
            f"MLIR bindings: {self.package} {self.version}",
            f"dialects in Python: {yes[self.python_dialects]}",
            f"pattern rewriting: {yes[self.pattern_rewriting]}",
            f"dialect conversion: {yes[self.dialect_conversion]}",
            f"execution engine: {yes[self.execution_engine]}",
        ]


def _has(path: str, attribute: str) -> bool:
    try:
        return hasattr(load(path), attribute)
    except ImportError:
        return False


def version() -> str:
    """Version of the installed bindings."""
    return version_of(PACKAGE)


def capabilities() -> Capabilities:
    """Probe the installed bindings."""
    return Capabilities(
        package=PACKAGE,
        version=version(),
        python_dialects=_has("dialects.ext", "Pure"),
        pattern_rewriting=_has("rewrite", "walk_and_apply_patterns"),
        dialect_conversion=_has("rewrite", "ConversionTarget"),
        execution_engine=_has("execution_engine", "ExecutionEngine"),
    )
