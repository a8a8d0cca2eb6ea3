"""Random values of the types that the host holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dlc.hosting.types import STRING, HostMap, HostOptional, HostSequence, HostType
from dlc.random_inputs import random_array

_SEQUENCE_LENGTH = 3
_LETTERS = np.array(list("abcdefgh"), object)


def sample(kind: HostType, generator: np.random.Generator, sizes: Mapping[str, int]) -> Any:
    """A value of a type: single letters for strings, three values for a sequence; dynamic dims take `sizes` by name, else 1."""
    if isinstance(kind, HostOptional):
        return sample(kind.element, generator, sizes)
    if isinstance(kind, HostSequence):
        return [sample(kind.element, generator, sizes) for _ in range(_SEQUENCE_LENGTH)]
    if isinstance(kind, HostMap):
        return {}
    shape = [dim if isinstance(dim, int) else sizes.get(dim or "", 1) for dim in kind.shape or ()]
    if kind.dtype == STRING:
        return np.asarray(_LETTERS[generator.integers(0, len(_LETTERS), shape)], object)
    return random_array(generator, kind.dtype or "f32", shape)
