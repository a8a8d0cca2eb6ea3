"""Finds passes by listing folders: a pass's name is its file's place, and no list is kept anywhere.

    lowering/<level>/<stem>.py        `<level>-<stem>`, e.g. lowering/linalg/outline_kernels.py -> linalg-outline-kernels
    lowering/<level>/<job>/<stem>.py  `<level>-<stem>`, too, e.g. lowering/dl/weights/fold_batch_norm.py -> dl-fold-batch-norm
    lowering/<src>_to_<dst>/<stem>.py `<stem>`, e.g. lowering/gpu_to_nvvm/outline_parts.py -> outline-parts

A level with many files has folders by job, which names of passes do not show. A file holds a pass when it has a top-level class
derived from `Pass`, or a function under `@primitive`, whose signature is the pass; other files are its helpers.
Listing reads texts only; a pass's module is imported when the pass is first asked for.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dlc.lowering.pass_base import Pass

_ROOT = Path(__file__).parent
_PACKAGE = "dlc.lowering"
_PASS_CLASS = re.compile(r"^class (\w+)\((?:\w+\.)?Pass\):", re.MULTILINE)
_PRIMITIVE = re.compile(r"^@primitive\ndef (\w+)\(", re.MULTILINE)


PLUGINS = "plugins"
"""Stands for the folder of passes that `load_pass_file` brought."""


@dataclass(frozen=True)
class OptionEntry:
    """One option of a pass as written in its class: name, type and default as text, and help."""

    name: str
    kind: str
    default: str
    help: str


@dataclass(frozen=True)
class PassEntry:
    """Where one pass lives: its name, folder under `lowering/`, module to import, file and class."""

    name: str
    folder: str
    module: str
    file: Path
    class_name: str
    primitive: str = ""
    """The function under `@primitive` that the class is made from; empty where the file holds the class."""

    def load(self) -> type[Pass]:
        """Import the pass's module and return its class."""
        module = importlib.import_module(self.module)
        found: type[Pass] = getattr(module, self.primitive).pass_class if self.primitive else getattr(module, self.class_name)
        return found

    def docstring(self) -> str:
        """The docstring of the class or the primitive, read from the text without importing it."""
        return ast.get_docstring(self._node()) or ""

    def summary(self) -> str:
        """First line of the docstring."""
        return self.docstring().split("\n", 1)[0]

    def options(self) -> list[OptionEntry]:
        """The pass's options, read from the text without importing it."""
        node = self._node()
        if isinstance(node, ast.ClassDef):
            return [found for line in node.body for found in _option_of(line)]
        shared = ast.parse((self.file.parent / "primitive.py").read_text(encoding="utf-8")).body
        base = next(line for line in shared if isinstance(line, ast.ClassDef))
        return [*_parameters_of(node), *(found for line in base.body for found in _option_of(line))]

    def _node(self) -> ast.ClassDef | ast.FunctionDef:
        """The pass's class, or the function that it is made from."""
        wanted = self.primitive or self.class_name
        body = ast.parse(self.file.read_text(encoding="utf-8")).body
        return next(node for node in body if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == wanted)


def _parameters_of(node: ast.FunctionDef) -> Iterator[OptionEntry]:
    """The options that the parameters `name: Annotated[kind, "help"] = default` of a primitive are."""
    for parameter, default in zip(node.args.args[1:], node.args.defaults, strict=True):
        assert isinstance(parameter.annotation, ast.Subscript) and isinstance(parameter.annotation.slice, ast.Tuple)
        kind, text = parameter.annotation.slice.elts
        yield OptionEntry(parameter.arg.replace("_", "-"), ast.unparse(kind), ast.unparse(default), str(ast.literal_eval(text)))


def _option_of(node: ast.stmt) -> Iterator[OptionEntry]:
    """The option that a statement `name: kind = option(default, "help")` defines."""
    if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
        return
    call = node.value
    if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("option") and len(call.args) == 2:
        help_text = call.args[1].value if isinstance(call.args[1], ast.Constant) else ""
        name = node.target.id.rstrip("_").replace("_", "-")
        yield OptionEntry(name, ast.unparse(node.annotation), ast.unparse(call.args[0]), str(help_text))


def pass_name_of(level: str, stem: str) -> str:
    """Name of the pass in `lowering/<level>/<stem>.py`, or in a folder of the level."""
    kebab = stem.replace("_", "-")
    return kebab if "_to_" in level else f"{level}-{kebab}".replace("_", "-")


@functools.cache
def pass_name_of_module(module: str) -> str:
    """Name of the pass that module `dlc.lowering.<level>.<stem>` or `dlc.lowering.<level>.<job>.<stem>` holds."""
    parts = module.split(".")
    if not module.startswith(f"{_PACKAGE}.") or len(parts) < 4:
        raise ValueError(f"a pass in module '{module}', outside dlc.lowering, needs a class attribute pass_name")
    return pass_name_of(parts[2], parts[-1])


