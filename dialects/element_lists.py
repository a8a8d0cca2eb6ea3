"""Ops that list all elements of a type: for one of 2^32 elements the parser asks for a list that ends the process."""

from __future__ import annotations

import math
import re

from dlc.diagnostics import Diagnostic
from dlc.errors import ParseError

MOST_LISTED = 1 << 24
"""Elements of a type that an op lists one by one."""

_OP = re.compile(rb"\b(?:vector|tensor)\.(?:from|to)_elements\b")
_TYPE = re.compile(rb"(?:vector|tensor)<([\[\]\dx ]*)|(![A-Za-z_][\w.$-]*)")
_ALIAS = re.compile(rb"(![A-Za-z_][\w.$-]*)\s*=\s*(?:vector|tensor)<([\[\]\dx ]*)")
_SIZE = re.compile(rb"\d+")


def check_element_lists(text: bytes, name: str) -> None:
    """Raise `ParseError` at the op in the file `name` that lists the elements of a type with more than `MOST_LISTED` of them."""
    if b"_elements" not in text:
        return
    aliases: dict[bytes, bytes] = dict(_ALIAS.findall(text))
    for op in _OP.finditer(text):
        kind = _TYPE.search(text, op.end())
        dims = aliases.get(kind[2], b"") if kind and kind[2] else kind[1] if kind else b""
        count = math.prod(map(int, _SIZE.findall(dims)))
        if count > MOST_LISTED:
            place = op.start()
            line, column = text.count(b"\n", 0, place) + 1, place - text.rfind(b"\n", 0, place)
            message = f"{op[0].decode()} would list {count} elements; use a constant, a splat or a loop for more than {MOST_LISTED}"
            raise ParseError("", [Diagnostic("error", message, name, line, column)])
