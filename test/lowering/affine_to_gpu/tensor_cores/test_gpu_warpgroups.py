"""Contractions by `wgmma`, run lane by lane on descriptors of shared memory, compute what NumPy says."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from gpu_contraction_nests import DTYPES, FORMS, NESTS, lowered, meaning
from gpu_interpreter import program
from gpu_warpgroups import BlockMemory

from dlc._mlir import ir
from dlc.dialects import make_context

_GPU = (
    '{chip = "sm_90", ptx = 80, multiprocessors = 8, shared_per_multiprocessor = 233472, '
    "warpgroup_rates = {f16 = 2048, bf16 = 2048, tf32 = 1024, i8 = 4096}}"
)
_NO_WARPS: dict[str, Any] = {"mma_block_sides": (16,), "mma_warp_sides": (32,), "mma_stages": (3, 2)}
"""No tile of `mma.sync` fits."""


def _module(name: str, kind: str, sizes: tuple[int, int, int], **tiles: tuple[int, ...]) -> tuple[ir.Module, list[np.ndarray]]:
    """A contraction at level gpu, in the current context, and its arrays."""
    nest, (result, epilogue) = NESTS[name][0](*sizes), FORMS[kind]
    numbers = np.random.default_rng(sum(sizes))
    arrays = [numbers.integers(-3, 4, shape).astype(DTYPES[dtype]) for (shape, _), dtype in nest.memrefs(kind, result)]
    return lowered(nest.text(kind, result, epilogue), _GPU, _NO_WARPS | tiles), arrays


@pytest.mark.parametrize("name", list(NESTS))
@pytest.mark.parametrize("kind", list(FORMS))
def test_kernels_compute_what_numpy_does(name: str, kind: str) -> None:
    """Edges in both directions and along the sum; both operands by rows and by columns."""
    with make_context(), ir.Location.unknown():
        module, (a, b, c) = _module(name, kind, (37, 41, 72), warpgroup_columns=(64,), warpgroup_rows=(64,))
        assert "nvvm.wgmma.mma_async" in str(module)
        run = program(module, seed=1)
    want = meaning(name, a, b).astype(c.dtype) + (c if kind == "f16" else 0)
    run.run("f", a, b, c)
    np.testing.assert_array_equal(c, want)


@pytest.mark.parametrize("depth", [32, 64, 128])
def test_two_warpgroups_and_each_swizzle(depth: int) -> None:
    assert not _difference("gpu.barrier", "gpu.barrier", depth).any()


@pytest.mark.parametrize(
    "missing",
    ["nvvm.cp.async.wait.group .*", "gpu.barrier.*", "nvvm.fence.proxy .*", "nvvm.wgmma.fence.aligned", "nvvm.wgmma.wait.*"],
)
def test_interpreter_finds_what_is_missing(missing: str) -> None:
    assert _difference(missing, "", 64).any()


def test_interpreter_finds_a_wait_for_too_little() -> None:
    assert _difference(r"(nvvm.wgmma.wait.group.sync.aligned) 0", r"\1 1", 64).any()


def test_interpreter_finds_another_swizzle() -> None:
    memory = BlockMemory(np.arange(8 * 128, dtype=np.int64).astype(np.int8))
    memory.show()
    offsets = 1 << 16 | 64 << 32
    found = memory.matrix(offsets | 1 << 62, (8, 32), np.dtype(np.int8), True)
    np.testing.assert_array_equal(found[3, :16], memory.bytes.reshape(8, 8, 16)[3, 3])
    assert (memory.matrix(offsets, (8, 16), np.dtype(np.int8), True) != found[:, :16]).any()


def _difference(pattern: str, replacement: str, depth: int) -> np.ndarray:
    """From the right result, of a kernel with something else in the place of `pattern`; TMA does not take its pitch."""
    with make_context(), ir.Location.unknown():
        module, (a, b, c) = _module(
            "matmul", "bf16", (128, 64, 260), warpgroup_columns=(64,), warpgroup_rows=(128,), mma_depths=(depth,)
        )
        text, count = re.subn(pattern, replacement, str(module))
        assert count
        program(ir.Module.parse(text)).run("f", a, b, c)
    difference: np.ndarray = c - meaning("matmul", a, b)
    return difference
