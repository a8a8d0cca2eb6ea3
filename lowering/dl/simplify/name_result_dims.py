"""`dl-name-result-dims`: dims of results that are dims of arguments get the names of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.symbolic_shapes import SymbolicShapes, dim_names
from dlc.dialects.dl.types import Dim, tensor_type
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class NameResultDims(Pass):
    """Write `dl.dims` of results whose dims are equal to arguments' dims that have names, so that callers know their sizes.

    Results that have `dl.dims` keep them, and so do functions without names.

    before: func.func @f(%x: tensor<?x8xf32> {dl.dims = ["batch", ""]}) -> tensor<?x8xf32>
    after:  func.func @f(%x: tensor<?x8xf32> {dl.dims = ["batch", ""]}) -> (tensor<?x8xf32> {dl.dims = ["batch", ""]})
    """

    def run(self, op: ir.Operation) -> None:
        """Write to every function of the module `op`."""
        for item in op.regions[0].blocks[0].operations:
            function = item.operation
            if function.name == "func.func" and function.regions[0].blocks:
                _name_dims(function)


def _name_dims(function: ir.Operation) -> None:
    block = function.regions[0].blocks[0]
    names = {name for dims in dim_names(function, len(block.arguments)) for name in dims} - {""}
    kinds = [tensor_type(kind) for kind in ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).results]
    last = block.operations[len(block.operations) - 1].operation
    if last.name != "func.return" or not names or all(kind is None or kind.is_static for kind in kinds):
        return
    shapes = SymbolicShapes(function)
    has_any = "res_attrs" in function.attributes
    given = map(ir.DictAttr, ir.ArrayAttr(function.attributes["res_attrs"])) if has_any else [ir.DictAttr.get({})] * len(kinds)
    found = [
        attributes if kind is None or "dl.dims" in attributes else _named(attributes, shapes.type_of(value).shape, names)
        for attributes, kind, value in zip(given, kinds, last.operands, strict=True)
    ]
    function.attributes["res_attrs"] = ir.ArrayAttr.get(found)


def _named(attributes: ir.DictAttr, shape: Sequence[Dim], names: set[str]) -> ir.DictAttr:
    """The attributes of a result with the names of its dims, if any has one of `names`."""
    dims = [dim if isinstance(dim, str) and dim in names else "" for dim in shape]
    if not any(dims):
        return attributes
    entries = {item.name: item.attr for item in attributes}
    return ir.DictAttr.get({**entries, "dl.dims": ir.ArrayAttr.get([ir.StringAttr.get(dim) for dim in dims])})
