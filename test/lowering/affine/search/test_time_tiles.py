"""Stencils in tiles across time, of sizes that fit nowhere, give the bits that they give without, and NumPy's results."""

from __future__ import annotations

import numpy as np
import pytest

from bench.polybench.compiled import AS_THEY_ARE, compile_kernel
from bench.polybench.measuring import TOLERANCE
from bench.polybench.suite import copied, suite
from dlc.runtime.library import load_library

_SCHEDULE = "affine-polyhedral-schedule{time-tiles=%s}"
_TILED = f"affine-expand-buffers,{_SCHEDULE},canonicalize,cse,affine-promote-buffers,{AS_THEY_ARE}"
_SIZES = {
    "jacobi-1d": ("3,5", "7,0"),
    "jacobi-2d": ("4,8,0", "3,5,7"),
    "heat-3d": ("4,4,4,0", "2,3,4,5"),
    "fdtd-2d": ("4,8,0", "3,4,9"),
    "seidel-2d": ("4,4,0", "3,5,0", "1,8,0", "2,2,8", "32,32,0"),
}
"""Whole and cut rows; of `seidel-2d` wavefronts, and tiles that are too large for them."""


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize(("name", "sizes"), [(name, sizes) for name, several in _SIZES.items() for sizes in several])
def test_results_are_the_same(name: str, sizes: str, dtype: str) -> None:
    kernel = suite()[name]
    plain, tiled, wanted = (copied(kernel.checked_arguments("MINI", dtype)) for _ in range(3))
    compile_kernel(kernel, "MINI", dtype, _TILED % "0").bind(plain)()
    compile_kernel(kernel, "MINI", dtype, _TILED % sizes).bind(tiled)()
    kernel.expect(wanted, "MINI")
    assert all(np.array_equal(one, other) for one, other in zip(plain, tiled, strict=True))
    assert kernel.error(tiled, wanted) < TOLERANCE[dtype]


@pytest.mark.parametrize("threads", [2, 5])
@pytest.mark.parametrize(
    ("name", "sizes"), [("seidel-2d", "8,16,0"), ("seidel-2d", "4,4,0"), ("jacobi-2d", "4,16,0"), ("fdtd-2d", "4,8,0")]
)
def test_rows_run_on_threads(name: str, sizes: str, threads: int) -> None:
    """Large enough for rows of tiles to leave their thread."""
    kernel, library = suite()[name], load_library()
    plain, tiled = (copied(kernel.arguments("SMALL", "f64")) for _ in range(2))
    compile_kernel(kernel, "SMALL", "f64", _TILED % "0").bind(plain)()
    code = compile_kernel(kernel, "SMALL", "f64", _TILED % sizes)
    before = library.set_num_threads(threads)
    code.bind(tiled)()
    library.set_num_threads(before)
    assert all(np.array_equal(one, other) for one, other in zip(plain, tiled, strict=True))
