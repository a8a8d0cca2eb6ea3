"""Where weights lie in memory."""

from __future__ import annotations

import mmap

import ml_dtypes
import numpy as np
import pytest

from dlc import weight_memory
from dlc.weight_memory import LINE, WeightMemory, new_memory

HUGE_PAGE = 2 << 20


def test_copies_start_at_cache_lines() -> None:
    given = {
        "transposed": np.arange(15, dtype=np.float32).reshape(3, 5).T,
        "empty": np.empty((0, 3), np.int64),
        "number": np.asarray(7, np.int8),
        "bf16": np.arange(5).astype(ml_dtypes.bfloat16),
        "large": np.arange(HUGE_PAGE, dtype=np.int32),
    }
    memory = WeightMemory(array.nbytes for array in given.values())
    found = {key: memory.copy(array) for key, array in given.items()}
    for key, array in found.items():
        assert array.dtype == given[key].dtype
        np.testing.assert_array_equal(array, given[key])
        assert array.flags.carray
        assert array.ctypes.data % LINE == 0
        assert not np.may_share_memory(array, given[key])
        assert not any(np.shares_memory(array, other) for name, other in found.items() if name != key)


@pytest.mark.parametrize("size", [0, 1, HUGE_PAGE - 1, HUGE_PAGE, 3 * HUGE_PAGE + 5])
def test_memory_is_of_the_size_and_writable(size: int) -> None:
    memory = new_memory(size)
    assert memory.nbytes == size
    memory[:] = 1
    if size:  # NumPy lets an empty slice begin where its memory does
        assert memory.ctypes.data % (HUGE_PAGE if size >= HUGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE") else LINE) == 0


def test_a_kernel_without_huge_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain(mmap.mmap):
        def madvise(self, *arguments: int) -> None:
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr(weight_memory.mmap, "mmap", Plain)
    memory = new_memory(HUGE_PAGE)
    memory[:] = 1
    assert memory.nbytes == HUGE_PAGE
