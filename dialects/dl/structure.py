"""Structure: constants, weights, kernels and their terminator."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dlc._mlir import ext, ir
from dlc.dialects.dl.attributes import DTypeAttr, ElementsAttr, IntsAttr, StrAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.types import MOVABLE, TensorType, require, type_of_array


class Constant(DLOp, name="constant"):
    """A small constant held in the IR. Large ones are `dl.param`.

    result = value
    """

    fusion_class = "weight"
    result: Result[Tensor]
    value = ElementsAttr(doc="the values, in row-major order")

    @staticmethod
    def infer(*, value: np.ndarray) -> TensorType:
        return type_of_array(value)

    @staticmethod
    def reference(*, value: np.ndarray) -> np.ndarray:
        return value


class Param(DLOp, name="param"):
    """A weight: an array that lives in the table beside the module, under `key`.

    result = table[key], of static shape `shape` and element type `dtype`

    c1: key is not empty.    c2: no dim of shape is negative.
    """

    fusion_class = "weight"
    result: Result[Tensor]
    key = StrAttr(doc="name of the array in the module's parameter table")
    shape = IntsAttr(doc="dims of the array")
    dtype = DTypeAttr(doc="element type of the array")

    @staticmethod
    def infer(*, key: str, shape: tuple[int, ...], dtype: str) -> TensorType:
        require("c1", bool(key), "key is empty")
        require("c2", all(dim >= 0 for dim in shape), f"shape {list(shape)} has a negative dim")
        return TensorType(shape, dtype)

    @staticmethod
    def reference(*, key: str, shape: tuple[int, ...], dtype: str, table: Mapping[str, np.ndarray]) -> np.ndarray:
        return table[key]


class Kernel(DLOp, name="kernel"):
    """A group of ops that is compiled as one kernel. The region reads values from outside, and `dl.yield` gives the results.

    IRDL gives all values of a variadic operand or result one type; so the region captures what it reads, and a group of
    ops with results of several types is several kernels.

    c1: the region is one block without arguments that ends in dl.yield.    c2: dl.yield's operands have the results' types.
    """

    accepts = MOVABLE
    fusion_class = "opaque"
    results_: Sequence[Result[Any]]
    body: ext.Region

    def _violation(self) -> str:
        unknown = [key for key in self.operation.attributes if "." not in key and not key.endswith("SegmentSizes")]
        return f"has no attribute '{unknown[0]}' (attributes: none)" if unknown else ""

    def verify_region_invariants(self) -> bool:
        """Verifier hook that runs after the ops inside are verified."""
        message = self._region_violation()
        if message:
            self.operation.location.emit_error(f"'dl.kernel' op {message}")
        return not message

    def _region_violation(self) -> str:
        operation = self.operation
        blocks = list(operation.regions[0].blocks)
        last = list(blocks[0].operations)[-1:] if len(blocks) == 1 and not len(blocks[0].arguments) else []
        if not last or last[0].operation.name != "dl.yield":
            return "c1: the region must be one block without arguments that ends in dl.yield"
        have, want = [value.type for value in last[0].operation.operands], [value.type for value in operation.results]
        if have != want:
            return f"c2: dl.yield gives {_listed(have)} but results are {_listed(want)}"
        return ""


class Yield(DLOp, name="yield", traits=[ir.IsTerminatorTrait]):
    """Ends the region of a `dl.kernel` and gives its results."""

    accepts = MOVABLE
    fusion_class = "opaque"
    values: Sequence[Operand[Any]]

    @staticmethod
    def infer(values: tuple[TensorType, ...]) -> tuple[TensorType, ...]:
        return ()


def _listed(types: Sequence[ir.Type]) -> str:
    return f"({', '.join(str(item) for item in types)})"
