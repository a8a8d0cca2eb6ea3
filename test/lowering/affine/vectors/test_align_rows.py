"""Rows whose vectors begin with lines hold what they held before, wherever they begin and whatever is read for them."""

from __future__ import annotations

from affine_interpreter import check_same
from hypothesis import given
from hypothesis import strategies as st

_ROWS = """
func.func @f(%x: memref<5x200xf64> {{llvm.noalias}}, %y: memref<3x{pitch}xf64> {{llvm.noalias}}, %z: memref<3x{pitch}xf64>) {{
  affine.for %i = 0 to 3 {{
    %k = affine.load %z[%i, 0] : memref<3x{pitch}xf64>
    %v = vector.broadcast %k : f64 to vector<8xf64>
    affine.for %j = {first} to {end} step {step} {{
      %a = affine.vector_load %x[%i, %j * {scale} + {shift}] : memref<5x200xf64>, vector<8xf64>
      %b = affine.vector_load %x[%i + {down}, %j * {scale}] : memref<5x200xf64>, vector<8xf64>
      %c = arith.addf %a, %b : vector<8xf64>
      %d = arith.mulf %c, %v : vector<8xf64>
      affine.vector_store %d, %y[%i, %j * {scale}] : memref<3x{pitch}xf64>, vector<8xf64>
    }} {{dlc.parallel}}
  }} {{dlc.parallel}}
  return
}}
"""
_PIPELINE = "dl-set-target{target=cpu:znver4},affine-align-rows{min-bytes=1}"


def _text(pitch: int, first: int, count: int, step: int, shift: int, down: int) -> str:
    return _ROWS.format(pitch=pitch, first=first, end=first + count * step, step=step, scale=8 // step, shift=shift, down=down)


@given(st.integers(168, 192), st.integers(0, 7), st.integers(16, 19), st.integers(0, 8), st.integers(0, 2))
def test_random_rows_are_the_same(pitch: int, first: int, count: int, shift: int, down: int) -> None:
    step = 8 if first else 1
    text = check_same(_text(pitch, first, count, step, shift, down), _PIPELINE)
    assert ("maskedstore" in text) == (pitch % 8 > 0 or first > 0)