@functools.lru_cache(maxsize=1)
def passes() -> MutableMapping[str, PassEntry]:
    """Every Python pass by name, ordered by folder, then name."""
    files = sorted((file for found in _files().values() for file in found), key=lambda file: (file.parts[:-1], file.stem))
    entries = (_entry_of(file) for file in files)
    return {entry.name: entry for entry in entries if entry is not None}


@functools.lru_cache(maxsize=1)
def _files() -> Mapping[str, list[Path]]:
    """The files of all levels by the name that a pass in them has; most hold none."""
    found: dict[str, list[Path]] = {}
    for level in _folders_in(_ROOT):
        for folder in (level, *_folders_in(level)):
            for file in folder.glob("*.py"):
                found.setdefault(pass_name_of(level.name, file.stem), []).append(file)
    return found


def _folders_in(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:  # takes half of the time of pathlib
        return [Path(entry.path) for entry in entries if entry.is_dir()]


@functools.cache
def _entry_of(file: Path) -> PassEntry | None:
    """The pass that a file holds, if any. Most files hold none: the search of their text is half of the time of listing all."""
    text = file.read_text(encoding="utf-8")
    match = _PASS_CLASS.search(text) if "Pass):" in text else None
    primitive = _PRIMITIVE.search(text) if "\n@primitive\n" in text else None
    if match is None and primitive is None:
        return None
    folders = file.parent.relative_to(_ROOT).parts
    module = ".".join((_PACKAGE, *folders, file.stem))
    class_name = match[1] if match else class_name_of(file.stem)
    name = pass_name_of(folders[0], file.stem)
    return PassEntry(name, "/".join(folders), module, file, class_name, primitive[1] if primitive else "")


def class_name_of(stem: str) -> str:
    """What the class of the primitive's pass in `<stem>.py` is called."""
    return "".join(word.title() for word in stem.split("_"))


_PLUGIN_NAME = re.compile(r"[A-Za-z][\w.-]*")


def _check_plugin(defined: type[Pass], base: type[Pass]) -> None:
    """Raise `TypeError` unless a class of a plugin can be used as a pass."""
    for name in ("name", "from_options", "options_text"):
        if not callable(getattr(defined, name)):
            remedy = "; the attribute pass_name names a pass" if name == "name" else ""
            raise TypeError(f"class {defined.__name__} gives '{name}', a method of dlc.Pass, another meaning{remedy}")
    for name in ("pass_name", "anchor"):
        if not isinstance(getattr(defined, name), str):
            raise TypeError(f"class {defined.__name__} must give '{name}' as a text")
    if defined.pass_name and not _PLUGIN_NAME.fullmatch(defined.pass_name):
        raise TypeError(f"class {defined.__name__}: '{defined.pass_name}' is no name of a pass; use letters, digits and hyphens")
    if defined.run is base.run:
        raise TypeError(f"class {defined.__name__} has no method run(self, op)")


def load_pass_file(file: Path) -> list[PassEntry]:
    """Import a Python file and make the passes that it defines known; whatever the file raises comes out.

    Such a pass goes by its class attribute `pass_name`, or else by the file's name with hyphens.
    """
    from dlc.lowering.pass_base import Pass

    module_name = f"dlc_plugin_{file.stem}"
    spec = importlib.util.spec_from_file_location(module_name, file)
    if spec is None or spec.loader is None:
        raise ImportError("not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    found = []
    for key, value in vars(module).items():
        if isinstance(value, type) and issubclass(value, Pass) and value.__module__ == module_name:
            _check_plugin(value, Pass)
            value.pass_name = value.pass_name or file.stem.replace("_", "-")
            found.append(PassEntry(value.pass_name, PLUGINS, module_name, file, key))
    if not found:
        raise ImportError("the file defines no pass, a class derived from dlc.Pass")
    passes().update({entry.name: entry for entry in found})
    _PLUGIN_PASSES.update(entry.name for entry in found)
    return found


_PLUGIN_PASSES: set[str] = set()


def plugin_passes() -> frozenset[str]:
    """Names of the passes that `load_pass_file` brought."""
    return frozenset(_PLUGIN_PASSES)


@functools.lru_cache(maxsize=1)
def native_passes() -> Mapping[str, str]:
    """Names of upstream's passes, which the bindings can't list, each with the op it is nested on by itself.

    The op is "" for most: a pass says itself when it is restricted to one op. Passes on any kind of function do not.
    """
    lines = (_ROOT / "native_passes.txt").read_text(encoding="utf-8").splitlines()
    return {name: anchor for name, _, anchor in (line.partition(" ") for line in lines)}


def find_pass(name: str) -> type[Pass] | None:
    """The Python pass called `name`, or None (it may be a native one)."""
    if name in _PLUGIN_PASSES:
        return passes()[name].load()
    entries = (_entry_of(file) for file in _files().get(name, ()))  # the texts of others are not read
    entry = next((entry for entry in entries if entry is not None), None)
    return entry.load() if entry else None
