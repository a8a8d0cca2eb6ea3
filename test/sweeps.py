"""Sweeps: tests of many cases or examples of one kind, of which `make check` runs some and `make check-all` all."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

import pytest

ALL = "DLC_TEST_ALL"
"""Set in the environment of `make check-all`."""


def examples(count: int) -> int:
    """How many examples of a property are tried: `count` by `make check-all`, a third of them, but at least 3, else."""
    return count if os.environ.get(ALL) else min(count, max(3, count // 3))


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
