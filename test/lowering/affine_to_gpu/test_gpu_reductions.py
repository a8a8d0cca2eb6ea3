"""Reductions along rows, by shuffles of warps: thread by thread, in an order that is shuffled, they give what NumPy does."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_interpreter import program
from gpu_nests import SOFTMAX_ROWS
from gpu_warps import exchange, together

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.dialects import make_context
from dlc.lowering.affine_to_gpu.warp_accesses import summary_of, warp_accesses
from dlc.lowering.pipeline import Pipeline
from dlc.targets.machine import gpu_facts_of

_IMAGE = """
!A = memref<{m}x7x7xf32>
func.func @f(%A: !A {{llvm.noalias}}, %w: memref<7xf32> {{llvm.noalias}}, %C: memref<{m}xf32> {{llvm.noalias}}) {{
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to {m} {{
    %sum = affine.for %u = 0 to 7 iter_args(%r = %zero) -> f32 {{
      %row = affine.for %v = 0 to 7 iter_args(%s = %r) -> f32 {{
        %a = affine.load %A[%i, %u, %v] : !A
        %b = affine.load %w[%v] : memref<7xf32>
        %p = arith.mulf %a, %b : f32
        %t = arith.addf %s, %p : f32
        affine.yield %t : f32
      }}
      affine.yield %row : f32
    }}
    affine.store %sum, %C[%i] : memref<{m}xf32>
  }}
  return
}}"""


def test_a_warp_sums_a_small_image() -> None:
    """Neighbours of a warp are neighbours in memory across rows of the image."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(_IMAGE.format(m=70))
        Pipeline(["dl-set-target{target=gpu:sm_80}", "affine-to-gpu"]).run(module)
        (kernel,) = [op for op in nested_ops(module.operation) if op.name == "gpu.func"]
        accesses = summary_of(warp_accesses(kernel, gpu_facts_of(module.operation)))
        run = program(module)
    given = np.random.default_rng(0).integers(-9, 9, (70, 7, 7)).astype(np.float32)
    weights, found = np.arange(7, dtype=np.float32), np.zeros(70, np.float32)
    run.run("f", given, weights, found)
    np.testing.assert_array_equal(found, (given * weights).sum((1, 2)))
    assert accesses.uncoalesced == 0


@pytest.mark.parametrize(("rows", "columns"), [(8, 128), (3, 70)])
def test_softmax_combines_its_sums_by_shuffles(rows: int, columns: int) -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(SOFTMAX_ROWS.format(m=rows, n=columns, rows=rows))
        Pipeline(["dl-set-target{target=gpu:sm_90}", "affine-to-gpu"]).run(module)
        text = str(module)
        run = program(module)
    assert text.count("gpu.shuffle") == 10
    given = np.random.default_rng(0).standard_normal((rows, columns)).astype(np.float32)
    found = np.zeros_like(given)
    run.run("f", given, found, rows)
    expected = np.exp(given - given.max(1, keepdims=True))
    np.testing.assert_allclose(found, expected / expected.sum(1, keepdims=True), rtol=1e-5)


def test_a_shuffle_takes_all_lanes_of_a_warp() -> None:
    assert [value for value, _ in together([("shuffle xor", lane, 16, 32) for lane in range(32)])] == [*range(16, 32), *range(16)]
    with pytest.raises(AssertionError, match="in 31 threads"):
        together([("shuffle xor", lane, 16, 32) for lane in range(31)])


def test_a_shuffle_past_the_end_gives_the_own_value() -> None:
    found = exchange([(lane, 1, 8) for lane in range(32)], lambda lane, offset: lane + offset)
    assert found[6:9] == [(7, True), (7, False), (9, True)]
