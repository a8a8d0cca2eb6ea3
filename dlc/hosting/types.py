"""Types of values that the host holds: tensors of any element type, sequences, optionals, maps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

from dlc.dtypes import NUMPY_DTYPES, dtype_of_numpy, show_dtype
from dlc.errors import InvalidInputError
from dlc.runtime.arguments import as_array, checked_array
from dlc.runtime.signature import Dim, TensorSpec

STRING = "string"
_HOST_ELEMENTS = {
    onnx.TensorProto.STRING: STRING,
    onnx.TensorProto.COMPLEX64: "complex64",
    onnx.TensorProto.COMPLEX128: "complex128",
}
"""Element types that compiled code does not have."""


@dataclass(frozen=True)
class HostTensor:
    """A tensor: `dtype` is a key of `NUMPY_DTYPES`, "string", or None where it is not known; so is the shape."""

    dtype: str | None
    shape: tuple[Dim, ...] | None = None

    @property
    def numpy_dtype(self) -> np.dtype:
        """What an array of it has; object for strings and what is not known."""
        if self.dtype is not None and self.dtype in NUMPY_DTYPES:
            return NUMPY_DTYPES[self.dtype]
        return np.dtype(object if self.dtype in (None, STRING) else self.dtype)

    @property
    def is_compiled(self) -> bool:
        """Whether compiled code takes such a tensor."""
        return self.dtype in NUMPY_DTYPES

    def __str__(self) -> str:
        dims = ["..."] if self.shape is None else ["?" if dim is None else str(dim) for dim in self.shape]
        return f"{self.dtype or 'any'}[{', '.join(dims)}]"


@dataclass(frozen=True)
class HostSequence:
    """A list of values of one type."""

    element: HostType

    def __str__(self) -> str:
        return f"sequence({self.element})"


@dataclass(frozen=True)
class HostOptional:
    """A value, or None."""

    element: HostType

    def __str__(self) -> str:
        return f"optional({self.element})"


@dataclass(frozen=True)
class HostMap:
    """A dictionary from strings or integers."""

    key: str
    value: HostType

    def __str__(self) -> str:
        return f"map({self.key}, {self.value})"


HostType = HostTensor | HostSequence | HostOptional | HostMap


@dataclass(frozen=True)
class HostSpec:
    """An input or output of a hosted model that is no tensor of numbers."""

    name: str
    type: HostType
    donated: bool = False
    """The host keeps what it is given."""

    @property
    def shape(self) -> tuple[Dim, ...]:
        """That of the tensors in it, as far as it is known."""
        kind = self.type
        while isinstance(kind, HostSequence | HostOptional):
            kind = kind.element
        return (kind.shape or ()) if isinstance(kind, HostTensor) else ()

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


ValueSpec = TensorSpec | HostSpec


def takes_list(spec: ValueSpec) -> bool:
    """Whether a value for `spec` is a list."""
    kind = spec.type if isinstance(spec, HostSpec) else None
    return isinstance(kind.element if isinstance(kind, HostOptional) else kind, HostSequence)


def spec_of(name: str, kind: HostType) -> ValueSpec:
    """The spec of an input or output."""
    if isinstance(kind, HostTensor) and kind.is_compiled and kind.shape is not None:
        assert kind.dtype is not None
        return TensorSpec(name, kind.shape, kind.dtype)
    return HostSpec(name, kind)


def type_of_proto(proto: onnx.TypeProto) -> HostType:
    """What ONNX's type says."""
    which = proto.WhichOneof("value")
    if which == "sequence_type":
        return HostSequence(type_of_proto(proto.sequence_type.elem_type))
    if which == "optional_type":
        return HostOptional(type_of_proto(proto.optional_type.elem_type))
    if which == "map_type":
        return HostMap(_element(proto.map_type.key_type) or "any", type_of_proto(proto.map_type.value_type))
    if which != "tensor_type":
        return HostTensor(None)
    tensor = proto.tensor_type
    shape = tuple(_dim(dim) for dim in tensor.shape.dim) if tensor.HasField("shape") else None
    return HostTensor(_element(tensor.elem_type), shape)


def _dim(dim: onnx.TensorShapeProto.Dimension) -> Dim:
    return int(dim.dim_value) if dim.HasField("dim_value") and dim.dim_value >= 0 else dim.dim_param or None


def _element(kind: int) -> str | None:
    if kind in _HOST_ELEMENTS:
        return _HOST_ELEMENTS[kind]
    try:
        return dtype_of_numpy(onnx.helper.tensor_dtype_to_np_dtype(kind))
    except (KeyError, TypeError, ValueError):
        return None


def checked_value(spec: ValueSpec, value: Any) -> Any:
    """`value` as what the host computes with, if it fits `spec`; `InvalidInputError` says why it does not."""
    return checked_array(spec, value) if isinstance(spec, TensorSpec) else _checked(spec, spec.type, value)


def _checked(spec: HostSpec, kind: HostType, value: Any) -> Any:
    if isinstance(kind, HostOptional):
        return None if value is None else _checked(spec, kind.element, value)
    if isinstance(kind, HostSequence):
        if not isinstance(value, list | tuple):
            raise _unfit(spec, value, "give a list")
        return [_checked(spec, kind.element, each) for each in value]
    if isinstance(kind, HostMap):
        if not isinstance(value, Mapping):
            raise _unfit(spec, value, "give a dictionary")
        return dict(value)
    return _checked_tensor(spec, kind, value)


def _checked_tensor(spec: HostSpec, kind: HostTensor, value: Any) -> np.ndarray:
    if kind.dtype == STRING:
        return _checked_strings(spec, kind, value)
    array = as_array(spec.name, str(kind), value)
    found = show_dtype(array.dtype)
    if kind.dtype is not None and found != kind.dtype:
        raise _unfit(spec, array, f"the element type is {found} instead of {kind.dtype}")
    _check_shape(spec, kind, array)
    return np.asarray(array, order="C")


def _checked_strings(spec: HostSpec, kind: HostTensor, value: Any) -> np.ndarray:
    array = np.array(value, dtype=object)
    if set(map(type, array.reshape(-1).tolist())) - {str}:
        wrong = next((each for each in array.flat if not isinstance(each, str)), None)
        if wrong is not None:
            raise _unfit(spec, value, f"{wrong!r} is no string")
    _check_shape(spec, kind, array)
    return array


def _check_shape(spec: HostSpec, kind: HostTensor, array: np.ndarray) -> None:
    if kind.shape is None or kind.shape == array.shape:
        return
    fits = len(kind.shape) == array.ndim and all(
        not isinstance(want, int) or want == have for want, have in zip(kind.shape, array.shape, strict=True)
    )
    if not fits:
        raise _unfit(spec, array, f"the shape is {list(array.shape)}")


def _unfit(spec: HostSpec, value: Any, reason: str) -> InvalidInputError:
    what = f"{show_dtype(value.dtype)}{list(value.shape)}" if isinstance(value, np.ndarray) else type(value).__name__
    return InvalidInputError(f"input '{spec.name}' expects {spec.type} but got {what}: {reason}")
