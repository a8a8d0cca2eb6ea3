"""The text of pass options, `a=b c="d e" f={x y} flag`, as MLIR writes it between braces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_CLOSING = {"{": "}", "[": "]", "(": ")"}
_QUOTES = "\"'"


class OptionSyntaxError(ValueError):
    """Option text that can't be read; `offset` is the place in it."""

    def __init__(self, message: str, offset: int) -> None:
        self.message, self.offset = message, offset
        super().__init__(message)


@dataclass(frozen=True)
class OptionText:
    """One option as written: its name, its value without the outer quotes or braces, and where it starts."""

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


def _unwrap(value: str) -> str:
    for opening, closing in (('"', '"'), ("'", "'"), ("{", "}")):
        if len(value) >= 2 and value[0] == opening and value[-1] == closing:
            return value[1:-1]
    return value


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
        yield OptionText(name, _unwrap(value), position)
        position = end


def parse_options(text: str) -> dict[str, str]:
    """`{option: value}` of option text; a repeated option is an `OptionSyntaxError`."""
    found: dict[str, str] = {}
    for option in split_options(text):
        if option.name in found:
            raise OptionSyntaxError(f"option '{option.name}' is given twice", option.offset)
        found[option.name] = option.value
    return found
