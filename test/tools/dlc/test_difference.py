"""What counts as a difference between a result and the expected one."""

from __future__ import annotations

import numpy as np
import pytest

from dlc.tools.commands.checks import difference

_ONE = np.ones(2, np.float32)
_CASES = {
    "equal": (_ONE, _ONE, 0.0),
    "relative to the largest expected magnitude": (np.array([10.0, 0.1]), np.array([10.0, 0.0]), 0.01),
    "expected zeros": (np.array([0.25, 0.0]), np.zeros(2), 0.25),
    "no elements": (np.empty((0, 3)), np.empty((0, 3)), 0.0),
    "NaN at the same place": (np.array([np.nan, 1.0]), np.array([np.nan, 1.0]), 0.0),
    "NaN at one place": (np.array([np.nan, 1.0]), np.array([1.0, 1.0]), np.inf),
    "infinities of both signs": (np.array([np.inf]), np.array([-np.inf]), np.inf),
    "another shape": (_ONE, np.ones((2, 1), np.float32), np.inf),
    "another dtype": (_ONE, _ONE.astype(np.float64), np.inf),
    "booleans": (np.array([True, False]), np.array([True, True]), 1.0),
}


@pytest.mark.parametrize("case", _CASES)
def test_difference(case: str) -> None:
    have, want, relative = _CASES[case]
    assert difference(have, want).relative == pytest.approx(relative)
