"""Sums on tensor cores that are split between blocks: parts and what adds them, run lane by lane, compute what NumPy says."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_contraction_nests import DTYPES, FORMS, NESTS, Nest, meaning
from gpu_interpreter import program

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.policy import policy, using

_START = """
!A = memref<{m}x{k}xf16>
!B = memref<{k}x{n}xf16>
!C = memref<{m}x{n}xf32>
func.func @f(%A: !A {{llvm.noalias}}, %B: !B {{llvm.noalias}}, %C: !C {{llvm.noalias}}) {{
  affine.for %i = 0 to {m} {{
    affine.for %j = 0 to {n} {{
      %old = affine.load %C[%i, %j] : !C
      %sum = affine.for %k = 0 to {k} iter_args(%s = %old) -> f32 {{
        %a = affine.load %A[%i, %k] : !A
        %b = affine.load %B[%k, %j] : !B
        %x = arith.extf %a : f16 to f32
        %y = arith.extf %b : f16 to f32
        %p = arith.mulf %x, %y : f32
        %new = arith.addf %s, %p : f32
        affine.yield %new : f32
      }}
      %d = arith.addf %sum, %sum : f32
      affine.store %d, %C[%i, %j] : !C
    }} {{dlc.parallel}}
  }} {{dlc.parallel}}
  return
}}"""


_WARPGROUPS = (
    '{chip = "sm_90", ptx = 80, multiprocessors = 1000, shared_per_multiprocessor = 233472, '
    "warpgroup_rates = {f16 = 2048, bf16 = 2048, tf32 = 1024, i8 = 4096}}"
)


def _lowered(text: str, gpu: str = "{multiprocessors = 1000}", **tiles: tuple[int, ...]) -> ir.Module:
    """For a GPU of many multiprocessors that launches for nothing: whatever can be split pays."""
    module = ir.Module.parse(text)
    module.operation.attributes["dlc.gpu"] = ir.Attribute.parse(gpu)
    passes = "affine-split-contractions{tf32=true},convert-contractions-to-mma{tf32=true},affine-map-to-gpu,convert-affine-to-gpu"
    outline = "canonicalize,cse,gpu-launch-sink-index-computations,gpu-kernel-outlining"
    with using(policy().override(mma_gain=1e6, mma_held=128, mma_copy_registers=0, launch_cycles=0.0, **tiles)):
        Pipeline.parse(f"{passes},{outline}").run(module)
    return module


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("kind", list(FORMS))
@pytest.mark.parametrize(("name", "m", "n", "k"), [("matmul", 17, 24, 512), ("transposed", 16, 24, 768), ("batched", 5, 8, 512)])
def test_parts_of_sums(name: str, kind: str, m: int, n: int, k: int) -> None:
    nest, (result, epilogue) = NESTS[name][0](m, n, k), FORMS[kind]
    numbers = np.random.default_rng(m + n + k)
    a, b, c = (numbers.integers(-2, 3, shape).astype(DTYPES[dtype]) for (shape, _), dtype in nest.memrefs(kind, result))
    want = meaning(name, a, b).astype(c.dtype) + (c if kind == "f16" else 0)
    with make_context(), ir.Location.unknown():
        module = _lowered(nest.text(kind, result, epilogue))
        assert "gpu.alloc" in str(module)
        run = program(module, seed=m)
    run.run("f", a, b, c)
    np.testing.assert_array_equal(c, want)
    assert [name for name, _, _ in run.launches] == ["f_kernel_f_kernel", "f_loops_kernel_f_loops_kernel"]


@pytest.mark.parametrize("name", ["matmul", "transposed"])
def test_parts_by_warpgroups(name: str) -> None:
    """A part is one more batch of the tensor maps that TMA copies by, too."""
    nest = NESTS[name][0](16, 64, 512)
    numbers = np.random.default_rng(2)
    a, b, c = (numbers.integers(-2, 3, shape).astype(DTYPES[dtype]) for (shape, _), dtype in nest.memrefs("f16", "f32"))
    sides: dict[str, tuple[int, ...]] = {"warpgroup_rows": (64,), "warpgroup_columns": (64,), "mma_block_sides": (16,)}
    with make_context(), ir.Location.unknown():
        text = nest.text("f16", "f32", "affine.store %t0, %C[{at}] : {c}")
        module = _lowered(text, _WARPGROUPS, **sides, mma_warp_sides=(32,))
        assert "gpu.alloc" in str(module) and "nvgpu.tma.create.descriptor" in str(module)
        run = program(module)
    run.run("f", a, b, c)
    np.testing.assert_array_equal(c, meaning(name, a, b))


def test_channels_of_a_convolution() -> None:
    """The innermost of three loops of a sum is split."""
    parallel, sums = {"y": 4, "x": 4, "o": 16}, {"u": 3, "v": 3, "c": 512}
    lhs, rhs = ((6, 6, 512), "%y + %u, %x + %v, %c"), ((16, 3, 3, 512), "%o, %u, %v, %c")
    nest = Nest(parallel, sums, lhs, rhs, ((4, 4, 16), "%y, %x, %o"))
    numbers = np.random.default_rng(0)
    a, b = (numbers.integers(-2, 3, shape).astype(np.float16) for shape, _ in (lhs, rhs))
    c = np.zeros((4, 4, 16), np.float32)
    with make_context(), ir.Location.unknown():
        module = _lowered(nest.text("f16", "f32", "affine.store %t0, %C[{at}] : {c}"))
        assert "gpu.alloc" in str(module)
        program(module).run("f", a, b, c)
    np.testing.assert_array_equal(c, meaning("conv_last", a, b))


def test_sums_start_once() -> None:
    """What a sum starts at is added by the second kernel alone, which reads it before it is overwritten."""
    numbers = np.random.default_rng(1)
    a, b = (numbers.integers(-2, 3, shape).astype(np.float16) for shape in ((20, 1024), (1024, 24)))
    c = numbers.integers(-9, 9, (20, 24)).astype(np.float32)
    want = 2 * (c + a.astype(np.float32) @ b.astype(np.float32))
    with make_context(), ir.Location.unknown():
        module = _lowered(_START.format(m=20, n=24, k=1024))
        assert "gpu.alloc" in str(module)
        program(module).run("f", a, b, c)
    np.testing.assert_array_equal(c, want)


def test_lengths_that_no_part_divides_stay_whole() -> None:
    with make_context(), ir.Location.unknown():
        module = _lowered(_START.format(m=20, n=24, k=1021))
        assert "gpu.alloc" not in str(module) and "nvgpu.mma.sync" in str(module)
