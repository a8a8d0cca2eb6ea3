"""Rows that threads keep in registers: run thread by thread, in an order that is shuffled, they give what NumPy does."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from gpu_interpreter import Program, program
from gpu_nests import SOFTMAX_ROWS

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline

_NORM = """
!A = memref<{m}x{n}x{kind}>
func.func @f(%A: !A {{llvm.noalias}}, %B: !A {{llvm.noalias}}, %w: memref<{n}xf32> {{llvm.noalias}}, %C: !A {{llvm.noalias}}) {{
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to {m} {{
    %sum = affine.for %j = 0 to {n} iter_args(%s = %zero) -> f32 {{
      %a = affine.load %A[%i, %j] : !A
      %b = affine.load %B[%i, %j] : !A
      %r = arith.addf %a, %b : {kind}
      affine.store %r, %C[%i, %j] : !A
      {widen_r}
      %p = arith.mulf %r0, %r0 : f32
      %t = arith.addf %s, %p : f32
      affine.yield %t : f32
    }}
    affine.for %j = 0 to {n} {{
      %c = affine.load %C[%i, %j] : !A
      {widen_c}
      %w0 = affine.load %w[%j] : memref<{n}xf32>
      %d = arith.divf %c0, %sum : f32
      %e = arith.mulf %d, %w0 : f32
      {narrow}
      affine.store %o, %C[%i, %j] : !A
    }}
  }}
  return
}}"""

_TYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


def _compiled(text: str, **facts: int) -> Program:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        if facts:
            stated = ", ".join(f"{name} = {value}" for name, value in facts.items())
            module.operation.attributes["dlc.gpu"] = ir.Attribute.parse(f"{{{stated}}}")
        Pipeline.parse("affine-to-gpu" if facts else "dl-set-target{target=gpu:sm_90},affine-to-gpu").run(module)
        return program(module, seed=len(text))


def _softmax(rows: int, columns: int, run: Program) -> None:
    given = np.random.default_rng(columns).standard_normal((rows, columns)).astype(np.float32)
    found = np.full_like(given, np.nan)
    run.run("f", given, found, rows)
    expected = np.exp(given - given.max(1, keepdims=True))
    np.testing.assert_allclose(found, expected / expected.sum(1, keepdims=True), rtol=2e-5)


@pytest.mark.parametrize(
    ("columns", "threads"),
    [(128, 32), (768, 128), (770, 256), (1001, 512), (4096, 1024), (5000, 1024), (20001, 1024), (40004, 1024)],
)
def test_few_rows(columns: int, threads: int) -> None:
    """As many warps as a row has vectors for; rows that are too long for registers are read anew."""
    run = _compiled(SOFTMAX_ROWS.format(m=2, n=columns, rows=2))
    _softmax(2, columns, run)
    assert [size[0] for _, _, size in run.launches] == [threads]


@pytest.mark.parametrize(("columns", "threads"), [(64, (32, 8, 1)), (1024, (32, 8, 1)), (1028, (64, 1, 1)), (4096, (128, 1, 1))])
def test_many_rows(columns: int, threads: tuple[int, ...]) -> None:
    """No more warps than it takes to keep a row in registers; the number of rows is known when the kernel runs."""
    run = _compiled(SOFTMAX_ROWS.format(m="?", n=columns, rows="%m"))
    _softmax(5, columns, run)
    assert [size for _, _, size in run.launches] == [threads]


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("columns", [0, 1, 31, 32, 33, 200])
def test_rows_of_open_length(rows: int, columns: int) -> None:
    """One kernel for all lengths: the threads of a warp share a row, and those behind its end do nothing."""
    text = SOFTMAX_ROWS.format(m="?", n="?", rows="%m").replace("0 to ?", "0 to %n").replace("%m: index)", "%m: index, %n: index)")
    run = _compiled(text)
    given = np.random.default_rng(columns).standard_normal((rows, columns)).astype(np.float32)
    found = np.full_like(given, np.nan)
    run.run("f", given, found, rows, columns)
    expected = np.exp(given - given.max(1, keepdims=True, initial=-np.inf))
    np.testing.assert_allclose(found, expected / expected.sum(1, keepdims=True), rtol=2e-5)
    assert [size for _, _, size in run.launches] == [(32, 8, 1)]


def test_blocks_that_take_several_rows() -> None:
    """A grid with fewer blocks than rows: what warps exchange is not overwritten before all have read it."""
    run = _compiled(SOFTMAX_ROWS.format(m="?", n=256, rows="%m"), most_blocks_y=2, multiprocessors=100)
    _softmax(5, 256, run)


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("kind", list(_TYPES))
@pytest.mark.parametrize("columns", [256, 768, 1544, 1001])
def test_a_sum_of_rows_that_is_stored_on_the_way(kind: str, columns: int) -> None:
    """What a thread stores and reads again is kept; the first of two stores goes."""
    wide = kind == "f32"
    text = _NORM.format(
        m=3,
        n=columns,
        kind=kind,
        widen_r="%r0 = arith.addf %r, %zero : f32" if wide else f"%r0 = arith.extf %r : {kind} to f32",
        widen_c="%c0 = arith.addf %c, %zero : f32" if wide else f"%c0 = arith.extf %c : {kind} to f32",
        narrow="%o = arith.addf %e, %zero : f32" if wide else f"%o = arith.truncf %e : f32 to {kind}",
    )
    numbers = np.random.default_rng(columns)
    left, right = (numbers.integers(-4, 5, (3, columns)).astype(_TYPES[kind]) for _ in range(2))
    weights, found = numbers.integers(1, 5, columns).astype(np.float32), np.full_like(left, np.nan)
    run = _compiled(text)
    run.run("f", left, right, weights, found)
    total = left.astype(np.float32) + right.astype(np.float32)
    expected = total / (total * total).sum(1, keepdims=True) * weights
    np.testing.assert_allclose(found.astype(np.float32), expected.astype(_TYPES[kind]).astype(np.float32), rtol=1e-2, atol=1e-6)


_HALVES = """
!A = memref<{m}x{n}x{kind}>
func.func @f(%A: !A {{llvm.noalias}}, %C: !A {{llvm.noalias}}) {{
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to {m} {{
    %own = memref.alloca() : memref<{n}xf32>
    %sum = affine.for %j = 0 to {n} iter_args(%s = %zero) -> f32 {{
      %a = affine.load %A[%i, %j] : !A
      %w = arith.extf %a : {kind} to f32
      %p = arith.mulf %w, %w : f32
      affine.store %p, %own[%j] : memref<{n}xf32>
      %t = arith.addf %s, %p : f32
      affine.yield %t : f32
    }}
    affine.for %j = 0 to {n} {{
      %p = affine.load %own[%j] : memref<{n}xf32>
      %d = arith.divf %p, %sum : f32
      %o = arith.truncf %d : f32 to {kind}
      affine.store %o, %C[%i, %j] : !A
    }}
  }}
  return
}}"""


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("columns", [256, 1024, 4096, 1544, 1001])
def test_a_row_of_wider_numbers_on_the_way(kind: str, columns: int) -> None:
    """Eight f16 are two vectors of f32: both halves stay with the thread, and no memory is left for them."""
    run = _compiled(_HALVES.format(m=3, n=columns, kind=kind))
    given = np.random.default_rng(columns).integers(-4, 5, (3, columns)).astype(_TYPES[kind])
    found = np.full_like(given, np.nan)
    run.run("f", given, found)
    squares = given.astype(np.float32) ** 2
    np.testing.assert_array_equal(found, (squares / squares.sum(1, keepdims=True)).astype(_TYPES[kind]))
    assert len(run.launches) == 1 and "_new((3" not in run.text
