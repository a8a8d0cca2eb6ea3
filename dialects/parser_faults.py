"""Texts at which the parsers of upstream's own ops end the process: they are refused before MLIR reads them."""

from __future__ import annotations

import math
import re

from dlc.diagnostics import Diagnostic
from dlc.errors import ParseError

MOST_LISTED = 1 << 24
"""Elements of a type that an op lists one by one."""
MOST_RESULTS = 1 << 24
"""Results that an op is taken to have."""

_LISTING = re.compile(rb"\b(?:vector|tensor)\.(?:from|to)_elements\b")
_TYPE = re.compile(rb"(?:vector|tensor)<([\[\]\dx ]*)|(![A-Za-z_][\w.$-]*)")
_ALIAS = re.compile(rb"(![A-Za-z_][\w.$-]*)\s*=\s*(?:vector|tensor)<([\[\]\dx ]*)")
_SIZE = re.compile(rb"\d+")
_NO_AXES = re.compile(rb"\)\s*(dimensions|permutation)\s*=(?!\s*\[\s*(?:-?\d{1,18}\s*(?:,\s*-?\d{1,18}\s*)*)?\])")
"""After the operands of linalg.reduce, transpose or broadcast: what is no list of numbers becomes a null pointer there."""
_MEMREF = rb"memref<((?:[\d?]+\s*x\s*)*)(!?\w*)"
_TENSOR_MAP = re.compile(rb"\btensormap\.descriptor<\s*tensor\s*=\s*(?:" + _MEMREF + rb"|(![A-Za-z_][\w.$-]*))")
_MEMREF_ALIAS = re.compile(rb"(![A-Za-z_][\w.$-]*)\s*=\s*" + _MEMREF)
_NUMBER = re.compile(rb"u?i\d+|b?f\d+\w*|tf32")
_LARGE_RESULT = re.compile(rb"%[\w$.-]+\s*#(\d{8,})")


def check_parser_faults(text: bytes, name: str) -> None:
    """Raise `ParseError` at the place in the file `name` that a parser of an op would end the process at."""
    if b"_elements" in text:
        _check_listed_elements(text, name)
    if b"linalg." in text and (found := _NO_AXES.search(text)):
        raise _error(text, found.start(1), f"'{found[1].decode()}' takes a list of numbers like [0, 1]", name)
    if b"nvgpu.tma." in text:
        _check_tensor_maps(text, name)
    _check_results(text, name)


def _check_results(text: bytes, name: str) -> None:
    """A result by its number: the parser makes a list of so many values, which ends the process where memory does not last."""
    for found in _LARGE_RESULT.finditer(text):
        if int(found[1]) >= MOST_RESULTS:
            what = f"no op has a result #{found[1].decode()}; number results from 0, below {MOST_RESULTS}"
            raise _error(text, found.start(), what, name)


def _check_tensor_maps(text: bytes, name: str) -> None:
    """A tensor map of elements that are no numbers: the verifiers of `nvgpu.tma` ops ask for their width."""
    aliases = {alias: element for alias, _, element in _MEMREF_ALIAS.findall(text)}
    for found in _TENSOR_MAP.finditer(text):
        element = aliases.get(found[3], b"f32") if found[3] else found[2]
        if not _NUMBER.fullmatch(element):
            what = f"a tensor map is of integers or floats, written as such, not of '{element.decode(errors='replace')}'"
            raise _error(text, found.start(), what, name)


def _check_listed_elements(text: bytes, name: str) -> None:
    """An op that lists all elements of a type: for 2^32 of them the parser asks for a list that ends the process."""
    aliases: dict[bytes, bytes] = dict(_ALIAS.findall(text))
    for op in _LISTING.finditer(text):
        kind = _TYPE.search(text, op.end())
        dims = aliases.get(kind[2], b"") if kind and kind[2] else kind[1] if kind else b""
        count = math.prod(map(int, _SIZE.findall(dims)))
        if count > MOST_LISTED:
            what = f"{op[0].decode()} would list {count} elements; use a constant, a splat or a loop for more than {MOST_LISTED}"
            raise _error(text, op.start(), what, name)


def _error(text: bytes, place: int, message: str, name: str) -> ParseError:
    line, column = text.count(b"\n", 0, place) + 1, place - text.rfind(b"\n", 0, place)
    return ParseError("", [Diagnostic("error", message, name, line, column)])
