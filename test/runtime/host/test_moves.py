"""Ops that move strings and complex numbers, through whole models, against ONNX's reference evaluator."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import dlc

GRID = np.arange(24).reshape(2, 3, 4)
IMAGE = np.arange(64).reshape(1, 4, 4, 4)
KINDS = {"string": TensorProto.STRING, "complex64": TensorProto.COMPLEX64}
# op, whether x is the image, its other inputs (the name "like" for more of x), attributes
CASES: list[tuple[str, bool, list[Any], dict[str, Any]]] = [
    ("Transpose", False, [], {"perm": [2, 0, 1]}),
    ("Reshape", False, [np.array([4, -1])], {}),
    ("Flatten", False, [], {"axis": 2}),
    ("Squeeze", True, [np.array([0])], {}),
    ("Unsqueeze", False, [np.array([0, -1])], {}),
    ("Concat", False, ["like"], {"axis": 1}),
    ("Slice", False, [np.array([0, -1]), np.array([2, -9]), np.array([1, 2]), np.array([1, -1])], {}),
    ("Gather", False, [np.array([[0, -1]])], {"axis": 2}),
    ("GatherElements", False, [np.arange(24).reshape(2, 3, 4) % 3], {"axis": 1}),
    ("GatherND", False, [np.array([[[0, 1]], [[2, -1]]])], {"batch_dims": 1}),
    ("ScatterElements", False, [np.array([[[2, 0, 1, 0]]]), "row"], {"axis": 1}),
    ("ScatterND", False, [np.array([[1, 2, 3], [0, 0, 0]]), "pair"], {}),
    ("Tile", False, [np.array([1, 2, 1])], {}),
    ("Expand", False, [np.array([2, 2, 3, 4])], {}),
    ("Where", False, [], {}),
    ("Compress", False, [np.array([True, False, True])], {"axis": 1}),
    ("Pad", False, [np.array([0, 1, 2, 0, 0, 1]), "fill"], {}),
    ("Pad", False, [np.array([0, 1, 2, 0, 0, 1])], {"mode": "reflect"}),
    ("ReverseSequence", False, [np.array([2, 1, 2])], {"time_axis": 0, "batch_axis": 1}),
    ("DepthToSpace", True, [], {"blocksize": 2, "mode": "CRD"}),
    ("SpaceToDepth", True, [], {"blocksize": 2}),
    ("Shape", False, [], {"start": 1}),
    ("Size", False, [], {}),
    ("Identity", False, [], {}),
]


def values_of(kind: str, numbers: np.ndarray) -> np.ndarray:
    """Other values for other numbers."""
    if kind == "string":
        return np.array([f"t{number}" for number in numbers.reshape(-1)], object).reshape(numbers.shape)
    return (numbers + 1j * (numbers + 1)).astype(np.complex64)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("op", "is_image", "others", "attributes"), CASES, ids=[f"{case[0]}{at}" for at, case in enumerate(CASES)])
def test_as_the_reference(kind: str, op: str, is_image: bool, others: list[Any], attributes: dict[str, Any]) -> None:
    x = values_of(kind, IMAGE if is_image else GRID)
    moved = {
        "like": x,
        "row": values_of(kind, np.arange(4).reshape(1, 1, 4)),
        "pair": values_of(kind, np.arange(2)),
        "fill": values_of(kind, np.array(7)),
    }
    inputs = [("x", x), *((f"i{at}", moved[each] if isinstance(each, str) else each) for at, each in enumerate(others))]
    if op == "Where":
        inputs = [("c", np.arange(4) % 2 == 0), ("x", x), ("y", x[:, :1])]
    infos = [
        helper.make_tensor_value_info(name, KINDS[kind] if array.dtype == x.dtype else _number_kind(array), array.shape)
        for name, array in inputs
    ]
    output = helper.make_empty_tensor_value_info("z")
    graph = helper.make_graph([helper.make_node(op, [name for name, _ in inputs], ["z"], **attributes)], "moves", infos, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    (found,) = dlc.compile(model)(dict(inputs))
    (wanted,) = ReferenceEvaluator(model).run(None, dict(inputs))
    assert found.shape == wanted.shape
    assert found.tolist() == wanted.tolist()


def _number_kind(array: np.ndarray) -> int:
    return int(onnx.helper.np_dtype_to_tensor_dtype(array.dtype))
