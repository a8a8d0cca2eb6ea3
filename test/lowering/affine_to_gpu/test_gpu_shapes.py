"""Nests of random sizes, run as kernels of a GPU thread by thread, compute what NumPy says; and what is wrong is found."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_interpreter import Program, program
from gpu_nests import NESTS
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline


def _compiled(text: str, multiprocessors: int) -> Program:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        module.operation.attributes["dlc.gpu"] = ir.Attribute.parse(f"{{multiprocessors = {multiprocessors}}}")
        Pipeline.parse("affine-to-gpu").run(module)
        return program(module)


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("name", list(NESTS))
def test_random_sizes(name: str) -> None:
    """With one multiprocessor loops get tiles in registers and shared memory, with many they are spread out."""
    text, meaning, shapes = NESTS[name]
    sizes = st.integers(3, 72)

    @settings(max_examples=4, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck), database=None)
    @given(sizes, sizes, st.integers(1, 40), st.sampled_from((1, 100)))
    @example(66, 70, 34, 1)  # whole tiles of 64 and what is left of them, sums long enough to be split
    def check(m: int, n: int, k: int, multiprocessors: int) -> None:
        numbers = np.random.default_rng(m + n + k)
        have = [numbers.integers(-4, 5, shape).astype(np.float64) for shape in shapes(m, n, k)]
        want = [array.copy() for array in have]
        meaning(*want)
        _compiled(text.format(m=m, n=n, k=k), multiprocessors).run("f", *have)
        for one, other in zip(have, want, strict=True):
            np.testing.assert_array_equal(one, other)

    check()


_PHASES = """
gpu.module @k {{
  gpu.func @k(%A: memref<64xf64>) workgroup(%w : memref<64xf64, #gpu.address_space<workgroup>>) kernel {{
    %t = gpu.thread_id x
    %a = affine.load %A[%t] : memref<64xf64>
    affine.store %a, %w[%t] : memref<64xf64, #gpu.address_space<workgroup>>
    {barrier}
    %b = affine.load %w[63 - %t] : memref<64xf64, #gpu.address_space<workgroup>>
    affine.store %b, %A[%t + {offset}] : memref<64xf64>
    gpu.return
  }}
}}
func.func @f(%A: memref<64xf64>) {{
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @k::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%A : memref<64xf64>)
  return
}}"""


def _run_phases(barrier: str, offset: int = 0) -> np.ndarray:
    values = np.arange(64.0)
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(f"module attributes {{gpu.container_module}} {{{_PHASES.format(barrier=barrier, offset=offset)}}}")
        program(module).run("f", values)
    return values


def test_interpreter_finds_a_missing_barrier() -> None:
    np.testing.assert_array_equal(_run_phases("gpu.barrier"), np.arange(64.0)[::-1])
    assert np.isnan(_run_phases("")).any()


def test_interpreter_finds_access_outside() -> None:
    with pytest.raises(IndexError):
        _run_phases("gpu.barrier", -1)
    with pytest.raises(IndexError):
        _run_phases("gpu.barrier", 1)


def test_interpreter_finds_a_barrier_that_not_all_reach() -> None:
    guarded = "affine.if affine_set<(d0) : (d0 - 10 >= 0)>(%t) { gpu.barrier }"
    with pytest.raises(AssertionError, match="do not come to a barrier"):
        _run_phases(guarded)
