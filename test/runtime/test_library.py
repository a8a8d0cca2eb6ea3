"""The native runtime library: memory, strided copies, and the thread pool with many callers."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from dlc.errors import InvalidInputError, RuntimeLoadError
from dlc.runtime.library import RuntimeLibrary, find_library, load_library


@pytest.fixture
def runtime() -> RuntimeLibrary:
    return load_library()


@pytest.mark.parametrize("size", [0, 1, 63, 4096, 65535])
def test_small_memory_is_vector_aligned(runtime: RuntimeLibrary, size: int) -> None:
    address = runtime.allocate(size)
    assert address % 64 == 0
    runtime.free(address)


@pytest.mark.parametrize("size", [65536, 1 << 20, (1 << 20) + 3])
def test_large_memory_is_page_aligned(runtime: RuntimeLibrary, size: int) -> None:
    address = runtime.allocate(size)
    assert address % 4096 == 0
    ctypes.memset(address, 1, size)
    runtime.free(address)


@pytest.mark.parametrize("size", [2 << 20, (2 << 20) + 1, 9 << 20])
def test_memory_that_fills_a_huge_page_begins_with_one(runtime: RuntimeLibrary, size: int) -> None:
    address = runtime.allocate(size)
    assert address % (2 << 20) == 0
    ctypes.memset(address, 1, size)
    runtime.free(address)


@pytest.mark.parametrize("alignment", [128, 4096, 1 << 16])
def test_asked_alignment_is_kept(runtime: RuntimeLibrary, alignment: int) -> None:
    address = runtime.allocate(10, alignment)
    assert address % alignment == 0
    runtime.free(address)


def test_statistics_count_live_and_peak_bytes(runtime: RuntimeLibrary) -> None:
    before = runtime.memory_live()
    runtime.memory_reset_peak()
    first, second = runtime.allocate(1000), runtime.allocate(500)
    runtime.free(first)
    assert runtime.memory_live() - before == 500
    assert runtime.memory_peak() - before == 1500
    runtime.free(second)
    runtime.memory_reset_peak()
    assert runtime.memory_peak() == runtime.memory_live() == before


def _random_view(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """An array of `shape` with random strides: padded, stepped, reversed and permuted dims."""
    order = rng.permutation(len(shape))
    steps = [int(rng.choice([1, 1, 2, -1])) for _ in shape]
    base = [shape[i] * abs(steps[i]) + int(rng.integers(0, 3)) for i in order]
    array = rng.integers(0, 100, base).astype(dtype).transpose(np.argsort(order))
    view = array[(*(slice(None, None, step) for step in steps), ...)]
    return view[(*(slice(0, extent) for extent in shape), ...)]


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("rank", range(6))
def test_memref_copy_equals_numpy(runtime: RuntimeLibrary, rank: int, dtype: str) -> None:
    rng = np.random.default_rng(rank)
    for _ in range(20):
        shape = tuple(int(extent) for extent in rng.integers(0 if rank == 3 else 1, 5, rank))
        source, target = _random_view(rng, shape, dtype), _random_view(rng, shape, dtype)
        runtime.memref_copy(source, target)
        np.testing.assert_array_equal(source, target)


def test_memref_copy_writes_nothing_between_the_elements(runtime: RuntimeLibrary) -> None:
    whole = np.zeros((4, 6), np.float32)
    runtime.memref_copy(np.ones((2, 3), np.float32), whole[::2, ::2])
    assert whole.sum() == 6
    assert whole[::2, ::2].all()


def test_memref_copy_of_a_broadcast_source(runtime: RuntimeLibrary) -> None:
    target = np.empty((3, 4), np.int32)
    source = np.broadcast_to(np.arange(4, dtype=np.int32), (3, 4))
    runtime.memref_copy(source, target)
    np.testing.assert_array_equal(target, source)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 1000])
def test_parallel_for_covers_the_range_once(runtime: RuntimeLibrary, threads: int, n: int) -> None:
    before = runtime.set_num_threads(threads)
    counts = np.zeros(n, np.int64)
    parts: list[tuple[int, int]] = []

    def body(lo: int, hi: int) -> None:
        counts[lo:hi] += 1
        parts.append((lo, hi))

    runtime.parallel_for(body, n)
    runtime.set_num_threads(before)
    assert (counts == 1).all()
    assert len(parts) >= min(n, threads)
    assert max((hi - lo for lo, hi in parts), default=0) <= -(-n // threads)


def test_parts_run_at_the_same_time(runtime: RuntimeLibrary) -> None:
    before = runtime.set_num_threads(3)
    meeting = threading.Barrier(3, timeout=20)
    seen: list[int] = []

    def body(lo: int, hi: int) -> None:
        meeting.wait()
        seen.append(lo)

    runtime.parallel_for(body, 3)
    runtime.set_num_threads(before)
    assert sorted(seen) == [0, 1, 2]


def test_nested_calls_run_inline(runtime: RuntimeLibrary) -> None:
    before = runtime.set_num_threads(4)
    inner: list[tuple[int, int, bool]] = []

    def body(lo: int, hi: int) -> None:
        outer = threading.get_ident()
        runtime.parallel_for(lambda a, b: inner.append((a, b, threading.get_ident() == outer)), 10)

    runtime.parallel_for(body, 4)
    runtime.set_num_threads(before)
    assert inner == [(0, 10, True)] * 4


def test_many_callers_share_the_pool(runtime: RuntimeLibrary) -> None:
    def caller(index: int) -> bool:
        runtime.set_num_threads(index % 4 + 1)
        counts = np.zeros(64, np.int64)

        def body(lo: int, hi: int) -> None:
            counts[lo:hi] += 1

        for _ in range(50):
            runtime.parallel_for(body, 64)
        return bool((counts == 50).all())

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(caller, range(16)))


def test_number_of_threads_belongs_to_the_calling_thread(runtime: RuntimeLibrary) -> None:
    before = runtime.set_num_threads(3)
    with ThreadPoolExecutor(1) as other:
        other.submit(runtime.set_num_threads, 5).result()
        assert other.submit(runtime.num_threads).result() == 5
    assert runtime.num_threads() == 3
    assert runtime.set_num_threads(before) == 3


def _in_process(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", f"from dlc.runtime.library import load_library\nruntime = load_library()\n{program}"]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment, timeout=60)


def test_environment_gives_the_number_of_threads() -> None:
    done = _in_process("print(runtime.num_threads(), runtime.set_num_threads(2), runtime.num_threads())", DLC_NUM_THREADS="5")
    assert done.stdout.split() == ["5", "None", "2"]
    assert "DLC_NUM_THREADS is 'two'; give the number" in _in_process("", DLC_NUM_THREADS="two").stderr
    for count in ("0", str(1 << 31), "9" * 5000):
        assert f"DLC_NUM_THREADS is '{count[:9]}" in _in_process("", DLC_NUM_THREADS=count).stderr


_AFFINITY_SCRIPT = """
import os, threading
seen = set()
def body(lo, hi):
    if threading.get_ident() != caller:
        seen.add(tuple(sorted(os.sched_getaffinity(0))))
    meeting.wait()
caller, meeting = threading.get_ident(), threading.Barrier(2, timeout=20)
runtime.set_num_threads(2)
before = os.sched_getaffinity(0)
for _ in range(3):
    runtime.parallel_for(body, 2)
assert os.sched_getaffinity(0) == before
print(*seen.pop(), len(seen))
"""


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs affinity")
def test_threads_are_bound_as_told() -> None:
    first = min(os.sched_getaffinity(0))
    done = _in_process(_AFFINITY_SCRIPT, DLC_THREAD_AFFINITY=f"{first}-{first}")
    assert done.stdout.split() == [str(first), "0"], done.stderr
    allowed = [str(processor) for processor in sorted(os.sched_getaffinity(0))]
    done = _in_process(_AFFINITY_SCRIPT, DLC_THREAD_AFFINITY="none")
    assert done.stdout.split() == [*allowed, "0"], done.stderr
    assert "DLC_THREAD_AFFINITY is '1-'; give processors like" in _in_process("", DLC_THREAD_AFFINITY="1-").stderr


def test_wrong_affinity_is_refused(runtime: RuntimeLibrary) -> None:
    for text in ("", "3-1", "0,,1", "all", "5000"):
        with pytest.raises(InvalidInputError, match=r"give processors like 0,2-5 \(of .*\), 'none' or 'auto'"):
            runtime.set_thread_affinity(text)
    runtime.set_thread_affinity("auto")


class _Call(ctypes.Structure):
    """The runtime's `DlcCall`."""

    _fields_ = (
        ("entry", ctypes.c_void_p),
        ("arguments", ctypes.c_void_p),
        ("threads", ctypes.c_int64),
        ("results", ctypes.c_void_p),
        ("result_count", ctypes.c_int64),
        ("limit", ctypes.c_int64),
        ("cancellations", ctypes.c_void_p),
    )


