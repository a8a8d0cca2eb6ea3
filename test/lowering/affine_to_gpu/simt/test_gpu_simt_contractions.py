"""Contractions of random sizes without tensor cores, run thread by thread, compute what NumPy says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from gpu_contraction_nests import NESTS, meaning
from gpu_interpreter import program
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.policy import policy, using

_PLAIN = "affine.store %t0, %C[{at}] : {c}"
_ADDED = """%old = affine.load %C[{at}] : {c}
%new = arith.addf %t0, %old : f32
affine.store %new, %C[{at}] : {c}"""
_TILES: tuple[dict[str, Any], ...] = (
    {},
    {"simt_block_sides": (64, 32), "simt_stages": (2,)},
    {"simt_thread_sides": (4,), "simt_depths": (8,)},
    {"simt_block_sides": (128,), "simt_thread_sides": (8,)},
)
"""Choices of tiles: all of them, and some with several warps."""


def _lowered(text: str, gpu: str, tiles: Mapping[str, Any]) -> ir.Module:
    module = ir.Module.parse(text)
    module.operation.attributes["dlc.gpu"] = ir.Attribute.parse(gpu)
    passes = "affine-split-contractions,convert-contractions-to-simt,affine-map-to-gpu,convert-affine-to-gpu"
    outline = "canonicalize,cse,gpu-launch-sink-index-computations,gpu-kernel-outlining"
    with using(policy().override(**tiles)):
        Pipeline.parse(f"{passes},{outline}").run(module)
    return module


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("name", list(NESTS))
@pytest.mark.parametrize("epilogue", [_PLAIN, _ADDED], ids=["plain", "added"])
def test_random_sizes(name: str, epilogue: str) -> None:
    """The number of multiprocessors decides on tiles and parts."""
    _check(name, epilogue, 4)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(NESTS))
def test_two_hundred_kernels(name: str) -> None:
    _check(name, _ADDED, 40)


def _check(name: str, epilogue: str, examples: int) -> None:
    sizes = st.integers(9, 90)

    @settings(
        max_examples=examples, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck), database=None
    )
    @given(sizes, sizes, st.integers(1, 90), st.sampled_from((1, 8, 100)), st.sampled_from(_TILES))
    @example(128, 64, 96, 2, _TILES[0])  # whole tiles and chunks of 16 bytes
    def check(m: int, n: int, k: int, multiprocessors: int, tiles: dict[str, Any]) -> None:
        nest = NESTS[name][0](m, n, k)
        numbers = np.random.default_rng(m + n + k)
        a, b, c = (numbers.integers(-3, 4, shape).astype(np.float32) for (shape, _), _ in nest.memrefs("f32", "f32"))
        want = meaning(name, a, b) + (c if epilogue == _ADDED else 0)
        with make_context(), ir.Location.unknown():
            module = _lowered(nest.text("f32", "f32", epilogue), f"{{multiprocessors = {multiprocessors}}}", tiles)
            run = program(module, seed=m)
        run.run("f", a, b, c)
        np.testing.assert_array_equal(c, want)

    check()


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize(("m", "n", "k"), [(17, 24, 512), (64, 64, 768)])
def test_parts_of_sums(m: int, n: int, k: int) -> None:
    """A GPU of many multiprocessors that launches for nothing: parts of the sum, and a kernel that adds them."""
    nest = NESTS["matmul"][0](m, n, k)
    numbers = np.random.default_rng(k)
    a, b, c = (numbers.integers(-3, 4, shape).astype(np.float32) for (shape, _), _ in nest.memrefs("f32", "f32"))
    with make_context(), ir.Location.unknown():
        module = _lowered(nest.text("f32", "f32", _PLAIN), "{multiprocessors = 1000}", {"launch_cycles": 0.0})
        assert str(module).count("gpu.func") == 2
        program(module).run("f", a, b, c)
    np.testing.assert_array_equal(c, meaning("matmul", a, b))


def test_doubles() -> None:
    """Two elements a vector, and single ones of 8 bytes."""
    nest = NESTS["matmul"][0](40, 50, 30)
    text = nest.text("f32", "f32", _PLAIN).replace("f32", "f64")
    numbers = np.random.default_rng(0)
    a, b, c = (numbers.standard_normal(shape) for (shape, _), _ in nest.memrefs("f32", "f32"))
    with make_context(), ir.Location.unknown():
        module = _lowered(text, "{}", {})
        assert "math.fma" in str(module)
        program(module).run("f", a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-12, atol=1e-12)


def _broken(pattern: str) -> bool:
    """Whether a kernel without what the pattern finds gives something else than the product."""
    nest = NESTS["matmul"][0](64, 128, 256)
    numbers = np.random.default_rng(0)
    a, b, c = (numbers.integers(-3, 4, shape).astype(np.float32) for (shape, _), _ in nest.memrefs("f32", "f32"))
    with make_context(), ir.Location.unknown():
        module = _lowered(nest.text("f32", "f32", _PLAIN), "{multiprocessors = 1}", _TILES[1])
        text, count = re.subn(pattern, "", str(module)) if pattern else (str(module), 1)
        assert count
        program(ir.Module.parse(text)).run("f", a, b, c)
    return not np.array_equal(c, meaning("matmul", a, b))


def test_waits_and_barriers_are_needed() -> None:
    assert not _broken("")
    assert _broken("nvvm.cp.async.wait.group .*")
    assert _broken("gpu.barrier.*")
