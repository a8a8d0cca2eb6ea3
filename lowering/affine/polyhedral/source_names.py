"""The names that values have in the source file, for messages."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from dlc._mlir import ir
from dlc.diagnostics import place_of

_RESULT = re.compile(r"(%[\w$.-]+)(?::\d+)?\s*=\s*$")
_VARIABLE = re.compile(r"\s*(?:%[\w$.:-]+\s*=\s*)?affine\.for\s+(%[\w$.-]+)")
_ARGUMENT = re.compile(r"%[\w$.-]+")


def memref_name(value: ir.Value) -> str:
    """`%A` as the source spells it where its file can be read, else as MLIR prints it."""
    return _from_source(value) or value.get_name()


def names_of_loops(op: ir.Operation) -> list[str]:
    """The names of the variables of the loops around `op`, from the outside in: `i` for `affine.for %i`, or `i0`, `i1`, ..."""
    found: list[str] = []
    above = op.parent
    while above is not None and above.operation.name != "func.func":
        if above.operation.name in ("affine.for", "affine.parallel"):
            found = _variables(above.operation) + found
        above = above.operation.parent
    return [name or f"i{at}" for at, name in enumerate(found)]


def _variables(loop: ir.Operation) -> list[str]:
    if loop.name == "affine.for":
        match = _VARIABLE.match(_line(loop.location))
        return [match[1].removeprefix("%") if match else ""]
    return [""] * len(ir.ArrayAttr(loop.attributes["steps"]))


def _from_source(value: ir.Value) -> str:
    if isinstance(value, ir.BlockArgument):
        _, _, column = place_of(value.location)
        match = _ARGUMENT.match(_line(value.location)[column - 1 :]) if column else None
        return match[0] if match else ""
    _, _, column = place_of(value.owner.location)
    match = _RESULT.search(_line(value.owner.location)[: max(column - 1, 0)])
    return match[1] if match else ""


def _line(location: ir.Location) -> str:
    file, line, _ = place_of(location)
    lines = _lines(file) if file else ()
    return lines[line - 1] if 0 < line <= len(lines) else ""


@lru_cache(maxsize=8)
def _lines(file: str) -> tuple[str, ...]:
    try:
        return tuple(Path(file).read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        return ()
