"""Products of an open number of rows are the same in blocks and a rest, whatever the rows are."""

from __future__ import annotations

import numpy as np
import pytest
from test_codegen import run

from dlc.lowering.affine.codegen import split_open_rows

_TEXT = """func.func @kernel(%x: memref<?x7x24xf32>, %w: memref<24x40xf32>, %y: memref<?x40xf32>)
    attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0.0 : f32
  %axis = arith.constant 0 : index
  %n = memref.dim %x, %axis : memref<?x7x24xf32>
  %rows = memref.collapse_shape %x [[0, 1], [2]] : memref<?x7x24xf32> into memref<?x24xf32>
  affine.for %m = 0 to affine_map<()[s0] -> (s0 * 7)>()[%n] {
    affine.for %j = 0 to 40 {
      %s = affine.for %k = 0 to 24 iter_args(%t = %zero) -> (f32) {
        %l = affine.load %rows[%m, %k] : memref<?x24xf32>
        %r = affine.load %w[%k, %j] : memref<24x40xf32>
        %p = arith.mulf %l, %r : f32
        %u = arith.addf %t, %p : f32
        affine.yield %u : f32
      }
      affine.store %s, %y[%m, %j] : memref<?x40xf32>
    } {dlc.parallel}
  } {dlc.parallel}
  return
}"""


@pytest.mark.parametrize("batch", [0, 1, 3, 6, 7, 12, 13, 24])
def test_any_number_of_rows(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_open_rows, "_block", lambda *_: 40)
    generator = np.random.default_rng(batch)
    x, w = (generator.standard_normal(shape).astype(np.float32) for shape in ((batch, 7, 24), (24, 40)))
    y = np.full((batch * 7, 40), np.nan, np.float32)
    affine = run(_TEXT, [x, w, y], ("affine-split-open-rows", "affine-tile-registers", "affine-vectorize-loops", "canonicalize"))
    assert "floordiv 40" in affine
    assert "mod 40" in affine
    np.testing.assert_allclose(y, x.reshape(-1, 24) @ w, rtol=1e-5, atol=1e-5)
