"""How ONNX's numbers, [..., length, ..., components], become the planes of `fast_fourier.py`, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import Dim, TensorType, type_of_value

_FULL_VECTOR = 16
"""Transforms beside each other that fill a vector: elements of f32 in the widest one."""
_LONG = _FULL_VECTOR**2
"""From this length on, one transform fills vectors in each stage."""


@dataclass(frozen=True)
class PlaneLayout:
    """Planes [batch, components, length, inner] of a tensor: the axes that each of the two other dims stands for, in order."""

    batch: Sequence[int]
    inner: Sequence[int]
    axis: int

    @staticmethod
    def of(kind: TensorType, axis: int, length: int) -> PlaneLayout:
        """The layout whose innermost loops are long, for transforms of `length` points along an axis of `kind`."""
        outer, between = list(range(axis)), list(range(axis + 1, kind.rank - 1))
        beside = _count(kind, between)
        if (beside is None or beside >= _FULL_VECTOR) and not (_is_open(kind, outer) and _is_open(kind, between)):
            return PlaneLayout(outer, between, axis)
        every = _count(kind, [*outer, *between])
        if length < _LONG and (every is None or every >= _FULL_VECTOR):
            return PlaneLayout([], [*outer, *between], axis)
        return PlaneLayout([*outer, *between], [], axis)

    @property
    def _order(self) -> list[int]:
        """The axes of the tensor, the last one as -1, in the order of the planes."""
        return [*self.batch, -1, self.axis, *self.inner]

    def to_planes(self, x: ir.Value) -> ir.Value:
        """A tensor as planes."""
        kind = type_of_value(x)
        moved = dl.transpose(x, perm=[axis % kind.rank for axis in self._order])
        groups = [self.batch, [-1], [self.axis], self.inner]
        shape = [-1 if (size := _count(kind, group)) is None else size for group in groups]
        places = {axis: place for place, axis in enumerate(self._order)}
        copied = [places[group[0]] if size < 0 and len(group) == 1 else -1 for group, size in zip(groups, shape, strict=True)]
        return dl.reshape(moved, shape=shape, copied=copied)

    def from_planes(self, planes: ir.Value, given: ir.Value) -> ir.Value:
        """Planes as a tensor whose other axes are those of `given`."""
        kind, made = type_of_value(given), type_of_value(planes)
        dims = {-1: made.shape[1], self.axis: made.shape[2]}
        shape = [_size(dims[axis] if axis in dims else kind.shape[axis]) for axis in self._order]
        order = [axis % kind.rank for axis in self._order]
        sizes = None
        if shape.count(-1) > 1:
            sizes = dl.gather(dl.shape_of(given), dl.constant(value=np.array(order)), axis=0)
        found = dl.reshape(planes, sizes, shape=shape)
        return dl.transpose(found, perm=[order.index(axis) for axis in range(kind.rank)])


def _count(kind: TensorType, axes: Sequence[int]) -> int | None:
    """The product of the dims of some axes, None where one is not known."""
    sizes = [_size(kind.shape[axis]) for axis in axes]
    return None if -1 in sizes else math.prod(sizes)


def _is_open(kind: TensorType, axes: Sequence[int]) -> bool:
    """Whether several axes have a product that only run time knows."""
    return len(axes) > 1 and _count(kind, axes) is None


def _size(dim: Dim) -> int:
    return dim if isinstance(dim, int) else -1
