"""Every example runs and says what it promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.py"))
_PROMISES = {
    "edit_a_schedule": "the edited model gives the same results",
    "graph_by_hand": "result agrees with NumPy",
    "own_op": "result agrees with NumPy",
    "own_pass": "negations: 3 -> 1",
    "scalar_c_target": "result agrees with NumPy",
    "schedule_matmul": "results agree with NumPy",
}


@pytest.mark.parametrize("file", _EXAMPLES, ids=[file.stem for file in _EXAMPLES])
def test_example_runs(file: Path) -> None:
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert _PROMISES[file.stem] in done.stdout
