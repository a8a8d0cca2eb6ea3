"""Which models' calls may run as one, and how their inputs are joined along their first dim and results split again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from ..errors import DLCError
from .interface import ModelInterface

_TRIED_ROWS = (1, 2)
"""Rows of two calls that are tried alone and together; different, so that no dim is taken for another."""
_TRIED_SIZE = 8
"""Of dynamic dims beside the first."""
_TOLERANCE = 1e-3
"""Of the largest result: more than the order of sums makes, and less than other rows do. f16 and bf16 get 50 times as much."""
Run = Callable[[list[np.ndarray]], list[np.ndarray]]


def reason_against_batching(interface: ModelInterface, run: Run) -> str | None:
    """Why calls of the model cannot run as one; None if they can, as far as two calls of `run` with random rows tell."""
    if not interface.inputs:
        return "it has no inputs"
    symbol = interface.inputs[0].shape[0] if interface.inputs[0].shape else None
    for spec in interface.inputs:
        if not isinstance(symbol, str) or not spec.shape or spec.shape[0] != symbol:
            return f"the first dims of {interface.inputs[0]} and {spec} are not one symbol"
        if symbol in spec.shape[1:]:
            return f"{spec} has the symbol twice"
    for spec in interface.outputs:
        if not spec.shape or isinstance(spec.shape[0], int):
            return f"{spec} has no rows of requests"
    try:
        return _reason_of_trial(interface, run)
    except (DLCError, MemoryError) as error:
        return f"it fails on random inputs: {error}"


def _reason_of_trial(interface: ModelInterface, run: Run) -> str | None:
    generator = np.random.default_rng(0)
    calls = [_random_inputs(interface, rows, generator) for rows in _TRIED_ROWS]
    together = run(joined(calls))
    for number, spec in enumerate(interface.outputs):
        if not together[number].shape or len(together[number]) != sum(_TRIED_ROWS):
            return f"{spec} has no rows of requests"
    for inputs, parts in zip(calls, split(together, _TRIED_ROWS), strict=True):
        for spec, alone, part in zip(interface.outputs, run(inputs), parts, strict=True):
            if alone.shape != part.shape:
                return f"the shape of {spec} depends on other rows"
            if not _are_near(alone, part):
                return f"the values of {spec} depend on other rows"
    return None


def _random_inputs(interface: ModelInterface, rows: int, generator: np.random.Generator) -> list[np.ndarray]:
    """Normal floats; integers are 0 or 1, which are valid as indices more often than others."""
    found = []
    for spec in interface.inputs:
        shape = (rows, *(dim if isinstance(dim, int) else _TRIED_SIZE for dim in spec.shape[1:]))
        is_whole = spec.numpy_dtype.kind in "biu"
        values = generator.integers(0, 2, shape) if is_whole else generator.standard_normal(shape)
        found.append(values.astype(spec.numpy_dtype))
    return found


def _are_near(alone: np.ndarray, part: np.ndarray) -> bool:
    if alone.dtype.kind in "biu":
        return np.array_equal(alone, part)
    is_narrow = alone.dtype.itemsize == 2
    wide, other = (values.astype(np.float64) for values in (alone, part))
    scale = np.abs(wide[np.isfinite(wide)]).max(initial=0.0)
    return np.allclose(other, wide, rtol=0, atol=scale * _TOLERANCE * (50 if is_narrow else 1), equal_nan=True)


def batch_key(inputs: Sequence[np.ndarray]) -> Hashable:
    """Equal for calls of one model whose inputs can be joined."""
    return tuple(array.shape[1:] for array in inputs)


def joined(calls: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    """The inputs of all `calls` in one."""
    return [np.concatenate(arrays) for arrays in zip(*calls, strict=True)]


def split(outputs: Sequence[np.ndarray], rows: Sequence[int]) -> list[list[np.ndarray]]:
    """The outputs of each call, in the memory of all, where call number i has `rows[i]` of them; ValueError if there are others."""
    if any(len(array) != sum(rows) for array in outputs):
        raise ValueError(f"there are other than {sum(rows)} rows")
    found, begin = [], 0
    for count in rows:
        found.append([array[begin : begin + count] for array in outputs])
        begin += count
    return found
