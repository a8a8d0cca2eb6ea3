"""What a compiled model takes and gives, as plain data: no compiler is needed to read it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..dtypes import NUMPY_DTYPES

Dim = int | str | None


def show_type(dtype: str, shape: tuple[Dim, ...]) -> str:
    """`f32[batch, 3, ?]`: an element type's name and a shape, for messages."""
    return f"{dtype}[{', '.join('?' if dim is None else str(dim) for dim in shape)}]"


@dataclass(frozen=True)
class TensorSpec:
    """One tensor of a signature.

    A dim of `shape` is a size, a name (equal names are equal sizes in one call) or None (any size). `dtype` is a key of
    `NUMPY_DTYPES`. A call may write to the memory of a donated input, and give results in it. Code is specialised on the elements
    of an input `by_value` (axes, such as), and on the sizes of one `by_shape`. An output is `unranked` where its rank depends on
    such; its shape is empty then.
    """

    name: str
    shape: tuple[Dim, ...]
    dtype: str
    donated: bool = False
    by_value: bool = False
    by_shape: bool = False
    unranked: bool = False

    @property
    def numpy_dtype(self) -> np.dtype:
        return NUMPY_DTYPES[self.dtype]

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __str__(self) -> str:
        shown = f"{self.dtype}[*]" if self.unranked else show_type(self.dtype, self.shape)
        return f"{self.name}: {shown}{' by value' * self.by_value}{' by shape' * self.by_shape}"


@dataclass(frozen=True)
class Computation:
    """The function `entry`, which computes weights (`results`) from weights (`params`), each in its calling order."""

    entry: str
    params: tuple[TensorSpec, ...]
    results: tuple[TensorSpec, ...]


@dataclass(frozen=True)
class Signature:
    """Inputs, outputs and bound parameters of the function `entry`, each in its calling order.

    Parameters that are results of `precompute` are computed when weights are bound.
    """

    entry: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    params: tuple[TensorSpec, ...] = ()
    precompute: Computation | None = None

    @property
    def weights(self) -> tuple[TensorSpec, ...]:
        """The parameters that the caller gives: those that are not computed, and those that they are computed from."""
        if self.precompute is None:
            return self.params
        computed = {spec.name for spec in self.precompute.results}
        given = [spec for spec in self.params if spec.name not in computed]
        return tuple(dict.fromkeys((*given, *self.precompute.params)))
