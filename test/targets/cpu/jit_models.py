"""Models as linalg text for the tests of the CPU target: each with its inputs and what it should give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np

Arrays = Sequence[np.ndarray]


@dataclass(frozen=True)
class Model:
    """`body` is the text of the function @f's arguments, result types and body; types as in `dl.signature`."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    body: str
    arrays: Arrays
    expected: Callable[..., Arrays]

    def text(self) -> str:
        """The module."""
        entries = [", ".join(_entry(k, kind) for k, kind in enumerate(kinds)) for kinds in (self.inputs, self.outputs)]
        signature = f'{{entry = "f", inputs = [{entries[0]}], outputs = [{entries[1]}], params = []}}'
        arguments = ", ".join(f"%{k}: {_signless(kind)}" for k, kind in enumerate(self.inputs))
        results = ", ".join(_signless(kind) for kind in self.outputs)
        return (
            f"module attributes {{dl.signature = {signature}}} {{\nfunc.func @f({arguments}) -> ({results}) {{\n{self.body}\n}}\n}}"
        )


def _entry(position: int, kind: str) -> str:
    return f'{{name = "t{position}", type = {kind}}}'


def _signless(kind: str) -> str:
    return kind.replace("ui8", "i8")


_X = np.arange(12, dtype=np.float32).reshape(3, 4)
_EXP = """
  %d = arith.constant 0 : index
  %n = tensor.dim %0, %d : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y = linalg.negf ins(%0 : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>"""

MODELS = (
    Model(
        "argument_returned_twice",
        ("tensor<?x4xf32>",),
        ("tensor<?x4xf32>", "tensor<?x4xf32>"),
        "return %0, %0 : tensor<?x4xf32>, tensor<?x4xf32>",
        [_X],
        lambda x: [x, x],
    ),
    Model(
        "constants",
        (),
        ("tensor<4xi1>", "tensor<2xf16>", "tensor<2xbf16>", "tensor<3xui8>", "tensor<i64>"),
        """
  %a = arith.constant dense<[true, false, true, true]> : tensor<4xi1>
  %b = arith.constant dense<1.5> : tensor<2xf16>
  %c = arith.constant dense<[1.0, -2.0]> : tensor<2xbf16>
  %d = arith.constant dense<[0, 127, 255]> : tensor<3xi8>
  %e = arith.constant dense<-7> : tensor<i64>
  return %a, %b, %c, %d, %e : tensor<4xi1>, tensor<2xf16>, tensor<2xbf16>, tensor<3xi8>, tensor<i64>""",
        [],
        lambda: [
            np.array([True, False, True, True]),
            np.full(2, 1.5, np.float16),
            np.array([1, -2], ml_dtypes.bfloat16),
            np.array([0, 127, 255], np.uint8),
            np.array(-7),
        ],
    ),
    Model(
        "views_of_one_result",
        ("tensor<?x4xf32>",),
        ("tensor<?x4xf32>", "tensor<?xf32>", "tensor<2x2xf32>", "tensor<?x4xf32>"),
        _EXP.replace(
            "  return %y : tensor<?x4xf32>",
            """
  %c = tensor.collapse_shape %y [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  %s = tensor.extract_slice %y[1, 1] [2, 2] [1, 1] : tensor<?x4xf32> to tensor<2x2xf32>
  return %y, %c, %s, %y : tensor<?x4xf32>, tensor<?xf32>, tensor<2x2xf32>, tensor<?x4xf32>""",
        ),
        [_X],
        lambda x: [-x, -x.reshape(-1), -x[1:3, 1:3], -x],
    ),
    Model("empty", ("tensor<?x4xf32>",), ("tensor<?x4xf32>",), _EXP, [_X[:0]], lambda x: [-x]),
    Model(
        "scalars",
        ("tensor<f32>", "tensor<i1>"),
        ("tensor<f32>", "tensor<i1>"),
        """
  %e = tensor.empty() : tensor<f32>
  %y = linalg.exp ins(%0 : tensor<f32>) outs(%e : tensor<f32>) -> tensor<f32>
  return %y, %1 : tensor<f32>, tensor<i1>""",
        [np.array(1.0, np.float32), np.array(True)],
        lambda x, b: [np.exp(x), b],
    ),
    Model(
        "branch_and_loop",
        ("tensor<4xf32>", "tensor<4xf32>", "tensor<i1>", "tensor<i64>"),
        ("tensor<4xf32>", "tensor<4xf32>"),
        """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = tensor.extract %2[] : tensor<i1>
  %k = tensor.extract %3[] : tensor<i64>
  %n = arith.index_cast %k : i64 to index
  %r = scf.if %c -> tensor<4xf32> {
    scf.yield %0 : tensor<4xf32>
  } else {
    %e = tensor.empty() : tensor<4xf32>
    %s = linalg.add ins(%0, %1 : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%a = %0) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %s = linalg.mul ins(%a, %r : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r, %l : tensor<4xf32>, tensor<4xf32>""",
        [_X[0], _X[1], np.array(False), np.array(3)],
        lambda x, y, c, n: [x if c else x + y, (x * (x if c else x + y) ** n).astype(np.float32)],
    ),
    Model(
        "concat_pad_reshape",
        ("tensor<?x4xf32>", "tensor<?x4xf32>", "tensor<2xi64>"),
        ("tensor<?x4xf32>", "tensor<?x8xf32>", "tensor<?x?xf32>", "tensor<?x6xf32>"),
        """
  %z = arith.constant -1.0 : f32
  %a = tensor.concat dim(0) %0, %1 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %b = tensor.concat dim(1) %0, %1 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  %r = tensor.reshape %0(%2) : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %p = tensor.pad %1 low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<?x4xf32> to tensor<?x6xf32>
  return %a, %b, %r, %p : tensor<?x4xf32>, tensor<?x8xf32>, tensor<?x?xf32>, tensor<?x6xf32>""",
        [_X, _X + 1, np.array([2, 6])],
        lambda x, y, s: [
            np.concatenate([x, y]),
            np.concatenate([x, y], 1),
            x.reshape(s),
            np.pad(y, ((0, 0), (1, 1)), constant_values=-1),
        ],
    ),
    Model(
        "update_in_place_keeps_arguments",
        ("tensor<4xi8>", "tensor<2xi8>"),
        ("tensor<4xi8>", "tensor<4xi8>"),
        """
  %a = tensor.insert_slice %1 into %0[1] [2] [1] : tensor<2xi8> into tensor<4xi8>
  %b = linalg.add ins(%0, %0 : tensor<4xi8>, tensor<4xi8>) outs(%0 : tensor<4xi8>) -> tensor<4xi8>
  return %a, %b : tensor<4xi8>, tensor<4xi8>""",
        [np.array([1, 2, 3, 100], np.int8), np.array([7, 8], np.int8)],
        lambda x, y: [np.array([1, 7, 8, 100], np.int8), x + x],
    ),
)
