"""Products in cache-blocking loops of any sizes, through `dlc.compile` with a schedule, compared with NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import dlc

M, N, K = 37, 70, 53
TILE = {
    "code_generator": "tile",
    "lane_loop": 1,
    "lanes": 4,
    "vectors": 2,
    "unroll_and_jam": [[0, 3]],
    "order": [1, 0],
    "unroll": 4,
    "prefetch": 2,
}
Blocks = Sequence[tuple[int, int]]


def model(weight: np.ndarray, bias: np.ndarray) -> onnx.ModelProto:
    """max(x times weight plus bias, 0)."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("Add", ["p", "b"], ["s"]),
        helper.make_node("Relu", ["s"], ["y"]),
    ]
    shapes = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", (M, K)), ("y", (M, N)))]
    weights = [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "b")]
    return helper.make_model(helper.make_graph(nodes, "g", shapes[:1], shapes[1:], weights))


@pytest.fixture
def arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    x, weight, bias = (random.standard_normal(shape).astype(np.float32) for shape in ((M, K), (K, N), (N,)))
    return x, weight, bias


def compiled(blocks: Blocks, threads: int, weight: np.ndarray, bias: np.ndarray) -> dlc.CompiledModel:
    schedule = {"*matmul*": {"0": TILE | {"blocks": [list(block) for block in blocks]}}}
    return dlc.compile(model(weight, bias), num_threads=threads, schedule=schedule, cache=False)


ORDERS = list(itertools.permutations([(0, 12), (1, 16), (2, 20)], 3))
SINGLE = [[(0, 37)], [(0, 5)], [(1, 24)], [(1, 30)], [(2, 1)], [(2, 26)], [(2, 52)], [(2, 53)], [(2, 60)]]


@pytest.mark.parametrize("blocks", [*ORDERS, *SINGLE], ids=str)
def test_blocks_compute_the_product(blocks: Blocks, arrays: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    x, weight, bias = arrays
    expected = np.maximum(x.astype(np.float64) @ weight + bias, 0)
    np.testing.assert_allclose(compiled(blocks, 1, weight, bias)(x)[0], expected, rtol=1e-4, atol=1e-4)


def test_threads_do_not_change_a_bit(arrays: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    x, weight, bias = arrays
    one, two = (compiled([(1, 16), (2, 20)], threads, weight, bias)(x)[0] for threads in (1, 2))
    assert one.tobytes() == two.tobytes()


def test_blocks_of_no_loop_are_refused(arrays: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    _, weight, bias = arrays
    with pytest.raises(dlc.DLCError, match="the block of 8 iterations of loop 3 is not the only one of a loop of the nest"):
        compiled([(3, 8)], 1, weight, bias)


def product(m: int, n: int, k: int) -> onnx.ModelProto:
    """max(a times b plus bias, 0), all of them given at the call."""
    nodes = [
        helper.make_node("MatMul", ["a", "b"], ["p"]),
        helper.make_node("Add", ["p", "bias"], ["s"]),
        helper.make_node("Relu", ["s"], ["y"]),
    ]
    shapes = {"a": (m, k), "b": (k, n), "bias": (n,), "y": (m, n)}
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    return helper.make_model(helper.make_graph(nodes, "g", values[:-1], values[-1:]))


COPIED = [[(1, 16)], [(1, 40)], [(2, 20), (1, 32)], [(1, 32), (2, 20)], [(0, 12), (1, 24), (2, 50)], [(1, 24), (0, 12)]]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("blocks", COPIED, ids=str)
def test_copied_panels_give_the_bits_of_panels_in_place(blocks: Blocks, threads: int) -> None:
    m, n, k = 37, 72, 53
    random = np.random.default_rng(0)
    a, b, bias = (random.standard_normal(shape).astype(np.float32) for shape in ((m, k), (k, n), (n,)))
    tile = TILE | {"prefetch": 0, "blocks": [list(block) for block in blocks]}
    copied, in_place = (
        dlc.compile(product(m, n, k), num_threads=threads, schedule={"*matmul*": {"0": tile | {"pack": pack}}}, cache=False)(
            a, b, bias
        )[0]
        for pack in (1, 0)
    )
    assert copied.tobytes() == in_place.tobytes()
    np.testing.assert_allclose(copied, np.maximum(a.astype(np.float64) @ b + bias, 0), rtol=1e-4, atol=1e-4)
