"""What the importers of ai.onnx.ml share: inputs as numbers to compute with, and attributes as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import FLOATS, type_of_value
from dlc.frontends.onnx.node import NodeContext

DOMAIN = "ai.onnx.ml"


def as_dtype(value: ir.Value, dtype: str) -> ir.Value:
    """A value in another element type, or as it is."""
    return value if type_of_value(value).dtype == dtype else dl.cast(value, to=dtype)


def numbers(node: NodeContext, index: int = 0) -> ir.Value:
    """An input as f64 where it is that, else as f32."""
    value = node.value(index)
    return as_dtype(value, "f64" if type_of_value(value).dtype == "f64" else "f32")


def rows(node: NodeContext) -> ir.Value:
    """Input 0 as floats [rows, features]; a list is one row."""
    x = node.value(0)
    kind = type_of_value(x)
    if kind.rank not in (1, 2):
        node.unsupported(f"its input is {kind}, but must be a list or a matrix")
    x = x if kind.dtype in FLOATS else dl.cast(x, to="f32")
    return dl.unsqueeze(x, axes=[0]) if kind.rank == 1 else x


def num_features(node: NodeContext, x: ir.Value) -> int:
    """The number of columns of a matrix, which must be known."""
    found = type_of_value(x).shape[1]
    if not isinstance(found, int):
        node.unsupported("the number of features must be known at compile time")
    return found


def tensor_or_list(node: NodeContext, name: str, dtype: Any = np.float32) -> np.ndarray | None:
    """The attribute `name`_as_tensor, or the list `name` with elements of `dtype`; None where both are absent or empty."""
    tensor = node.attribute(f"{name}_as_tensor")
    if tensor is not None and np.size(tensor):
        return np.asarray(tensor).reshape(-1)
    values = node.attribute(name)
    return np.asarray(values, dtype) if values else None


def refuse_strings(node: NodeContext, *names: str) -> None:
    """Refuse a node with one of the attributes `names`, which hold texts."""
    for name in names:
        if node.attribute(name):
            node.unsupported(f"texts ({name}) are not supported; encode them as integers before the model")
