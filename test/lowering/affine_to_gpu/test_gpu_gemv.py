"""Products of few rows with a matrix: run thread by thread, in an order that is shuffled, they give what NumPy does."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from gpu_interpreter import program

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline

_TYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8}

_PRODUCT = """
!A = memref<{b}x{m}x{k}x{kind}>
!B = memref<{b}x{k}x{n}x{kind}>
!C = memref<{b}x{m}x{n}x{total}>
func.func @f(%A: !A {{llvm.noalias}}, %B: !B {{llvm.noalias}}, %d: memref<{n}x{total}> {{llvm.noalias}}, %C: !C {{llvm.noalias}}) {{
  %start = arith.constant {start} : {total}
  affine.for %z = 0 to {b} {{
    affine.for %i = 0 to {m} {{
      affine.for %j = 0 to {n} {{
        %s = affine.for %k = 0 to {k} iter_args(%t = %start) -> {total} {{
          %a = affine.load %A[%z, %i, %k] : !A
          %b = affine.load %B[%z, %k, %j] : !B
          {widen}
          %p = arith.mul{sort} %a0, %b0 : {total}
          %u = arith.add{sort} %t, %p : {total}
          affine.yield %u : {total}
        }}
        %d0 = affine.load %d[%j] : memref<{n}x{total}>
        %r = arith.add{sort} %s, %d0 : {total}
        affine.store %r, %C[%z, %i, %j] : !C
      }} {{dlc.parallel}}
    }} {{dlc.parallel}}
  }} {{dlc.parallel}}
  return
}}"""


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("kind", list(_TYPES))
@pytest.mark.parametrize(
    ("batch", "rows", "columns", "depth"),
    [(1, 1, 256, 300), (1, 1, 1000, 64), (1, 1, 257, 96), (1, 4, 128, 77), (1, 8, 264, 130), (3, 1, 96, 40), (1, 7, 66, 1000)],
)
def test_few_rows(kind: str, batch: int, rows: int, columns: int, depth: int) -> None:
    """One kernel, whatever divides the sizes; numbers are small, so that sums are exact in any order."""
    is_float = kind != "i8"
    total = "f32" if is_float else "i32"
    widen = "\n".join(
        f"%{one}0 = arith.addf %{one}, %{one} : f32"
        if kind == "f32"
        else f"%{one}0 = arith.ext{'f' if is_float else 'si'} %{one} : {kind} to {total}"
        for one in "ab"
    )
    text = _PRODUCT.format(
        b=batch,
        m=rows,
        n=columns,
        k=depth,
        kind=kind,
        total=total,
        widen=widen,
        sort="f" if is_float else "i",
        start="2.0" if is_float else "2",
    )
    if kind == "f32":
        text = text.replace(widen, "").replace("%a0", "%a").replace("%b0", "%b")
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        Pipeline.parse("dl-set-target{target=gpu:sm_90},affine-to-gpu").run(module)
        run = program(module, seed=columns)
    numbers = np.random.default_rng(depth)
    left = numbers.integers(-4, 5, (batch, rows, depth)).astype(_TYPES[kind])
    right = numbers.integers(-4, 5, (batch, depth, columns)).astype(_TYPES[kind])
    wide = np.float32 if is_float else np.int32
    added = numbers.integers(-4, 5, columns).astype(wide)
    found = np.zeros((batch, rows, columns), wide)
    run.run("f", left, right, added, found)
    np.testing.assert_array_equal(found, left.astype(wide) @ right.astype(wide) + added + 2)
    assert len(run.launches) == 1 and "mma" not in run.text


@pytest.mark.sweep(every=10)
@pytest.mark.parametrize(("batch", "rows", "columns"), [(1, 1, 256), (3, 2, 96), (12, 1, 64)])
def test_open_sums(batch: int, rows: int, columns: int) -> None:
    """One kernel for sums of any length, as those over a growing cache: none, shorter than the parts, with and without a rest."""
    sizes = {"b": batch, "m": rows, "n": columns, "k": "?", "kind": "f32", "total": "f32", "sort": "f", "start": "2.0"}
    text = _PRODUCT.format(**sizes, widen="").replace("%a0", "%a").replace("%b0", "%b").replace("%k = 0 to ?", "%k = 0 to %size")
    size = "%at = arith.constant 2 : index\n%size = memref.dim %A, %at : !A\n%start"
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text.replace("%start", size, 1))
        Pipeline.parse("dl-set-target{target=gpu:sm_90},affine-to-gpu").run(module)
        assert "gpu.shuffle" in str(module) and str(module).count("gpu.func") == 1
        for depth in (0, 1, 31, 64, 65, 300):
            numbers, run = np.random.default_rng(depth), program(module, seed=depth)
            left, right = (
                numbers.integers(-4, 5, shape).astype(np.float32) for shape in ((batch, rows, depth), (batch, depth, columns))
            )
            added, found = numbers.integers(-4, 5, columns).astype(np.float32), np.zeros((batch, rows, columns), np.float32)
            run.run("f", left, right, added, found)
            np.testing.assert_array_equal(found, left @ right + added + 2, str(depth))
