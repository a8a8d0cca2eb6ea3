"""What a run of a nest's innermost body takes, by what its cycles go to: `step` of `LoopNestCost` and of `BandNestCost`.

A core starts a few instructions a cycle while it waits for the results of others, so that the longer of the two counts; of the
way of data from caches and memory, what other work does not hide comes on top.
"""

from __future__ import annotations

from typing import NamedTuple

from dlc.lowering.policy import policy


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
