"""Gradient of ai.onnx.preview.training against differences of the function itself, in f64."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import onnx.parser
import pytest

import dlc
from dlc.frontends.onnx.gradient import DERIVED

OPENING = '<ir_version: 10, opset_import: ["" : 18, "ai.onnx.preview.training" : 1]>'
FUNCTIONS = [
    "y = Add (a, b)",
    "y = Sub (b, a)",
    "y = Mul (a, b)",
    "y = Div (b, a)",
    "h = Mul (a, b) g = Add (h, a) y = Mul (g, h)",
    "m = MatMul (a, w) y = Tanh (m)",
    "t = Transpose <perm = [1, 0]> (a) m = MatMul (w, t) y = Sigmoid (m)",
    "l = Log (a) e = Exp (b) y = Mul (l, e)",
    "s = Sqrt (a) n = Neg (s) y = Identity (n)",
    "d = Sub (a, b) y = Relu (d)",
    "flat = Constant <value_ints = [3, 2]> () r = Reshape (a, flat) y = Mul (r, r)",
    "axes = Constant <value_ints = [0]> () u = Unsqueeze (a, axes) q = Mul (u, u) y = Squeeze (q, axes)",
    "q = Mul (a, a) f = Flatten <axis = 0> (q) y = Mul (f, f)",
    "q = Mul (a, a) s = ReduceSum <keepdims = 0> (q) y = Mul (s, a)",
    "axes = Constant <value_ints = [1]> () q = Mul (a, b) s = ReduceSum (q, axes) y = Mul (s, a)",
    "axes = Constant <value_ints = [-1]> () q = Mul (a, b) s = ReduceSum <keepdims = 0> (q, axes) y = Mul (s, s)",
    "axes = Constant <value_ints = [0]> () q = Mul (a, b) s = ReduceMean <keepdims = 0> (q, axes) y = Mul (s, a)",
    "q = Mul (a, b) s = ReduceMean (q) y = Mul (s, b)",
    "d = Sub (a, b) n = Abs (d) y = Mul (n, a)",
    "s = Sin (a) c = Cos (b) y = Mul (s, c)",
    "r = Reciprocal (a) p = Softplus (b) y = Mul (r, p)",
    "e = Erf (a) y = Mul (e, b)",
    "q = Mul (a, b) s = Softmax (q) y = Mul (s, a)",
    "q = Mul (a, b) s = LogSoftmax <axis = 0> (q) y = Mul (s, a)",
    "axes = Constant <value_ints = [1]> () u = Unsqueeze (a, axes) q = Mul (w, b) m = MatMul (u, q) y = Tanh (m)",
]
RANDOM = np.random.default_rng(3)
A, B, W = RANDOM.uniform(0.5, 2, (2, 3)), RANDOM.uniform(0.5, 2, (1, 3)), RANDOM.uniform(-1, 1, (3, 3))


def model_of(function: str, outputs: str, gradient: str = "") -> onnx.ModelProto:
    return onnx.parser.parse_model(
        f"{OPENING} g (double[2, 3] a, double[1, 3] b, double[3, 3] w) => ({outputs}) {{ {function} {gradient} }}"
    )


def differences(function: str, at: int) -> np.ndarray:
    """The derivative of the sum of y by input `at`."""
    compiled, inputs, step = dlc.compile(model_of(function, "double[] y")), [A, B, W], 1e-6
    found = np.zeros_like(inputs[at])
    for place in np.ndindex(found.shape):
        sums = []
        for sign in (1, -1):
            moved = [each.copy() for each in inputs]
            moved[at][place] += sign * step
            sums.append(float(compiled(*moved)[0].sum()))
        found[place] = (sums[0] - sums[1]) / (2 * step)
    return found


@pytest.mark.parametrize("function", FUNCTIONS)
def test_derivatives(function: str) -> None:
    gradient = 'da, db = ai.onnx.preview.training.Gradient <xs = ["a", "b"], zs = ["w"], y = "y"> (a, b, w)'
    da, db = dlc.compile(model_of(function, "double[2, 3] da, double[1, 3] db", gradient))(A, B, W)
    np.testing.assert_allclose(da, differences(function, 0), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(db, differences(function, 1), rtol=1e-5, atol=1e-7)


def test_every_rule_is_tested() -> None:
    assert all(any(f"{op} " in function for function in FUNCTIONS) for op in DERIVED)


def test_at_other_values_and_again() -> None:
    """At values that the graph does not have, by an inner value, and the derivative of a derivative: (x^3)'' is 6 x."""
    function = "q = Mul (a, a) y = Mul (q, a)"
    gradient = """first = ai.onnx.preview.training.Gradient <xs = ["a"], y = "y"> (a)
      second = ai.onnx.preview.training.Gradient <xs = ["a"], y = "first"> (a)
      two = Constant <value_float = 2.0> () far = CastLike (two, a) there = Mul (far, a)
      elsewhere = ai.onnx.preview.training.Gradient <xs = ["a"], y = "y"> (there)
      inner = ai.onnx.preview.training.Gradient <xs = ["q"], zs = ["a"], y = "y"> (q, a)"""
    names: Sequence[str] = ("first", "second", "elsewhere", "inner")
    found = dlc.compile(model_of(function, ", ".join(f"double[2, 3] {name}" for name in names), gradient))(A, B, W)
    for have, want in zip(found, (3 * A**2, 6 * A, 12 * A**2, A), strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-12)


def test_what_has_no_derivative_is_refused() -> None:
    gradient = 'da = ai.onnx.preview.training.Gradient <xs = ["a"], y = "y"> (a)'
    with pytest.raises(dlc.UnsupportedError, match=r"derivatives are computed from xs to y .* of Abs, Add, Cos"):
        dlc.compile(model_of("y = Floor (a)", "double[2, 3] da", gradient))
