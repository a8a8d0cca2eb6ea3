"""Random inputs of models, for runs that are given none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dlc.dtypes import NUMPY_DTYPES
from dlc.runtime.signature import TensorSpec


def random_inputs(specs: Sequence[TensorSpec], seed: int = 0, sizes: Mapping[str, int] | None = None) -> dict[str, Any]:
    """Arrays that fit `specs`: normal floats, small non-negative integers; dynamic dims take `sizes` by name, else 1.

    Strings are single letters, sequences three values.
    """
    generator = np.random.default_rng(seed)
    found: dict[str, Any] = {}
    for spec in specs:
        if not isinstance(spec, TensorSpec):  # of a hosted model
            from dlc.hosting.samples import sample

            found[spec.name] = sample(spec.type, generator, sizes or {})
            continue
        shape = [dim if isinstance(dim, int) else (sizes or {}).get(dim or "", 1) for dim in spec.shape]
        found[spec.name] = random_array(generator, spec.dtype, shape)
    return found


def random_array(generator: np.random.Generator, dtype: str, shape: Sequence[int]) -> np.ndarray:
    """Normal floats or integers of 0 and 1, of a dl element type."""
    if dtype.startswith(("f", "bf")):
        return np.asarray(generator.standard_normal(shape)).astype(NUMPY_DTYPES[dtype])
    return generator.integers(0, 2, shape).astype(NUMPY_DTYPES[dtype])
