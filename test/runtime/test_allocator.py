"""Freed blocks serve the next calls, within bounds; a call that ends with an error frees what it has allocated."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import dlc
from dlc.errors import InvalidInputError
from dlc.runtime.library import RuntimeLibrary, load_library

LARGE = 1 << 20
REST = 68 << 10
"""What a block has more than was asked for, at most: less would not serve another request."""

RESHAPED = """
func.func @main(%x: tensor<?x512xf32>, %sizes: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = "dl.exp"(%x) : (tensor<?x512xf32>) -> tensor<?x512xf32>
  %1 = "dl.reshape"(%0, %sizes) {shape = array<i64: -1, -1>} : (tensor<?x512xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %2 = "dl.exp"(%1) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}
"""


@pytest.fixture
def runtime() -> Iterator[RuntimeLibrary]:
    """The library with nothing kept, before and after."""
    library = load_library()
    library.memory_trim()
    yield library
    library.memory_trim()


def test_freed_block_is_given_again(runtime: RuntimeLibrary) -> None:
    first = runtime.allocate(LARGE)
    runtime.free(first)
    assert LARGE <= runtime.memory_idle() <= LARGE + REST
    assert runtime.allocate(LARGE - 4096) == first
    assert runtime.memory_idle() <= REST
    runtime.free(first)


def test_block_is_not_wasted_on_a_small_request(runtime: RuntimeLibrary) -> None:
    large, small = runtime.allocate(4 * LARGE), runtime.allocate(LARGE)
    runtime.free(large)
    runtime.free(small)
    again = runtime.allocate(LARGE)
    assert 4 * LARGE <= runtime.memory_idle() <= 4 * LARGE + REST
    runtime.free(again)


def test_small_blocks_are_not_kept(runtime: RuntimeLibrary) -> None:
    runtime.free(runtime.allocate(65535))
    assert runtime.memory_idle() == 0


def test_one_freed_block_serves_several_requests(runtime: RuntimeLibrary) -> None:
    large = runtime.allocate(4 * LARGE)
    runtime.free(large)
    parts = [runtime.allocate(LARGE) for _ in range(3)]
    assert all(large <= part and part + LARGE <= large + 4 * LARGE and part % 4096 == 0 for part in parts)
    for part in (parts[1], parts[0], parts[2]):
        runtime.free(part)
    assert 4 * LARGE <= runtime.memory_idle() <= 4 * LARGE + REST
    assert runtime.allocate(4 * LARGE) == large
    runtime.free(large)


def test_sizes_that_grow_take_the_same_memory(runtime: RuntimeLibrary) -> None:
    starts = set()
    for size in range(LARGE, LARGE * 5 // 4 - 4096, 4096):
        starts.add(address := runtime.allocate(size))
        runtime.free(address)
    assert len(starts) == 1


def test_rests_beyond_a_quarter_go_back(runtime: RuntimeLibrary) -> None:
    large = runtime.allocate(4 * LARGE)
    runtime.free(large)
    part = runtime.allocate(LARGE)
    ctypes.memset(part, 7, LARGE)
    again = runtime.allocate(4 * LARGE)
    assert runtime.memory_idle() <= 5 * LARGE // 4
    assert ctypes.string_at(part, LARGE) == bytes([7]) * LARGE
    runtime.free(part)
    runtime.free(again)
    assert 5 * LARGE <= runtime.memory_idle() <= 25 * LARGE // 4


def test_rest_that_went_back_is_used_again(runtime: RuntimeLibrary) -> None:
    runtime.free(runtime.allocate(4 * LARGE))
    part, again = runtime.allocate(LARGE), runtime.allocate(4 * LARGE)
    size = LARGE * 3 // 2  # blocks of 2 MiB and more begin with a huge page
    rest = runtime.allocate(size)
    assert part < rest < part + 4 * LARGE - size
    ctypes.memset(rest, 3, size)
    for address in (part, again, rest):
        runtime.free(address)


def test_kept_and_used_never_exceed_the_most_used(runtime: RuntimeLibrary) -> None:
    generator = np.random.default_rng(0)
    live: dict[int, tuple[int, int]] = {}
    most = 0
    for step in range(2000):
        if live and generator.random() < 0.5:
            address = list(live)[generator.integers(len(live))]
            size, mark = live.pop(address)
            assert ctypes.string_at(address, size) == bytes([mark]) * size
            runtime.free(address)
        else:
            size = int(generator.integers(1 << 16, 1 << 20))
            address = runtime.allocate(size)
            assert address % 4096 == 0
            ctypes.memset(address, step % 256, size)
            live[address] = (size, step % 256)
        used = sum(size for size, _ in live.values())
        most = max(most, used + REST * len(live))
        assert used + runtime.memory_idle() <= most * 5 / 4
    for address in live:
        runtime.free(address)


def test_statistics_count_what_was_asked_for(runtime: RuntimeLibrary) -> None:
    before = runtime.memory_live()
    first = runtime.allocate(LARGE)
    runtime.free(first)
    second = runtime.allocate(LARGE - 100)
    assert runtime.memory_live() - before == LARGE - 100
    runtime.free(second)
    assert runtime.memory_live() == before


def test_asked_alignment_is_kept_by_reused_blocks(runtime: RuntimeLibrary) -> None:
    runtime.free(runtime.allocate(LARGE))
    address = runtime.allocate(LARGE, 1 << 21)
    assert address % (1 << 21) == 0
    runtime.free(address)


def test_threads_share_kept_blocks(runtime: RuntimeLibrary) -> None:
    before = runtime.memory_live()

    def work(seed: int) -> None:
        generator = np.random.default_rng(seed)
        for _ in range(300):
            size = int(generator.integers(1 << 16, 1 << 18))
            address = runtime.allocate(size)
            ctypes.memset(address, seed, size)
            assert ctypes.string_at(address + size - 1, 1) == bytes([seed])
            runtime.free(address)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert runtime.memory_live() == before


def test_child_process_allocates(runtime: RuntimeLibrary) -> None:
    runtime.free(runtime.allocate(LARGE))
    child = os.fork()
    if child == 0:
        runtime.free(runtime.allocate(LARGE))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def test_failed_call_leaves_no_memory(runtime: RuntimeLibrary) -> None:
    model = dlc.compile(RESHAPED)
    x = np.ones((64, 512), np.float32)
    assert model(x, np.array([512, 64]))[0].shape == (512, 64)
    before = runtime.memory_live()
    for _ in range(3):
        with pytest.raises(InvalidInputError, match="number of elements"):
            model(x, np.array([512, 63]))
        assert runtime.memory_live() == before
    np.testing.assert_allclose(model(x, np.array([64, 512]))[0], np.exp(np.exp(x)), rtol=1e-5)
