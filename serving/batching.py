"""Which models' calls may run as one, and how: inputs joined along their first dim and results split again, or side by side."""

from __future__ import annotations

from collections import deque
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
_TRIALS = 3
"""Of each way to run a batch; the best of them counts, since others may have waited for a processor."""
_TRIED_AGAIN = 256
"""Batches after which the slower way is tried again: times change with what else the machine does."""
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


class FasterWay:
    """How batches of equal shapes and of like size run: as one call of joined inputs, or as calls side by side on a thread each.

    One call reads weights once; calls side by side keep their values in the cache of a core, and no thread waits for another.
    What is faster the model and the machine decide, so both are tried.
    """

    def __init__(self) -> None:
        self._joined: deque[float] = deque(maxlen=_TRIALS)
        self._apart: deque[float] = deque(maxlen=_TRIALS)
        self._batches = 0

    @property
    def joins(self) -> bool:
        """Whether the next batch is one call."""
        if len(self._apart) < _TRIALS:
            return len(self._joined) <= len(self._apart)
        is_faster = min(self._joined) <= min(self._apart)
        return is_faster != (self._batches % _TRIED_AGAIN == 0)

    def ran(self, joined: bool, seconds: float) -> None:
        """A batch took so many seconds a row."""
        self._batches += 1
        (self._joined if joined else self._apart).append(seconds)
