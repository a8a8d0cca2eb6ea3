"""Several models, several threads and several processes; and nothing left behind."""

from __future__ import annotations

import gc
import multiprocessing
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dlc
from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.runtime.library import load_library


def _product(size: int, seed: int, num_threads: int | None = None) -> tuple[dlc.CompiledModel, np.ndarray]:
    """A model `relu(x @ w)` of the given width, and its weight."""
    weight = np.random.default_rng(seed).standard_normal((size, size)).astype(np.float32)
    with Graph() as graph:
        graph.output("y", dl.relu(dl.matmul(graph.input("x", ("n", size)), graph.param("w", weight))))
    return dlc.compile(graph.module, num_threads=num_threads, params=graph.params), weight


@pytest.fixture(scope="module")
def product() -> tuple[dlc.CompiledModel, np.ndarray]:
    return _product(64, 0)


def _agrees(model: dlc.CompiledModel, weight: np.ndarray, seed: int, calls: int = 50) -> bool:
    generator = np.random.default_rng(seed)
    for _ in range(calls):
        x = generator.standard_normal((int(generator.integers(1, 9)), len(weight))).astype(np.float32)
        if not np.allclose(model(x)[0], np.maximum(x @ weight, 0), rtol=1e-4, atol=1e-4):
            return False
    return True


def test_one_model_in_four_threads(product: tuple[dlc.CompiledModel, np.ndarray]) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda seed: _agrees(*product, seed), range(4)))


def test_models_in_threads_of_their_own() -> None:
    """Compiled and called at the same time."""
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda seed: _agrees(*_product(16 + 8 * seed, seed), seed, 20), range(4)))


def test_a_call_lets_other_threads_run() -> None:
    model, _ = _product(768, 1, num_threads=1)
    x = np.ones((2048, 768), np.float32)
    model(x)
    ticks, done = [], threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    begin = time.perf_counter()
    model(x)
    end = time.perf_counter()
    done.set()
    ticker.join()
    assert sum(begin < moment < end for moment in ticks) > (end - begin) * 50


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    """Kernels that are worth threads, of sizes that no number of threads divides."""
    shapes = [(131, 203), (203, 301), (1, 33, 29, 31), (65, 33, 3, 3), (601, 257)]
    generator = np.random.default_rng(0)
    inputs = [generator.standard_normal(shape, np.float32) for shape in shapes]
    with Graph() as graph:
        a, b, image, weight, rows = (graph.input(f"x{index}", shape) for index, shape in enumerate(shapes))
        graph.output("product", dl.gelu(dl.matmul(a, b)))
        graph.output("conv", dl.conv(image, weight, pads=[1, 1, 1, 1]))
        graph.output("softmax", dl.softmax(rows))
        graph.output("sum", dl.reduce_sum(rows, axes=[0], keepdims=False))
        graph.output("moved", dl.transpose(rows, perm=[1, 0]))
    want = dlc.compile(graph.module, num_threads=1)(*inputs)
    for threads in (2, 3, 7):
        model = dlc.compile(graph.module, num_threads=threads)
        for _ in range(5):
            for one, other in zip(model(*inputs), want, strict=True):
                np.testing.assert_array_equal(one, other)


def test_results_and_calls_leave_no_memory(product: tuple[dlc.CompiledModel, np.ndarray]) -> None:
    model, _ = product
    library = load_library()
    gc.collect()
    before = library.memory_live()
    for rows in (8, 100, 7):  # fewer than 4 are in memory of NumPy
        results = model(np.ones((rows, 64), np.float32))
        assert library.memory_live() >= before + results[0].nbytes
        del results
    with pytest.raises(dlc.InvalidInputError):
        model(np.ones((2, 65), np.float32))
    gc.collect()
    assert library.memory_live() == before


def test_models_leave_nothing() -> None:
    library = load_library()
    gc.collect()
    memory, contexts = library.memory_live(), ir.Context._get_live_count()
    for seed in range(5):
        model, weight = _product(16, seed)
        assert _agrees(model, weight, seed, 2)
        other = model.with_params({"w": weight * 2})
        assert _agrees(other, weight * 2, seed, 2)
        del model, other
        dlc.lower("module {}\n", to="llvm")
        with pytest.raises(dlc.DLCError):
            dlc.compile("func.func @f(\n")
    gc.collect()
    assert library.memory_live() == memory
    assert ir.Context._get_live_count() == contexts


def _in_child(model: dlc.CompiledModel, weight: np.ndarray, queue: multiprocessing.Queue) -> None:
    queue.put(_agrees(model, weight, 5) and _agrees(*_product(24, 6), 7))


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_fork_after_compiling(product: tuple[dlc.CompiledModel, np.ndarray]) -> None:
    """The child calls its parent's model and compiles one of its own, although the parent's threads are gone."""
    assert _agrees(*product, 3)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(*product, queue))
    child.start()
    assert queue.get(timeout=60)
    child.join(timeout=60)
    assert child.exitcode == 0
    assert _agrees(*product, 4)
