"""Why transposes stand."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.transposes import REASONS, TransposeLeft, transposes_left
from dlc.dialects import make_context

_TEXT = """
func.func @main_graph(%x: tensor<1x3x4x5xf32>, %y: tensor<2x3x4xf32>) -> (tensor<1x4x5x3xf32>, tensor<4x6xf32>, tensor<2x4x3xf32>) {
  %w = "dl.param"() {key = "w", shape = array<i64: 3, 4>, dtype = f32} : () -> tensor<3x4xf32>
  %wt = "dl.transpose"(%w) {perm = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %0 = "dl.relu"(%x) : (tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32>
  %1 = "dl.transpose"(%0) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x5xf32>) -> tensor<1x4x5x3xf32> loc("in")
  %2 = "dl.softmax"(%1) {axis = 1 : i64} : (tensor<1x4x5x3xf32>) -> tensor<1x4x5x3xf32>
  %3 = "dl.matmul"(%y, %wt) : (tensor<2x3x4xf32>, tensor<4x3xf32>) -> tensor<2x3x3xf32>
  %4 = "dl.matmul"(%3, %y) : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %5 = "dl.transpose"(%4) {perm = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32> loc("mix")
  %6 = "dl.reshape"(%5) {shape = array<i64: 4, 6>} : (tensor<4x2x3xf32>) -> tensor<4x6xf32>
  %7 = "dl.transpose"(%4) {perm = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32> loc("out")
  %8 = "dl.neg"(%7) : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  return %2, %6, %8 : tensor<1x4x5x3xf32>, tensor<4x6xf32>, tensor<2x4x3xf32>
}
"""


def test_every_transpose_has_its_reason() -> None:
    with make_context(), ir.Location.unknown():
        found = transposes_left(ir.Module.parse(_TEXT))
    assert found == [
        TransposeLeft(("in",), (0, 2, 3, 1), "graph input"),
        TransposeLeft(("mix",), (2, 0, 1), "mixes axes"),
        TransposeLeft(("out",), (0, 2, 1), "graph output"),
    ]
    assert {each.reason for each in found} <= set(REASONS)