def test_calls_at_once_get_no_more_threads_than_processors(runtime: RuntimeLibrary) -> None:
    """As many calls of models as there are processors, of two threads each: each works alone."""
    callers = max(2, runtime.num_threads())
    together = threading.Barrier(callers, timeout=20)

    def call(_: int) -> bool:
        workers: set[int] = set()

        def entry(_: int | None) -> None:
            together.wait()
            runtime.parallel_for(lambda lo, hi: workers.add(threading.get_ident()), 8)
            together.wait()

        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(entry)
        record = _Call(ctypes.cast(function, ctypes.c_void_p), None, 2, None, 0, 0, None)
        return runtime.call(ctypes.c_void_p(ctypes.addressof(record))) == 0 and workers == {threading.get_ident()}

    with ThreadPoolExecutor(callers) as pool:
        assert all(pool.map(call, range(callers)))


_FORK_SCRIPT = """
import os
from dlc.runtime.library import load_library
runtime = load_library()
runtime.set_num_threads(2)
runtime.parallel_for(lambda lo, hi: None, 2)
child = os.fork()
done = []
runtime.parallel_for(lambda lo, hi: done.append(hi - lo), 100)
assert sum(done) == 100
if child:
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_pool_works_on_both_sides_of_a_fork() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", _FORK_SCRIPT], check=True, timeout=60)


def test_environment_names_the_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DLC_RUNTIME_LIBRARY", str(tmp_path / "none.so"))
    with pytest.raises(RuntimeLoadError, match="correct or unset it"):
        find_library()
    monkeypatch.setenv("DLC_RUNTIME_LIBRARY", __file__)
    assert find_library() == Path(__file__)


def test_unfit_file_is_refused() -> None:
    with pytest.raises(RuntimeLoadError, match="reinstall dlc"):
        RuntimeLibrary(Path(__file__))


def test_missing_library_names_the_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DLC_RUNTIME_LIBRARY", raising=False)
    monkeypatch.setattr("dlc.runtime.__path__", [str(tmp_path)])
    with pytest.raises(RuntimeLoadError, match="pip install"):
        find_library()


def test_a_raised_error_reaches_the_caller(runtime: RuntimeLibrary) -> None:
    library = ctypes.CDLL(str(runtime.path))
    raising = ctypes.cast(library.dlc_raise, ctypes.c_void_p).value
    message = ctypes.create_string_buffer(b"sizes do not fit")
    assert raising is not None
    for _ in range(3):
        with pytest.raises(InvalidInputError, match=r"^sizes do not fit$"):
            runtime.invoke(raising, ctypes.addressof(message))


def test_an_error_without_a_caller_ends_the_process(runtime: RuntimeLibrary) -> None:
    call = "dlc_raise_dims(b'node {}: x is {} but y is {}', ctypes.c_int64(-3), ctypes.c_int64(5))"
    program = f"import ctypes; ctypes.CDLL({str(runtime.path)!r}).{call}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode < 0
    assert done.stderr == "dlc: error: node {}: x is -3 but y is 5\n"
