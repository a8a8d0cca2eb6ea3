"""The search for a schedule: generators make candidates that are legal, a cost weighs them, the cheapest is taken.

Register tiles of loops and of band nests, orders of loops, blocks for caches, tiles across time and kernels of a GPU are found so.
They differ in their generators, and in what knows the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol, TypeVar

from dlc.lowering.affine.cost.cycles import CostedNest, cycles
from dlc.targets.machine import Machine

S = TypeVar("S")


class Costed(Protocol):
    """What a search compares."""

    @property
    def cycles(self) -> float:
        """The estimate."""
        ...


C = TypeVar("C", bound=Costed)

Generator = Callable[[], Iterable[S]]
"""Makes candidates when it is asked."""


@dataclass(frozen=True)
class Candidate(Generic[S]):
    """A schedule that fits a nest, and its estimated cycles."""

    schedule: S
    cycles: float


def search(
    generators: Iterable[Generator[S]],
    weigh: Callable[[S], C],
    *,
    gain: float = 1.0,
    enough: float = 0.0,
    ties: Callable[[C], tuple[float, ...]] = lambda _: (),
) -> C | None:
    """The cheapest of what the generators make, by `weigh`; None where they make nothing.

    Generators are asked in turn, until the best so far takes fewer than `enough` times the cycles of the first candidate. Another
    one is better where it takes fewer than `gain` times the cycles of the best. Of those that take the same the one with the least
    `ties` is taken, and of these the first.
    """
    best: C | None = None
    limit = 0.0
    for generate in generators:
        if best is not None and best.cycles < limit:
            break
        for candidate in map(weigh, generate()):
            if best is None:
                best, limit = candidate, enough * candidate.cycles
            elif candidate.cycles < gain * best.cycles or (candidate.cycles == best.cycles and ties(candidate) < ties(best)):
                best = candidate
    return best


def weighed(nest: CostedNest[S], machine: Machine) -> Callable[[S], Candidate[S]]:
    """What a schedule of `nest` takes on `machine`."""
    return partial(_weigh, nest, machine)


def _weigh(nest: CostedNest[S], machine: Machine, schedule: S) -> Candidate[S]:
    return Candidate(schedule, cycles(nest, schedule, machine))
