"""The constants of a model under import: small ones stand in the IR, larger ones are weights in a table beside it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.storage import STORAGE
from dlc.dialects.dl.types import dtype_of_numpy

INLINE_ELEMENTS = 16
"""Constants of at most so many elements stand in the IR; larger ones, and those only stored, go to the parameter table."""


@dataclass
class ConstantPool:
    """Makes constants at the top of the function's `block`, where all that it holds can use them; `params` is the table."""

    params: dict[str, np.ndarray] = field(default_factory=dict)
    block: ir.Block | None = None
    _last: ir.Operation | None = None

    def new_param(self, array: np.ndarray, name: str) -> ir.Value:
        """The value of a new weight; equal names with equal bytes share one key."""
        return self.constant(np.ascontiguousarray(array).reshape(array.shape), name)

    def constant(self, array: np.ndarray, name: str) -> ir.Value:
        """The value of an array, called `name`."""
        array = native(array)
        assert self.block is not None
        point = ir.InsertionPoint.at_block_begin(self.block)
        if self._last is not None:
            point = ir.InsertionPoint.after(self._last)
        with point, ir.Location.name(name or "constant"):
            if array.size <= INLINE_ELEMENTS and dtype_of_numpy(array.dtype) not in STORAGE:
                value: ir.Value = dl.constant(value=array)
            else:
                key = self._key(array, name)
                value = dl.param(key=key, shape=array.shape, dtype=dtype_of_numpy(array.dtype))
        self._last = value.owner.operation
        return value

    def _key(self, array: np.ndarray, name: str) -> str:
        key, count = name, 0
        while key in self.params and self.params[key] is not array:
            count += 1
            key = f"{name}.{count}"
        self.params[key] = array
        return key


def native(array: np.ndarray) -> np.ndarray:
    """The array in this machine's byte order."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
