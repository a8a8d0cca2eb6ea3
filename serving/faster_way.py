"""Ways to run calls, and which of them is the fastest for a model on this machine."""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Sequence

_TRIALS = 5
"""Of each way; the median of the last ones counts, since some may have waited for a processor."""
_TRIED_AGAIN = 256
"""Runs after which another way is tried again: times change with what else the machine does."""
_WORTH_A_THREAD = 0.9
"""What all threads take of the time of one, at most, to be worth the processors."""


class Way(enum.Enum):
    """As one call with joined inputs, on all threads or on one; or as calls side by side, on a thread each.

    One call reads weights once; calls side by side keep their values in the cache of a core, and no thread waits for another. What
    is faster the model and the machine decide. A call of microseconds gains nothing by a second thread, which has to be woken.
    """

    ALL_THREADS = enum.auto()
    ONE_THREAD = enum.auto()
    APART = enum.auto()


OF_CALLS = (Way.ALL_THREADS, Way.ONE_THREAD)
OF_BATCHES = (Way.ALL_THREADS, Way.APART, Way.ONE_THREAD)


class FasterWay:
    """How calls or batches of equal shapes and of like size run. All ways are tried, then the fastest one is taken."""

    def __init__(self, ways: Sequence[Way]) -> None:
        self._seconds: dict[Way, deque[float]] = {way: deque(maxlen=_TRIALS) for way in ways}
        self._runs = 0
        self._best: Way | None = None
        self.next = ways[0]
        """The way of the next run."""

    def ran(self, way: Way, seconds: float) -> None:
        """A run took so many seconds, or so many a row."""
        self._runs += 1
        self._seconds[way].append(seconds)
        if self._best is None or way is not self._best or self._runs % _TRIALS == 0:
            self._best = self._fastest()
        self.next = self._best or min(self._seconds, key=lambda each: len(self._seconds[each]))
        if self._best is not None and self._runs % _TRIED_AGAIN == 0:
            self.next = list(self._seconds)[self._runs // _TRIED_AGAIN % len(self._seconds)]

    def _fastest(self) -> Way | None:
        """None while one of them has not been tried often enough."""
        if any(len(found) < _TRIALS for found in self._seconds.values()):
            return None
        return min(self._seconds, key=lambda way: self._cost(way, sorted(self._seconds[way])[_TRIALS // 2]))

    def _cost(self, way: Way, seconds: float) -> float:
        return seconds * _WORTH_A_THREAD if way is Way.ONE_THREAD else seconds
