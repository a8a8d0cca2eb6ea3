"""Which calls may run as one, and how: inputs joined along their first dim, results split again."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from .interface import Interface


def reason_against_batching(interface: Interface) -> str | None:
    """Why calls of the model cannot run as one; None if they can.

    All tensors must have one symbolic dim, in the first place alone. That rows do not depend on each other is up to the model.
    """
    if not interface.inputs:
        return "it has no inputs"
    symbol = interface.inputs[0].shape[0] if interface.inputs[0].shape else None
    for spec in (*interface.inputs, *interface.outputs):
        if not isinstance(symbol, str) or not spec.shape or spec.shape[0] != symbol:
            return f"the first dims of {interface.inputs[0]} and {spec} are not one symbol"
        if symbol in spec.shape[1:]:
            return f"{spec} has the symbol twice"
    return None


def batch_key(inputs: Sequence[np.ndarray]) -> Hashable:
    """Equal for calls of one model whose inputs can be joined."""
    return tuple(array.shape[1:] for array in inputs)


def joined(calls: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    """The inputs of all `calls` in one."""
    return [np.concatenate(arrays) for arrays in zip(*calls, strict=True)]


def split(outputs: Sequence[np.ndarray], rows: Sequence[int]) -> list[list[np.ndarray]]:
    """The outputs of each call, in the memory of all, where call number i has `rows[i]` of them."""
    found, begin = [], 0
    for count in rows:
        found.append([array[begin : begin + count] for array in outputs])
        begin += count
    return found
