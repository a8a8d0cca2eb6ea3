"""dl-pack-weights keeps results on random tensors, interpreted and compiled."""

from __future__ import annotations

import numpy as np
import pytest

import dlc
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.interpreter import interpret
from dlc.dtypes import NUMPY_DTYPES
from dlc.lowering.pipeline import Pipeline


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16", "i32"])
@pytest.mark.parametrize("columns", [48, 64, 95])
@pytest.mark.parametrize("rows", [(5,), (2, 3), ("n", 3)])
def test_packed_products(rows: tuple[int | str, ...], columns: int, dtype: str) -> None:
    random = np.random.default_rng(0)
    kind = NUMPY_DTYPES[dtype]
    sizes = [row if isinstance(row, int) else 2 for row in rows]
    x, w = (random.integers(-4, 5, shape).astype(kind) for shape in ([*sizes, 7], [columns, 7]))
    with Graph() as graph:
        given = graph.input("x", (*rows, 7), dtype)
        product = dl.matmul(given, dl.transpose(graph.param("w", w), perm=(1, 0)))
        graph.output("y", dl.add(product, product))
    Pipeline(["dl-pack-weights{least=0}", "dl-outline-constants"]).run(graph.module)
    assert "dl.packed_matmul" in str(graph.module)
    want = (np.matmul(x.astype(np.float64), w.T.astype(np.float64)) * 2).astype(kind)
    np.testing.assert_array_equal(interpret(graph.module, [x], graph.params)[0], want)
    if dtype == "f32":
        np.testing.assert_array_equal(dlc.compile(graph.module, params=graph.params)(x)[0], want)
