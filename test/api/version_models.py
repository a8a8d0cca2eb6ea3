"""Small models with dynamic dims, for tests of versions."""

from __future__ import annotations

import threading

import numpy as np
import onnx

from bench.networks import mlp
from dlc.compiled_model import CompiledModel
from dlc.versions.versioned_model import VersionedModel

WIDTHS = (8, 16, 4)
TEXT = """func.func @main_graph(%x: tensor<?x?xf32> {dl.dims = ["batch", "seq"], dl.name = "x"}) -> tensor<?x?xf32> {
  %0 = "dl.softmax"(%x) {axis = 1 : i64} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
"""


def rows(count: int, width: int = WIDTHS[0]) -> np.ndarray:
    return np.random.default_rng(count).standard_normal((count, width)).astype(np.float32)


def model() -> onnx.ModelProto:
    return mlp.build(widths=WIDTHS, dynamic_batch=True)


def versioned(found: CompiledModel) -> VersionedModel:
    assert isinstance(found, VersionedModel)
    return found


def wrong_calls(plain: CompiledModel, model: CompiledModel, calls: int) -> list[int]:
    """Numbers of rows, 1 to 4, for which `model` did not give what `plain` gives, in `calls` calls on each of four threads."""
    expected = {count: plain(rows(count))[0] for count in range(1, 5)}
    wrong: list[int] = []

    def call(begin: int) -> None:
        for number in range(begin, begin + calls):
            count = 1 + number % 4
            if not np.allclose(model(rows(count))[0], expected[count], rtol=1e-4, atol=1e-6):
                wrong.append(count)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong
