"""Compares diagnostics with the expectations written in comments, as mlir-opt's --verify-diagnostics does.

// expected-error@+1 {{'dl.matmul' op c2: lhs dim}}
// expected-note-re@above {{defined {{at|in}} here}}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dlc.diagnostics import Diagnostic

_EXPECTED = re.compile(
    r"expected-(?P<severity>error|warning|remark|note)(?P<regex>-re)?"
    r"\s*(?:@(?P<place>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*)\}\}"
)
_OUR_OWN_NOTE = "see current operation"
"""Upstream's verifier attaches this note to its errors; nobody expects it in a test."""


@dataclass
class Expectation:
    """One expected diagnostic: its severity, line (0: unknown place) and text, and whether it was seen."""

    severity: str
    line: int
    written_line: int
    column: int
    text: str
    pattern: re.Pattern[str]
    met: bool = False

    def fits(self, diagnostic: Diagnostic) -> bool:
        """True when the diagnostic is of this severity, on this line, and contains the text."""
        same_place = self.severity == diagnostic.severity and self.line == diagnostic.line
        return same_place and self.pattern.search(diagnostic.message) is not None


class DiagnosticsVerifier:
    """The expectations in one text, and what differs from them in what was found."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.expectations = list(_expectations(text))

    def mismatches(self, found: Iterable[Diagnostic]) -> list[Diagnostic]:
        """An error for each diagnostic that no comment expects and for each expectation that was not met."""
        errors = []
        for diagnostic in _with_notes(found):
            expectation = next((item for item in self.expectations if not item.met and item.fits(diagnostic)), None)
            if expectation is not None:
                expectation.met = True
            elif not any(item.fits(diagnostic) for item in self.expectations):
                message = f"unexpected {diagnostic.severity}: {diagnostic.message}"
                errors.append(Diagnostic("error", message, self.file, diagnostic.line, diagnostic.column))
        for item in self.expectations:
            if not item.met:
                message = f'expected {item.severity} "{item.text}" was not produced'
                errors.append(Diagnostic("error", message, self.file, item.written_line, item.column))
        return errors


def _with_notes(found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    for diagnostic in found:
        if not diagnostic.message.startswith(_OUR_OWN_NOTE):
            yield diagnostic
            yield from _with_notes(diagnostic.notes)


def _expectations(text: str) -> Iterator[Expectation]:
    below: list[Expectation] = []
    last_code = 0
    for number, line in enumerate(text.split("\n"), start=1):
        match = _EXPECTED.search(line)
        if match is None:
            for item in below:
                item.line = number
            below, last_code = [], number
            continue
        expectation = _expectation(match, number, last_code)
        if match["place"] == "below":
            below.append(expectation)
        yield expectation


def _expectation(match: re.Match[str], number: int, last_code: int) -> Expectation:
    place = match["place"] or ""
    line = number
    if place == "above":
        line = last_code
    elif place == "unknown":
        line = 0
    elif place[:1] in ("+", "-"):
        line = number + int(place)
    pattern = _pattern(match["text"]) if match["regex"] else re.compile(re.escape(match["text"]))
    return Expectation(match["severity"], line, number, match.start() + 1, match["text"], pattern)


def _pattern(text: str) -> re.Pattern[str]:
    """Literal text with regular expressions between double braces."""
    pieces = re.split(r"\{\{(.*?)\}\}", text)
    return re.compile("".join(piece if index % 2 else re.escape(piece) for index, piece in enumerate(pieces)))
