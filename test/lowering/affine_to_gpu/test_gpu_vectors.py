"""Vectors of 16 bytes in kernels: run thread by thread, in an order that is shuffled, they give what NumPy does."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from gpu_interpreter import Program, program
from gpu_warps import vector_of

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline

_TYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8, "f64": np.float64}

_ADD = """
func.func @f(%A: memref<{size}x{kind}> {{llvm.noalias}}, %B: memref<{size}x{kind}> {{llvm.noalias}}, %n: index) {{
  affine.for %i = 0 to {n} {{
    %a = affine.load %A[%i] : memref<{size}x{kind}>
    %s = arith.{add} %a, %a : {kind}
    affine.store %s, %B[%i] : memref<{size}x{kind}>
  }}
  return
}}"""

_WIDEN = """
!C = memref<{m}x{n}xf32>
func.func @f(%A: memref<{m}x{n}xi8> {{llvm.noalias}}, %b: memref<{n}xf32> {{llvm.noalias}}, %C: !C {{llvm.noalias}}) {{
  affine.for %i = 0 to {m} {{
    affine.for %j = 0 to {n} {{
      %a = affine.load %A[%i, %j] : memref<{m}x{n}xi8>
      %b0 = affine.load %b[%j] : memref<{n}xf32>
      %w = arith.sitofp %a : i8 to f32
      %p = arith.mulf %w, %b0 : f32
      affine.store %p, %C[%i, %j] : !C
    }}
  }}
  return
}}"""

_NORM = """
!A = memref<{m}x{n}x{kind}>
func.func @f(%A: !A {{llvm.noalias}}, %C: !A {{llvm.noalias}}) {{
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to {m} {{
    %sum = affine.for %j = 0 to {n} iter_args(%s = %zero) -> f32 {{
      %a = affine.load %A[%i, %j] : !A
      {widen}
      %t = arith.addf %s, %w : f32
      affine.yield %t : f32
    }}
    affine.for %j = 0 to {n} {{
      %a = affine.load %A[%i, %j] : !A
      {widen}
      %d = arith.divf %w, %sum : f32
      {narrow}
      affine.store %r, %C[%i, %j] : !A
    }}
  }}
  return
}}"""

_COLUMNS = """
func.func @f(%A: memref<{m}x{n}xf32> {{llvm.noalias}}, %S: memref<{n}xf32> {{llvm.noalias}}) {{
  %zero = arith.constant 0.0 : f32
  affine.for %j = 0 to {n} {{
    %sum = affine.for %i = {first} iter_args(%s = %zero) -> f32 {{
      %a = affine.load %A[%i, %j] : memref<{m}x{n}xf32>
      %t = arith.addf %s, %a : f32
      affine.yield %t : f32
    }}
    affine.store %sum, %S[%j] : memref<{n}xf32>
  }}
  return
}}"""


def _compiled(text: str, **facts: int) -> Program:
    """A GPU of one multiprocessor with few threads is full with little work, so that vectors pay."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        stated = {"multiprocessors": 1, "threads_per_multiprocessor": 64, **facts}
        module.operation.attributes["dlc.gpu"] = ir.Attribute.parse(f"{{{', '.join(f'{k} = {v}' for k, v in stated.items())}}}")
        Pipeline.parse("affine-to-gpu").run(module)
        return program(module, seed=len(text))


@pytest.mark.parametrize("kind", list(_TYPES))
@pytest.mark.parametrize(("size", "count"), [(1024, 1024), (1023, 1023), (777, 776), (None, 1024), (None, 1001), (None, 3)])
def test_elements_side_by_side(kind: str, size: int | None, count: int) -> None:
    """Whole vectors, a tail, and sizes that are known when the kernel runs: none, too."""
    given = np.random.default_rng(count).integers(-60, 60, size or count).astype(_TYPES[kind])
    found = np.full_like(given, 99)
    end = count if size else "%n"
    run = _compiled(_ADD.format(size=size or "?", kind=kind, n=end, add="addi" if kind == "i8" else "addf"))
    run.run("f", given, found, count)
    expected = np.full_like(given, 99)
    expected[:count] = given[:count] + given[:count]
    np.testing.assert_array_equal(found, expected)
    assert run.text.count("_vector_of(") == 2


@pytest.mark.parametrize("columns", [64, 72, 68, 66, 67])
def test_bytes_and_numbers(columns: int) -> None:
    """As many neighbours of both types; rows of 67 start at odd places."""
    numbers = np.random.default_rng(columns)
    given = numbers.integers(-128, 128, (24, columns)).astype(np.int8)
    factors = numbers.integers(-8, 8, columns).astype(np.float32)
    found = np.full((24, columns), np.nan, np.float32)
    run = _compiled(_WIDEN.format(m=24, n=columns))
    run.run("f", given, factors, found)
    np.testing.assert_array_equal(found, given * factors)
    assert run.text.count("_vector_of(") == (3 if columns % 2 == 0 else 0)


@pytest.mark.parametrize(
    ("kind", "columns", "lanes"), [("f32", 256, 4), ("f32", 200, 4), ("f16", 256, 8), ("f32", 130, 2), ("f32", 129, 0)]
)
def test_rows(kind: str, columns: int, lanes: int) -> None:
    """Sums of a warp and what is done with them: a row is read by vectors of `lanes` elements, and written so."""
    wide = kind == "f32"
    text = _NORM.format(
        m=5,
        n=columns,
        kind=kind,
        widen="%w = arith.addf %a, %zero : f32" if wide else f"%w = arith.extf %a : {kind} to f32",
        narrow="%r = arith.addf %d, %zero : f32" if wide else f"%r = arith.truncf %d : f32 to {kind}",
    )
    given = np.random.default_rng(columns).integers(1, 9, (5, columns)).astype(_TYPES[kind])
    found = np.full_like(given, np.nan)
    run = _compiled(text, multiprocessors=100)
    run.run("f", given, found)
    single = given.astype(np.float32)
    np.testing.assert_array_equal(found, (single / single.sum(1, keepdims=True)).astype(_TYPES[kind]))
    assert run.text.count(f", {lanes})") >= 3 if lanes else "_vector_of(" not in run.text


@pytest.mark.parametrize(
    ("first", "columns", "is_whole"),
    [
        ("0 to 40", 256, True),
        ("0 to 40", 257, False),
        ("affine_map<(j) -> (j)>(%j) to 256", 256, True),
        ("0 to affine_map<(j) -> (j)>(%j)", 256, False),
    ],
)
def test_columns(first: str, columns: int, is_whole: bool) -> None:
    """Four sums a thread, where all rows of a group of four columns begin with the first of these."""
    given = np.random.default_rng(columns).integers(-8, 8, (256, columns)).astype(np.float32)
    found = np.full(columns, np.nan, np.float32)
    run = _compiled(_COLUMNS.format(m=256, n=columns, first=first))
    run.run("f", given, found)
    rows = given[:40] if first == "0 to 40" else np.tril(given) if "to 256" in first else np.triu(given, 1)
    np.testing.assert_array_equal(found, rows.sum(0))
    assert ("_vector_of(" in run.text) == is_whole


def test_vectors_that_start_elsewhere_are_found() -> None:
    with pytest.raises(AssertionError, match="16 bytes at byte 4"):
        vector_of(np.zeros(64, np.float32), (1,), 4)
