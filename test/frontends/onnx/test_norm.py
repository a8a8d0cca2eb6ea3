"""ONNX normalisations against onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_check import check, check_backend_cases, node

_GENERATOR = np.random.default_rng(14)


def _random(*shape: int) -> np.ndarray:
    return _GENERATOR.standard_normal(shape).astype(np.float32)


def test_softmax_along_an_axis() -> None:
    check([node(op, ["x"], axis=axis) for op in ("Softmax", "LogSoftmax") for axis in (0, 1, -1)], {"x": _random(3, 4, 5)})


@pytest.mark.parametrize("opset", [7, 11])
def test_softmax_of_coerced_matrices(opset: int) -> None:
    feeds = {"x": _random(3, 5), "y": _random(2, 3, 4), "z": _random(2, 7, 1, 1)}
    nodes = [node(op, [name]) for op in ("Softmax", "LogSoftmax") for name in feeds]
    nodes += [node(op, [name], axis=axis) for op in ("Softmax", "LogSoftmax") for name, axis in (("y", 2), ("z", 3), ("y", 0))]
    check(nodes, feeds, opset=opset)


def test_hardmax() -> None:
    check([node("Hardmax", ["x"], axis=axis) for axis in (0, 1, -1)], {"x": _random(3, 4, 5)})


@pytest.mark.parametrize("opset", [7, 9, 14, 15])
def test_batch_norm(opset: int) -> None:
    weights = {"s": _random(3), "b": _random(3), "m": _random(3), "v": np.abs(_random(3)) + 0.1}
    nodes = [node("BatchNormalization", ["x", "s", "b", "m", "v"], epsilon=1e-3)]
    check(nodes, {"x": _random(2, 3, 4, 5)}, weights, opset=opset)


def test_batch_norm_in_training_mode() -> None:
    weights = {"s": _random(3), "b": _random(3), "m": _random(3), "v": np.abs(_random(3)) + 0.1}
    outputs = ["y", "running_mean", "running_var"]
    nodes = [node("BatchNormalization", [*"xsbmv"], outputs, training_mode=1, momentum=0.7)]
    check(nodes, {"x": _random(2, 3, 4, 5)}, weights, dynamic=False)


@pytest.mark.parametrize("axis", [-1, 1, 0])
def test_layer_norm(axis: int) -> None:
    shape = (2, 3, 4)[axis:]
    weights = {"s": _random(*shape), "b": _random(*shape)}
    nodes = [node("LayerNormalization", ["x", "s", "b"], axis=axis), node("LayerNormalization", ["x", "s"], axis=axis)]
    check(nodes, {"x": _random(2, 3, 4)}, weights)


def test_statistics_of_layer_norm() -> None:
    nodes = [node("LayerNormalization", ["x", "s", "b"], ["y", "mean", "inverse"], axis=1)]
    check(nodes, {"x": _random(2, 3, 4)}, {"s": _random(3, 4), "b": _random(3, 4)})


def test_layer_norm_with_repeated_weights() -> None:
    check([node("LayerNormalization", ["x", "s", "b"], axis=1)], {"x": _random(2, 3, 4)}, {"s": _random(4), "b": _random(1, 4)})


@pytest.mark.parametrize("opset", [7, 22])
def test_instance_norm(opset: int) -> None:
    check(
        [node("InstanceNormalization", ["x", "s", "b"])],
        {"x": _random(2, 3, 4, 5)},
        {"s": _random(3), "b": _random(3)},
        opset=opset,
    )


def test_group_norm() -> None:
    feeds, channels = {"x": _random(2, 6, 4, 5)}, {"s": _random(6), "b": _random(6)}
    check([node("GroupNormalization", ["x", "s", "b"], num_groups=3)], feeds, channels)
    groups = {"s": _random(3), "b": _random(3)}
    check([node("GroupNormalization", ["x", "s", "b"], num_groups=3)], feeds, groups, opset=18, dynamic=False)


@pytest.mark.parametrize("size", [3, 5])
def test_local_response_norm(size: int) -> None:
    check([node("LRN", ["x"], size=size, alpha=0.1, bias=2.0)], {"x": _random(1, 7, 3, 4)})


@pytest.mark.parametrize("p", [1, 2])
def test_norms_along_an_axis(p: int) -> None:
    check([node("LpNormalization", ["x"], axis=axis, p=p) for axis in (0, -1)], {"x": _random(3, 4, 5)})


def test_mean_variance_norm() -> None:
    nodes = [node("MeanVarianceNormalization", ["x"]), node("MeanVarianceNormalization", ["x"], axes=[1, 2])]
    check(nodes, {"x": _random(2, 3, 4, 5)})


def test_rms_norm() -> None:
    nodes = [node("RMSNormalization", ["x", "s"]), node("RMSNormalization", ["x", "s"], axis=1, epsilon=1e-3)]
    check(nodes, {"x": _random(2, 3, 4)}, {"s": _random(4)}, opset=23)


_BACKEND_OPS = [
    "BatchNormalization",
    "GroupNormalization",
    "Hardmax",
    "InstanceNormalization",
    "LayerNormalization",
    "LogSoftmax",
    "LpNormalization",
    "LRN",
    "MeanVarianceNormalization",
    "RMSNormalization",
    "Softmax",
]


@pytest.mark.slow
@pytest.mark.parametrize("op", _BACKEND_OPS)
def test_node_tests_of_onnx(op: str) -> None:
    assert check_backend_cases(op)
