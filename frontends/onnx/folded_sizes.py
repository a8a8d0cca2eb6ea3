"""How large the result of a node with known inputs is, for the ops that make more than they take."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx

Inputs = Sequence[np.ndarray | None]


def folded_elements(node: onnx.NodeProto, inputs: Inputs) -> int | None:
    """Elements of the first result; None where the op makes no more than its inputs hold, or that cannot be told."""
    rule = _RULES.get(node.op_type, _broadcast if len(inputs) > 1 else None)
    if rule is None or not inputs or inputs[0] is None:
        return None
    try:
        return rule(node, inputs)
    except (TypeError, ValueError, IndexError, AttributeError, OverflowError, ZeroDivisionError):
        return None  # the node is wrong, which its importer says


def _array(inputs: Inputs, index: int) -> np.ndarray:
    return np.asarray(inputs[index])


def _of_shape(node: onnx.NodeProto, inputs: Inputs) -> int:
    return _product(inputs[0])


def _product(sizes: np.ndarray | None) -> int:
    return math.prod(int(size) for size in np.asarray(sizes).reshape(-1))


def _expanded(node: onnx.NodeProto, inputs: Inputs) -> int:
    shape = [int(size) for size in np.asarray(inputs[1]).reshape(-1)]
    return math.prod(np.maximum(_aligned(_array(inputs, 0).shape, len(shape)), _aligned(shape, _array(inputs, 0).ndim)).tolist())


def _aligned(shape: Sequence[int], rank: int) -> np.ndarray:
    """The shape with leading ones up to a rank, as Python ints, which do not overflow."""
    return np.array([1] * (rank - len(shape)) + list(shape), object)


def _tiled(node: onnx.NodeProto, inputs: Inputs) -> int:
    return _array(inputs, 0).size * _product(inputs[1])


def _padded(node: onnx.NodeProto, inputs: Inputs) -> int:
    pads = [int(amount) for amount in np.asarray(inputs[1]).reshape(-1)] if len(inputs) > 1 else _attribute(node, "pads")
    if len(inputs) > 3 and inputs[3] is not None:
        return _array(inputs, 0).size + sum(map(abs, pads)) * _array(inputs, 0).size
    sizes = _array(inputs, 0).shape
    return math.prod(size + pads[axis] + pads[len(sizes) + axis] for axis, size in enumerate(sizes))


def _counted(node: onnx.NodeProto, inputs: Inputs) -> int:
    start, limit, step = (np.asarray(value).reshape(-1)[0].item() for value in inputs)
    return max(math.ceil((limit - start) / step), 0)


def _window(node: onnx.NodeProto, inputs: Inputs) -> int:
    return int(_array(inputs, 0).reshape(-1)[0])


def _mel_matrix(node: onnx.NodeProto, inputs: Inputs) -> int:
    bins, length = (int(_array(inputs, index).reshape(-1)[0]) for index in (0, 1))
    return bins * (length // 2 + 1)


def _one_hot(node: onnx.NodeProto, inputs: Inputs) -> int:
    return _array(inputs, 0).size * int(np.asarray(inputs[1]).reshape(-1)[0])


def _resized(node: onnx.NodeProto, inputs: Inputs) -> int:
    if len(inputs) > 3 and inputs[3] is not None:
        return _product(inputs[3])
    scales = inputs[2] if len(inputs) > 2 else inputs[1]
    return int(_array(inputs, 0).size * math.prod(float(scale) for scale in np.asarray(scales).reshape(-1)))


def _multiplied(node: onnx.NodeProto, inputs: Inputs) -> int:
    left, right = _array(inputs, 0).shape, _array(inputs, 1).shape
    return math.prod(left[:-1]) * math.prod(right[-1:]) * math.prod(right[:-2])


def _gathered(node: onnx.NodeProto, inputs: Inputs) -> int:
    return _array(inputs, 0).size * _array(inputs, 1).size


def _broadcast(node: onnx.NodeProto, inputs: Inputs) -> int:
    shapes = [np.shape(array) for array in inputs if array is not None]
    rank = max(map(len, shapes))
    return math.prod(max(sizes) for sizes in zip(*(_aligned(shape, rank).tolist() for shape in shapes), strict=True))


def _attribute(node: onnx.NodeProto, name: str) -> list[int]:
    return next(list(attribute.ints) for attribute in node.attribute if attribute.name == name)


_RULES: Mapping[str, Callable[[onnx.NodeProto, Inputs], int]] = {
    "ConstantOfShape": _of_shape,
    "Expand": _expanded,
    "Tile": _tiled,
    "Pad": _padded,
    "Range": _counted,
    "BlackmanWindow": _window,
    "HammingWindow": _window,
    "HannWindow": _window,
    "MelWeightMatrix": _mel_matrix,
    "OneHot": _one_hot,
    "Resize": _resized,
    "Upsample": _resized,
    "MatMul": _multiplied,
    "Gemm": _multiplied,
    "Einsum": _gathered,
    "Gather": _gathered,
}
