"""What a nest takes under a schedule, on a machine: `cycles`, which all who compare ways to compute something ask.

Each kind of nest has a class that knows the answer: `LoopNestCost` and `BandNestCost` for a `Tile`, `BlockedNestCost` for
`CacheBlocks`, `SkewedNestCost` for tiles across time. Contractions that are no loops yet are costed by their sizes
(`contractions.py`).

The cost of a nest is the sum of `step(tile)`, one run of the innermost body. A core starts instructions while it waits for results
of others, so a step takes the longer of both times. Time for data from caches and memory is added where other work does not hide
it.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeVar

from dlc.lowering.policy import policy
from dlc.targets.machine import Machine

S = TypeVar("S")
S_contra = TypeVar("S_contra", contravariant=True)


class CostedNest(Protocol[S_contra]):
    """Loops, or what becomes loops, as a cost model sees them."""

    def total(self, schedule: S_contra, machine: Machine) -> float:
        """Cycles of all of it; only `cycles` asks."""
        ...


def cycles(nest: CostedNest[S], schedule: S, machine: Machine) -> float:
    """Cycles of one core for all of `nest` under `schedule`; infinite where the schedule does not fit the machine."""
    return nest.total(schedule, machine)


class Cycles(NamedTuple):
    """Cycles of one run of the innermost body."""

    issue: float
    """To start its instructions."""
    latency: float
    """Until what the next run needs is there."""
    memory: float = 0.0
    """That it waits for loads and lines, beside both."""

    @property
    def busy(self) -> float:
        """Cycles where everything is in the first-level cache."""
        return max(self.issue, self.latency)

    @property
    def total(self) -> float:
        """All cycles."""
        return self.busy + self.memory


def issue_cycles(*instructions: float) -> float:
    """Cycles to start instructions of several kinds, each of which has ports of its own."""
    return max(instructions) / policy().cost.issued
