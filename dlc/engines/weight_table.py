"""The weights of an engine: each array once, from the start of a cache line on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

LINE = 64
_PIECE = 1 << 24


@dataclass
class WeightTable:
    """Arrays by place, in the order in which they came; equal ones, of other variants perhaps, have one place."""

    _places: dict[bytes, int] = field(default_factory=dict)
    _arrays: list[np.ndarray] = field(default_factory=list)
    _of_arrays: dict[int, int] = field(default_factory=dict)
    """Places of the arrays that are known by themselves, which saves the sum of their bytes."""
    size: int = 0

    def place(self, array: np.ndarray) -> int:
        """Where the elements of a row-major array begin."""
        known = self._of_arrays.get(id(array))
        if known is not None:
            return known
        content = _bytes_of(array)
        key = hashlib.sha256(content.data).digest() + content.nbytes.to_bytes(8, "little")
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = self.size
            self._arrays.append(array)
            self.size += -(-content.nbytes // LINE) * LINE
        self._of_arrays[id(array)] = place
        return place

    def pieces(self) -> Iterator[np.ndarray]:
        """The bytes of the table, in pieces."""
        for array in self._arrays:
            content = _bytes_of(array)
            for begin in range(0, content.nbytes, _PIECE):
                yield content[begin : begin + _PIECE]
            yield np.zeros(-content.nbytes % LINE, np.uint8)


def _bytes_of(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
