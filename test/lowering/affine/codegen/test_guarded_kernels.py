"""Generated code touches no memory outside its buffers: nothing beyond inputs, weights and results, at either end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from guard_pages import SUPPORTED
from random_kernels import FAMILIES

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="needs mprotect as on Linux")
_SCRIPT = Path(__file__).with_name("guarded_kernels.py")


def _run(family: str, modules: int) -> None:
    command = [sys.executable, "-X", "faulthandler", str(_SCRIPT), family, str(modules)]
    environment = os.environ | {"DLC_CACHE_DIR": ""}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"


@pytest.mark.parametrize("family", list(FAMILIES))
def test_no_access_outside(family: str) -> None:
    _run(family, 3)


@pytest.mark.slow
@pytest.mark.parametrize("family", list(FAMILIES))
def test_no_access_outside_in_many_kernels(family: str) -> None:
    _run(family, 40)
