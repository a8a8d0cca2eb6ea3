"""Arrays on the GPU: dlc's own, and those of others by DLPack (https://dmlc.github.io/dlpack, 0.8 and its Python protocol)."""

from __future__ import annotations

import ctypes
import math
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dtypes import show_dtype
from ..errors import InvalidInputError
from .gpu_model import GpuModel
from .signature import show_type

CUDA = 2
"""DLPack's number of devices of CUDA."""
_CAPSULE = b"dltensor"
_INT, _UINT, _FLOAT, _BFLOAT, _COMPLEX, _BOOL = 0, 1, 2, 4, 5, 6
"""DLPack's codes of types."""
_CODES = {"i": _INT, "u": _UINT, "f": _FLOAT, "c": _COMPLEX, "b": _BOOL}
_NAMES = {_INT: "int", _UINT: "uint", _FLOAT: "float", _COMPLEX: "complex"}


class _Tensor(ctypes.Structure):
    """`DLManagedTensor`."""

    _fields_ = (
        ("data", ctypes.c_uint64),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_DESTRUCTOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@dataclass(frozen=True)
class DeviceView:
    """An array of somebody else on the GPU: as a NumPy array whose memory the host cannot read, and what keeps it."""

    array: np.ndarray
    owner: object


def is_on_device(value: Any) -> bool:
    """Whether `value` is an array in the memory of a GPU of NVIDIA's, by DLPack."""
    return not isinstance(value, np.ndarray) and hasattr(value, "__dlpack_device__") and int(value.__dlpack_device__()[0]) == CUDA


def view_of(value: Any, name: str, expected: str, model: GpuModel) -> DeviceView:
    """A view of an array on the GPU that is ready for the model's stream; `InvalidInputError` by `name` if it is unfit."""
    number = int(value.__dlpack_device__()[1])
    if number:
        raise InvalidInputError(f"{name} lies on GPU {number}, and the model on GPU 0; copy it there")
    if isinstance(value, DeviceArray):
        return DeviceView(value.described, value)
    try:
        capsule = value.__dlpack__(stream=model.stream)
    except Exception as error:  # whatever the other library raises
        raise InvalidInputError(f"{name} cannot be read by DLPack: {error}") from error
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    tensor = _Tensor.from_address(get(capsule, _CAPSULE) or 0)
    shape = tuple(tensor.shape[axis] for axis in range(tensor.rank))
    dtype = _dtype_of(tensor, name)
    if tensor.strides and not _is_row_major(shape, [tensor.strides[axis] for axis in range(tensor.rank)]):
        got = show_type(show_dtype(dtype), shape)
        raise InvalidInputError(f"{name} expects a row-major array {expected} but got {got} with strides; make it contiguous")
    return DeviceView(_described(tensor.data + tensor.offset, shape, dtype), (capsule, value))


def _dtype_of(tensor: _Tensor, name: str) -> np.dtype[Any]:
    if tensor.code == _BFLOAT:
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    if tensor.code == _BOOL:
        return np.dtype(np.bool_)
    if tensor.code not in _NAMES or tensor.lanes != 1:
        raise InvalidInputError(f"{name} has elements of DLPack's type {tensor.code}, which NumPy has not; convert it")
    return np.dtype(f"{_NAMES[tensor.code]}{tensor.bits}")


def _is_row_major(shape: tuple[int, ...], strides: list[int]) -> bool:
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size > 1 and stride != expected:
            return False
        expected *= size
    return True


def _described(address: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """A NumPy array that says where memory of the GPU is; nobody may look at its elements."""
    size = math.prod(shape) * dtype.itemsize
    memory: Any = (ctypes.c_char * max(1, size)).from_address(address)
    return np.ndarray(shape, dtype, memory)


class DeviceArray:
    """An array on the GPU. Others take it by DLPack or `__cuda_array_interface__` without a copy; `numpy()` copies it back."""

    def __init__(self, model: GpuModel, address: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.address, self.shape, self.dtype = address, shape, dtype
        self.key = (address, shape, dtype)
        """Equal where arrays can take each other's place in a call."""
        self.described = _described(address, shape, dtype)
        """As a NumPy array whose memory the host cannot read."""
        self._model = model
        self._free = weakref.finalize(self, model.free, address)
        self._is_shared = False

    @classmethod
    def new(cls, model: GpuModel, shape: tuple[int, ...], dtype: np.dtype[Any], what: str) -> DeviceArray:
        """Uninitialised; `OutOfMemoryError` says `what` it is for."""
        return cls(model, model.allocate(math.prod(shape) * dtype.itemsize, what), shape, dtype)

    def _share(self) -> None:
        """Others get its address. What they let the GPU do with it may not be done when the array goes."""
        if not self._is_shared:
            self._is_shared = True
            self._free.detach()
            self._free = weakref.finalize(self, self._model.free, self.address, True)

    @property
    def nbytes(self) -> int:
        """The size of its elements in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize

    def numpy(self) -> np.ndarray:
        """A copy on the host."""
        values = np.empty(self.shape, self.dtype)
        if values.nbytes:
            self._model.read(values.ctypes.data, self.address, values.nbytes)
        return values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("the array lies on the GPU; it takes a copy to read it")
        values = self.numpy()
        return values if dtype is None else values.astype(dtype)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3 of the CUDA Array Interface; the elements are there already."""
        self._share()
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False), "version": 3, "strides": None}

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, 0

    def __dlpack__(self, *, stream: Any = None, **options: Any) -> object:
        """A capsule for DLPack consumers. The elements are there already, whatever stream they are read on."""
        self._share()
        rank = len(self.shape)
        code = _CODES.get(self.dtype.kind, _BFLOAT)
        shape = (ctypes.c_int64 * max(1, rank))(*self.shape)
        tensor = _Tensor(
            self.address, CUDA, 0, rank, code, 8 * self.dtype.itemsize, 1, ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
        )
        address = ctypes.addressof(tensor)
        _LENT[address] = (self, tensor, shape)
        tensor.deleter = ctypes.cast(_give_back, ctypes.c_void_p)
        make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return make(("PyCapsule_New", ctypes.pythonapi))(address, _CAPSULE, ctypes.cast(_end_capsule, ctypes.c_void_p))

    def __repr__(self) -> str:
        return f"<dlc.DeviceArray {show_type(show_dtype(self.dtype), self.shape)} on the GPU>"


_LENT: dict[int, tuple[DeviceArray, _Tensor, Any]] = {}
"""By the address of the record that consumers of DLPack have: what it is of."""


@_DELETER
def _give_back(address: int) -> None:
    """The deleter of a `DLManagedTensor`: its consumer is done."""
    _LENT.pop(address, None)


@_DESTRUCTOR
def _end_capsule(capsule: int) -> None:
    """The destructor of a capsule: one that nobody took has its old name."""
    is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
    if is_valid(capsule, _CAPSULE):
        get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
        _LENT.pop(get(capsule, _CAPSULE), None)
