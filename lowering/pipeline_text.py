"""The syntax of textual pipelines: `builtin.module(canonicalize{max-iterations=3}, func.func(cse))`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dlc.diagnostics import Diagnostic
from dlc.errors import PassError
from dlc.lowering.options import OptionSyntaxError, end_of_value

_NAME = re.compile(r"[A-Za-z_][\w.\-]*")
_CLOSED_BY = {"{": "}", "(": ")"}


@dataclass(frozen=True)
class PipelineSource:
    """Pipeline text and what to call it in messages; every error of a pipeline is located in one."""

    text: str
    name: str = "<pipeline>"

    def error(self, offset: int, message: str) -> PassError:
        """A `PassError` with a caret at `offset`."""
        before = self.text[:offset]
        line, column = before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1
        return PassError("", [Diagnostic("error", message, self.name, line, column)], self.text)


@dataclass(frozen=True)
class PipelineNode:
    """One element as written: a pass with options, or, where `children` is not None, an anchor around passes."""

    name: str
    offset: int
    options: str = ""
    options_offset: int = 0
    children: tuple[PipelineNode, ...] | None = None


def parse_nodes(source: PipelineSource) -> tuple[PipelineNode, ...]:
    """The elements of pipeline text; `PassError` locates a syntax error."""
    if not source.text.strip():
        raise source.error(0, "the pipeline is empty; write for example builtin.module(canonicalize)")
    parser = _Parser(source)
    nodes = parser.elements()
    if parser.position < len(source.text):
        raise source.error(parser.position, f"expected ',' or the end, found '{source.text[parser.position]}'")
    return tuple(nodes)


class _Parser:
    def __init__(self, source: PipelineSource) -> None:
        self.source, self.text, self.position = source, source.text, 0

    def peek(self) -> str:
        """The next character that is not a space ("" at the end), without passing over it."""
        while self.position < len(self.text) and self.text[self.position].isspace():
            self.position += 1
        return self.text[self.position : self.position + 1]

    def elements(self) -> Sequence[PipelineNode]:
        found = [self.element()]
        while self.peek() == ",":
            self.position += 1
            found.append(self.element())
        return found

    def element(self) -> PipelineNode:
        self.peek()
        start = self.position
        match = _NAME.match(self.text, start)
        if match is None:
            raise self.source.error(start, "expected the name of a pass or of an op")
        self.position = match.end()
        if self.peek() == "(":
            return PipelineNode(match[0], start, children=self.children())
        if self.peek() != "{":
            return PipelineNode(match[0], start)
        options_offset = self.position + 1
        return PipelineNode(match[0], start, self.options(), options_offset)

    def children(self) -> tuple[PipelineNode, ...]:
        opening = self.position
        self.position += 1
        nodes = () if self.peek() == ")" else tuple(self.elements())
        if self.peek() != ")":
            if self.position < len(self.text):
                raise self.source.error(self.position, "expected ',' or ')'")
            raise self.source.error(opening, "this '(' is never closed")
        self.position += 1
        return nodes

    def options(self) -> str:
        opening = self.position
        try:
            end = end_of_value(self.text, opening + 1, "}")
        except OptionSyntaxError:
            end = len(self.text)
        if end == len(self.text):
            raise self.source.error(opening, "this '{' is never closed")
        self.position = end + 1
        return self.text[opening + 1 : end]
