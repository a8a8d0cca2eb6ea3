"""The table of lowerings: one function per dl op, in the file of the op's family.

    @lowering("relu")
    def lower_relu(b: Builder, op: SourceOp) -> ir.Value: ...

Family files are found by listing the level and its folders; nothing else registers them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlc._mlir import ir
from dlc.dialects.dl.types import TensorType
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.op_modules import OpModules

_LEVEL = "dlc.lowering.dl_to_linalg"
_FOLDERS = ("contractions", "sampling", "selection")
"""Folders of the level that hold lowerings."""


@dataclass(frozen=True)
class SourceOp:
    """A dl op as its lowering sees it.

    `operands` are linalg-level tensors by field (None for an absent optional operand, a list for a variadic one); `types` are the
    plain dl types of the same shape (symbols name equal dynamic dims); `results` are the plain result types; `attributes` are
    Python values with defaults filled in.
    """

    name: str
    operands: tuple[Any, ...]
    types: tuple[Any, ...]
    results: tuple[TensorType, ...]
    attributes: Mapping[str, Any]
    location: ir.Location

    @property
    def result(self) -> TensorType:
        """Plain type of the only result."""
        return self.results[0]

    def __getitem__(self, attribute: str) -> Any:
        return self.attributes[attribute]


Lowering = Callable[[Builder, SourceOp], ir.Value | Sequence[ir.Value]]

_LOWERINGS: dict[str, Lowering] = {}


def lowering(*names: str) -> Callable[[Lowering], Lowering]:
    """Register a function as the lowering of the named dl ops (without `dl.`)."""

    def register(function: Lowering) -> Lowering:
        for name in names:
            _LOWERINGS[name] = function
        return function

    return register


@functools.cache
def _families() -> OpModules:
    level = Path(__file__).parent.parent
    files = sorted([*level.glob("*.py"), *(file for folder in _FOLDERS for file in (level / folder).glob("*.py"))])
    families = [file for file in files if file.stem != "__init__" and not file.stem.startswith("convert_")]
    return OpModules("lowering", {".".join((_LEVEL, *file.relative_to(level).with_suffix("").parts)): file for file in families})


def find_lowering(name: str) -> Lowering | None:
    """The lowering of the op `dl.<name>`, None for ops that have none. Families that do not name the op stay out of the process."""
    if name not in _LOWERINGS:
        _families().bring(name)
    return _LOWERINGS.get(name)


@functools.lru_cache(maxsize=1)
def lowerings() -> Mapping[str, Lowering]:
    """Every lowering by op name without the `dl.` prefix."""
    _families().bring_all()
    return _LOWERINGS
