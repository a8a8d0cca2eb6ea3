"""Importers of comparisons, logic on bits and selection."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.frontends.onnx.elementwise import import_same
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.widening import as_computed

_SAME = {
    "And": "and",
    "BitwiseAnd": "and",
    "BitwiseNot": "not",
    "BitwiseOr": "or",
    "BitwiseXor": "xor",
    "Equal": "equal",
    "Less": "less",
    "LessOrEqual": "less_equal",
    "Not": "not",
    "Or": "or",
    "Where": "where",
    "Xor": "xor",
}
_SWAPPED = {"Greater": "less", "GreaterOrEqual": "less_equal"}


@importer(*_SAME)
def import_logic(node: NodeContext) -> ir.Value:
    return import_same(node, _SAME)


@importer(*_SWAPPED)
def import_greater(node: NodeContext) -> ir.Value:
    """a > b is b < a."""
    found: ir.Value = getattr(dl, _SWAPPED[node.node.op_type])(node.value(1), node.value(0))
    return found


@importer("IsInf")
def import_isinf(node: NodeContext) -> ir.Value:
    flags = {name: bool(node.attribute(name, 1)) for name in ("detect_positive", "detect_negative")}
    return dl.isinf(as_computed(node.value(0)), **flags)


@importer("IsNaN")
def import_isnan(node: NodeContext) -> ir.Value:
    return dl.isnan(as_computed(node.value(0)))


@importer("BitShift")
def import_bit_shift(node: NodeContext) -> ir.Value:
    """ONNX shifts unsigned integers only."""
    shift = dl.shift_left if node.attribute("direction") == "LEFT" else dl.shift_right
    return shift(*node.values())
