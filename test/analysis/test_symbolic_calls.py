"""Dims of what calls give: those that the callee's `dl.dims` share."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.symbolic_shapes import SymbolicShapes
from dlc.dialects import make_context

TEXT = """
func.func @main(%x: tensor<?x?xf32> {dl.dims = ["n", "m"]}) -> tensor<?x?xf32> {
  %0:3 = func.call @kernel(%x) : (tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>)
  %1 = func.call @unnamed(%0#0) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
func.func private @kernel(tensor<?x?xf32> {dl.dims = ["d0", ""]})
  -> (tensor<?x?xf32> {dl.dims = ["d0", "d0"]}, tensor<?xf32> {dl.dims = ["d1"]}, tensor<?xf32> {dl.dims = ["d1"]})
func.func private @unnamed(tensor<?x?xf32>) -> tensor<?x?xf32>
"""


def test_dims_go_through_calls() -> None:
    with make_context():
        module = ir.Module.parse(TEXT)
    main = next(iter(module.body.operations)).operation
    shapes = SymbolicShapes(main)
    first, second = (op.operation for op in list(main.regions[0].blocks[0].operations)[:2])
    assert shapes.type_of(first.results[0]).shape == ("n", "n")
    shared = [shapes.type_of(first.results[index]).shape for index in (1, 2)]
    assert shared[0] == shared[1] != ("n",)
    fresh = shapes.type_of(second.results[0]).shape
    assert len({"n", *fresh}) == 3
