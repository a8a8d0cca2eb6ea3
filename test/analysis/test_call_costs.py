"""Costs of kernels in the sizes that their callers know."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.call_costs import call_costs
from dlc.dialects import make_context

_KERNEL = """
  func.func private @kernel(%x: tensor<?x4xf32> {dl.dims = ["d0", ""]}) -> (tensor<?x4xf32> {dl.dims = ["d0", ""]}) {
    %0 = "dl.neg"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
"""


def costs(entry: str) -> dict[str, str]:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(_KERNEL + entry)
        return {name: str(cost.flops) for name, cost in call_costs(module.operation).items()}


def test_symbols_are_those_of_the_entry() -> None:
    found = costs("""
  func.func @main(%x: tensor<?x4xf32> {dl.dims = ["batch", ""]}) -> tensor<?x4xf32> {
    %0 = call @kernel(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %1 = call @kernel(%0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    return %1 : tensor<?x4xf32>
  }
""")
    assert found == {"kernel": "4*batch"}


def test_sizes_that_differ_between_calls_are_not_known() -> None:
    found = costs("""
  func.func @main(%x: tensor<?x4xf32> {dl.dims = ["n", ""]}, %y: tensor<?x4xf32> {dl.dims = ["m", ""]})
      -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %0 = call @kernel(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %1 = call @kernel(%y) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    return %0, %1 : tensor<?x4xf32>, tensor<?x4xf32>
  }
""")
    assert found == {"kernel": "4*?"}


def test_a_kernel_that_nobody_calls_has_no_cost() -> None:
    assert costs("func.func @main() { return }") == {}
