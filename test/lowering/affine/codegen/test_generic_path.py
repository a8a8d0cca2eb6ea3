"""`linalg.generic` ops on the generic affine path mean what NumPy says, in f32 to 2e-5 of the largest element."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from random_generics import RandomGeneric, random_generics

from bench.polybench.compiled import NativeFunction
from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline
from dlc.targets.cpu.emit import emit_unit
from dlc.targets.cpu.link import LinkedCode

_LOOPS = "convert-linalg-to-affine,canonicalize,cse,"
_PATHS = {
    "default": f"{_LOOPS}affine-to-llvm",
    "reuse": f"{_LOOPS}func.func(affine-schedule-generic{{select=reuse min-work=1}}),affine-to-llvm",
    "left": f"{_LOOPS}func.func(affine-schedule-generic{{select=left min-work=1}}),affine-to-llvm",
}
_IN_CHECK, _IN_CHECK_ALL = 12, 300


def _run(generic: RandomGeneric, path: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    arrays = [generator.uniform(-1, 1, shape).astype(np.float32) for shape in generic.shapes()]
    want = generic.meaning(arrays)
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(generic.text())
        Pipeline.parse(_PATHS[path]).run(module)
        content = emit_unit(module, "generic")
    code = LinkedCode([content], ["generic"])
    NativeFunction(code.address("generic"), code).bind(arrays)()
    np.testing.assert_allclose(arrays[-1], want, rtol=2e-5, atol=2e-5 * np.abs(want).max(), err_msg=f"{generic}")


def _property(path: str, examples: int) -> None:
    @settings(max_examples=examples, phases=[Phase.generate], suppress_health_check=list(HealthCheck), deadline=None, database=None)
    @given(random_generics(), st.integers(0, 1000))
    def check(generic: RandomGeneric, seed: int) -> None:
        _run(generic, path, seed)

    check()


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("path", list(_PATHS))
def test_random_generics_mean_what_numpy_says(path: str) -> None:
    _property(path, _IN_CHECK)


@pytest.mark.slow
@pytest.mark.parametrize("path", list(_PATHS))
def test_many_random_generics_mean_what_numpy_says(path: str) -> None:
    _property(path, _IN_CHECK_ALL)
