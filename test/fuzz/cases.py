"""The records of fuzzing: how a case ended, and what a family of cases is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Protocol

CLEAN, ACCEPTED, EQUAL = "clean error", "accepted, not run", "right numbers"
SIGNAL, HANG, INTERNAL, EXCEPTION = "signal", "hang", "internal error", "wrong exception"
MESSAGE, NUMBER, LEFTOVER = "bad message", "wrong number", "left behind"
ACCEPTANCE, NATIVE, UNJUDGED = "wrong acceptance?", "supervised crash", "oracle failed"

GOOD = (CLEAN, ACCEPTED, EQUAL)
FINDINGS = (SIGNAL, HANG, INTERNAL, EXCEPTION, MESSAGE, NUMBER, LEFTOVER)
CANDIDATES = (ACCEPTANCE, NATIVE, UNJUDGED)
"""Ends that a person looks at: other tools refuse the model, upstream's pass crashed under supervision, nothing to compare with."""

Phase = Callable[[str], None]


@dataclass(frozen=True)
class Verdict:
    """How a case ended. Two findings with one `kind` and `key` are one; `detail` is the text that a person reads."""

    kind: str
    key: str = ""
    detail: str = ""

    def same(self, other: Verdict) -> bool:
        """Whether both are the same finding."""
        return (self.kind, self.key) == (other.kind, other.key)


@dataclass(frozen=True)
class Case:
    """Case number `index` of a family, for one seed."""

    family: str
    seed: int
    index: int

    def random(self) -> Random:
        """The source of every choice in the case."""
        return Random(f"{self.family}:{self.seed}:{self.index}")


class Family(Protocol):
    """One kind of input. `make` and `smaller` are pure; `execute` runs in a forked process and may die."""

    name: str
    suffix: str
    """Of files that hold a case."""

    batch: int
    """Cases that one process runs after each other."""

    weight: int
    """Share of the cases when several families run."""

    def prepare(self) -> None:
        """Load the corpus and import what cases need, once, before processes are forked."""

    def make(self, random: Random) -> bytes:
        """A case."""

    def execute(self, payload: bytes, phase: Phase) -> Verdict:
        """Run a case; `phase` is told what begins, for messages on crashes."""

    def smaller(self, payload: bytes) -> Iterator[bytes]:
        """Candidates for a smaller case that may show the same, those that leave out most first."""
