"""Random inputs of models, for runs that are given none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dlc.dtypes import NUMPY_DTYPES
from dlc.errors import InvalidInputError, OutOfMemoryError, quoted
from dlc.runtime.signature import TensorSpec


def random_inputs(specs: Sequence[TensorSpec], seed: int = 0, sizes: Mapping[str, int] | None = None) -> dict[str, Any]:
    """Arrays that fit `specs`: normal floats, small non-negative integers; dynamic dims take `sizes` by name, else 1.

    Strings are single letters, sequences three values. `InvalidInputError` for what is no signature, seed or size.
    """
    _check(specs, seed, sizes)
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


def _check(specs: Sequence[TensorSpec], seed: int, sizes: Mapping[str, int] | None) -> None:
    if not isinstance(specs, Sequence) or not all(hasattr(spec, "name") for spec in specs):
        raise InvalidInputError(f"random inputs are made for the inputs of a model (model.inputs), not for {quoted(specs)}")
    if type(seed) is not int or seed < 0:
        raise InvalidInputError(f"the seed of random inputs must be an integer from 0 on, not {quoted(seed)}")
    if sizes is not None and not isinstance(sizes, Mapping):
        raise InvalidInputError(f"sizes is {quoted(sizes)}; give a dictionary by name of a dim")
    for name, size in (sizes or {}).items():
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 0:
            raise InvalidInputError(f"the size of dim '{name}' must be an integer from 0 on, not {quoted(size)}")


def random_array(generator: np.random.Generator, dtype: str, shape: Sequence[int]) -> np.ndarray:
    """Normal floats or integers of 0 and 1, of a dl element type; `OutOfMemoryError` where there is no memory for them."""
    try:
        if dtype.startswith(("f", "bf")):
            return np.asarray(generator.standard_normal(shape)).astype(NUMPY_DTYPES[dtype])
        return generator.integers(0, 2, shape).astype(NUMPY_DTYPES[dtype])
    except (ValueError, MemoryError):  # NumPy raises ValueError for more elements than there are addresses
        raise OutOfMemoryError(
            f"there is no memory for a random {dtype} array of shape {list(shape)}; give smaller sizes"
        ) from None
