"""Importers of ops whose values depend on their position."""

from __future__ import annotations

import numpy as np
import onnx

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import NUMPY_DTYPES
from dlc.frontends.onnx.importers import Imported, importer
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.shape_values import filled_like


@importer("Range")
def import_range(node: NodeContext) -> ir.Value:
    """Lists of one number are taken for scalars: ONNX's own functions give such."""
    step = node.constant(2)
    if step is not None and not step.reshape(-1)[0]:
        node.unsupported("the step (input 2) is 0")
    is_list = [node.type(index).shape == (1,) for index in range(node.num_inputs)]
    return dl.range(*(dl.reshape(value, shape=[]) if one else value for value, one in zip(node.values(), is_list, strict=True)))


@importer("Trilu")
def import_trilu(node: NodeContext) -> ir.Value:
    k = int(node.required_constant(1, "k").reshape(-1)[0]) if node.has_input(1) else 0
    return dl.trilu(node.value(0), upper=bool(node.attribute("upper", 1)), k=k)


@importer("EyeLike")
def import_eye_like(node: NodeContext) -> Imported:
    """Known at import where the dims are static; else what the upper and the lower triangle of ones share."""
    kind, k = node.type(0), int(node.attribute("k", 0))
    if kind.rank != 2:
        node.unsupported(f"its input is {kind}, no matrix")
    given = node.attribute("dtype")
    dtype = onnx.helper.tensor_dtype_to_np_dtype(given) if given else NUMPY_DTYPES[kind.dtype]
    if dtype not in NUMPY_DTYPES.values():
        node.unsupported(f"element type {dtype} is not supported")
    ones = filled_like(node, 0, np.ones((), dtype))
    if isinstance(ones, np.ndarray):
        return np.eye(ones.shape[0], ones.shape[1], k).astype(dtype)
    return dl.trilu(dl.trilu(ones, upper=True, k=k), upper=False, k=k)


@importer("OneHot")
def import_one_hot(node: NodeContext) -> ir.Value:
    """Depth must be known; indices that are floats are truncated."""
    depth = int(node.required_constant(1, "depth").reshape(-1)[0])
    indices = node.value(0)
    if node.type(0).dtype in ("f64", "f32", "f16", "bf16"):
        indices = dl.cast(indices, to="i64")
    return dl.one_hot(indices, node.value(2), depth=depth, axis=int(node.attribute("axis", -1)))
