"""An inference request: its head, which says all but elements of tensors, and the arrays that it and the elements make.

Clients send the same head over and over, with other elements behind it. So heads of binary requests are read once and kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..runtime.signature import TensorSpec
from .datatypes import array_of_bytes

LONGEST_KEPT = 4096
"""Most bytes of a head that is kept."""
KEPT_HEADS = 1024
"""Heads of each protocol that are kept, of all models together."""


@dataclass(frozen=True)
class RawInput:
    """An input `spec` of a size that the head tells; its elements are number `number` of the request's binary contents."""

    spec: TensorSpec
    shape: tuple[int, ...]
    number: int


@dataclass(frozen=True)
class RequestHead:
    """What a request says beside binary contents, checked against its model.

    `inputs` are in the model's order; those that the head holds as numbers are arrays. `outputs` are the numbers of the outputs
    that are wanted, and `binary` tells which of these as bytes. `timeout` is in seconds, None where the request has none.
    """

    id: str
    inputs: tuple[RawInput | np.ndarray, ...]
    outputs: tuple[int, ...]
    binary: tuple[bool, ...]
    timeout: float | None = None

    def arrays(self, contents: Sequence[bytes | memoryview]) -> list[np.ndarray]:
        """The inputs, in the memory of `contents` where that is aligned; `InvalidRequestError` if sizes do not fit."""
        return [
            array_of_bytes(each.spec.name, each.spec.dtype, each.shape, contents[each.number])
            if isinstance(each, RawInput)
            else each
            for each in self.inputs
        ]


@dataclass(frozen=True)
class InferRequest:
    """A request that fits its model. A call may write to the inputs that the model declares as donated: they are copies."""

    head: RequestHead
    inputs: list[np.ndarray]
