"""A kernel's meaning, and helpers for initial data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

Arguments = list[Any]
"""Values for the arguments of a kernel in order: NumPy arrays, and NumPy scalars."""


def _as_they_are(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    return list(arrays)


@dataclass(frozen=True)
class Meaning:
    """`data(sizes, dtype)` gives initial arguments, `run(*arguments)` does to the arrays what the kernel does.

    `sizes` names the sizes that no array shows, which `run` takes after the arguments.
    `checked_data` takes the place of `data` in checks, where PolyBench's own would hide errors. `observe` takes the arrays after
    a run to those parts of them that the data determine. `is_slow` says that `run` takes half a minute and more from LARGE on.
    """

    data: Callable[[SimpleNamespace, np.dtype], Arguments]
    run: Callable[..., None]
    sizes: tuple[str, ...] = ()
    checked_data: Callable[[SimpleNamespace, np.dtype], Arguments] | None = None
    observe: Callable[[Sequence[np.ndarray]], list[np.ndarray]] = _as_they_are
    is_slow: bool = False


def grid(*sizes: int) -> list[np.ndarray]:
    """Index arrays of i64, one per axis, that broadcast to `sizes`."""
    return list(np.ogrid[tuple(slice(size) for size in sizes)])


def share(values: np.ndarray, divisor: int, dtype: np.dtype) -> np.ndarray:
    """Whole numbers, converted to `dtype`, over `divisor`; PolyBench's `(DATA_TYPE) values / divisor`."""
    return values.astype(dtype) / dtype.type(divisor)


def scalars(dtype: np.dtype, *values: float) -> list[Any]:
    """NumPy scalars of `dtype`."""
    return [dtype.type(value) for value in values]
