"""What `affine-polyhedral-schedule` makes of PolyBench's kernels provably computes the same (`affine-check-legality`)."""

from __future__ import annotations

import pytest

from bench.polybench.suite import suite
from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline

_QUICK = ("durbin", "gesummv", "jacobi-2d", "mvt", "seidel-2d", "trisolv", "trmm")
_SLOW = sorted({*suite()} - {*_QUICK, "nussinov"})
"""The checker follows chains of maxima, as in `nussinov`, through one loop alone."""

_CHANGED = ("gesummv", "jacobi-2d", "mvt", "trmm")
"""Those of the quick ones that the text's order does not suit."""

_PIPELINE = 'affine-accumulate-in-place,affine-expand-buffers,affine-check-legality{pass="affine-polyhedral-schedule"}'


@pytest.mark.parametrize("name", [*_QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in _SLOW)])
def test_schedule_is_certified(name: str) -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(suite()[name].text("MINI", "f64"))
        before = str(module)
        Pipeline.parse(_PIPELINE).run(module)
        assert str(module) != before or name not in _CHANGED
