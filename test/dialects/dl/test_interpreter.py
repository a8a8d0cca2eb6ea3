"""The interpreter on modules with several functions: kernels that are called, weights that are computed."""

from __future__ import annotations

import numpy as np
import pytest

import dlc
from dlc.dialects.dl.interpreter import NotInterpretable, interpret, precomputed

MODULE = """
func.func @precompute() -> (tensor<4xf32> {dl.param = "w.negated"}) attributes {dl.precompute} {
  %w = "dl.param"() {key = "w", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %0 = "dl.neg"(%w) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main_graph(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = "dl.param"() {key = "w.negated", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %0 = func.call @kernel_0_add(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @kernel_0_add(%0, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @kernel_0_add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {dl.kernel} {
  %0 = "dl.kernel"() ({
    %1 = "dl.add"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "dl.yield"(%1) : (tensor<4xf32>) -> ()
  }) : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
_W = np.arange(4, dtype=np.float32)


def test_calls_and_computed_weights() -> None:
    module = dlc.parse_module(MODULE, "functions.mlir")
    (found,) = interpret(module, [np.ones(4, np.float32)], {"w": _W})
    assert np.array_equal(found, 1 - 2 * _W)
    assert np.array_equal(precomputed(module, {"w": _W})["w.negated"], -_W)


def test_computed_weights_are_told_one_by_one() -> None:
    text = """
    func.func @precompute() -> (tensor<4xf32> {dl.param = "n"}, tensor<4xf32> {dl.param = "m"}) attributes {dl.precompute} {
      %w = "dl.param"() {key = "w", shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
      %0 = "dl.neg"(%w) : (tensor<4xf32>) -> tensor<4xf32>
      %1 = "dl.add"(%0, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %2 = "dl.add"(%1, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %2, %0 : tensor<4xf32>, tensor<4xf32>
    }
    """
    told: list[str] = []

    def made(key: str, array: np.ndarray) -> np.ndarray:
        told.append(key)
        return array + 1

    found = precomputed(dlc.parse_module(text, "functions.mlir"), {"w": _W}, made)
    assert told == ["m", "n"]  # as they are computed
    assert np.array_equal(found["m"], 1 - _W)
    assert np.array_equal(found["n"], 2 * (1 - _W) + _W + 1)  # of what was taken in the place of "m"


def test_function_without_body_is_refused() -> None:
    text = MODULE.replace("func.func private @kernel_0_add", "func.func private @other", 1)
    declared = "func.func private @kernel_0_add(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"
    module = dlc.parse_module(text + declared, "functions.mlir")
    with pytest.raises(NotInterpretable, match="kernel_0_add' has no body"):
        interpret(module, [_W], {"w": _W})


def test_param_without_array_is_refused() -> None:
    module = dlc.parse_module(MODULE, "functions.mlir")
    with pytest.raises(NotInterpretable, match="the param 'w' has no array"):
        interpret(module, [_W], {})


def test_what_nobody_reads_does_not_run() -> None:
    text = """
    func.func @f(%x: tensor<2xi32>, %zeros: tensor<2xi32>) -> tensor<2xi32> {
      %w = "dl.param"() {key = "w", shape = array<i64: 2>, dtype = i32} : () -> tensor<2xi32>
      %0 = "dl.div"(%x, %zeros) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
      %1 = "dl.add"(%0, %w) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
      return %x : tensor<2xi32>
    }
    """
    x = np.ones(2, np.int32)
    (found,) = interpret(dlc.parse_module(text, "unread.mlir"), [x, 0 * x], {})
    assert np.array_equal(found, x)
