"""Modules of functions by op: which of them handles an op is told by their texts, so that a model brings those of its ops alone.

@importer("Relu", "Sigmoid")
def import_activation(node: NodeContext) -> ir.Value: ...
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_NAME = re.compile(r'"(\w+)"')
_ANY = "*"
"""Stands for the ops of a module whose text does not name them; no op is called so."""


@dataclass(frozen=True, eq=False)
class OpModules:
    """Modules that hold functions under `@<decorator>("op", ...)`, which puts them into a table.

    A decorator that takes names from elsewhere, as in `@importer(*_SAME)`, may name any op.
    """

    decorator: str
    files: Mapping[str, Path]
    """The file of each module."""

    def of_op(self, op: str) -> tuple[str, ...]:
        """The modules that name `op`, and those that may."""
        return tuple(dict.fromkeys([*self._by_op.get(_ANY, ()), *self._by_op.get(op, ())]))

    def bring(self, op: str) -> None:
        """Import the modules of one op."""
        for module in self.of_op(op):
            importlib.import_module(module)

    def bring_all(self) -> None:
        """Import all modules."""
        for module in self.files:
            importlib.import_module(module)

    @functools.cached_property
    def _by_op(self) -> Mapping[str, list[str]]:
        """The modules by the ops that they name; those of `_ANY` may name any."""
        found: dict[str, list[str]] = {}
        for module, file in self.files.items():
            for name in self._names_in(file.read_text(encoding="utf-8")):
                found.setdefault(name, []).append(module)
        return found

    def _names_in(self, text: str) -> Iterator[str]:
        """The names in the arguments of all decorators in the text of a module."""
        for found in re.finditer(rf"^@{self.decorator}\(([^)]*)", text, re.MULTILINE):
            yield from (_ANY,) if "*" in found[1] else _NAME.findall(found[1])
