"""Finds passes by listing folders: a pass's name is its file's place, and no list is kept anywhere.

    lowering/<level>/<stem>.py        `<level>-<stem>`, e.g. lowering/dl/fold_batch_norm.py -> dl-fold-batch-norm
    lowering/<src>_to_<dst>/<stem>.py `<stem>`, e.g. lowering/dl_to_linalg/convert_dl_to_linalg.py -> convert-dl-to-linalg

A file holds a pass when it has a top-level class derived from `Pass`; other files of the folder are its helpers. Listing
reads texts only; a pass's module is imported when the pass is first asked for.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dlc.lowering.pass_base import Pass

_ROOT = Path(__file__).parent
_PACKAGE = "dlc.lowering"
_PASS_CLASS = re.compile(r"^class (\w+)\((?:\w+\.)?Pass\):", re.MULTILINE)


@dataclass(frozen=True)
class PassEntry:
    """Where one pass lives: its name, folder, module to import, file and class."""

    name: str
    folder: str
    module: str
    file: Path
    class_name: str

    def load(self) -> type[Pass]:
        """Import the pass's module and return its class."""
        found: type[Pass] = getattr(importlib.import_module(self.module), self.class_name)
        return found

    def docstring(self) -> str:
        """The class's docstring, read from the text without importing it."""
        for node in ast.parse(self.file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name == self.class_name:
                return ast.get_docstring(node) or ""
        return ""

    def summary(self) -> str:
        """First line of the docstring."""
        return self.docstring().split("\n", 1)[0]


def pass_name_of(folder: str, stem: str) -> str:
    """Name of the pass in `lowering/<folder>/<stem>.py`."""
    kebab = stem.replace("_", "-")
    return kebab if "_to_" in folder else f"{folder}-{kebab}".replace("_", "-")


def pass_name_of_module(module: str) -> str:
    """Name of the pass that module `dlc.lowering.<folder>.<stem>` holds."""
    parts = module.split(".")
    if not module.startswith(f"{_PACKAGE}.") or len(parts) < 4:
        raise ValueError(f"a pass in module '{module}', outside dlc.lowering, needs a class attribute pass_name")
    return pass_name_of(parts[-2], parts[-1])


@functools.lru_cache(maxsize=1)
def passes() -> Mapping[str, PassEntry]:
    """Every Python pass by name, ordered by folder, then name."""
    found: dict[str, PassEntry] = {}
    for file in sorted(_ROOT.glob("*/*.py")):
        match = _PASS_CLASS.search(file.read_text(encoding="utf-8"))
        if match is None:
            continue
        folder = file.parent.name
        name = pass_name_of(folder, file.stem)
        found[name] = PassEntry(name, folder, f"{_PACKAGE}.{folder}.{file.stem}", file, match[1])
    return found


def native_names() -> list[str]:
    """Names of upstream's passes, for suggestions and listings: the bindings can't list them."""
    return (_ROOT / "native_passes.txt").read_text(encoding="utf-8").split()


def find_pass(name: str) -> type[Pass] | None:
    """The Python pass called `name`, or None (it may be a native one)."""
    entry = passes().get(name)
    return entry.load() if entry else None
