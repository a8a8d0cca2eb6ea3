"""Evaluates nodes whose inputs are all known at import, by ONNX's own reference evaluator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx

from dlc.dialects.dl.types import MOST_BYTES
from dlc.frontends.onnx.folded_sizes import folded_elements
from dlc.frontends.onnx.node import UnsupportedFeature

_NEVER = {
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Multinomial",
    "Bernoulli",
    "Dropout",
    "If",
    "Loop",
    "Scan",
    "DequantizeLinear",
}
"""Ops of chance and of control flow; and what makes floats of weights that products read as bytes."""


_MOST_FOLDED = 1 << 28
"""Elements of the largest array that is made at import, 1 GiB of f32: larger than any weight that a model states by its shape."""


def can_fold(node: onnx.NodeProto) -> bool:
    """True for a deterministic op of ONNX's own domain."""
    return node.domain in ("", "ai.onnx") and node.op_type not in _NEVER


def fold_node(
    node: onnx.NodeProto, inputs: Sequence[np.ndarray | None], opset_imports: Sequence[onnx.OperatorSetIdProto]
) -> list[np.ndarray] | None:
    """The outputs of a node with known inputs, or None where the evaluator can't compute it."""
    elements = folded_elements(node, inputs) or 0
    if elements > MOST_BYTES:
        raise UnsupportedFeature(f"its result has {elements} elements, more than any machine can address")
    if elements > _MOST_FOLDED:
        return None
    _check_divisor(node, inputs)
    if node.op_type == "ConstantOfShape":
        return [_constant_of_shape(node, inputs)]
    names = [name for name in node.input if name]
    feeds = {name: array for name, array in zip(node.input, inputs, strict=True) if name and array is not None}
    graph = onnx.helper.make_graph(
        [node],
        "fold",
        [onnx.helper.make_value_info(name, onnx.TypeProto()) for name in dict.fromkeys(names)],
        [onnx.helper.make_value_info(name, onnx.TypeProto()) for name in node.output if name],
    )
    model = onnx.helper.make_model(graph, opset_imports=list(opset_imports))
    from onnx.reference import ReferenceEvaluator  # 20 ms, for models that have something to fold

    try:
        with np.errstate(all="ignore"):  # infinities and NaNs are results like all others, as they are at run time
            found = ReferenceEvaluator(model).run(None, feeds)
    except Exception:  # the evaluator raises whatever its Python ops raise; the node is then imported as it is
        return None
    by_name = dict(zip([name for name in node.output if name], found, strict=True))
    arrays = [by_name.get(name) for name in node.output]
    return [np.asarray(array) for array in arrays] if all(isinstance(a, (np.ndarray, np.generic)) for a in arrays) else None


def _check_divisor(node: onnx.NodeProto, inputs: Sequence[np.ndarray | None]) -> None:
    """Integers have no quotient by 0."""
    divisor = inputs[1] if node.op_type in ("Div", "Mod") and len(inputs) == 2 else None
    if divisor is not None and divisor.dtype.kind in "iu" and not divisor.all():
        raise UnsupportedFeature("integer division by zero: input 1 holds a 0")


def _constant_of_shape(node: onnx.NodeProto, inputs: Sequence[np.ndarray | None]) -> np.ndarray:
    value = np.zeros(1, np.float32)
    for attribute in node.attribute:
        value = onnx.numpy_helper.to_array(attribute.t)
    shape = inputs[0]
    assert shape is not None
    if np.any(np.asarray(shape) < 0):
        raise UnsupportedFeature(f"the shape {np.asarray(shape).tolist()} has a negative size")
    return np.full(tuple(int(dim) for dim in shape), value.reshape(-1)[0], value.dtype)
