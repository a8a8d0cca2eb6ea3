"""The table of ONNX importers: one function per ONNX op, in the file of the op's family.

    @importer("Relu")
    def import_relu(node: NodeContext) -> ir.Value:
        return dl.relu(node.value(0))

An importer runs with insertion point and location set, builds dl ops and returns one result per output of the node: an MLIR value,
or a NumPy array for a result that is known at import. Family files are found by listing this folder and those of `_FOLDERS`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dlc._mlir import ir
from dlc.op_modules import OpModules

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


@functools.cache
def _families() -> OpModules:
    folders = {f"{__package__}.{folder}".rstrip("."): Path(__file__).parent / folder for folder in _FOLDERS}
    files = {
        f"{package}.{file.stem}": file
        for package, folder in folders.items()
        for file in sorted(folder.glob("*.py"))
        if file.stem not in _NOT_FAMILIES
    }
    return OpModules("importer", files)


def find_importer(key: tuple[str, str]) -> Importer | None:
    """The importer of a (domain, op), None for ops that have none. Families that do not name the op stay out of the process."""
    if key not in _IMPORTERS:
        _families().bring(key[1])
    return _IMPORTERS.get(key)


@functools.lru_cache(maxsize=1)
def importers() -> Mapping[tuple[str, str], Importer]:
    """Every importer by (domain, op)."""
    _families().bring_all()
    return _IMPORTERS
