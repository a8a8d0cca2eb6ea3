"""Linear models and support vectors of ai.onnx.ml against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_check import compare
from reference_session import reference_session

import dlc

_ML = "ai.onnx.ml"
_GENERATOR = np.random.default_rng(6)
_FEATURES = 4
_TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]


def _numbers(count: int) -> list[float]:
    return list(_GENERATOR.standard_normal(count).tolist())


def _model(op: str, kind: int = TensorProto.FLOAT, **attributes: Any) -> onnx.ModelProto:
    outputs = [("label", TensorProto.INT64)] if op.endswith("Classifier") else []
    outputs.append(("scores", TensorProto.FLOAT))
    node = helper.make_node(op, ["x"], [name for name, _ in outputs], domain=_ML, **attributes)
    graph = helper.make_graph(
        [node],
        "linear",
        [helper.make_tensor_value_info("x", kind, ["rows", _FEATURES])],
        [helper.make_tensor_value_info(name, of, None) for name, of in outputs],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid(_ML, 1)], ir_version=10)


def _check(op: str, dtype: Any = np.float32, **attributes: Any) -> None:
    model = _model(op, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), **attributes)
    session = reference_session(model)
    compiled = dlc.compile(model)
    for rows in (9, 1):
        x = (np.random.default_rng(rows).standard_normal((rows, _FEATURES)) * 2).astype(dtype)
        for have, want in zip(compiled({"x": x}), session.run(None, {"x": x}), strict=True):
            compare(have, want, op)


@pytest.mark.parametrize("targets", [1, 3])
def test_linear_regressor(targets: int) -> None:
    coefficients = _numbers(targets * _FEATURES)
    _check("LinearRegressor", coefficients=coefficients, targets=targets, intercepts=_numbers(targets))
    _check("LinearRegressor", coefficients=coefficients, targets=targets)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("transform", _TRANSFORMS)
@pytest.mark.parametrize("labels", [[5, 3], [0, 1, 2]])
def test_linear_classifier(labels: list[int], transform: str) -> None:
    count = len(labels)
    _check(
        "LinearClassifier",
        coefficients=_numbers(count * _FEATURES),
        intercepts=_numbers(count),
        classlabels_ints=labels,
        post_transform=transform,
    )


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_linear_classifier_of_other_types(dtype: Any) -> None:
    _check("LinearClassifier", dtype, coefficients=_numbers(12), intercepts=_numbers(3), classlabels_ints=[0, 1, 2])


_NONE = [0.0, 0.0, 0.0]
_KERNELS: list[tuple[str, list[float]]] = [
    ("LINEAR", _NONE),
    ("POLY", [0.3, 0.5, 3.0]),
    ("RBF", [0.3, 0.0, 0.0]),
    ("SIGMOID", [0.2, 0.1, 0.0]),
]


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(("kernel", "params"), _KERNELS)
@pytest.mark.parametrize("one_class", [0, 1])
def test_svm_regressor(kernel: str, params: list[float], one_class: int) -> None:
    _check(
        "SVMRegressor",
        kernel_type=kernel,
        kernel_params=params,
        n_supports=6,
        support_vectors=_numbers(6 * _FEATURES),
        coefficients=_numbers(6),
        rho=[0.25],
        one_class=one_class,
    )


def test_svm_regressor_without_vectors() -> None:
    _check("SVMRegressor", kernel_params=_NONE, coefficients=_numbers(_FEATURES), rho=[0.25])


def _vectors(sizes: list[int]) -> dict[str, Any]:
    classes, count = len(sizes), sum(sizes)
    return {
        "vectors_per_class": sizes,
        "support_vectors": _numbers(count * _FEATURES),
        "coefficients": _numbers((classes - 1) * count),
        "rho": _numbers(classes * (classes - 1) // 2),
        "classlabels_ints": [7, 2, 4, 9][:classes],
    }


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize(("kernel", "params"), _KERNELS)
@pytest.mark.parametrize("sizes", [[3, 2], [3, 2, 4], [1, 2, 3, 4]])
def test_svm_classifier(sizes: list[int], kernel: str, params: list[float]) -> None:
    _check("SVMClassifier", kernel_type=kernel, kernel_params=params, **_vectors(sizes))


@pytest.mark.parametrize("transform", ["LOGISTIC", "SOFTMAX"])
def test_transforms_of_svm_classifiers(transform: str) -> None:
    _check("SVMClassifier", post_transform=transform, kernel_params=_NONE, **_vectors([3, 2, 4]))


def test_svm_classifier_of_two_classes() -> None:
    _check("SVMClassifier", post_transform="LOGISTIC", kernel_params=_NONE, **_vectors([3, 2]))


def test_probabilities_of_two_classes() -> None:
    """onnxruntime comes near them by an iteration, which it ends early."""
    model = _model("SVMClassifier", prob_a=[-0.8], prob_b=[0.1], kernel_params=_NONE, **_vectors([3, 2]))
    session = reference_session(model)
    x = _GENERATOR.standard_normal((9, _FEATURES)).astype(np.float32)
    label, chances = dlc.compile(model)({"x": x})
    wanted, near = session.run(None, {"x": x})
    compare(label, wanted, "label")
    np.testing.assert_allclose(chances, near, atol=5e-3)


@pytest.mark.parametrize(
    ("op", "attributes", "message"),
    [
        ("LinearRegressor", {"coefficients": [1.0] * 3}, "coefficients has 3 numbers, but 1 times 4 are needed"),
        ("LinearRegressor", {"coefficients": [1.0] * 4, "intercepts": [1.0] * 2}, "intercepts has 2 numbers for 1 scores"),
        ("LinearClassifier", {"coefficients": [1.0] * 8, "classlabels_ints": [0, 1, 2]}, "coefficients of 2 scores for 3 classes"),
        ("SVMRegressor", {"n_supports": 1, "support_vectors": [1.0] * 4, "kernel_type": "COSINE"}, "kernel_type COSINE is not one"),
        ("SVMClassifier", {"classlabels_ints": [0, 1]}, "support vectors of 0 classes for 2 labels"),
        ("SVMClassifier", {"prob_a": [1.0] * 3, "prob_b": [1.0] * 3, **_vectors([1, 1, 1])}, "probabilities \\(prob_a\\) of more"),
        ("SVMClassifier", {"prob_a": [1.0], **_vectors([1, 1])}, "prob_a and prob_b have 1 and 0 numbers"),
        ("SVMClassifier", {**_vectors([3, 1]), "vectors_per_class": [5, -1]}, "vectors_per_class has -1"),
        ("SVMClassifier", {"post_transform": "SOFTMAX", **_vectors([1, 1])}, "post_transform SOFTMAX has no clear meaning"),
    ],
)
def test_refused(op: str, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(dlc.UnsupportedError, match=message):
        dlc.compile(_model(op, **attributes))
