"""ONNX activation functions against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_check import check, check_backend_cases, node

_GENERATOR = np.random.default_rng(7)
_CONTRIB = "com.microsoft"
_NODES: tuple[tuple[str, dict[str, Any]], ...] = (
    *((op, {}) for op in ("Relu", "Sigmoid", "Softplus", "Softsign", "Mish", "HardSwish")),
    *((op, {}) for op in ("HardSigmoid", "LeakyRelu", "ThresholdedRelu", "Elu", "Selu", "Celu", "Shrink", "Gelu")),
    ("HardSigmoid", {"alpha": 0.5, "beta": 0.25}),
    ("LeakyRelu", {"alpha": 0.3}),
    ("ThresholdedRelu", {"alpha": 0.5}),
    ("Elu", {"alpha": 2.0}),
    ("Selu", {"alpha": 1.5, "gamma": 2.0}),
    ("Celu", {"alpha": 2.5}),
    ("Shrink", {"lambd": 1.0, "bias": 0.75}),
    ("Gelu", {"approximate": "tanh"}),
)
_OPS = (*dict(_NODES), "PRelu", "Swish")


def _floats(*shape: int) -> np.ndarray:
    return _GENERATOR.uniform(-5, 5, shape).astype(np.float32)


def test_activations() -> None:
    check([node(op, ["x"], **attributes) for op, attributes in _NODES], {"x": _floats(3, 37)})


def test_prelu_broadcasts_its_slope() -> None:
    check([node("PRelu", ["x", "slope"])], {"x": _floats(2, 3, 4, 5), "slope": _floats(3, 1, 1)})


def test_activations_of_onnxruntime() -> None:
    nodes = [
        node("Gelu", ["x"], domain=_CONTRIB),
        node("BiasGelu", ["x", "bias"], domain=_CONTRIB),
        node("FastGelu", ["x"], domain=_CONTRIB),
        node("FastGelu", ["x", "bias"], domain=_CONTRIB),
        node("QuickGelu", ["x"], domain=_CONTRIB),
        node("QuickGelu", ["x"], domain=_CONTRIB, alpha=1.0),
    ]
    check(nodes, {"x": _floats(4, 16), "bias": _floats(16)}, dynamic=False)


@pytest.mark.slow
@pytest.mark.parametrize("op", _OPS)
def test_node_tests_of_onnx(op: str) -> None:
    assert check_backend_cases(op)
