"""Bits: elements seen as others of the same width."""

import numpy as np

from dlc.dialects.dl.attributes import DTypeAttr
from dlc.dialects.dl.elementwise import Mapped
from dlc.dialects.dl.storage import bits_of
from dlc.dialects.dl.types import MOVABLE, NUMPY_DTYPES, TensorType, require


class BitCast(Mapped, name="bitcast"):
    """The bits of elements as those of another element type. ONNX BitCast.

    result = x, each element read as one of type `to`. An i1 is a byte of 0 or 1.

    c1: elements of x and of type `to` have the same number of bits.    c2: `to` is not i1 unless x is.
    """

    accepts = MOVABLE
    to = DTypeAttr(doc="element type of the result")

    @staticmethod
    def infer(x: TensorType, *, to: str) -> TensorType:
        before, after = bits_of(x.dtype), bits_of(to)
        require("c1", before == after, f"{x.dtype} has {before} bits but {to} has {after}")
        require("c2", to != "i1" or x.dtype == "i1", f"{x.dtype} has bytes that are no i1")
        return x.with_dtype(to)

    @staticmethod
    def reference(x: np.ndarray, *, to: str) -> np.ndarray:
        bits = np.ascontiguousarray(x)
        if bits_of(to) < 8:
            spare = 8 - bits_of(to)
            top = bits.view(np.uint8) << spare
            bits = top.view(np.int8) >> spare if to in ("i4", "i2") else top >> spare
        return bits.view(NUMPY_DTYPES[to]).reshape(x.shape)
