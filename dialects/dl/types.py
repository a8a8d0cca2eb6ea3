"""Tensor types as plain Python values, so that shape rules, reference implementations and importers need no MLIR context.

A dimension is an int (static), a str (a symbol: equal symbols are equal sizes at run time) or None (unknown at compile time).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects.dl.storage import STORAGE
from dlc.dtypes import NUMPY_DTYPES as NUMPY_DTYPES
from dlc.dtypes import dtype_of_numpy as dtype_of_numpy
from dlc.errors import VerifyError

Dim = int | str | None
Shape = tuple[Dim, ...]

FLOATS = ("f64", "f32", "f16", "bf16")
SIGNED_INTS = ("i64", "i32", "i16", "i8")
UNSIGNED_INTS = ("ui8", "ui16", "ui32", "ui64")
INTS = (*SIGNED_INTS, *UNSIGNED_INTS)
INDICES = ("i64", "i32")
BOOL = ("i1",)
NUMERIC = (*FLOATS, *INTS)
ALL_DTYPES = (*NUMERIC, *BOOL)
"""What ops take that do not say otherwise."""
MOVABLE = (*ALL_DTYPES, *STORAGE)
"""With the types that are only stored: what `dl.cast` takes, and ops that move elements."""


@dataclass(frozen=True)
class TensorType:
    """A ranked tensor: its dimensions and its element type's name (a key of `NUMPY_DTYPES`)."""

    shape: Shape
    dtype: str

    @property
    def rank(self) -> int:
        return len(self.shape)

    def dim(self, axis: int) -> Dim:
        return self.shape[axis]

    @property
    def is_static(self) -> bool:
        return all(isinstance(dim, int) for dim in self.shape)

    @property
    def num_elements(self) -> int | None:
        """Number of elements, or None where a dimension is not static."""
        count = 1
        for dim in self.shape:
            if not isinstance(dim, int):
                return None
            count *= dim
        return count

    def with_shape(self, shape: Sequence[Dim]) -> TensorType:
        return TensorType(tuple(shape), self.dtype)

    def with_dtype(self, dtype: str) -> TensorType:
        return TensorType(self.shape, dtype)

    def __str__(self) -> str:
        dims = "".join(f"{dim if isinstance(dim, int) else '?'}x" for dim in self.shape)
        return f"tensor<{dims}{self.dtype}>"


MOST_BYTES = 1 << 47
"""The user's half of the address space of x86-64 and AArch64 with pages of 4 KiB."""


def require_addressable(label: str, kind: TensorType) -> None:
    """Refuse a type whose static dims alone are more than a machine can address."""
    size = _addressed_bytes(kind)
    require(label, size <= MOST_BYTES, f"{kind} takes {size} bytes, more than any machine can address")


def is_addressable(kind: TensorType) -> bool:
    """Whether the static dims of a type alone are not more than a machine can address."""
    return _addressed_bytes(kind) <= MOST_BYTES


def _addressed_bytes(kind: TensorType) -> int:
    """What the static dims take. A dim of 0 counts as 1: the others are sizes of axes, and their products strides, as well."""
    count = 1
    for dim in kind.shape:
        count *= dim if isinstance(dim, int) and dim else 1
    return count * NUMPY_DTYPES[kind.dtype].itemsize


def type_of_array(array: np.ndarray) -> TensorType:
    return TensorType(tuple(array.shape), dtype_of_numpy(array.dtype))


def dtype_of_element(element: ir.Type) -> str | None:
    """Name of the dl element type for an MLIR element type, or None if dl has none."""
    fixed = _element_classes().get(type(element))
    if fixed is not None:
        return fixed
    if not isinstance(element, ir.IntegerType):
        return None
    name = f"ui{element.width}" if element.is_unsigned else f"i{element.width}" if element.is_signless else ""
    return name if name in NUMPY_DTYPES else None


@functools.lru_cache(maxsize=1)
def _element_classes() -> dict[type, str]:
    small = {kind: name for name, kind in _small_floats().items()}
    return {ir.F64Type: "f64", ir.F32Type: "f32", ir.F16Type: "f16", ir.BF16Type: "bf16", **small}


def _small_floats() -> dict[str, type]:
    """Classes of the floats that are only stored."""
    return {
        "f8E4M3FN": ir.Float8E4M3FNType,
        "f8E4M3FNUZ": ir.Float8E4M3FNUZType,
        "f8E5M2": ir.Float8E5M2Type,
        "f8E5M2FNUZ": ir.Float8E5M2FNUZType,
        "f8E8M0FNU": ir.Float8E8M0FNUType,
        "f6E2M3FN": ir.Float6E2M3FNType,
        "f6E3M2FN": ir.Float6E3M2FNType,
        "f4E2M1FN": ir.Float4E2M1FNType,
    }


def element_of_dtype(dtype: str) -> ir.Type:
    """MLIR element type of a dl element type's name, in the current context."""
    match dtype:
        case "f64":
            return ir.F64Type.get()
        case "f32":
            return ir.F32Type.get()
        case "f16":
            return ir.F16Type.get()
        case "bf16":
            return ir.BF16Type.get()
        case _ if dtype.startswith("ui"):
            return ir.IntegerType.get_unsigned(width_of(dtype))
        case _ if dtype in _small_floats():
            found: ir.Type = _small_floats()[dtype].get()  # type: ignore[attr-defined]
            return found
    return ir.IntegerType.get_signless(width_of(dtype))


