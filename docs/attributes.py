"""The page of the discardable attributes: the table of `dialects/discardable.py`, with the files that read each."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from dlc.dialects.discardable import ATTRIBUTES
from dlc.dialects.dl import ops

_ROOT = Path(__file__).resolve().parent.parent
_FOLDERS = ("analysis", "dialects", "dlc", "frontends", "lowering", "runtime", "targets", "tools")
_NAME = re.compile(r"dlc?\.[a-z_]*[a-z]")
_TABLE = "dialects/discardable.py"


def attributes_page(note: str) -> Iterator[str]:
    """The page in pieces; `note` says who writes it. ValueError for a name without a row, or a row that nothing names."""
    users = _users()
    known = {attribute.name for attribute in ATTRIBUTES}
    if wrong := sorted(known ^ users.keys()):
        raise ValueError(f"{_TABLE} and the sources differ in {', '.join(wrong)}; add or remove rows")
    yield f"{note}# Discardable attributes\n\nWhat passes tell each other beside the ops. The IR stays valid without.\n\n"
    yield "| attribute | on | type | says | written by | read by |\n|---|---|---|---|---|---|\n"
    for attribute in ATTRIBUTES:
        if missing := [file for file in attribute.writers if file not in users[attribute.name]]:
            raise ValueError(f"{_TABLE}: {', '.join(missing)} does not name {attribute.name}")
        readers = sorted(users[attribute.name] - set(attribute.writers))
        written, read = (", ".join(f"`{file}`" for file in files) for files in (attribute.writers, readers))
        yield f"| `{attribute.name}` | {attribute.carrier} | {attribute.kind} | {attribute.meaning} | {written} | {read} |\n"


def _users() -> Mapping[str, set[str]]:
    """The files that name each attribute: by its text, or by a constant that another file makes of it."""
    trees = {
        str(file.relative_to(_ROOT)): ast.parse(file.read_text("utf-8")) for top in _FOLDERS for file in (_ROOT / top).rglob("*.py")
    }
    trees.pop(_TABLE)
    others = {f"dl.{name}" for name in ops()} - {"dl.param"} | {".".join(_module_of(file).split(".")[:2]) for file in trees}
    found: dict[str, set[str]] = {}
    constants: dict[tuple[str, str], str] = {}
    for file, tree in trees.items():
        for node in ast.walk(tree):
            if (name := _name_in(node)) and name not in others:
                found.setdefault(name, set()).add(file)
        module = _module_of(file)
        for name, text in _constants(tree):
            constants |= {(module, name): text, (module.rpartition(".")[0], name): text}  # its package may pass it on
    for file, tree in trees.items():
        for node in ast.walk(tree):
            for alias in node.names if isinstance(node, ast.ImportFrom) else ():
                name = constants.get((node.module or "", alias.name))
                if name in found:
                    found[name].add(file)
    return found


def _module_of(file: str) -> str:
    return ".".join(("dlc", *Path(file).with_suffix("").parts)).replace("dlc.dlc.", "dlc.")


def _name_in(node: ast.AST | None) -> str:
    """The text of a constant that looks like an attribute's name; else ""."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) and _NAME.fullmatch(value) else ""


def _constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Module-level names of texts that look like an attribute's name."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and (name := _name_in(node.value)):
            yield node.targets[0].id, name
