"""Calls through the built-in functions of the native library: who owns what, and what is left to Python."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dlc
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.errors import InvalidInputError
from dlc.runtime.library import load_library

LARGE = 40_000
"""Elements of a result that lies in memory that is kept from call to call."""
Call = Callable[[dlc.CompiledModel, np.ndarray, np.ndarray], list[np.ndarray]]
CALLS: dict[str, Call] = {
    "position": lambda model, a, b: model(a, b),
    "list": lambda model, a, b: model([a, b]),
    "tuple": lambda model, a, b: model((a, b)),
    "dict": lambda model, a, b: model({"b": b, "a": a}),
    "outputs": lambda model, a, b: model.run([a, b], [np.empty_like(a), np.empty_like(a)]),
    "some outputs": lambda model, a, b: model.run({"a": a, "b": b}, [None, np.empty_like(a)]),
}


def _model(size: int | str) -> dlc.CompiledModel:
    """(a + b, a - b)."""
    with Graph() as graph:
        a, b = graph.input("a", (size,)), graph.input("b", (size,))
        graph.output("sum", dl.add(a, b))
        graph.output("difference", dl.sub(a, b))
    return dlc.compile(graph.module, num_threads=1)


@pytest.fixture
def refuse_python(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From when it is called, calls fail that take the long way through Python."""

    def refuse(*arguments: Any) -> None:
        raise AssertionError("left to Python")

    def start() -> None:
        monkeypatch.setattr("dlc.runtime.session.Session._call_slowly", refuse)
        monkeypatch.setattr("dlc.runtime.session.Session._run_slowly", refuse)

    return start


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("size", [5, 600, LARGE, "n"])
@pytest.mark.parametrize("how", CALLS)
def test_results_and_no_leaks(how: str, size: int | str, refuse_python: Callable[[], None]) -> None:
    model, call, extent = _model(size), CALLS[how], size if isinstance(size, int) else 7
    a, b = np.arange(extent, dtype=np.float32), np.full(extent, 3, np.float32)
    call(model, a, b)
    refuse_python()
    gc.collect()
    live, counts = load_library().memory_live(), (sys.getrefcount(a), sys.getrefcount(b))
    for _ in range(50):
        results = call(model, a, b)
        np.testing.assert_array_equal(results[0], a + b)
        np.testing.assert_array_equal(results[1], a - b)
        assert all(type(result) is np.ndarray and result.flags.carray for result in results)
    assert (sys.getrefcount(a), sys.getrefcount(b)) == counts
    owners = sys.getrefcount(results[0])  # with the list and the argument
    assert owners == 2
    del results
    assert load_library().memory_live() == live


@pytest.mark.parametrize("how", CALLS)
def test_sizes_that_change(how: str, refuse_python: Callable[[], None]) -> None:
    """Inputs of other sizes than those of the call before, and results that follow them: small, large and empty ones."""
    model, call = _model("n"), CALLS[how]
    call(model, np.ones(2, np.float32), np.ones(2, np.float32))
    refuse_python()
    gc.collect()
    live = load_library().memory_live()
    for size in (7, 3, LARGE, 600, 0, LARGE + 1, LARGE, 7, 7):
        a, b = np.arange(size, dtype=np.float32), np.full(size, 3, np.float32)
        results = call(model, a, b)
        np.testing.assert_array_equal(results[0], a + b)
        np.testing.assert_array_equal(results[1], a - b)
    del results
    assert load_library().memory_live() == live


