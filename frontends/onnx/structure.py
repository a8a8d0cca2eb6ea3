"""Importers of constants, and of ops that do nothing at inference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import NUMPY_DTYPES
from dlc.frontends.onnx.importers import Imported, importer
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.random import dropped
from dlc.frontends.onnx.shape_values import filled_like, list_length

_VALUES = {
    "value_float": np.float32,
    "value_floats": np.float32,
    "value_int": np.int64,
    "value_ints": np.int64,
}


@importer("Constant")
def import_constant(node: NodeContext) -> np.ndarray:
    """The array; sparse values and strings are not supported."""
    if node.has_attribute("value"):
        return np.asarray(node.attribute("value"))
    for name, dtype in _VALUES.items():
        if node.has_attribute(name):
            return np.asarray(node.attribute(name), dtype)
    return node.unsupported(f"a constant given as {', '.join(item.name for item in node.node.attribute)}")


@importer("Identity")
def import_identity(node: NodeContext) -> ir.Value:
    return node.value(0)


@importer("ConstantOfShape")
def import_constant_of_shape(node: NodeContext) -> Imported:
    """One value in a shape that run time knows."""
    given = node.attribute("value")
    value = np.zeros((), np.float32) if given is None else np.asarray(given).reshape(())
    if given is not None and np.asarray(given).dtype not in NUMPY_DTYPES.values():
        node.unsupported(f"element type {np.asarray(given).dtype} is not supported")
    return dl.expand(dl.constant(value=value), node.value(0), shape=[-1] * list_length(node, 0, "the result's rank"))


@importer("Dropout")
def import_dropout(node: NodeContext) -> Sequence[Imported]:
    """The input, and a mask that keeps everything; in training mode it is random unless its ratio is 0."""
    if node.has_input(2) and node.required_constant(2, "training_mode").any():
        ratio = node.constant(1) if node.has_input(1) else np.float32(0.5)
        if ratio is None or np.any(ratio != 0):
            return dropped(node, ratio)
    if not node.uses_output(1):
        return [node.value(0)]
    one = np.ones((), np.bool_) if node.opset >= 10 else np.ones((), NUMPY_DTYPES[node.type(0).dtype])
    return [node.value(0), filled_like(node, 0, one)]
