"""Cycles of a step of a loop: its time over that of a cycle, which a chain of sums beside it tells."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

_SAMPLE_SECONDS = 1e-3
_LEAST_ROUNDS = 5
_MOST_SPREAD = 0.2
"""Above this a figure is unsure, and is measured for longer."""
_MOST_TRIES = 2

Steps = Callable[[int], None]
"""Runs so many steps."""


@dataclass(frozen=True)
class Figure:
    """A measured number, and how far the middle of its samples lies from it, as a share."""

    value: float
    spread: float

    @property
    def is_sure(self) -> bool:
        return self.spread <= _MOST_SPREAD


@dataclass(frozen=True)
class Clock:
    """The chain of sums, of so many cycles a step."""

    steps: Steps
    cycles: int


class Sampler:
    """Measures for about `seconds` a figure: rounds of a sample of the clock and one of the loop, which so have the same pace."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock, self._seconds = clock, seconds
        self._sample = min(_SAMPLE_SECONDS, seconds / (2 * _LEAST_ROUNDS))
        self._clock_count = self._count_of(clock.steps)
        self.cycle_seconds = float("inf")
        """The shortest cycle so far."""

    def measure(self, steps: Steps, per_step: float) -> Figure:
        """Cycles of one of the `per_step` things that a step does.

        The best sample of the loop over the best one of the clock: others only slow them. What is unsure is tried again.
        """
        count = self._count_of(steps)
        best: Figure | None = None
        for _ in range(_MOST_TRIES):
            found = self._rounds(steps, count, per_step)
            best = found if best is None or found.spread < best.spread else best
            if best.is_sure:
                break
        assert best is not None
        return best

    def _rounds(self, steps: Steps, count: int, per_step: float) -> Figure:
        cycles: list[float] = []
        times: list[float] = []
        begin = time.perf_counter()
        while len(times) < _LEAST_ROUNDS or time.perf_counter() - begin < self._seconds:
            cycles.append(_time_of(self._clock.steps, self._clock_count) / self._clock.cycles)
            times.append(_time_of(steps, count) / per_step)
        self.cycle_seconds = min(self.cycle_seconds, *cycles)
        value = min(times) / min(cycles)
        middle = statistics.median(each / cycle for each, cycle in zip(times, cycles, strict=True))
        return Figure(value, abs(middle / value - 1))

    def _count_of(self, steps: Steps) -> int:
        """Steps of a sample."""
        count = 1
        while (taken := _time_of(steps, count) * count) < self._sample:
            count = max(2 * count, min(16 * count, int(count * self._sample / max(taken, 1e-9))))
        return count


def _time_of(steps: Steps, count: int) -> float:
    """Seconds of a step."""
    begin = time.perf_counter()
    steps(count)
    return (time.perf_counter() - begin) / count
