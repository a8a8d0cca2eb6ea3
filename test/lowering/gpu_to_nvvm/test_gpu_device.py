"""PolyBench's kernels, and nests of random sizes, on a GPU compute what NumPy says; skipped where there is none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from cuda_driver import Device, kernels_of, missing, ptx_of
from gpu_interpreter import Program, program
from gpu_nests import NESTS

from bench.polybench.suite import suite
from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline

_REASON = missing()
_needs_gpu = pytest.mark.skipif(bool(_REASON), reason=_REASON)
_SEEDS, _NESTS_OF_A_SEED = 12, 5
"""Five nests of sixty sizes each are 300 kernels and more."""


def _on_gpu(module: ir.Module) -> Program:
    """The functions of a module at level affine as Python, which launches their kernels on the GPU."""
    Pipeline.parse("affine-to-gpu").run(module)
    run, kernels = program(module), kernels_of(module)
    Pipeline.parse("gpu-to-ptx").run(module)
    run.names["_launch"] = Device(ptx_of(module), kernels).launch
    return run


@pytest.mark.cuda
@_needs_gpu
@pytest.mark.parametrize("size", ["MINI", "MEDIUM"])
@pytest.mark.parametrize("name", sorted(suite()))
def test_kernel_on_a_gpu(name: str, size: str) -> None:
    kernel = suite()[name]
    with make_context(), ir.Location.unknown():
        run = _on_gpu(ir.Module.parse(kernel.text(size, "f64")))
    have, want = (kernel.checked_arguments(size, "f64") for _ in range(2))
    kernel.expect(want, size)
    run.run(kernel.symbol, *have)
    assert kernel.error(have, want) < 1e-9


@pytest.mark.cuda
@_needs_gpu
@pytest.mark.parametrize("seed", range(_SEEDS))
@pytest.mark.parametrize("name", list(NESTS))
def test_random_sizes_on_a_gpu(name: str, seed: int) -> None:
    """With one multiprocessor loops get tiles in registers and shared memory, with many they are spread out."""
    text, meaning, shapes = NESTS[name]
    random = np.random.default_rng(seed)
    for _ in range(_NESTS_OF_A_SEED):
        m, n, k = (int(random.integers(least, most)) for least, most in ((3, 300), (3, 300), (1, 130)))
        _check_nest(text.format(m=m, n=n, k=k), meaning, shapes(m, n, k), int(random.choice((1, 132))), random)


def _check_nest(
    text: str, meaning: Callable[..., None], shapes: list[tuple[int, ...]], multiprocessors: int, random: np.random.Generator
) -> None:
    have = [random.integers(-4, 5, shape).astype(np.float64) for shape in shapes]
    want = [array.copy() for array in have]
    meaning(*want)
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        module.operation.attributes["dlc.gpu"] = ir.Attribute.parse(f"{{multiprocessors = {multiprocessors}}}")
        _on_gpu(module).run("f", *have)
    for one, other in zip(have, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_ptx_is_read_from_binaries() -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(suite()["mvt"].text("MINI", "f64"))
        Pipeline.parse("affine-to-gpu").run(module)
        run, kernels = program(module), kernels_of(module)
        Pipeline.parse("gpu-to-ptx").run(module)
        found = ptx_of(module)
    assert set(found) == set(kernels.values()) == {"kernel_mvt_kernel", "kernel_mvt_kernel_0"}
    for text in found.values():
        assert text.count(b".visible .entry ") == 1
    assert all(kernel in run.names for kernel in kernels)
