"""The table of ONNX importers: one function per ONNX op, in the file of the op's family.

    @importer("Relu")
    def import_relu(node: NodeContext) -> ir.Value:
        return dl.relu(node.value(0))

An importer runs with insertion point and location set, builds dl ops and returns one result per output of the node: an MLIR value,
or a NumPy array for a result that is known at import. Family files are found by listing this folder and those of `_FOLDERS`.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dlc._mlir import ir

if TYPE_CHECKING:
    from dlc.frontends.onnx.node import NodeContext

Imported: TypeAlias = ir.Value | np.ndarray
Importer = Callable[["NodeContext"], Imported | Sequence[Imported]]

_NOT_FAMILIES = {
    "__init__",
    "constant_pool",
    "coverage",
    "declared",
    "folding",
    "functions",
    "importer",
    "importers",
    "interface",
    "kinds",
    "loader",
    "node",
    "origins",
    "regions",
    "values",
}
_FOLDERS = ("", "ml")
"""Folders with files of importers."""
_IMPORTERS: dict[tuple[str, str], Importer] = {}


def importer(*ops: str, domain: str = "") -> Callable[[Importer], Importer]:
    """Register a function as the importer of the named ONNX ops of `domain`."""

    def register(function: Importer) -> Importer:
        for op in ops:
            _IMPORTERS[domain, op] = function
        return function

    return register


@functools.lru_cache(maxsize=1)
def importers() -> Mapping[tuple[str, str], Importer]:
    """Every importer by (domain, op)."""
    for folder in _FOLDERS:
        package = f"{__package__}.{folder}".rstrip(".")
        for file in sorted((Path(__file__).parent / folder).glob("*.py")):
            if file.stem not in _NOT_FAMILIES:
                importlib.import_module(f"{package}.{file.stem}")
    return _IMPORTERS
