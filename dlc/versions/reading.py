"""Which sizes of a call's arguments tell its version: one place for each dim that run time decides."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dlc.runtime.signature import TensorSpec

SizeKey = tuple[int, ...]
"""The size of each dynamic dim, in the order of `SizeReading.places`."""


class SizeReading:
    """Reads the sizes of a call, unchecked: a version for them checks its arguments itself.

    `places` are arguments and axes, the first one of each name and all that have none; `names` are those of the dims there, `""`
    for none.
    """

    def __init__(self, specs: Sequence[TensorSpec]) -> None:
        found = list(_places(specs))
        self.places = tuple((at, axis) for at, axis, _ in found)
        self.names = tuple(name for _, _, name in found)
        numbers = {name: index for index, name in enumerate(self.names) if name}
        unnamed = {place: index for index, place in enumerate(self.places)}
        self._every = [
            (at, axis, numbers[dim] if dim else unnamed[at, axis])
            for at, spec in enumerate(specs)
            for axis, dim in enumerate(spec.shape)
            if not isinstance(dim, int)
        ]
        self._inputs = [spec.name for spec in specs]
        self._by_name = [(specs[at].name, axis) for at, axis in self.places]

    def key_of(self, arguments: Sequence[Any]) -> SizeKey | None:
        """The sizes of the `arguments` of a call; None where they cannot be read so: then they are wrong, or of another kind."""
        try:
            if len(arguments) == 1 and type(arguments[0]) is not np.ndarray:
                only = arguments[0]
                if type(only) is dict:
                    return tuple([only[name].shape[axis] for name, axis in self._by_name])
                arguments = only if type(only) in (list, tuple) else arguments
            return tuple([arguments[at].shape[axis] for at, axis in self.places])
        except (KeyError, IndexError, TypeError, AttributeError):
            return None

    def sizes_of(self, key: SizeKey) -> list[str]:
        """The size of every dynamic dim, as `dl-bind-dims` takes them: `0:1=128` for axis 1 of argument 0."""
        return [f"{at}:{axis}={key[index]}" for at, axis, index in self._every]

    def show(self, key: SizeKey) -> str:
        """`batch=4, seq=128`."""
        pairs = zip(self.places, self.names, key, strict=True)
        return ", ".join(f"{name or f'{self._inputs[at]} dim {axis}'}={size}" for (at, axis), name, size in pairs)


def count_of(calls: itertools.count[int]) -> int:
    """How often `next` was called on a count from 0, which needs no lock."""
    return int(repr(calls).removeprefix("count(").removesuffix(")"))


def _places(specs: Sequence[TensorSpec]) -> Iterator[tuple[int, int, str]]:
    seen = set()
    for at, spec in enumerate(specs):
        for axis, dim in enumerate(spec.shape):
            if dim is None:
                yield at, axis, ""
            elif isinstance(dim, str) and dim not in seen:
                seen.add(dim)
                yield at, axis, dim