def width_of(dtype: str) -> int:
    """Bits of an integer type, or of i1."""
    return int(dtype.lstrip("ui"))


def wrapped(number: int, width: int) -> int:
    """A whole number as integers of `width` bits wrap it: one bit is 0 or 1, others have a sign."""
    half = 0 if width == 1 else 1 << (width - 1)
    return (number + half) % (1 << width) - half


def signless_twin(dtype: str) -> str:
    """The type that an element type has below dl: integers have no sign there, and what is only stored is a byte."""
    if dtype in STORAGE:
        return "i8"
    return f"i{width_of(dtype)}" if dtype in UNSIGNED_INTS else dtype


@functools.lru_cache(maxsize=65536)
def _interned(shape: Shape, dtype: str) -> TensorType:
    return TensorType(shape, dtype)


def _dynamic_size() -> int:
    return ir.ShapedType.get_dynamic_size()


_DYNAMIC: int = _dynamic_size()


def tensor_type(mlir_type: ir.Type) -> TensorType | None:
    """The plain twin of an MLIR type, or None unless it is a ranked tensor with an element type of dl."""
    if not isinstance(mlir_type, ir.RankedTensorType):
        return None
    dtype = dtype_of_element(mlir_type.element_type)
    if dtype is None:
        return None
    shape = mlir_type.shape
    if _DYNAMIC in shape:
        return _interned(tuple(None if dim == _DYNAMIC else dim for dim in shape), dtype)
    return _interned(tuple(shape), dtype)


def type_of_value(value: ir.Value) -> TensorType:
    """The plain type of a value that is a dl tensor; TypeError for another."""
    found = tensor_type(value.type)
    if found is None:
        raise TypeError(f"expects a ranked tensor of a dl element type but got {value.type}")
    return found


def mlir_type(tensor: TensorType) -> ir.RankedTensorType:
    """The MLIR type of a plain tensor type, in the current context; symbols become `?`."""
    shape = [dim if isinstance(dim, int) else _DYNAMIC for dim in tensor.shape]
    return ir.RankedTensorType.get(shape, element_of_dtype(tensor.dtype))


def compatible(inferred: TensorType, declared: TensorType) -> bool:
    """True when a declared type may stand for the inferred one: same dtype and rank, no two differing static dims."""
    if inferred is declared:  # types are interned: the usual case costs nothing
        return True
    return (
        inferred.dtype == declared.dtype
        and inferred.rank == declared.rank
        and all(
            left == right
            for left, right in zip(inferred.shape, declared.shape, strict=True)
            if isinstance(left, int) and isinstance(right, int)
        )
    )


class ConstraintError(VerifyError, ValueError):
    """A labelled constraint of an op does not hold: `label` as in the op's docstring, `message` with the values."""

    def __init__(self, label: str, message: str) -> None:
        super().__init__(f"{label}: {message}")
        self.label = label
        self.message = message


def require(label: str, condition: bool, message: str) -> None:
    """Raise `ConstraintError` unless `condition` holds."""
    if not condition:
        raise ConstraintError(label, message)


def require_equal_dims(label: str, left: Dim, right: Dim, what_left: str, what_right: str) -> Dim:
    """The common dim of two that must be equal; `ConstraintError` when both are static and differ."""
    if isinstance(left, int) and isinstance(right, int):
        require(label, left == right, f"{what_left} is {left} but {what_right} is {right}")
    return left if isinstance(left, int) or right is None else right


def require_same_dtype(label: str, **operands: TensorType) -> str:
    """The common element type of named operands; `ConstraintError` when they differ."""
    dtypes = {name: tensor.dtype for name, tensor in operands.items()}
    if len(set(dtypes.values())) > 1:
        shown = ", ".join(f"{name} is {dtype}" for name, dtype in dtypes.items())
        raise ConstraintError(label, f"expects one element type but {shown}")
    return next(iter(dtypes.values()))


def normalize_axis(label: str, axis: int, rank: int, what: str = "axis") -> int:
    """`axis` in [0, rank); `ConstraintError` when it is outside [-rank, rank)."""
    require(label, -rank <= axis < rank, f"{what} {axis} is out of range for rank {rank}")
    return axis % rank


def broadcast_dims(label: str, left: Dim, right: Dim) -> Dim:
    """NumPy broadcasting of two dims; an unknown dim broadcasts with a known one greater than 1 to the known one."""
    if left == right or right == 1:
        return left
    if left == 1:
        return right
    if isinstance(left, int) and isinstance(right, int):
        raise ConstraintError(label, f"dims {left} and {right} do not broadcast")
    if isinstance(left, int):
        return left
    return right if isinstance(right, int) else None


def broadcast_shapes(label: str, *shapes: Shape) -> Shape:
    """NumPy broadcasting of shapes, aligned at the last dim; `ConstraintError` when they do not broadcast."""
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[Dim] = [1] * rank
    for shape in shapes:
        offset = rank - len(shape)
        for axis, dim in enumerate(shape):
            result[offset + axis] = broadcast_dims(label, result[offset + axis], dim)
    return tuple(result)


def shape_text(shape: Sequence[Dim]) -> str:
    """A shape as `4x?x8`; `scalar` for rank 0."""
    return "x".join(str(dim) if dim is not None else "?" for dim in shape) or "scalar"
