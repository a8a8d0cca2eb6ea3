"""Importers of ops whose values depend on their position."""

from __future__ import annotations

import numpy as np
import onnx

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import NUMPY_DTYPES
from dlc.frontends.onnx.importers import Imported, importer
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.shape_values import filled_like, scalar_value


@importer("Range")
def import_range(node: NodeContext) -> ir.Value:
    """Lists of one number are taken for scalars: ONNX's own functions give such."""
    step = node.constant(2)
    if step is not None and not node.constant_scalar(2, "the step"):
        node.unsupported("the step (input 2) is 0")
    is_list = [node.type(index).shape == (1,) for index in range(node.num_inputs)]
    return dl.range(*(dl.reshape(value, shape=[]) if one else value for value, one in zip(node.values(), is_list, strict=True)))


@importer("Trilu")
def import_trilu(node: NodeContext) -> ir.Value:
    """With a diagonal that run time knows: the input where the column less the row is on the kept side of it, else 0."""
    known, upper = node.constant(1), bool(node.attribute("upper", 1))
    if known is not None or not node.has_input(1):
        return dl.trilu(node.value(0), upper=upper, k=0 if known is None else int(node.constant_scalar(1, "the diagonal")))
    x, kind = node.value(0), node.type(0)
    if kind.rank < 2:
        node.unsupported(f"its input is {kind}, no matrix")
    edge = dl.add(_positions(node, -2), scalar_value(node, 1))
    low, high = (edge, _positions(node, -1)) if upper else (_positions(node, -1), edge)
    return dl.where(dl.less_equal(low, high), x, node.constant_value(0, kind.dtype))


def _positions(node: NodeContext, axis: int) -> ir.Value:
    """0, 1, ... along an axis of input 0, the last or the one before; of size 1 along other ones."""
    zero, one = (node.constant_value(number, "i64") for number in (0, 1))
    size = dl.reshape(dl.gather(dl.shape_of(node.value(0)), node.constant_value(axis, "i64"), axis=0), shape=[])
    found = dl.range(zero, size, one)
    return found if axis == -1 else dl.unsqueeze(found, axes=[1])


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
    """Indices that are floats are truncated."""
    known, indices = node.constant(1), node.value(0)
    if node.type(0).dtype in ("f64", "f32", "f16", "bf16"):
        indices = dl.cast(indices, to="i64")
    size = scalar_value(node, 1) if known is None else None
    depth = None if known is None else node.constant_scalar(1, "the depth")
    if depth is not None and not np.isfinite(depth):
        node.unsupported(f"the depth (input 1) is {depth}; give it a number of 0 and more")
    return dl.one_hot(
        indices, node.value(2), size, depth=None if depth is None else int(depth), axis=int(node.attribute("axis", -1))
    )
