"""Statistics of times: percentiles, ratios by round, means of ratios."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Summary:
    """Percentiles of the seconds of single calls, how many calls there were, and calls per second at the median."""

    calls: int
    p50: float
    p90: float
    p99: float

    @property
    def throughput(self) -> float:
        return 1.0 / self.p50 if self.p50 else math.inf


def summarize(seconds: Sequence[float]) -> Summary:
    """Percentiles of at least one sample."""
    ordered = sorted(seconds)
    return Summary(len(ordered), *(percentile(ordered, share) for share in (0.5, 0.9, 0.99)))


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value below which `share` of the ascending samples lie, interpolated between neighbours. `ValueError` without samples."""
    if not ordered:
        raise ValueError("no samples")
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def median_ratio(theirs: Sequence[float], ours: Sequence[float]) -> float:
    """Median of theirs / ours, round by round: what slows a round slows both sides of it. Above 1: ours is faster."""
    return statistics.median(other / own for other, own in zip(theirs, ours, strict=True))


def geometric_mean(ratios: Sequence[float]) -> float:
    """The mean under which a ratio and its inverse cancel; 1 without any."""
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else 1.0
