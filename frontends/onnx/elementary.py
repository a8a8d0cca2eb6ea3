"""Importers of elementary functions."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.frontends.onnx.elementwise import import_same
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext

_FUNCTIONS = ("Exp", "Log", "Sqrt", "Reciprocal", "Erf", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan")
_HYPERBOLIC = ("Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh")
_SAME = {name: name.lower() for name in (*_FUNCTIONS, *_HYPERBOLIC)}


@importer(*_SAME)
def import_function(node: NodeContext) -> ir.Value:
    return import_same(node, _SAME)
