"""Arguments of a compiled model: what is accepted as it is, what is copied, and what is refused with which words."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from dlc.errors import DLCError, InvalidInputError
from dlc.runtime.arguments import bind_arguments
from dlc.runtime.signature import TensorSpec

X = TensorSpec("x", ("n", 3), "f32")
Y = TensorSpec("y", ("n",), "i64")
PAIR = (X, Y)
x = np.arange(6, dtype=np.float32).reshape(2, 3)
y = np.arange(2)


class ByArrayProtocol:
    """Stands for another library's array that only has `__array__`."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self._array


class ByDlpack:
    """Stands for another library's array that only has DLPack."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


class OnAnotherDevice(ByDlpack):
    """Stands for an array that NumPy cannot read."""

    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("it lies in device memory")


@pytest.mark.parametrize(
    "arguments",
    [
        (x, y),
        ([x, y],),
        ((x, y),),
        ({"y": y, "x": x},),
        (ByArrayProtocol(x), ByDlpack(y)),
        (np.asfortranarray(x), y[::-1][::-1]),
        (np.repeat(x, 2, axis=1)[:, ::2], y),
        (x.astype(">f4"), y.astype(">i8")),
        (np.frombuffer(b"-" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(2, 3), y),
    ],
    ids=["position", "list", "tuple", "dict", "protocols", "fortran", "strided", "big_endian", "unaligned"],
)
def test_accepted(arguments: tuple[Any, ...]) -> None:
    bound = bind_arguments(PAIR, arguments)
    for array, expected in zip(bound, (x, y), strict=True):
        assert array.dtype == expected.dtype
        assert array.flags.c_contiguous
        assert array.flags.aligned
        np.testing.assert_array_equal(array, expected)


class OnCuda(ByDlpack):
    """Stands for an array that says that it lies on a GPU, and hands out a capsule all the same."""

    def __dlpack_device__(self) -> Any:
        return (2, 0)


def test_memory_of_a_gpu_is_not_read() -> None:
    with pytest.raises(InvalidInputError, match="input 'y' cannot be read as an array: it lies on device 2 of DLPack"):
        bind_arguments(PAIR, (x, OnCuda(y)))


def test_masks_are_not_lost() -> None:
    with pytest.raises(InvalidInputError, match=r"input 'x' is a masked array, .*give value\.filled"):
        bind_arguments(PAIR, (np.ma.masked_array(x, mask=x > 0), y))
    assert np.array_equal(bind_arguments(PAIR, (np.ma.masked_array(x), y))[0], x)


def test_row_major_arrays_are_not_copied() -> None:
    frozen = x.copy()
    frozen.flags.writeable = False
    bound = bind_arguments(PAIR, (frozen, y))
    assert bound[0] is frozen
    assert bound[1] is y


def test_rank_zero_and_small_types() -> None:
    specs = [TensorSpec(name, (), name) for name in ("bf16", "f16", "ui8", "i1")]
    dtypes = (ml_dtypes.bfloat16, np.float16, np.uint8, np.bool_)
    bound = bind_arguments(specs, [np.array(1).astype(dtype) for dtype in dtypes])
    assert [array.shape for array in bound] == [()] * 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), r"expected 2 inputs but got 0; the model's inputs are x: f32\[n, 3\], y: i64\[n\]"),
        ((x,), "expected 2 inputs but got 1"),
        (([x, y, y],), "expected 2 inputs but got 3"),
        (({"x": x},), "missing 'y'; the model's inputs are x, y"),
        (({"x": x, "y": y, "z": y},), "unknown 'z'"),
        ((x.astype(np.float64), y), r"input 'x' expects f32\[n, 3\] but got f64\[2, 3\]; convert it"),
        ((x, y.astype(np.int32)), r"input 'y' expects i64\[n\] but got i32\[2\]"),
        ((x, y.astype(np.uint64)), r"input 'y' expects i64\[n\] but got ui64\[2\]"),
        ((x[0], y), r"input 'x' .* but got f32\[3\]; the rank is 1 instead of 2"),
        ((x[:, :2], y), "dim 1 is 2 instead of 3"),
        ((x, y[:1]), "input 'y' .* dim 'n' is 1 here but 2 in input 'x'"),
        ((1.0, y), r"input 'x' expects an array f32\[n, 3\] but got float"),
        (([[1.0, 2.0, 3.0]], y), "input 'x' expects an array .* but got list"),
        ((OnAnotherDevice(x), y), "input 'x' cannot be read as an array: it lies in device memory"),
        ((np.array([["a"] * 3]), y), "input 'x' expects .* but got <U1"),
    ],
)
def test_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        bind_arguments(PAIR, arguments)
    assert isinstance(caught.value, DLCError)
    assert "\n" not in str(caught.value)
