"""Candidates and what they cost, which every search for a schedule compares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from dlc.lowering.affine.cost.cycles import CostedNest, cycles
from dlc.targets.machine import Machine

S = TypeVar("S")


@dataclass(frozen=True)
class Candidate(Generic[S]):
    """A schedule that fits a nest, and its estimated cycles."""

    schedule: S
    cycles: float


def weighed(nest: CostedNest[S], schedules: Iterable[S], machine: Machine) -> Iterator[Candidate[S]]:
    """What each of `schedules` takes on `machine`."""
    return (Candidate(schedule, cycles(nest, schedule, machine)) for schedule in schedules)


def cheapest(nest: CostedNest[S], schedules: Iterable[S], machine: Machine) -> Candidate[S] | None:
    """The first of the fewest cycles; None of no schedules."""
    return min(weighed(nest, schedules, machine), key=lambda one: one.cycles, default=None)
