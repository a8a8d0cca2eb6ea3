"""Attribute fields of dl ops: descriptors that check, default and convert between MLIR attributes and Python values.

    class Softmax(DLOp, name="softmax"):
        axis = IntAttr(default=-1, doc="axis along which the values sum to one")

`op.axis` is a Python value; an attribute that equals its default is left out of built ops.
"""

from __future__ import annotations

import math
import numbers
import operator
import re
from collections.abc import Sequence
from typing import Any, ClassVar, Final

import numpy as np

from dlc._mlir import ir
from dlc.dialects.dl.storage import STORAGE
from dlc.dialects.dl.types import ALL_DTYPES, dtype_of_element, element_of_dtype, mlir_type, type_of_array
from dlc.dtypes import NUMPY_DTYPES, dtype_of_numpy
from dlc.errors import VerifyError


class _Required:
    def __repr__(self) -> str:
        return "required"


REQUIRED: Final = _Required()
MOST_BYTES: Final = 1 << 28
"""Of one constant in the IR. A splat is short as text, and an array of all its elements wherever a pass reads it."""


class AttributeMismatch(VerifyError, ValueError):
    """An MLIR attribute or Python value of the wrong kind; the message says what was expected and what came."""


class Attr:
    """Base of the attribute fields. `default` is REQUIRED, None (absent) or a Python value."""

    kind: ClassVar[str] = ""

    def __init__(self, default: Any = REQUIRED, doc: str = "") -> None:
        self.default = default
        self.doc = doc
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, op: Any, owner: type | None = None) -> Any:
        if op is None:
            return self
        return self.read(op.attributes)

    def read(self, attributes: Any) -> Any:
        """Python value in an op's attribute map, its default where absent; `AttributeMismatch` if missing or unfit."""
        try:
            found = attributes.get(self.name)
        except TypeError:  # the bindings know no class for it
            raise self._reject("an attribute of a kind that no op has") from None
        if found is not None:
            return self.to_python(found)
        if self.default is REQUIRED:
            raise AttributeMismatch(f"needs attribute '{self.name}' ({self.kind})")
        return self.default

    def to_python(self, attribute: ir.Attribute) -> Any:
        """Python value of an MLIR attribute of this kind; `AttributeMismatch` for another kind."""
        raise NotImplementedError

    def to_mlir(self, value: Any) -> ir.Attribute:
        """MLIR attribute of a checked Python value, in the current context."""
        raise NotImplementedError

    def checked(self, value: Any) -> Any:
        """`value` as the Python value of this attribute; `AttributeMismatch` where it is of another kind."""
        try:
            return self._convert(value)
        except (KeyError, OverflowError, TypeError, ValueError):
            raise self._reject(repr(value)) from None

    def _convert(self, value: Any) -> Any:
        """`checked`, with an error of any text."""
        raise NotImplementedError

    def _reject(self, got: object) -> AttributeMismatch:
        return AttributeMismatch(f"attribute '{self.name}' expects {self.kind} but got {got}")


class IntAttr(Attr):
    """An i64 integer; a Python int."""

    kind = "an i64 integer"

    def to_python(self, attribute: ir.Attribute) -> int:
        kind = attribute.type if isinstance(attribute, ir.IntegerAttr) else None
        if not isinstance(kind, ir.IntegerType) or kind.width != 64 or not kind.is_signless:
            raise self._reject(attribute)
        return int(attribute.value)

    def to_mlir(self, value: int) -> ir.Attribute:
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)

    def _convert(self, value: Any) -> int:
        return _whole(value)


class FloatAttr(Attr):
    """An f64 number; a Python float."""

    kind = "an f64 number"

    def to_python(self, attribute: ir.Attribute) -> float:
        if not isinstance(attribute, ir.FloatAttr) or not isinstance(attribute.type, ir.F64Type):
            raise self._reject(attribute)
        return float(attribute.value)

    def to_mlir(self, value: float) -> ir.Attribute:
        return ir.FloatAttr.get(ir.F64Type.get(), value)

    def _convert(self, value: Any) -> float:
        return _number(value)


class BoolAttr(Attr):
    """`true` or `false`; a Python bool."""

    kind = "true or false"

    def to_python(self, attribute: ir.Attribute) -> bool:
        if not isinstance(attribute, ir.BoolAttr):
            raise self._reject(attribute)
        return bool(attribute.value)

    def to_mlir(self, value: bool) -> ir.Attribute:
        return ir.BoolAttr.get(value)

    def _convert(self, value: Any) -> bool:
        return bool(_instance(value, bool, np.bool_))


class StrAttr(Attr):
    """A string; with `choices`, one of them."""

    kind = "a string"

    def __init__(self, default: Any = REQUIRED, doc: str = "", choices: Sequence[str] = ()) -> None:
        super().__init__(default, doc)
        self.choices = tuple(choices)
        if choices:
            self.kind = f"one of {', '.join(choices)}"  # type: ignore[misc]

    def to_python(self, attribute: ir.Attribute) -> str:
        if not isinstance(attribute, ir.StringAttr):
            raise self._reject(attribute)
        value = str(attribute.value)
        if self.choices and value not in self.choices:
            raise self._reject(attribute)
        return value

    def to_mlir(self, value: str) -> ir.Attribute:
        return ir.StringAttr.get(value)

    def _convert(self, value: Any) -> str:
        if self.choices and value not in self.choices:
            raise self._reject(repr(value))
        return str(_instance(value, str))


