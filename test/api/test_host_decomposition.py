"""Ops on strings and complex numbers that are computed as their parts, their places or their labels' numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from reference_session import reference_session

import dlc

pytest.importorskip("onnxruntime")
RANDOM = np.random.default_rng(5)
IMAGE = np.arange(1, 33).reshape(1, 2, 4, 4)
GRID = RANDOM.uniform(-1.3, 1.3, (1, 3, 5, 2)).astype(np.float32)
SCALES = np.array([1, 1, 1.5, 0.5], np.float32)
SIZES = np.array([1, 2, 6, 3], np.int64)
Others = Mapping[str, np.ndarray]
# op, opset, its other inputs, attributes, whether it only moves elements
SAMPLERS: list[tuple[str, int, Others, dict[str, Any], bool]] = [
    ("Resize", 19, {"": np.empty(0), "scales": SCALES}, {"mode": "nearest"}, True),
    ("Resize", 19, {"": np.empty(0), " ": np.empty(0), "sizes": SIZES}, {"mode": "linear"}, False),
    ("Resize", 19, {"": np.empty(0), " ": np.empty(0), "sizes": SIZES}, {"mode": "cubic"}, False),
    ("Resize", 10, {"scales": SCALES}, {}, True),
    ("Upsample", 9, {"scales": np.array([1, 1, 2, 3], np.float32)}, {}, True),
    ("GridSample", 20, {"grid": GRID}, {"mode": "nearest"}, True),
    ("GridSample", 20, {"grid": GRID}, {"mode": "nearest", "padding_mode": "border", "align_corners": 1}, True),
    ("GridSample", 20, {"grid": GRID}, {"mode": "cubic", "padding_mode": "reflection"}, False),
    ("GridSample", 20, {"grid": GRID}, {}, False),
]
EACH = pytest.mark.parametrize(
    ("op", "opset", "others", "attributes", "moves"), SAMPLERS, ids=[f"{case[0]}{at}" for at, case in enumerate(SAMPLERS)]
)
GRIDS = ("grid",)


def kind_of(array: np.ndarray) -> int:
    return TensorProto.STRING if array.dtype == object else int(helper.np_dtype_to_tensor_dtype(array.dtype))


def model_of(op: str, opset: int, inputs: Mapping[str, np.ndarray], out: Sequence[int], domain: str = "", **given: Any) -> Any:
    """A model of one node; small tensors beside x are constants."""
    names = [name if array.size else "" for name, array in inputs.items()]
    outputs = [f"y{at}" for at in range(len(out))]
    infos = [
        helper.make_tensor_value_info(name, kind_of(inputs[name]), inputs[name].shape) for name in names if name in ("x", *GRIDS)
    ]
    constants = [onnx.numpy_helper.from_array(inputs[name], name) for name in names if name and name not in ("x", *GRIDS)]
    results = [helper.make_tensor_value_info(name, kind, None) for name, kind in zip(outputs, out, strict=True)]
    graph = helper.make_graph([helper.make_node(op, names, outputs, "it", domain=domain, **given)], "g", infos, results, constants)
    imports = [helper.make_opsetid("", 18 if domain else opset), *([helper.make_opsetid(domain, opset)] if domain else [])]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def feeds_of(inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: array for name, array in inputs.items() if name in ("x", *GRIDS)}


def theirs(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> list[Any]:
    found: list[Any] = reference_session(model).run(None, feeds)
    return found


@EACH
@pytest.mark.parametrize("kind", [np.complex64, np.complex128])
def test_parts_of_complex_numbers(op: str, opset: int, others: Others, attributes: dict[str, Any], moves: bool, kind: type) -> None:
    """The ops are linear: the parts are those of onnxruntime, which has these ops for f32."""
    parts = [RANDOM.standard_normal(IMAGE.shape).astype(np.float32) for _ in range(2)]
    x = (parts[0] + 1j * parts[1]).astype(kind)
    inputs = {"x": x, **others}
    compiled = dlc.compile(model_of(op, opset, inputs, [kind_of(x)], **attributes))
    (have,) = compiled(feeds_of(inputs))
    assert have.dtype == kind
    assert compiled.build_report.kernels > 0, "the sampler is compiled"
    for mine, given in zip((have.real, have.imag), parts, strict=True):
        (want,) = theirs(
            model_of(op, opset, {"x": given, **others}, [kind_of(given)], **attributes), feeds_of({**inputs, "x": given})
        )
        np.testing.assert_allclose(mine, want, rtol=1e-4, atol=1e-5)


@EACH
def test_places_of_strings(op: str, opset: int, others: Others, attributes: dict[str, Any], moves: bool) -> None:
    """Strings are where onnxruntime has the numbers that they spell; what is combined has none."""
    texts = np.array([str(number) for number in IMAGE.reshape(-1)], object).reshape(IMAGE.shape)
    inputs = {"x": texts, **others}
    model = model_of(op, opset, inputs, [TensorProto.STRING], **attributes)
    if not moves:
        with pytest.raises(dlc.UnsupportedError, match=rf"'it' \({op}\): the op is not supported for string"):
            dlc.compile(model)
        return
    (have,) = dlc.compile(model)(feeds_of(inputs))
    numbers = {"x": IMAGE.astype(np.float32), **others}
    (want,) = theirs(model_of(op, opset, numbers, [TensorProto.FLOAT], **attributes), feeds_of(numbers))
    assert have.tolist() == np.where(want == 0, "", want.astype(int).astype(str)).tolist()


@pytest.mark.parametrize("op", ["RandomNormalLike", "RandomUniformLike"])
@pytest.mark.parametrize("x", [np.array([["a", "b"]], object), np.ones((1, 2), np.complex64)], ids=["string", "complex"])
def test_random_numbers_in_a_shape(op: str, x: np.ndarray) -> None:
    """They are those of a tensor of numbers of that shape; without an element type there are none."""
    inputs, dtype = {"x": x}, TensorProto.FLOAT
    (have,) = dlc.compile(model_of(op, 18, inputs, [dtype], dtype=dtype, seed=3.0))(x)
    numbers = np.ones(x.shape, np.float32)
    (want,) = dlc.compile(model_of(op, 18, {"x": numbers}, [dtype], dtype=dtype, seed=3.0))(numbers)
    np.testing.assert_array_equal(have, want)
    with pytest.raises(dlc.DLCError, match="it"):
        dlc.compile(model_of(op, 18, inputs, [dtype]))


def linear(classes: int, labels: Sequence[str]) -> tuple[str, dict[str, Any]]:
    rows = 1 if classes == 1 else classes
    numbers = RANDOM.standard_normal(rows * 4).tolist()
    return "LinearClassifier", {"coefficients": numbers, "intercepts": [0.1] * rows, "classlabels_strings": labels}


def trees(labels: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """One split a tree; leaf k of each votes for class k."""
    count = len(labels)
    nodes = {
        "nodes_treeids": [tree for tree in range(count) for _ in range(3)],
        "nodes_nodeids": [0, 1, 2] * count,
        "nodes_featureids": [at % 4 for at in range(3 * count)],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"] * count,
        "nodes_values": [0.2, 0.0, 0.0] * count,
        "nodes_truenodeids": [1, 0, 0] * count,
        "nodes_falsenodeids": [2, 0, 0] * count,
    }
    votes = {
        "class_treeids": [tree for tree in range(count) for _ in range(2)],
        "class_nodeids": [1, 2] * count,
        "class_ids": [at % count for at in range(2 * count)],
        "class_weights": RANDOM.uniform(0.1, 1, 2 * count).tolist(),
    }
    return "TreeEnsembleClassifier", {**nodes, **votes, "classlabels_strings": labels}


def vectors(labels: Sequence[str]) -> tuple[str, dict[str, Any]]:
    count = len(labels)
    pairs = count * (count - 1) // 2
    given = {
        "support_vectors": (2 * RANDOM.standard_normal(2 * count * 4)).tolist(),
        "vectors_per_class": [2] * count,
        "coefficients": RANDOM.standard_normal(2 * count * (count - 1)).tolist(),
        "rho": (0.01 * RANDOM.standard_normal(pairs)).tolist(),
        "kernel_type": "LINEAR",
        "kernel_params": [0.0, 0.0, 0.0],
    }
    return "SVMClassifier", {**given, "classlabels_strings": labels}


@pytest.mark.parametrize("labels", [["cat", "dog", "ox"], ["no", "yes"]], ids=["three", "two"])
@pytest.mark.parametrize("make", [lambda labels: linear(len(labels), labels), trees, vectors], ids=["linear", "trees", "vectors"])
def test_classifiers_with_texts_for_labels(make: Callable[[Sequence[str]], tuple[str, dict[str, Any]]], labels: list[str]) -> None:
    """The texts are those of the numbers that the model with numbers for labels gives, and with three onnxruntime's."""
    op, attributes = make(labels)
    x = RANDOM.standard_normal((64, 4)).astype(np.float32)
    model = model_of(op, 1, {"x": x}, [TensorProto.STRING, TensorProto.FLOAT], "ai.onnx.ml", **attributes)
    compiled = dlc.compile(model)
    label, scores = compiled(x)
    assert len(set(label.tolist())) > 1
    assert [op for _, op, _ in compiled.host_ops] == ["Gather"]  # type: ignore[attr-defined]
    del attributes["classlabels_strings"]
    attributes["classlabels_int64s" if op == "TreeEnsembleClassifier" else "classlabels_ints"] = list(range(len(labels)))
    numbered = model_of(op, 1, {"x": x}, [TensorProto.INT64, TensorProto.FLOAT], "ai.onnx.ml", **attributes)
    number, same = dlc.compile(numbered)(x)
    assert label.tolist() == [labels[each] for each in number]
    np.testing.assert_array_equal(scores, same)
    if len(labels) == 3:
        assert label.tolist() == theirs(model, {"x": x})[0].tolist()


