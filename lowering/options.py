"""The text of pass options, `a=b c="d e" f={x y} flag`, as MLIR writes it between braces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_CLOSING = {"{": "}", "[": "]", "(": ")"}
_QUOTES = "\"'"
_PLAIN = re.compile(r"[\w.:/+\-@%#!*]+")


class OptionSyntaxError(ValueError):
    """Option text that can't be read; `offset` is the place in it."""

    def __init__(self, message: str, offset: int) -> None:
        self.message, self.offset = message, offset
        super().__init__(message)


@dataclass(frozen=True)
class OptionText:
    """One option as written: its name, its value with its quotes or braces, and where it starts."""

    name: str
    value: str
    offset: int


def end_of_value(text: str, start: int, stops: str) -> int:
    """First place from `start` where a character of `stops` stands outside quotes and brackets, or the text's end."""
    pending: list[str] = []
    position = start
    while position < len(text):
        char = text[position]
        if pending and pending[-1] in _QUOTES:
            if char == pending[-1]:
                pending.pop()
        elif char in stops and not pending:
            return position
        elif char in _QUOTES:
            pending.append(char)
        elif char in _CLOSING:
            pending.append(_CLOSING[char])
        elif pending and char == pending[-1]:
            pending.pop()
        position += 1
    if pending:
        raise OptionSyntaxError(f"expected '{pending[-1]}'", start)
    return position


def unwrap(value: str) -> str:
    """The text inside the quotes or braces that enclose the whole of `value`; else `value`."""
    if value[:1] in _QUOTES and value[:1]:
        return value[1:-1] if len(value) > 1 and value.find(value[0], 1) == len(value) - 1 else value
    if value[:1] == "{" and end_of_value(value, 1, "}") == len(value) - 1:
        return value[1:-1]
    return value


def quote(value: str) -> str:
    """`value` as option text, in quotes where it needs them. Text with both kinds of quotes can't be written."""
    if _PLAIN.fullmatch(value):
        return value
    mark = "'" if '"' in value else '"'
    return f"{mark}{value}{mark}"


def split_list(text: str) -> list[str]:
    """The items of a list `a,"b,c",d`, which may stand in braces or brackets, as written."""
    text = text.strip()
    if text[:1] in ("{", "[") and text[-1:] in ("}", "]"):
        text = text[1:-1]
    items, position = [], 0
    while position < len(text):
        end = end_of_value(text, position, ",")
        items.append(text[position:end].strip())
        position = end + 1
    return items


def split_options(text: str) -> Iterator[OptionText]:
    """The options in `text`, in order; a flag without `=` has the value "" (true)."""
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        end = end_of_value(text, position, " \t\n")
        name, _, value = text[position:end].partition("=")
        if not name:
            raise OptionSyntaxError("expected the name of an option before '='", position)
        yield OptionText(name, value, position)
        position = end


def parse_options(text: str) -> dict[str, str]:
    """`{option: value as written}` of option text; a repeated option is an `OptionSyntaxError`."""
    found: dict[str, str] = {}
    for option in split_options(text):
        if option.name in found:
            raise OptionSyntaxError(f"option '{option.name}' is given twice", option.offset)
        found[option.name] = option.value
    return found
