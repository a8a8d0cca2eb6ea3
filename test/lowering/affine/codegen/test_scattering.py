"""Products whose results are stored with their lanes apart, through the register tiles and the JIT, compared with NumPy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import guard_pages
import numpy as np
import pytest
from guard_pages import SUPPORTED
from test_codegen import run
from test_transpose_tiles import Make

from dlc.targets.machine import Machine

PASSES = ("affine-tile-registers", "affine-vectorize-loops", "affine-stream-stores", "canonicalize", "cse")


def product(rows: int, pixels: int, blocks: int, inner: int, schedule: str) -> str:
    """y[block, lane, i, j] = sum over k of x[i, j, k] * w[block, k, lane]."""
    x, w, y = f"{rows}x{pixels}x{inner}xf32", f"{blocks}x{inner}x16xf32", f"{blocks}x16x{rows}x{pixels}xf32"
    return f"""
func.func @kernel(%x: memref<{x}>, %w: memref<{w}>, %y: memref<{y}>) attributes {{llvm.emit_c_interface}} {{
  affine.for %i = 0 to {rows} {{
    affine.for %j = 0 to {pixels} {{
      affine.for %b = 0 to {blocks} {{
        affine.for %n = 0 to 16 {{
          %zero = arith.constant 0.0 : f32
          %0 = affine.for %k = 0 to {inner} iter_args(%acc = %zero) -> (f32) {{
            %a = affine.load %x[%i, %j, %k] : memref<{x}>
            %c = affine.load %w[%b, %k, %n] : memref<{w}>
            %p = arith.mulf %a, %c : f32
            %s = arith.addf %acc, %p : f32
            affine.yield %s : f32
          }}
          affine.store %0, %y[%b, %n, %i, %j] : memref<{y}>
        }} {{dlc.parallel}}
      }} {{dlc.parallel}}
    }} {{dlc.parallel}}
  }} {{dlc.parallel{schedule}}}
  return
}}"""


def tiled(lanes: int, unroll_and_jam: str) -> str:
    """The attribute of a schedule with channels as lanes."""
    tile = f'code_generator = "tile", lane_loop = 3 : i64, lanes = {lanes} : i64, unroll_and_jam = [{unroll_and_jam}]'
    return f", dlc.schedule = {{{tile}}}"


def check(rows: int, pixels: int, blocks: int, inner: int, schedule: str, make: Make = np.array) -> None:
    """Multiply random numbers in arrays that `make` gives."""
    random = np.random.default_rng(rows * pixels + blocks)
    x = make(random.standard_normal((rows, pixels, inner)).astype(np.float32))
    w = make(random.standard_normal((blocks, inner, 16)).astype(np.float32))
    y = make(np.full((blocks, 16, rows, pixels), np.nan, np.float32))
    text = run(product(rows, pixels, blocks, inner, schedule), [x, w, y], PASSES)
    expected = np.einsum("ijk,bkn->bnij", x.astype(np.float64), w.astype(np.float64))
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4, err_msg=text)


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 13, 16, 17])
def test_runs_of_every_length(lanes: int, count: int) -> None:
    """Runs of up to as many elements as a vector has lanes are transposed; longer ones, and single ones, go lane by lane."""
    check(2, 19, 3, 5, tiled(lanes, f"array<i64: 1, {count}>"))


def test_runs_beside_other_copies() -> None:
    check(4, 14, 6, 9, tiled(16, "array<i64: 1, 7>, array<i64: 2, 3>"))
    check(4, 14, 6, 9, tiled(16, "array<i64: 0, 2>, array<i64: 2, 3>"))


@pytest.mark.parametrize("vector_bits", [128, 256, 512])
def test_choice_of_the_cost_model(vector_bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "vector_bits", vector_bits)
    check(7, 7, 10, 33, "")
    check(3, 28, 4, 16, "")


_BESIDE_GUARD_PAGES = """
from guard_pages import EDGES, guarded
from test_scattering import check, tiled
for edge in EDGES:
    for count in (1, 3, 7, 8, 12):
        check(2, 13, 2, 4, tiled(16, f"array<i64: 1, {count}>"), lambda values: guarded(values, edge))
print("done")
"""


@pytest.mark.skipif(not SUPPORTED, reason="needs mprotect as on Linux")
def test_no_access_outside_the_buffers() -> None:
    folders = [str(Path(__file__).parent), str(Path(guard_pages.__file__).parent)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(folders)}
    command = [sys.executable, "-c", _BESIDE_GUARD_PAGES]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr
