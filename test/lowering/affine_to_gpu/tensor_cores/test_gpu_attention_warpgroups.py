"""Attention by `wgmma` on panels by TMA, run lane by lane in shuffled order, computes what its reference says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gpu_interpreter import program
from test_gpu_attention import AT_END, CASES, CAUSAL, ROUNDING, Case, lowered

from dlc._mlir import ir
from dlc.dialects import make_context

_GPU = '{chip = "sm_90", warpgroup_rates = {bf16 = 2048 : i64, f16 = 2048 : i64, i8 = 0 : i64, tf32 = 0 : i64}}'
_TILES: Mapping[str, Any] = {"warpgroup_columns": (64,), "mma_block_sides": (128,), "mma_warp_sides": (64,)}
"""Tiles of 64 keys, where none of `mma.sync` fits."""
_LONG = {
    "ragged": Case(heads=1, kv_heads=1, queries=70, keys=200),
    "two warpgroups": Case(heads=1, kv_heads=1, queries=130, keys=140, size=64, value_size=64),
    "causal": Case(heads=2, kv_heads=1, queries=80, keys=200, size=64, value_size=64, attributes=CAUSAL),
    "causal behind a cache": Case(heads=1, kv_heads=1, queries=70, keys=330, attributes=AT_END),
    "heads of two pieces": Case(heads=1, kv_heads=1, queries=64, keys=130, size=128, value_size=96),
}


def _found(case: Case, dtype: str, pattern: str = "$^", replacement: str = "") -> float:
    """The largest difference from the reference, where the text of the kernel is changed; NaN counts as much."""
    arrays = case.arrays(dtype, 0)
    with make_context(), ir.Location.unknown():
        module = lowered(case.text(dtype), _TILES, _GPU)
        assert str(module).count("gpu.func") == 1 and "wgmma.mma_async.sync" in str(module), str(module)
        assert str(module).count("memref.alloc") == 1  # the result
        if pattern != "$^":
            text, count = re.subn(pattern, replacement, str(module))
            assert count
            module = ir.Module.parse(text)
        (found,) = program(module).run("main", *arrays)
    expected = case.expected(arrays)
    return float(np.nan_to_num(np.abs(found.reshape(expected.shape).astype(np.float32) - expected), nan=np.inf).max())


@pytest.mark.parametrize(
    "name", ["padding mask", "hidden queries", "shared heads, causal", "two queries of a group", "heads of 80"]
)
def test_forms(name: str) -> None:
    assert _found(CASES[name], "f16") < 4 * ROUNDING["f16"]


@pytest.mark.parametrize("name", _LONG)
def test_several_tiles(name: str) -> None:
    """Stages are used again, and results of tiles before are scaled."""
    dtype = "bf16" if name == "causal" else "f16"
    assert _found(_LONG[name], dtype) < 4 * ROUNDING[dtype]


def test_parts_of_rows_come_by_copies() -> None:
    """TMA does not begin inside a row: `mma.sync` takes such operands."""
    with make_context(), ir.Location.unknown():
        text = str(lowered(replace(CASES["plain"], size=36).text("f16"), {"mma_block_sides": (64,)}, _GPU))
    assert "nvgpu.mma.sync" in text and "wgmma" not in text


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        (r"wgmma\.wait_group\.sync\.aligned 1;", "wgmma.wait_group.sync.aligned 2;"),
        (r"wgmma\.wait_group\.sync\.aligned 0;", "wgmma.wait_group.sync.aligned 1;"),
        (r"nvvm\.mbarrier\.try_wait\.parity .*", ""),
        (r"nvvm\.wgmma\.fence\.aligned.*", ""),
    ],
)
def test_what_a_kernel_needs(pattern: str, replacement: str) -> None:
    """Waits for products, waits for panels and fences: the interpreter sees that one is missing."""
    assert _found(_LONG["ragged"], "f16", pattern, replacement) > 1e-2
