"""Statistics of times."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlc.measuring.samples import geometric_mean, median_ratio, percentile, summarize

TIMES = st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=50)


@given(TIMES, st.floats(0, 1))
def test_percentiles_are_those_of_numpy(seconds: list[float], share: float) -> None:
    assert percentile(sorted(seconds), share) == pytest.approx(np.quantile(seconds, share), rel=1e-9)


def test_no_samples_have_no_percentile() -> None:
    with pytest.raises(ValueError, match="no samples"):
        percentile([], 0.5)


def test_summary() -> None:
    found = summarize([0.5, 0.1, 0.2])
    assert (found.calls, found.p50, found.throughput) == (3, 0.2, 5.0)
    assert found.p90 == pytest.approx(0.44)
    assert found.p50 <= found.p90 <= found.p99 <= 0.5


def test_ratio_is_that_of_rounds() -> None:
    """A slow round slows both sides: the ratio of medians would be 1."""
    assert median_ratio([2.0, 20.0, 4.0], [1.0, 10.0, 2.0]) == 2.0
    assert median_ratio([1.0, 10.0, 100.0], [10.0, 5.0, 50.0]) == 2.0


@given(TIMES)
def test_ratio_and_inverse_cancel_in_the_mean(ratios: list[float]) -> None:
    assert geometric_mean(ratios) * geometric_mean([1 / ratio for ratio in ratios]) == pytest.approx(1.0, rel=1e-6)


def test_geometric_mean() -> None:
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
    assert geometric_mean([]) == 1.0
