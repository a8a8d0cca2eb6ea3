"""dl-pack-operands keeps results on random tensors, interpreted and compiled."""

from __future__ import annotations

import numpy as np
import pytest

import dlc
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.interpreter import interpret
from dlc.lowering.pipeline import Pipeline


@pytest.mark.parametrize("columns", [64, 48, 37])
@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_turned_products(batch: tuple[int, ...], columns: int, dtype: str) -> None:
    random = np.random.default_rng(0)
    kind = np.dtype(dtype.replace("f", "float"))
    x, y = (random.integers(-4, 5, shape).astype(kind) for shape in ([*batch, 50, 20], [*batch, columns, 20]))
    last = len(batch)
    with Graph() as graph:
        turned = dl.transpose(graph.input("y", y.shape, dtype), perm=[*range(last), last + 1, last])
        product = dl.matmul(graph.input("x", x.shape, dtype), turned)
        graph.output("z", dl.add(product, product))
    Pipeline(["dl-pack-operands"]).run(graph.module)
    assert "dl.kernel" in str(graph.module)
    want = 2 * np.matmul(x, np.swapaxes(y, -1, -2))
    np.testing.assert_array_equal(interpret(graph.module, [y, x], graph.params)[0], want)
    np.testing.assert_array_equal(dlc.compile(graph.module)(y, x)[0], want)


@pytest.mark.parametrize("rows", [[2, 48], [193]], ids=str)
def test_strided_products(rows: list[int]) -> None:
    random = np.random.default_rng(0)
    x, y = (random.integers(-4, 5, shape).astype(np.float32) for shape in ([*rows, 260], [260, 1024]))
    with Graph() as graph:
        graph.output("z", dl.matmul(graph.input("x", x.shape), graph.input("y", y.shape)))
    Pipeline(["dl-set-target{target=skylake}", "dl-pack-operands"]).run(graph.module)
    assert "dl.packed_matmul" in str(graph.module)
    np.testing.assert_array_equal(interpret(graph.module, [x, y], graph.params)[0], x @ y)
