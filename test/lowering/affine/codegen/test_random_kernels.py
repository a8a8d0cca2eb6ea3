"""Kernels of random shapes and dtypes give what the reference implementation of their ops does.

Tolerances, of the largest element of a result: f64 1e-12, f32 2e-5, f16 4e-3, bf16 3.2e-2; integers are equal. Several
kernels go into one module, since compiling takes most of the time.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from random_kernels import FAMILIES, Kernel

import dlc
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.interpreter import interpret
from dlc.dialects.dl.storage import STORAGE
from dlc.dialects.dl.types import FLOATS

_TOLERANCE = {"f64": 1e-12, "f32": 2e-5, "f16": 4e-3, "bf16": 3.2e-2}
_TOGETHER = 6
_IN_CHECK = 7
"""Modules of each family in `make check`: 168 kernels."""
_IN_CHECK_ALL = 130
"""And in `make check-all`: 3120."""


def _check(kernels: list[Kernel], seed: int) -> None:
    generator = np.random.default_rng(seed)
    inputs: list[np.ndarray] = []
    with Graph() as graph:
        for number, kernel in enumerate(kernels):
            operands = []
            for position, values in enumerate(kernel.arrays(generator)):
                if position in kernel.constants:
                    operands.append(graph.param(f"w{number}_{position}", values))
                else:
                    operands.append(graph.input(f"x{number}_{position}", values.shape, kernel.dtype))
                    inputs.append(values)
            graph.output(f"y{number}", kernel.build(operands))
    with np.errstate(all="ignore"):
        meaning = interpret(graph.module, inputs, graph.params)
    results = dlc.compile(graph.module, params=graph.params, cache=False)(*inputs)
    for kernel, want, have in zip(kernels, meaning, results, strict=True):
        _compare(kernel, want, have)


def _compare(kernel: Kernel, want: np.ndarray, have: np.ndarray) -> None:
    assert have.shape == want.shape and have.dtype == want.dtype, str(kernel)
    if kernel.dtype in STORAGE:
        have, want = have.astype(np.float32), want.astype(np.float32)
    if kernel.dtype not in FLOATS or kernel.op.startswith("arg_"):
        np.testing.assert_array_equal(have, want, err_msg=str(kernel))
        return
    wide = want.astype(np.float64)
    tolerance = _TOLERANCE[kernel.dtype]
    largest = float(np.abs(wide[np.isfinite(wide)]).max(initial=0))
    np.testing.assert_allclose(have.astype(np.float64), wide, rtol=tolerance, atol=tolerance * largest, err_msg=str(kernel))


def _property(family: str, examples: int) -> None:
    modules = st.lists(FAMILIES[family], min_size=_TOGETHER, max_size=_TOGETHER)

    @settings(max_examples=examples, phases=[Phase.generate], suppress_health_check=list(HealthCheck), database=None)
    @given(modules, st.integers(0, 1000))
    def check(kernels: list[Kernel], seed: int) -> None:
        _check(kernels, seed)

    check()


def test_what_is_no_number_is_moved() -> None:
    """Powers of two hold no negative number."""
    _check([Kernel("pad", "f8E8M0FNU", ((4, 8),), (("low", (0, 1)), ("high", (1, 0))))], 0)


@pytest.mark.parametrize("family", list(FAMILIES))
def test_kernels(family: str) -> None:
    _property(family, _IN_CHECK)


@pytest.mark.slow
@pytest.mark.parametrize("family", list(FAMILIES))
def test_many_kernels(family: str) -> None:
    _property(family, _IN_CHECK_ALL)