class IntsAttr(Attr):
    """A list of integers, printed `array<i64: 1, 2>`; a Python tuple of ints."""

    kind = "a list of integers (array<i64: ...>)"

    def to_python(self, attribute: ir.Attribute) -> tuple[int, ...]:
        if not isinstance(attribute, ir.DenseI64ArrayAttr):
            raise self._reject(attribute)
        return tuple(attribute)

    def to_mlir(self, value: Sequence[int]) -> ir.Attribute:
        return ir.DenseI64ArrayAttr.get(list(value))

    def _convert(self, value: Any) -> tuple[int, ...]:
        return tuple(_whole(item) for item in value)


class FloatsAttr(Attr):
    """A list of numbers, printed `array<f64: 1.0, 2.5>`; a Python tuple of floats."""

    kind = "a list of numbers (array<f64: ...>)"

    def to_python(self, attribute: ir.Attribute) -> tuple[float, ...]:
        if not isinstance(attribute, ir.DenseF64ArrayAttr):
            raise self._reject(attribute)
        return tuple(attribute)

    def to_mlir(self, value: Sequence[float]) -> ir.Attribute:
        return ir.DenseF64ArrayAttr.get(list(value))

    def _convert(self, value: Any) -> tuple[float, ...]:
        return tuple(_number(item) for item in value)


class DTypeAttr(Attr):
    """An element type (`f32`); a Python str, a key of `NUMPY_DTYPES`."""

    kind = f"one of the element types {', '.join(NUMPY_DTYPES)}"

    def to_python(self, attribute: ir.Attribute) -> str:
        dtype = dtype_of_element(attribute.value) if isinstance(attribute, ir.TypeAttr) else None
        if dtype is None:
            raise self._reject(attribute)
        return dtype

    def to_mlir(self, value: str) -> ir.Attribute:
        return ir.TypeAttr.get(element_of_dtype(value))

    def _convert(self, value: Any) -> str:
        if value not in NUMPY_DTYPES:
            raise self._reject(repr(value))
        return str(value)


class ElementsAttr(Attr):
    """The values of a small constant, `dense<...> : tensor<...>`; a NumPy array."""

    kind = "dense elements"

    def to_python(self, attribute: ir.Attribute) -> np.ndarray:
        if not isinstance(attribute, ir.DenseElementsAttr):
            raise self._reject(attribute)
        dtype = dtype_of_element(attribute.type.element_type)
        if dtype is None or dtype in STORAGE:
            raise self._reject(f"values of {attribute.type.element_type}; give one of {', '.join(ALL_DTYPES)}")
        if math.prod(attribute.type.shape) * NUMPY_DTYPES[dtype].itemsize > MOST_BYTES:
            raise self._reject(f"more than {MOST_BYTES >> 20} MiB of {attribute.type}; make it a dl.param")
        return array_of_elements(attribute)

    def to_mlir(self, value: np.ndarray) -> ir.Attribute:
        if dtype_of_numpy(value.dtype) in STORAGE:
            raise self._reject(f"values of {dtype_of_numpy(value.dtype)}; make it a dl.param, or a dl.cast of other values")
        return elements_of_array(value)

    def _convert(self, value: Any) -> np.ndarray:
        array = np.asarray(value)
        return array.astype(NUMPY_DTYPES[dtype_of_numpy(array.dtype)], copy=False)


def _instance(value: Any, *kinds: type) -> Any:
    if not isinstance(value, kinds):
        raise TypeError
    return value


def _whole(value: Any) -> int:
    """An integer that an i64 holds."""
    return int(np.int64(operator.index(value)))


def _number(value: Any) -> float:
    return float(_instance(value, numbers.Real))


def elements_of_array(array: np.ndarray) -> ir.DenseElementsAttr:
    """Dense attribute of an array of any dl dtype."""
    element = mlir_type(type_of_array(array)).element_type
    raw = array.view(np.uint16) if array.dtype == NUMPY_DTYPES["bf16"] else array
    return ir.DenseElementsAttr.get(np.ascontiguousarray(raw), type=element, shape=list(array.shape))


def array_of_elements(attribute: ir.DenseElementsAttr) -> np.ndarray:
    """A fresh array with the values of a dense attribute of any dl dtype."""
    shape = tuple(attribute.type.shape)
    dtype = NUMPY_DTYPES[dtype_of_element(attribute.type.element_type) or "f32"]
    if attribute.is_splat:
        return np.full(shape, attribute.get_splat_value().value, dtype)
    if dtype == NUMPY_DTYPES["bf16"]:
        return _bfloat16_values(str(attribute)).reshape(shape)
    return np.array(attribute).astype(dtype).reshape(shape)


def _bfloat16_values(text: str) -> np.ndarray:
    """Values of a printed bf16 attribute: the bindings give no buffer for this type."""
    bfloat16 = NUMPY_DTYPES["bf16"]
    blob = re.match(r'dense<"0x([0-9A-F]*)">', text)
    if blob:
        return np.frombuffer(bytes.fromhex(blob[1]), np.uint16).view(bfloat16)
    items = re.findall(r"0x[0-9A-F]+|[-+]?[0-9][-+.0-9eE]*", text[: text.rindex(">", 0, text.rindex(" : "))])
    return np.concatenate([np.empty(0, NUMPY_DTYPES["bf16"]), *(_bfloat16_item(item) for item in items)])


def _bfloat16_item(text: str) -> np.ndarray:
    bfloat16 = NUMPY_DTYPES["bf16"]
    if text.startswith("0x"):
        return np.array([int(text, 16)], np.uint16).view(bfloat16)
    return np.array([float(text)]).astype(bfloat16)
