"""Bits: elements seen as others of the same width."""

import numpy as np

from dlc.dialects.dl.attributes import DTypeAttr
from dlc.dialects.dl.elementwise import Mapped
from dlc.dialects.dl.types import NUMPY_DTYPES, TensorType, require


class BitCast(Mapped, name="bitcast"):
    """The bits of elements as those of another element type. ONNX BitCast.

    result = x, each element read as one of type `to`. An i1 is a byte of 0 or 1.

    c1: elements of x and of type `to` have the same number of bytes.    c2: `to` is not i1 unless x is.
    """

    to = DTypeAttr(doc="element type of the result")

    @staticmethod
    def infer(x: TensorType, *, to: str) -> TensorType:
        before, after = NUMPY_DTYPES[x.dtype].itemsize, NUMPY_DTYPES[to].itemsize
        require("c1", before == after, f"{x.dtype} has {before} bytes but {to} has {after}")
        require("c2", to != "i1" or x.dtype == "i1", f"{x.dtype} has bytes that are no i1")
        return x.with_dtype(to)

    @staticmethod
    def reference(x: np.ndarray, *, to: str) -> np.ndarray:
        return np.ascontiguousarray(x).view(NUMPY_DTYPES[to]).reshape(x.shape)
