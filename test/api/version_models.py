"""Small models with dynamic dims, for tests of versions."""

from __future__ import annotations

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
