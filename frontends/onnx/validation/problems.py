"""What is wrong with a model: collected, then one error or, where a person wants it so, warnings."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field

import onnx

from dlc.errors import LenientWarning, ParseError

_MOST_SHOWN = 20
_are_told: ContextVar[bool] = ContextVar("are_told", default=True)
"""Whether warnings are given, in each thread for itself: the filters of `warnings` are those of the whole process."""


@contextlib.contextmanager
def untold() -> Iterator[None]:
    """Without warnings in this thread: where the model was read as a whole before, and its problems told."""
    before = _are_told.set(False)
    try:
        yield
    finally:
        _are_told.reset(before)


class BrokenRules(ParseError):
    """A model that breaks rules of ONNX: `problems` has each of them."""

    def __init__(self, message: str, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(message)


@dataclass(frozen=True)
class Problem:
    """A rule that is broken at `place`, and what to do; `tolerable` ones have a meaning that is likely to be the one wanted."""

    place: str
    what: str
    remedy: str
    tolerable: bool = False

    def __str__(self) -> str:
        return f"{self.place}: {self.what}; {self.remedy}" if self.place else f"{self.what}; {self.remedy}"


@dataclass
class Problems:
    """The problems of the model `name` so far. With `lenient`, tolerable ones become warnings."""

    name: str
    lenient: bool = False
    found: list[Problem] = field(default_factory=list)

    def add(self, place: str, what: str, remedy: str, tolerable: bool = False) -> None:
        """Note a problem once; `place` is a node, input, tensor, or empty for the whole model."""
        problem = Problem(place, what, remedy, tolerable)
        if problem not in self.found:
            self.found.append(problem)

    def settle(self) -> None:
        """Raise `ParseError` if there are problems, or warn of them where they may pass; forgets them."""
        problems, self.found = self.found, []
        if not problems:
            return
        if self.lenient and all(problem.tolerable for problem in problems):
            for problem in problems if _are_told.get() else ():
                warnings.warn(f"{self.name}: warning: {problem}", LenientWarning, stacklevel=2)
            return
        raise BrokenRules(_message(self.name, problems), problems)


def _message(name: str, problems: list[Problem]) -> str:
    hint = ", or let it pass with `lenient`" if all(problem.tolerable for problem in problems) else ""
    if len(problems) == 1:
        return f"{name}: error: {problems[0]}{hint}"
    shown = [f"  {problem}" for problem in problems[:_MOST_SHOWN]]
    more = [f"  and {len(problems) - _MOST_SHOWN} more"] if len(problems) > _MOST_SHOWN else []
    return "\n".join([f"{name}: error: {len(problems)} problems{hint}:", *shown, *more])


def place_of(node: onnx.NodeProto) -> str:
    """`node 'conv1' (Conv)`: by its name, else its first output."""
    label = node.name or next((name for name in node.output if name), "")
    domain = f"{node.domain}." if node.domain not in ("", "ai.onnx") else ""
    return f"node '{label}' ({domain}{node.op_type})"
