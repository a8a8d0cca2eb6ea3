"""ONNX elementary functions against onnxruntime."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from onnx_check import check, check_backend_cases, node

_DOMAINS = {
    "Exp": (-5, 5),
    "Log": (0.01, 9),
    "Sqrt": (0, 9),
    "Reciprocal": (0.1, 9),
    "Erf": (-3, 3),
    "Sin": (-9, 9),
    "Cos": (-9, 9),
    "Tan": (-1.4, 1.4),
    "Asin": (-1, 1),
    "Acos": (-1, 1),
    "Atan": (-9, 9),
    "Sinh": (-3, 3),
    "Cosh": (-3, 3),
    "Tanh": (-5, 5),
    "Asinh": (-9, 9),
    "Acosh": (1, 9),
    "Atanh": (-0.9, 0.9),
}


def test_functions() -> None:
    generator = np.random.default_rng(5)
    feeds = {op.lower(): generator.uniform(*domain, (3, 19)).astype(np.float32) for op, domain in _DOMAINS.items()}
    check([node(op, [op.lower()]) for op in _DOMAINS], feeds)


def test_infinities_of_constants_are_folded_without_a_warning() -> None:
    bounds = np.array([0, 1, 4], np.float32)
    nodes = [node("Log", ["bounds"], ["logs"]), node("Max", ["logs", "x"], ["y"])]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        check(nodes, {"x": np.array([-2, -1, 3], np.float32)}, {"bounds": bounds})
    assert not said


@pytest.mark.slow
@pytest.mark.parametrize("op", _DOMAINS)
def test_node_tests_of_onnx(op: str) -> None:
    assert check_backend_cases(op)
