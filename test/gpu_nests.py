"""Nests at level affine of any size, and what they compute in NumPy's words: for tests of kernels of a GPU."""

from __future__ import annotations

from collections.abc import Callable
from string import Template

import numpy as np

_MATMUL = """
!A = memref<{m}x{k}xf64>
!B = memref<{k}x{n}xf64>
!C = memref<{m}x{n}xf64>
func.func @f(%A: !A {{llvm.noalias}}, %B: !B {{llvm.noalias}}, %C: !C {{llvm.noalias}}) {{
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to {m} {{
    affine.for %j = 0 to {n} {{
      %sum = affine.for %k = 0 to {k} iter_args(%s = %zero) -> f64 {{
        %a = affine.load %A[%i, %k] : memref<{m}x{k}xf64>
        %b = affine.load %B[%k, %j] : memref<{k}x{n}xf64>
        %p = arith.mulf %a, %b : f64
        %new = arith.addf %s, %p : f64
        affine.yield %new : f64
      }}
      %positive = arith.maximumf %sum, %zero : f64
      affine.store %positive, %C[%i, %j] : memref<{m}x{n}xf64>
    }}
  }}
  return
}}"""

_TRIANGLE = """
func.func @f(%A: memref<{m}x{k}xf64> {{llvm.noalias}}, %C: memref<{m}x{m}xf64> {{llvm.noalias}}) {{
  affine.for %i = 0 to {m} {{
    affine.for %j = 0 to affine_map<(i) -> (i + 1)>(%i) {{
      affine.for %k = 0 to {k} {{
        %a = affine.load %A[%i, %k] : memref<{m}x{k}xf64>
        %b = affine.load %A[%j, %k] : memref<{m}x{k}xf64>
        %c = affine.load %C[%i, %j] : memref<{m}x{m}xf64>
        %p = arith.mulf %a, %b : f64
        %new = arith.addf %c, %p : f64
        affine.store %new, %C[%i, %j] : memref<{m}x{m}xf64>
      }}
    }}
  }}
  return
}}"""

_CONV = """
!A = memref<3x6x{n}xf64>
!B = memref<{k}x3x3x3xf64>
!C = memref<{k}x6x{n}xf64>
func.func @f(%A: !A {{llvm.noalias}}, %B: !B {{llvm.noalias}}, %C: !C {{llvm.noalias}}) {{
  affine.for %o = 0 to {k} {{
    affine.for %y = 0 to 4 {{
      affine.for %x = 0 to affine_map<() -> ({n} - 2)>() {{
        affine.for %c = 0 to 3 {{
          affine.for %u = 0 to 3 {{
            affine.for %v = 0 to 3 {{
              %a = affine.load %A[%c, %y + %u, %x + %v] : memref<3x6x{n}xf64>
              %b = affine.load %B[%o, %c, %u, %v] : memref<{k}x3x3x3xf64>
              %s = affine.load %C[%o, %y + 1, %x + 1] : memref<{k}x6x{n}xf64>
              %p = arith.mulf %a, %b : f64
              %new = arith.addf %s, %p : f64
              affine.store %new, %C[%o, %y + 1, %x + 1] : memref<{k}x6x{n}xf64>
            }}
          }}
        }}
      }}
    }}
  }}
  return
}}"""

_SOFTMAX_SHAPE = Template("""
!A = memref<{m}x{n}x$type>
func.func @f(%A: !A {{llvm.noalias}}, %C: !A {{llvm.noalias}}$more_arguments) {{
  %zero = arith.constant 0.0 : $type
  %least = arith.constant -1.0e30 : $type
  affine.for %i = 0 to $rows {{
    %max = affine.for %j = 0 to {n} iter_args(%s = %least) -> $type {{
      %a = affine.load %A[%i, %j] : !A
      %t = arith.maximumf %s, %a : $type
      affine.yield %t : $type
    }}
    %sum = affine.for %j = 0 to {n} iter_args(%s = %zero) -> $type {{
      %a = affine.load %A[%i, %j] : !A
      %d = arith.subf %a, %max : $type
      $weigh
      affine.store $weight, %C[%i, %j] : !A
      %t = arith.addf %s, $weight : $type
      affine.yield %t : $type
    }}
    affine.for %j = 0 to {n} {{
      %c = affine.load %C[%i, %j] : !A
      %d = $scale %c, %sum : $type
      affine.store %d, %C[%i, %j] : !A
    }}
  }}
  return
}}""")
"""The largest element of each row, the sum of what `weigh` makes of the distances from it, and `scale` of that by the sum."""

