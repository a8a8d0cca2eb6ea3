"""The pages under docs/generated/ are those that docs/generate.py writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_pages_are_fresh() -> None:
    script = Path(__file__).resolve().parent.parent / "docs" / "generate.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
