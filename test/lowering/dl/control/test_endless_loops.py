"""Loops of so many steps that no test runs them."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline

_ENDLESS = """
func.func @endless(%x: tensor<4xf32>) -> tensor<4xf32> {
  %first = arith.constant -9223372036854775808 : index
  %last = arith.constant 9223372036854775807 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %first to %last step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    %1 = "dl.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
"""


def test_more_steps_than_64_bits_count_stay_a_loop() -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(_ENDLESS)
        Pipeline(["dl-unroll-loops"]).run(module)
        assert "scf.for" in str(module)