_SOFTMAX = _SOFTMAX_SHAPE.substitute(type="f64", more_arguments="", rows="{m}", weigh="", weight="%d", scale="arith.addf")

_STEPS = """
func.func @f(%A: memref<?x?xf64> {{llvm.noalias}}, %C: memref<?x?xf64> {{llvm.noalias}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %A, %c0 : memref<?x?xf64>
  %n = memref.dim %A, %c1 : memref<?x?xf64>
  affine.for %t = 0 to 3 {{
    affine.for %i = 1 to affine_map<(m) -> (m - 1)>(%m) {{
      affine.for %j = 1 to affine_map<(n) -> (n - 1)>(%n) step 2 {{
        %a = affine.load %A[%i - 1, %j] : memref<?x?xf64>
        %b = affine.load %A[%i, %j + 1] : memref<?x?xf64>
        %s = arith.subf %a, %b : f64
        affine.store %s, %C[%i, %j] : memref<?x?xf64>
      }}
    }}
    affine.for %i = 0 to %m {{
      affine.for %j = 0 to %n {{
        %c = affine.load %C[%i, %j] : memref<?x?xf64>
        affine.store %c, %A[%i, %j] : memref<?x?xf64>
      }}
    }}
  }}
  return
}}"""


def _matmul(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    c[...] = np.maximum(a @ b, 0)


def _triangle(a: np.ndarray, c: np.ndarray) -> None:
    c += np.tril(a @ a.T)


def _conv(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    windows = np.lib.stride_tricks.sliding_window_view(a, (3, 3), axis=(1, 2))
    c[:, 1:-1, 1:-1] += np.einsum("cyxuv,ocuv->oyx", windows, b)


def _softmax(a: np.ndarray, c: np.ndarray) -> None:
    """Shaped like a softmax, in numbers whose sums are exact."""
    c[...] = a - a.max(axis=1, keepdims=True)
    c += c.sum(axis=1, keepdims=True)


def _steps(a: np.ndarray, c: np.ndarray) -> None:
    for _ in range(3):
        c[1:-1, 1:-1:2] = a[:-2, 1:-1:2] - a[1:-1, 2::2][:, : c[1:-1, 1:-1:2].shape[1]]
        a[...] = c


NESTS: dict[str, tuple[str, Callable[..., None], Callable[[int, int, int], list[tuple[int, ...]]]]] = {
    "matmul": (_MATMUL, _matmul, lambda m, n, k: [(m, k), (k, n), (m, n)]),
    "triangle": (_TRIANGLE, _triangle, lambda m, n, k: [(m, k), (m, m)]),
    "conv": (_CONV, _conv, lambda m, n, k: [(3, 6, n), (k, 3, 3, 3), (k, 6, n)]),
    "softmax": (_SOFTMAX, _softmax, lambda m, n, k: [(m, n), (m, n)]),
    "steps": (_STEPS, _steps, lambda m, n, k: [(m, n), (m, n)]),
}
"""By name: the text, its meaning, and the shapes of its arguments for sizes m, n and k."""

SOFTMAX_ROWS = _SOFTMAX_SHAPE.substitute(
    type="f32", more_arguments=", %m: index", rows="{rows}", weigh="%e = math.exp %d : f32", weight="%e", scale="arith.divf"
)
"""Softmax of `rows` rows of a matrix [m, n] of f32; `rows` may be `%m`, which is an argument."""
