"""Contractions on tensor cores whose operands are transposed before, run lane by lane, compute what NumPy says."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_contraction_nests import DTYPES, FORMS, NESTS, meaning
from gpu_interpreter import program

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.policy import policy, using

_PASSES = (
    "affine-transpose-operands{tf32=true},convert-contractions-to-mma{tf32=true},affine-map-to-gpu,convert-affine-to-gpu,"
    "canonicalize,cse,gpu-launch-sink-index-computations,gpu-kernel-outlining"
)
_FREE_COPIES = "{multiprocessors = 1000, memory_bytes_per_cycle = 1.0e9 : f64}"


def _lowered(text: str) -> ir.Module:
    """For a GPU whose memory and launches cost nothing, and copies by registers much: whatever can be transposed pays."""
    module = ir.Module.parse(text)
    module.operation.attributes["dlc.gpu"] = ir.Attribute.parse(_FREE_COPIES)
    choices = {"launch_cycles": 0.0, "memory_latency": 100.0, "copy_instructions": 100.0, "mma_gain": 1e6}
    with using(policy().override(mma_held=128, mma_copy_registers=0, mma_block_sides=(32, 16), **choices)):
        Pipeline.parse(_PASSES).run(module)
    return module


@pytest.mark.parametrize("kind", ["f32", "i8"])
@pytest.mark.parametrize(("name", "m", "n", "k"), [("matmul", 17, 24, 96), ("transposed", 24, 20, 64), ("batched", 5, 8, 64)])
def test_transposed_operands(name: str, kind: str, m: int, n: int, k: int) -> None:
    nest, (result, epilogue) = NESTS[name][0](m, n, k), FORMS[kind]
    numbers = np.random.default_rng(m + n + k)
    a, b, c = (numbers.integers(-2, 3, shape).astype(DTYPES[dtype]) for (shape, _), dtype in nest.memrefs(kind, result))
    want = meaning(name, a, b).astype(c.dtype)
    with make_context(), ir.Location.unknown():
        module = _lowered(nest.text(kind, result, epilogue))
        assert "gpu.alloc" in str(module) and "nvgpu.mma.sync" in str(module)
        run = program(module, seed=m)
    run.run("f", a, b, c)
    np.testing.assert_array_equal(c, want)


def test_halves_stay_as_they_are() -> None:
    """`ldmatrix` transposes elements of two bytes itself."""
    result, epilogue = FORMS["bf16"]
    with make_context(), ir.Location.unknown():
        module = _lowered(NESTS["matmul"][0](32, 32, 64).text("bf16", result, epilogue))
        assert "gpu.alloc" not in str(module) and "nvgpu.mma.sync" in str(module)
