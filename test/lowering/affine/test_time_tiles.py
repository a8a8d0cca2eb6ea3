"""Stencils in tiles across time, of sizes that fit nowhere, give the bits that they give without, and NumPy's results."""

from __future__ import annotations

import numpy as np
import pytest

from bench.polybench.compiled import AS_THEY_ARE, compile_kernel
from bench.polybench.measuring import TOLERANCE
from bench.polybench.suite import copied, suite

_TILED = "affine-expand-buffers,affine-polyhedral-schedule{time-tiles=%s},canonicalize,cse,affine-promote-buffers," + AS_THEY_ARE
_SIZES = {
    "jacobi-1d": ("3,5", "7,0"),
    "jacobi-2d": ("4,8,0", "3,5,7"),
    "heat-3d": ("4,4,4,0", "2,3,4,5"),
    "fdtd-2d": ("4,8,0", "3,4,9"),
    "seidel-2d": ("4,4,0", "3,5,0", "1,8,0", "2,2,8", "32,32,0"),
}
"""Whole and cut rows; of `seidel-2d` wavefronts, and tiles that are too large for them."""


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
