"""Located diagnostics: the one record of an error and the one way to show it.

model.mlir:3:8: error: 'dl.matmul' op c2: lhs dim -1 is 64 but rhs dim -2 is 32
  %0 = "dl.matmul"(%a, %b) : ...
       ^
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dlc._mlir import ir


@dataclass(frozen=True)
class Diagnostic:
    """One message at one place. `line` and `column` count from 1; 0 means unknown."""

    severity: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    notes: tuple[Diagnostic, ...] = field(default=())

    def header(self) -> str:
        """`file:line:col: severity: message`, leaving out what is unknown."""
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        prefix = f"{place}: " if place else ""
        return f"{prefix}{self.severity}: {self.message}"

    def render(self, source: str | None = None) -> str:
        """The header, then the source line with a caret where `source` (the whole text of `file`) is known.

        Notes on other files show their header only.
        """
        return "\n".join(self._lines(source.split("\n") if source is not None else []))

    def _lines(self, source_lines: list[str]) -> Iterator[str]:
        yield self.header()
        if self.column and 1 <= self.line <= len(source_lines):
            text = source_lines[self.line - 1]
            yield text
            yield "".join("\t" if char == "\t" else " " for char in text[: self.column - 1]) + "^"
        for note in self.notes:
            yield from note._lines(source_lines if note.file == self.file else [])

    def in_file(self, name: str) -> Diagnostic:
        """The same diagnostic with MLIR's anonymous source name `-` replaced by `name`."""
        file = name if self.file in ("", "-") else self.file
        return replace(self, file=file, notes=tuple(note.in_file(name) for note in self.notes))


def place_of(location: ir.Location) -> tuple[str, int, int]:
    """(file, line, column) of an MLIR location, looking through names, call sites and fusions; ("", 0, 0) if none."""
    from dlc._mlir import ir

    location = ir.Location.from_attr(location.attr, location.context)
    if isinstance(location, ir.FileLineColLoc):
        return location.filename, location.start_line, location.start_col
    if isinstance(location, ir.NameLoc):
        return place_of(location.child_loc)
    if isinstance(location, ir.CallSiteLoc):
        return place_of(location.callee)
    if isinstance(location, ir.FusedLoc):
        places = (place_of(child) for child in location.locations)
        return next((place for place in places if place[0]), ("", 0, 0))
    return "", 0, 0


def names_of(location: ir.Location) -> tuple[str, ...]:
    """The names (ONNX nodes) that a location carries, in order, without repeats."""
    from dlc._mlir import ir

    location = ir.Location.from_attr(location.attr, location.context)
    if isinstance(location, ir.NameLoc):
        return (location.name_str, *names_of(location.child_loc))
    if isinstance(location, ir.CallSiteLoc):
        return names_of(location.callee)
    if isinstance(location, ir.FusedLoc):
        names = (name for child in location.locations for name in names_of(child))
        return tuple(dict.fromkeys(names))
    return ()


def at_location(location: ir.Location, message: str, severity: str = "error", notes: tuple[Diagnostic, ...] = ()) -> Diagnostic:
    """A diagnostic at an MLIR location; the names it carries go into the message where it has no file."""
    file, line, column = place_of(location)
    message = message.replace("\0", "")  # upstream's parser leaves one in "expected 1 operand type"
    names = "" if file else ", ".join(names_of(location))
    return Diagnostic(severity, f"{message} [node {names}]" if names else message, file, line, column, notes)


def from_mlir(info: ir.DiagnosticInfo, severity: str = "error") -> Diagnostic:
    """Convert one entry of `MLIRError.error_diagnostics`."""
    return at_location(info.location, info.message, severity, tuple(from_mlir(note, "note") for note in info.notes))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` with the known name nearest to `name`, or an empty string."""
    import difflib

    nearest = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{nearest[0]}'?" if nearest else ""
