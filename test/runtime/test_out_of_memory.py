"""Each allocation of a call can fail: one `OutOfMemoryError`, no memory lost, and the next call is right."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

import dlc
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.runtime.library import RuntimeLibrary, load_library

Call = Callable[[dlc.CompiledModel, Sequence[np.ndarray]], list[np.ndarray]]
LEAST_PLACES = 200
HUGE = (2**42, 1), (2**50, 1), (2**31, 2**31), (2**40, 2**40), (2**62, 4)


@dataclass(frozen=True)
class Scenario:
    """A model, arguments for it, and a way to call it."""

    name: str
    make: Callable[[], dlc.CompiledModel]
    arguments: Sequence[np.ndarray]
    call: Call = field(default=lambda model, arguments: model(*arguments))


def _reshaping_chain(steps: int, num_threads: int) -> dlc.CompiledModel:
    """A model whose sizes depend on data: each step allocates its result."""
    lines = ["func.func @main(%x: tensor<?xf32>, %sizes: tensor<2xi64>) -> tensor<?x?xf32> {"]
    value, kind = "%x", "tensor<?xf32>"
    for step in range(steps):
        lines.append(
            f'  %r{step} = "dl.reshape"({value}, %sizes) {{shape = array<i64: -1, -1>}} '
            f": ({kind}, tensor<2xi64>) -> tensor<?x?xf32>"
        )
        lines.append(f'  %e{step} = "dl.softmax"(%r{step}) {{axis = 1 : i64}} : (tensor<?x?xf32>) -> tensor<?x?xf32>')
        value, kind = f"%e{step}", "tensor<?x?xf32>"
    lines += [f"  return {value} : tensor<?x?xf32>", "}"]
    return dlc.compile("\n".join(lines), num_threads=num_threads)


def _network(num_threads: int, batch: int | str) -> dlc.CompiledModel:
    """Convolution, product and softmax, with weights that are computed once and several results."""
    generator = np.random.default_rng(0)
    with Graph() as graph:
        x = graph.input("x", (batch, 8, 24, 24))
        kernel = graph.param("kernel", generator.standard_normal((16, 8, 3, 3)).astype(np.float32))
        y = dl.relu(dl.conv(x, kernel, pads=[1, 1, 1, 1]))
        pooled = dl.reduce_mean(y, axes=[2, 3], keepdims=False)
        weight = graph.param("weight", generator.standard_normal((16, 10)).astype(np.float32))
        logits = dl.matmul(pooled, weight)
        graph.output("features", y)
        graph.output("logits", dl.softmax(logits, axis=1))
    return dlc.compile(graph.module, num_threads=num_threads, params=graph.params)


def _image(batch: int) -> np.ndarray:
    return np.random.default_rng(1).standard_normal((batch, 8, 24, 24)).astype(np.float32)


_ROWS = [np.linspace(0, 1, 64 * 512, dtype=np.float32), np.array([64, 512], np.int64)]
_FEW = [np.linspace(0, 1, 12, dtype=np.float32), np.array([3, 4], np.int64)]


def _into_outputs(model: dlc.CompiledModel, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    return model.run(list(arguments), {"features": np.empty((3, 16, 24, 24), np.float32)})


def _in_batches(model: dlc.CompiledModel, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    return [array for results in model.run_many([list(arguments)] * 5) for array in results]


SCENARIOS = [
    Scenario("sizes of data, small", lambda: _reshaping_chain(24, 1), _FEW),
    Scenario("sizes of data, large", lambda: _reshaping_chain(24, 1), _ROWS),
    Scenario("sizes of data, two threads", lambda: _reshaping_chain(24, 2), _ROWS),
    Scenario("static network", lambda: _network(1, 3), [_image(3)]),
    Scenario("dynamic network", lambda: _network(1, "n"), [_image(3)]),
    Scenario("dynamic network, two threads", lambda: _network(2, "n"), [_image(8)]),
    Scenario("the caller's outputs", lambda: _network(2, "n"), [_image(3)], _into_outputs),
    Scenario("batches", lambda: _network(2, "n"), [_image(3)], _in_batches),
    Scenario("batches of sizes of data", lambda: _reshaping_chain(24, 2), _ROWS, _in_batches),
]


@pytest.fixture
def runtime() -> Iterator[RuntimeLibrary]:
    """The library, which fails on purpose only while a test runs."""
    library = load_library()
    yield library
    library.fail_allocation(-1)


def _places_that_fail(runtime: RuntimeLibrary, scenario: Scenario) -> int:
    """Let each allocation of a call fail in turn; how many there are."""
    model = scenario.make()
    expected = [array.copy() for array in scenario.call(model, scenario.arguments)]
    live = runtime.memory_live()
    for place in range(1000):
        runtime.fail_allocation(place)
        try:
            results = scenario.call(model, scenario.arguments)
        except dlc.OutOfMemoryError as error:
            assert "out of memory" in str(error)
            has_failed = runtime.fail_allocation(-1) < 0
            assert has_failed
        else:  # the allocation was tried again, or there are no more
            has_failed = runtime.fail_allocation(-1) < 0
            assert all(map(np.array_equal, results, expected))
            del results
        if not has_failed:
            return place
        assert runtime.memory_live() == live, f"allocation {place} lost memory"
        assert all(map(np.array_equal, scenario.call(model, scenario.arguments), expected))
    raise AssertionError("a call allocates without end")


def test_each_allocation_can_fail(runtime: RuntimeLibrary) -> None:
    places = {scenario.name: _places_that_fail(runtime, scenario) for scenario in SCENARIOS}
    assert min(places.values()) > 0
    assert sum(places.values()) >= LEAST_PLACES, places


def test_computed_weights_that_fail(runtime: RuntimeLibrary) -> None:
    weight = np.ones((3, 400), np.float32)
    with Graph() as graph:
        graph.output("y", dl.matmul(graph.input("x", ("n", 400)), dl.transpose(graph.param("w", weight), perm=(1, 0))))
    text = str(dlc.lower(graph.module))  # at the last level a model computes its weights itself
    live = runtime.memory_live()
    with pytest.raises(dlc.OutOfMemoryError, match=r"result 'w\.transpose': 4800 bytes"):
        dlc.compile(text, params=graph.params, memory_limit=1000)
    assert runtime.memory_live() == live
    runtime.fail_allocation(0)
    try:
        dlc.compile(text, params=graph.params)
    except dlc.OutOfMemoryError:
        assert runtime.memory_live() == live
    assert runtime.fail_allocation(-1) < 0
    assert dlc.compile(text, params=graph.params)(np.ones((2, 400), np.float32))[0].tolist() == [[400.0] * 3] * 2


FILL = """
func.func @main(%sizes: tensor<2xi64>) -> tensor<?x?xf32> {
  %zero = "dl.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "dl.expand"(%zero, %sizes) {shape = array<i64: -1, -1>} : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32> loc("fill")
  %1 = "dl.exp"(%0) : (tensor<?x?xf32>) -> tensor<?x?xf32> loc("exp")
  return %1 : tensor<?x?xf32>
}
"""


@pytest.mark.parametrize("sizes", HUGE)
def test_huge_sizes_of_data_name_the_node(sizes: tuple[int, int]) -> None:
    model = dlc.compile(FILL)
    with pytest.raises(dlc.OutOfMemoryError, match=r"nodes? 'fill'"):
        model(np.array(sizes))
    assert model(np.array([2, 3]))[0].tolist() == [[1.0] * 3] * 2


def test_other_threads_go_on() -> None:
    model = dlc.compile(FILL)
    stop, wrong = threading.Event(), []

    def work() -> None:
        while not stop.is_set():
            wrong.extend([1] * (not np.array_equal(model(np.array([40, 50]))[0], np.ones((40, 50)))))

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(200):
        with pytest.raises(dlc.OutOfMemoryError):
            model(np.array([2**45, 8]))
    stop.set()
    thread.join()
    assert not wrong


@pytest.mark.parametrize("given", [1 << 20, "1M", "1024K", "1MiB", "1m"])
def test_memory_limit_bounds_a_call(given: int | str) -> None:
    model = dlc.compile(FILL, memory_limit=given)
    assert model(np.array([100, 100]))[0].shape == (100, 100)
    with pytest.raises(dlc.OutOfMemoryError, match=r"holds \d+ of the 1048576 that it may; .*raise memory_limit") as caught:
        model(np.array([1000, 1000]))
    assert (caught.value.limit, caught.value.bytes) == (1 << 20, 4_000_000)


def test_memory_limit_counts_results() -> None:
    def model(columns: int) -> dlc.CompiledModel:
        with Graph() as graph:
            graph.output("y", dl.exp(graph.input("x", (512, columns))))
        return dlc.compile(graph.module, memory_limit="1M")

    assert model(512)(np.zeros((512, 512), np.float32))[0].shape == (512, 512)
    tight = model(513)
    with pytest.raises(dlc.OutOfMemoryError, match="results: 1050624 bytes"):
        tight(np.zeros((512, 513), np.float32))


def test_memory_limit_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLC_MEMORY_LIMIT", "1M")
    with pytest.raises(dlc.OutOfMemoryError):
        dlc.compile(FILL)(np.array([1000, 1000]))
    assert dlc.compile(FILL, memory_limit="16M")(np.array([1000, 1000]))[0].shape == (1000, 1000)
    monkeypatch.setenv("DLC_MEMORY_LIMIT", "lots")
    with pytest.raises(dlc.InvalidInputError, match="DLC_MEMORY_LIMIT is 'lots'; give bytes"):
        dlc.compile(FILL)


@pytest.mark.parametrize("limit", [0, -1, "", "1X", "2^42", True, 1.5, 2**63])
def test_memory_limits_that_are_none(limit: object) -> None:
    with pytest.raises(dlc.InvalidInputError, match="memory_limit is"):
        dlc.compile(FILL, memory_limit=limit)  # type: ignore[arg-type]


def test_a_call_is_cancelled_by_another_thread() -> None:
    model = _reshaping_chain(100, 1)
    live = load_library().memory_live()
    errors: list[BaseException] = []

    def work() -> None:
        try:
            while True:
                model(*_ROWS)
        except dlc.DLCError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.2)
    while thread.is_alive():  # a cancellation between two calls ends neither
        model.cancel()
        thread.join(0.001)
    assert [type(error) for error in errors] == [dlc.CancelledError]
    assert load_library().memory_live() == live
    assert model(*_ROWS)[0].shape == (64, 512)
