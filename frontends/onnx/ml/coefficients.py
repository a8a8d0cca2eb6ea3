"""Attributes with coefficients as weights, which linear models and support vectors share."""

from __future__ import annotations

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import NUMPY_DTYPES, type_of_value
from dlc.frontends.onnx.node import NodeContext


def matrix(node: NodeContext, name: str, x: ir.Value, count: int, each: int) -> ir.Value:
    """The attribute `name` as a weight [each, count] of x's element type, from `count` lists of `each` numbers."""
    values = np.asarray(node.attribute(name) or [], np.float32)
    if values.size != count * each:
        node.unsupported(f"{name} has {values.size} numbers, but {count} times {each} are needed")
    array = values.reshape(count, each).T.astype(NUMPY_DTYPES[type_of_value(x).dtype])
    return node.new_param(array, f"{node.node.output[-1]}_{name}")


def added(node: NodeContext, scores: ir.Value, name: str, count: int) -> ir.Value:
    """Scores with the attribute `name` added, one number for each column or one for all; as they are where it is absent."""
    values = np.asarray(node.attribute(name) or [0.0])
    if values.size not in (1, count):
        node.unsupported(f"{name} has {values.size} numbers for {count} scores")
    return dl.add(scores, node.constant_value(values, type_of_value(scores).dtype))
