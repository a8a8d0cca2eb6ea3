"""The guard pages themselves: arrays are whole, and the byte beyond an edge cannot be read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from guard_pages import EDGES, SUPPORTED, Edge, guarded, guarded_empty

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="needs mprotect as on Linux")

_READ_BEYOND = """
import ctypes, numpy
from guard_pages import guarded
x = guarded(numpy.arange({count}, dtype=numpy.float32), "{edge}")
address = x.ctypes.data
print(ctypes.string_at(address, x.nbytes) == x.tobytes(), flush=True)
ctypes.string_at(address - 1 if "{edge}" == "start" else address + x.nbytes, 1)
print("not reached")
"""


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("shape", [(), (0, 3), (3, 5), (1025,)])
@pytest.mark.parametrize("dtype", [np.float32, np.int8, ml_dtypes.bfloat16])
def test_copies_are_equal_and_writable(shape: tuple[int, ...], dtype: type, edge: Edge) -> None:
    values = np.ones(shape).astype(dtype)
    copy = guarded(values, edge)
    np.testing.assert_array_equal(copy, values)
    assert copy.flags.c_contiguous
    assert copy.flags.aligned
    copy[...] = 2
    assert not guarded_empty(shape, dtype, edge).any()


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("count", [3, 1024])
def test_an_access_beyond_the_edge_ends_the_process(count: int, edge: Edge) -> None:
    program = _READ_BEYOND.format(count=count, edge=edge)
    folder = Path(__file__).parent
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    assert done.stdout == "True\n"
    assert done.returncode < 0
