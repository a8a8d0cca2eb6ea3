"""The mask of ONNX's Attention: the given one, causality, sliding windows and lengths of padded caches, in one."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import Dim, type_of_value
from dlc.frontends.onnx.node import NodeContext

_MASK, _PAST, _LENGTHS = 3, 4, 6


@dataclass(frozen=True)
class AttentionMask:
    """Builds the mask of one node for queries `q`, new keys `new_keys`, and `keys` that include the past ones."""

    node: NodeContext
    q: ir.Value
    new_keys: ir.Value
    keys: ir.Value

    @property
    def is_plainly_causal(self) -> bool:
        """True when causality is all that depends on positions, and aligned as `dl.attention` has it."""
        if not self.node.attribute("is_causal", 0) or self._windows() != (-1, -1) or self.node.has_input(_LENGTHS):
            return False
        queries, fresh = self._dim(self.q, 2), self._dim(self.new_keys, 2)
        return not self.node.has_input(_PAST) or (queries is not None and queries == fresh)

    def given(self) -> ir.Value | None:
        """The node's own mask, extended to all keys by hidden ones."""
        mask = self.node.optional_value(_MASK)
        if mask is None:
            return None
        kind, keys = type_of_value(mask), self._dim(self.keys, 2)
        own = kind.shape[-1]
        if not isinstance(own, int) or not isinstance(keys, int) or own >= keys:
            return mask
        hidden = self.node.constant_value(False if kind.dtype == "i1" else -math.inf, kind.dtype)
        high = [0] * (kind.rank - 1) + [keys - own]
        return dl.pad(mask, hidden, low=[0] * kind.rank, high=high)

    def value(self) -> ir.Value | None:
        """The whole mask: i1, or of q's element type and to be added; None where nothing is hidden."""
        visible = self._visible()
        mask = self.given()
        if visible is None or mask is None:
            return mask if visible is None else visible
        dtype = type_of_value(mask).dtype
        if dtype == "i1":
            return dl.and_(mask, visible)
        return dl.where(visible, mask, self.node.constant_value(-math.inf, dtype))

    def _visible(self) -> ir.Value | None:
        """Which keys the positions let each query see."""
        left, right = self._windows()
        if self.node.attribute("is_causal", 0):
            right = 0 if right < 0 else min(right, 0)
        rules = []
        if left >= 0 or right >= 0:
            distance = self._distance()
            if right >= 0:
                rules.append(dl.less_equal(distance, self._constant(right)))
            if left >= 0:
                rules.append(dl.less_equal(self._constant(-left), distance))
        if self.node.has_input(_LENGTHS):
            rules.append(dl.less(self._positions(self.keys, [0]), self._lengths()))
        return functools.reduce(dl.and_, rules) if rules else None

    def _distance(self) -> ir.Value:
        """Position of each key less that of each query, whose first follows the past keys."""
        distance = dl.sub(self._positions(self.keys, [0]), self._positions(self.q, [1]))
        if self.node.has_input(_PAST):
            return dl.sub(distance, self._size(self.node.value(_PAST), 2))
        if self.node.has_input(_LENGTHS):
            return dl.sub(distance, dl.sub(self._lengths(), self._size(self.q, 2)))
        return distance

    def _positions(self, x: ir.Value, new_axes: list[int]) -> ir.Value:
        """0, 1, ... along axis 2 of `x`, with axes of size 1 inserted."""
        size = self._dim(x, 2)
        if isinstance(size, int):
            return self._constant(np.expand_dims(np.arange(size), new_axes))
        return dl.unsqueeze(dl.range(self._constant(0), self._size(x, 2), self._constant(1)), axes=new_axes)

    def _lengths(self) -> ir.Value:
        """Number of valid keys of each image, as [batch, 1, 1, 1]."""
        return dl.unsqueeze(self.node.value(_LENGTHS), axes=[1, 2, 3])

    def _size(self, x: ir.Value, axis: int) -> ir.Value:
        size = self._dim(x, axis)
        if isinstance(size, int):
            return self._constant(size)
        return dl.squeeze(dl.shape_of(x, start=axis, end=axis + 1), axes=[0])

    def _windows(self) -> tuple[int, int]:
        return int(self.node.attribute("left_window_size", -1)), int(self.node.attribute("right_window_size", -1))

    def _constant(self, value: int | np.ndarray) -> ir.Value:
        return self.node.constant_value(value, "i64")

    @staticmethod
    def _dim(x: ir.Value, axis: int) -> Dim:
        return type_of_value(x).shape[axis]
