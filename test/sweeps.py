"""Sweeps: tests of many cases of one kind, of which `make check` runs some and `make check-all` all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest


def mark_sweeps(items: Sequence[pytest.Item]) -> None:
    """Of the cases of a test with the mark `sweep(every=n)`, all but the first and each n-th after it are slow."""
    seen: Counter[str] = Counter()
    for item in items:
        sweep = item.get_closest_marker("sweep")
        if sweep is None:
            continue
        function = item.nodeid.partition("[")[0]
        if seen[function] % sweep.kwargs["every"]:
            item.add_marker(pytest.mark.slow)
        seen[function] += 1