def test_places_of_texts_in_features() -> None:
    """ArrayFeatureExtractor on strings, and what is no place."""
    x = np.array([["a", "b", "c"], ["d", "e", "f"]], object)
    model = model_of("ArrayFeatureExtractor", 1, {"x": x, "grid": np.array([2, 0])}, [TensorProto.STRING], "ai.onnx.ml")
    compiled = dlc.compile(model)
    assert compiled(x, np.array([2, 0]))[0].tolist() == [["c", "a"], ["f", "d"]]
    with pytest.raises(dlc.InvalidInputError, match=r"'it' \(ai.onnx.ml.ArrayFeatureExtractor\): index 3 is not in an axis of 3"):
        compiled(x, np.array([0, 3]))


def test_bits_of_complex_numbers() -> None:
    """Both ways, beside a compiled op; another width is refused."""
    x = RANDOM.integers(0, 2**62, 6)
    nodes = [
        helper.make_node("Add", ["x", "x"], ["twice"]),
        helper.make_node("BitCast", ["twice"], ["c"], to=TensorProto.COMPLEX64),
        helper.make_node("BitCast", ["c"], ["back"], to=TensorProto.INT64),
    ]
    infos = [helper.make_tensor_value_info(name, kind, [6]) for name, kind in (("c", 14), ("back", 7))]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.INT64, [6])], infos)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 26)])
    c, back = dlc.compile(model)(x)
    assert c.dtype == np.complex64
    np.testing.assert_array_equal(c.view(np.int64), x * 2)
    np.testing.assert_array_equal(back, x * 2)
    graph.node[1].attribute[0].i = TensorProto.COMPLEX128
    with pytest.raises(dlc.DLCError, match=r"BitCast"):
        dlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 26)]))(x)