@pytest.mark.parametrize("columns", [3, 9_000])
def test_sizes_that_data_decide(columns: int, refuse_python: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Results whose sizes only the call knows are arrays that own the memory that compiled code has allocated."""
    with Graph() as graph:
        x = graph.input("x", ("n", columns))
        graph.output("places", dl.nonzero(x))
        graph.output("double", dl.add(x, x))
    model = dlc.compile(graph.module, num_threads=1)
    model(np.ones((2, columns), np.float32))
    refuse_python()
    monkeypatch.setattr("dlc.runtime.frame.CallFrame.take_results", None)
    gc.collect()
    live = load_library().memory_live()
    for rows, step in ((2, 2), (3, 1), (3, 5), (1, 7), (4, 2), (4, 2)):
        x = (np.arange(rows * columns) % step == 0).astype(np.float32).reshape(rows, columns)
        places, double = model(x)
        np.testing.assert_array_equal(places, np.nonzero(x))
        np.testing.assert_array_equal(double, 2 * x)
        assert places.flags.carray and double.flags.carray
    del places, double
    assert load_library().memory_live() == live


def test_sizes_that_do_not_fit() -> None:
    """Dims of one name have one size, and dims of the model theirs, whatever sizes came before."""
    with Graph() as graph:
        a, b = graph.input("a", ("n", 2)), graph.input("b", ("n", "m"))
        graph.output("sum", dl.add(a, dl.reduce_sum(b, axes=[1], keepdims=True)))
    model = dlc.compile(graph.module, num_threads=1)
    assert [str(spec) for spec in model.outputs] == ["sum: f32[n, 2]"]

    def ones(*shape: int) -> np.ndarray:
        return np.ones(shape, np.float32)

    for n, m in ((3, 4), (5, 1), (3, 1)):
        np.testing.assert_array_equal(model(ones(n, 2), ones(n, m))[0], np.full((n, 2), m + 1))
        for outputs in (None, [ones(n, 2)]):
            with pytest.raises(InvalidInputError, match=f"dim 'n' is {n + 1} here but {n} in input 'a'"):
                model.run([ones(n, 2), ones(n + 1, m)], outputs)
            with pytest.raises(InvalidInputError, match="dim 1 is 3 instead of 2"):
                model.run([ones(n, 3), ones(n, m)], outputs)
        with pytest.raises(InvalidInputError, match="output 'sum'"):
            model.run([ones(n, 2), ones(n, m)], [ones(n + 1, 2)])
        np.testing.assert_array_equal(model(ones(n, 2), ones(n, m))[0], np.full((n, 2), m + 1))


def test_many_requests_of_several_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    model, sizes = _model("n"), (5, 600, LARGE, 5, 0, 7)
    requests = [[np.arange(size, dtype=np.float32), np.ones(size, np.float32)] for size in sizes]
    model.run_many(requests)
    monkeypatch.setattr("dlc.runtime.session.Session._bind_inputs", None)
    for _ in range(2):
        for (a, b), (total, difference) in zip(requests, model.run_many(requests), strict=True):
            np.testing.assert_array_equal(total, a + b)
            np.testing.assert_array_equal(difference, a - b)


def test_results_own_their_memory() -> None:
    model = _model(600)
    a, b = np.ones(600, np.float32), np.zeros(600, np.float32)
    results = [model(a * factor, b)[0] for factor in range(5)]
    del model
    gc.collect()
    assert [result[0] for result in results] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("arguments", [(None, None), ([None, None],), (1, 2), ({"a": 1, "b": 2},), ("ab",), (), ({},)])
def test_what_is_no_array_is_refused(arguments: tuple[Any, ...]) -> None:
    model = _model(5)
    a = np.ones(5, np.float32)
    model(a, a)
    with pytest.raises(InvalidInputError):
        model(*arguments)
    np.testing.assert_array_equal(model(a, a)[0], 2 * a)


def test_errors_while_running() -> None:
    with Graph() as graph:
        a, b = graph.input("a", ("n",)), graph.input("b", ("m",))
        graph.output("sum", dl.add(a, b))
    model = dlc.compile(graph.module)
    three, four = np.ones(3, np.float32), np.ones(4, np.float32)
    outputs = [np.empty(3, np.float32)]
    model(three, three)
    model(four, three[:1])
    model.run([three, three], outputs)
    for _ in range(3):
        with pytest.raises(InvalidInputError, match=r"3.*4|4.*3"):
            model(three, four)
        np.testing.assert_array_equal(model(three, three)[0], 2 * three)
        with pytest.raises(InvalidInputError, match=r"3.*4|4.*3"):
            model.run([three, four], outputs)
        assert model.run([three, three], outputs)[0] is outputs[0]


def test_threads_share_a_model() -> None:
    model = _model(600)
    wrong: list[int] = []

    def work(number: int) -> None:
        a = np.full(600, number, np.float32)
        given = {"a": a, "b": a}
        for _ in range(300):
            if model(given)[0][-1] != 2 * number:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_dropped_model_is_gone_at_once() -> None:
    model = _model(5)
    a = np.ones(5, np.float32)
    model(a, a)
    session = weakref.ref(model._session)
    gc.disable()
    try:
        del model
        assert session() is None
    finally:
        gc.enable()
