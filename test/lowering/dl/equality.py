"""Running graph passes on a module, and comparing what it gives before and after."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dlc._mlir import ir
from dlc.dialects.dl.types import NUMPY_DTYPES, type_of_array
from dlc.lowering.registry import find_pass

_TOLERANCE = {"f64": 1e-12, "f32": 3e-6, "f16": 4e-3, "bf16": 4e-2}


def apply_passes(module: ir.Module, *names: str) -> None:
    """Run Python passes on a module, which must be valid after each."""
    with module.context, ir.Location.unknown():
        for name in names:
            found = find_pass(name)
            assert found is not None, name
            found().run(module.operation)
            module.operation.verify()


def op_names(module: ir.Module) -> list[str]:
    """Names of the dl ops of a module, without `dl.`, constants and weights left out."""
    names: list[str] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name.startswith("dl.") and op.name not in ("dl.constant", "dl.param"):
            names.append(op.name.removeprefix("dl."))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return names


def random_array(shape: Sequence[int], dtype: str, seed: int, positive: bool = False) -> np.ndarray:
    """Normally distributed numbers, or their absolute values."""
    array = 2 * np.random.default_rng(seed).standard_normal(tuple(shape))
    return np.asarray(np.abs(array) if positive else array).astype(NUMPY_DTYPES[dtype])


def assert_close(have: Sequence[np.ndarray], want: Sequence[np.ndarray]) -> None:
    """Equal but for roundings of the element type; NaN and infinities at the same places."""
    assert len(have) == len(want)
    for found, expected in zip(have, want, strict=True):
        assert found.dtype == expected.dtype and found.shape == expected.shape
        tolerance = _TOLERANCE.get(type_of_array(expected).dtype, 0)
        wide, other = (array.astype(np.float64) for array in (found, expected))
        np.testing.assert_allclose(
            wide, other, rtol=tolerance, atol=tolerance * max(1.0, float(np.abs(other[np.isfinite(other)]).max(initial=0)))
        )
