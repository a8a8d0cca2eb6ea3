"""Many requests in one call: the results of single calls, on any number of threads; errors name the request."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import dlc
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.errors import InvalidInputError
from dlc.runtime.library import load_library

RESHAPED = """
func.func @main(%x: tensor<?x512xf32>, %sizes: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = "dl.reshape"(%x, %sizes) {shape = array<i64: -1, -1>} : (tensor<?x512xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = "dl.exp"(%0) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
"""


def _compiled(num_threads: int | None) -> dlc.CompiledModel:
    """softmax(x) @ w for x of any number of rows."""
    weight = np.random.default_rng(0).standard_normal((64, 48)).astype(np.float32)
    with Graph() as graph:
        rows = graph.input("x", ("n", 64))
        graph.output("y", dl.matmul(dl.softmax(rows), graph.param("w", weight)))
    return dlc.compile(graph.module, num_threads=num_threads, params=graph.params)


def _requests(count: int) -> list[np.ndarray]:
    generator = np.random.default_rng(count)
    return [generator.standard_normal((1 + index % 7, 64), np.float32) for index in range(count)]


@pytest.mark.parametrize("num_threads", [None, 1, 2, 5])
def test_results_are_those_of_single_calls(num_threads: int | None) -> None:
    model = _compiled(num_threads)
    for count in (0, 1, 3, 40, 300):
        requests = _requests(count)
        results = model.run_many(requests)
        assert len(results) == count
        for request, [result] in zip(requests, results, strict=True):
            np.testing.assert_array_equal(result, model(request)[0])


def test_requests_by_name_in_lists_and_not_contiguous() -> None:
    model, [x] = _compiled(2), _requests(1)
    wide = np.repeat(x, 2, axis=1)
    for [result] in model.run_many(iter([{"x": x}, [x], wide[:, ::2], x])):
        np.testing.assert_array_equal(result, model(x)[0])


def test_a_request_that_does_not_fit_is_named() -> None:
    model, requests = _compiled(2), _requests(5)
    requests[3] = requests[3][:, :63]
    with pytest.raises(InvalidInputError, match=r"request 3: input 'x' expects f32\[n, 64\] but got"):
        model.run_many(requests)


@pytest.mark.parametrize("num_threads", [1, 2, 4])
def test_errors_while_running_name_the_first_request_and_lose_no_memory(num_threads: int) -> None:
    model, library = dlc.compile(RESHAPED, num_threads=num_threads), load_library()
    x, good, bad = np.ones((64, 512), np.float32), np.array([512, 64]), np.array([512, 63])
    requests = [[x, bad if index in (5, 9) else good] for index in range(16)]
    assert len(model.run_many(requests[:5])) == 5
    gc.collect()
    before = library.memory_live()
    for _ in range(2):
        with pytest.raises(InvalidInputError, match=r"request 5: .*number of elements"):
            model.run_many(requests)
        gc.collect()
        assert library.memory_live() == before


def test_donated_inputs_are_written_in_turn() -> None:
    with Graph() as graph:
        cache = graph.input("cache", (4, 8))
        graph.output("grown", dl.add(cache, cache))
    model = dlc.compile(graph.module, donate=["cache"])
    results = model.run_many([np.full((4, 8), value, np.float32) for value in (1, 3)])
    assert [np.unique(result).tolist() for [result] in results] == [[2], [6]]
    with pytest.raises(InvalidInputError, match="request 1: input 'cache'"):
        model.run_many([np.ones((4, 8), np.float32), np.ones((4, 9), np.float32)])
