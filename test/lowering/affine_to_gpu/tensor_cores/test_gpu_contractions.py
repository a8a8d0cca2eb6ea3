"""Contractions of random sizes on tensor cores, run lane by lane, compute what NumPy says."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from gpu_contraction_nests import DTYPES, FORMS, NESTS, lowered, meaning
from gpu_interpreter import program
from gpu_warps import AsyncCopies
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from dlc._mlir import ir
from dlc.dialects import make_context

_TILES: tuple[dict[str, Any], ...] = (
    {},
    {"mma_block_sides": (64,), "mma_warp_sides": (32,), "mma_stages": (2,)},
    {"mma_block_sides": (32, 64), "mma_warp_sides": (16,), "mma_depths": (32,)},
)
"""Choices of tiles: all of them, and some with several warps."""


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("name", list(NESTS))
@pytest.mark.parametrize("kind", list(FORMS))
def test_random_sizes(name: str, kind: str) -> None:
    """Each contraction goes to tensor cores, whatever it costs; the number of multiprocessors decides on tiles."""
    _check(name, kind, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(NESTS))
@pytest.mark.parametrize("kind", list(FORMS))
def test_three_hundred_kernels(name: str, kind: str) -> None:
    """Fifteen of each form and type."""
    _check(name, kind, 15)


def _check(name: str, kind: str, examples: int) -> None:
    sizes = st.integers(1, 80)

    @settings(
        max_examples=examples, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck), database=None
    )
    @given(sizes, sizes, sizes, st.sampled_from((1, 8, 100)), st.sampled_from(_TILES))
    @example(48, 64, 96, 2, _TILES[1])  # whole chunks of 16 bytes
    def check(m: int, n: int, k: int, multiprocessors: int, tiles: dict[str, Any]) -> None:
        nest, (result, epilogue) = NESTS[name][0](m, n, k), FORMS[kind]
        numbers = np.random.default_rng(m + n + k)
        a, b, c = (numbers.integers(-3, 4, shape).astype(DTYPES[dtype]) for (shape, _), dtype in nest.memrefs(kind, result))
        want = meaning(name, a, b).astype(c.dtype) + (c if kind == "f16" else 0)
        with make_context(), ir.Location.unknown():
            module = lowered(nest.text(kind, result, epilogue), f"{{multiprocessors = {multiprocessors}}}", tiles)
            assert "nvgpu.mma.sync" in str(module)
            run = program(module, seed=m)
        run.run("f", a, b, c)
        np.testing.assert_array_equal(c, want)

    check()


def test_part_of_each_row() -> None:
    """An operand is a view with gaps, from some column of a buffer on."""
    part = "memref<40x32xf16, strided<[96, 1], offset: 64>>"
    alone = "{llvm.noalias}"
    text = f"""func.func @f(%A: memref<40x96xf16> {alone}, %B: memref<32x24xf16> {alone}, %C: memref<40x24xf32> {alone}) {{
      %zero = arith.constant 0.0 : f32
      %P = memref.subview %A[0, 64] [40, 32] [1, 1] : memref<40x96xf16> to {part}
      affine.for %m = 0 to 40 {{ affine.for %n = 0 to 24 {{
        %t = affine.for %k = 0 to 32 iter_args(%s = %zero) -> f32 {{
          %a = affine.load %P[%m, %k] : {part}
          %b = affine.load %B[%k, %n] : memref<32x24xf16>
          %x = arith.extf %a : f16 to f32
          %y = arith.extf %b : f16 to f32
          %p = arith.mulf %x, %y : f32
          %sum = arith.addf %s, %p : f32
          affine.yield %sum : f32 }}
        affine.store %t, %C[%m, %n] : memref<40x24xf32>
      }} {{dlc.parallel}} }} {{dlc.parallel}}
      return }}"""
    numbers = np.random.default_rng(0)
    a, b = (numbers.integers(-3, 4, shape).astype(np.float16) for shape in ((40, 96), (32, 24)))
    c = np.zeros((40, 24), np.float32)
    with make_context(), ir.Location.unknown():
        module = lowered(text, "{}", {})
        assert "nvgpu.mma.sync" in str(module)
        program(module).run("f", a, b, c)
    np.testing.assert_array_equal(c, a[:, 64:].astype(np.float32) @ b.astype(np.float32))


def _broken(pattern: str, replacement: str) -> np.ndarray:
    """The difference from the right result of a kernel that lacks something."""
    nest = NESTS["matmul"][0](64, 128, 512)
    numbers = np.random.default_rng(0)
    a, b = (numbers.integers(-3, 4, shape).astype(np.float16) for shape in ((64, 512), (512, 128)))
    c = np.zeros((64, 128), np.float32)
    with make_context(), ir.Location.unknown():
        module = lowered(nest.text("f16", "f32", FORMS["bf16"][1]), "{multiprocessors = 1}", _TILES[1])
        text, count = re.subn(pattern, replacement, str(module))
        assert count
        program(ir.Module.parse(text)).run("f", a, b, c)
    return c - a.astype(np.float32) @ b.astype(np.float32)


def test_interpreter_finds_a_missing_wait() -> None:
    assert not _broken("gpu.barrier", "gpu.barrier").any()
    assert _broken("nvvm.cp.async.wait.group .*", "").any()


def test_interpreter_finds_a_wait_for_too_little() -> None:
    assert _broken("nvvm.cp.async.wait.group .*", "nvvm.cp.async.wait.group 9").any()


def test_interpreter_finds_a_missing_barrier_between_stages() -> None:
    assert _broken("gpu.barrier.*", "").any()


def test_copies_are_checked() -> None:
    copies, source, target = AsyncCopies(np.random), np.zeros(64, np.float16), np.ones((2, 16), np.float16)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="16 bytes at byte 8"):
        copies.start(target, (0, 0), source, (4,), 8, 8)
    with pytest.raises(IndexError):
        copies.start(target, (1, 16), source, (0,), 8, 8)
    copies.start(target, (1, 8), source, (0,), 8, 0)
    copies.close()
    copies.wait(0)
    assert target.sum() == 24
