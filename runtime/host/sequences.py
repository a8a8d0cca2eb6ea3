"""Ops on sequences of tensors, which are Python lists here; none is changed in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dlc.runtime.host.registry import HostNode, HostOpError, host_op

SEQUENCES = "sequences of tensors live on the host"


@host_op("SequenceConstruct", SEQUENCES)
def sequence_construct(node: HostNode, *values: np.ndarray) -> list[np.ndarray]:
    """A sequence of the inputs (ONNX SequenceConstruct), all of one element type."""
    for value in values:
        _require_type(values, value)
    return list(values)


@host_op("SequenceEmpty", SEQUENCES)
def sequence_empty(node: HostNode) -> list[np.ndarray]:
    """A sequence of no tensors (ONNX SequenceEmpty)."""
    return []


@host_op("SequenceLength", SEQUENCES)
def sequence_length(node: HostNode, sequence: Sequence[Any]) -> np.ndarray:
    """The number of tensors, as a scalar of i64 (ONNX SequenceLength)."""
    return np.array(len(sequence), np.int64)


@host_op("SequenceAt", SEQUENCES)
def sequence_at(node: HostNode, sequence: Sequence[Any], position: np.ndarray) -> Any:
    """The tensor at a position, which counts from the end where it is negative (ONNX SequenceAt)."""
    return sequence[_place(position, len(sequence), len(sequence) - 1)]


@host_op("SequenceInsert", SEQUENCES)
def sequence_insert(
    node: HostNode, sequence: Sequence[np.ndarray], value: np.ndarray, position: np.ndarray | None = None
) -> list[np.ndarray]:
    """The sequence with one tensor more before `position`, by default at the end (ONNX SequenceInsert)."""
    _require_type(sequence, value)
    place = len(sequence) if position is None else _place(position, len(sequence), len(sequence))
    return [*sequence[:place], value, *sequence[place:]]


@host_op("SequenceErase", SEQUENCES)
def sequence_erase(node: HostNode, sequence: Sequence[Any], position: np.ndarray | None = None) -> list[Any]:
    """The sequence without the tensor at `position`, by default the last (ONNX SequenceErase)."""
    place = _place(np.array(-1) if position is None else position, len(sequence), len(sequence) - 1)
    return [*sequence[:place], *sequence[place + 1 :]]


@host_op("SplitToSequence", SEQUENCES)
def split_to_sequence(node: HostNode, x: np.ndarray, split: np.ndarray | None = None) -> list[np.ndarray]:
    """Parts of x along `axis`: one size for all, or one each; by default single elements, without the axis unless `keepdims`.

    ONNX SplitToSequence.
    """
    axis = _axis(node.get("axis", 0), x.ndim)
    size = x.shape[axis]
    ends = np.cumsum(_sizes(split, size))
    if size != (ends[-1] if len(ends) else 0):
        raise HostOpError(f"the parts make {ends[-1] if len(ends) else 0} together, but axis {axis} has {size} elements")
    parts = [np.ascontiguousarray(part) for part in np.split(x, ends[:-1], axis)] if len(ends) else []
    return [part.squeeze(axis) for part in parts] if split is None and not node.get("keepdims", 1) else parts


def _sizes(split: np.ndarray | None, size: int) -> list[int]:
    if split is None:
        return [1] * size
    if split.ndim:
        return [int(part) for part in split]
    part = int(split)
    if part < 1:
        raise HostOpError(f"the size of the parts is {part}; give one from 1 on")
    return [part] * (size // part) + [size % part] * (size % part > 0)


@host_op("ConcatFromSequence", SEQUENCES)
def concat_from_sequence(node: HostNode, sequence: Sequence[np.ndarray]) -> np.ndarray:
    """All tensors of a sequence side by side along `axis`, or along a new one with `new_axis` (ONNX ConcatFromSequence)."""
    if not sequence:
        raise HostOpError("the sequence is empty; give at least one tensor")
    is_new = bool(node.get("new_axis", 0))
    axis = _axis(node.get("axis"), sequence[0].ndim + is_new)
    try:
        return np.stack(sequence, axis) if is_new else np.concatenate(sequence, axis)
    except ValueError as error:
        shapes = ", ".join(str(list(each.shape)) for each in sequence[:4])
        raise HostOpError(f"tensors of the shapes {shapes} do not fit each other along axis {axis}: {error}") from None


def _place(position: np.ndarray, length: int, last: int) -> int:
    """A position from 0 on."""
    given = int(np.asarray(position).reshape(()))
    if not -length <= given <= last:
        raise HostOpError(f"position {given} is not in a sequence of {length}; give {-length} to {last}")
    return given + length if given < 0 else given


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise HostOpError(f"axis is {axis}; give {-rank} to {rank - 1}")
    return axis % rank


def _require_type(sequence: Sequence[np.ndarray], value: np.ndarray) -> None:
    """All tensors of a sequence have one element type."""
    if sequence and sequence[0].dtype != value.dtype:
        raise HostOpError(f"a tensor of {value.dtype} cannot go into a sequence of {sequence[0].dtype}; cast it")
