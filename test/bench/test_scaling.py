"""The table of threads: one model on one and on several, with the ratio and whether the bits are the same."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from bench.cases import Case
from bench.options import read_settings
from bench.scaling import Scaling, scaling
from dlc.measuring.contenders import Effort


def _product() -> onnx.ModelProto:
    weight = numpy_helper.from_array(np.ones((96, 96), np.float32), "w")
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [128, 96]) for name in "xy")
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "product", [x], [y], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def test_a_model_on_two_threads() -> None:
    settings = read_settings("scaling", "", "", Effort(rounds=3, slot=0.001, seconds=0.1), [])
    found = scaling(Case("product", _product), settings)
    assert (found.model, found.threads, found.equal) == ("product", 2, True)
    assert found.one > 0 and found.several > 0 and found.speedup > 0


def test_other_bits_stand_out() -> None:
    row = Scaling("product", 2, 0.002, 0.001, 2.0, equal=False).row()
    assert row == "| product | 2 | 1 | 2.00 | **no** |"
