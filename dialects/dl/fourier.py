"""Fourier transforms: of complex numbers, and of an even number of reals and back."""

import numpy as np

from dlc.dialects.dl.attributes import BoolAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.fft_plan import MOST_RADIX, is_smooth, stages
from dlc.dialects.dl.types import TensorType, require, require_equal_dims, require_same_dtype


class Transform(DLOp):
    """Base of the transforms: `twiddles` are the factors that their stages multiply by."""

    fusion_class = "opaque"
    accepts = ("f64", "f32")
    x: Operand[Tensor]
    twiddles: Operand[Tensor]
    result: Result[Tensor]


class FFT(Transform, name="fft"):
    """Fast Fourier transforms over axis 2 of complex numbers, whose real and imaginary parts are axis 1. Part of ONNX DFT and STFT.

    result[b, :, k, i] = sum over n of x[b, :, n, i] * exp(-2 pi i k n / N)    with +, and divided by N, where `inverse`

    The mixed radices of Cooley and Tukey, in the stages and with the factors of `fft_plan.py`: `twiddles` is `twiddle_factors(N)`
    rounded to the type of x. Takes time in proportion to N times the sum of the radices.

    c1: x is [batch, 2, N, inner], and N is known and 2 or more.    c2: N has no prime factor above 13.
    c3: twiddles is [2, N - 1].    c4: operands have one element type.
    """

    inverse = BoolAttr(default=False, doc="whether to transform back")

    @staticmethod
    def infer(x: TensorType, twiddles: TensorType, *, inverse: bool) -> TensorType:
        del inverse
        require("c1", x.rank == 4 and x.shape[1] in (2, None), f"x is {x}")
        length = x.shape[2]
        require("c1", isinstance(length, int) and length >= 2, f"x dim 2 is {length}")
        assert isinstance(length, int)
        require("c2", is_smooth(length), f"{length} points have a prime factor above {MOST_RADIX}")
        require("c3", twiddles.rank == 2, f"twiddles is {twiddles}")
        require_equal_dims("c3", twiddles.shape[0], 2, "twiddles dim 0", "the number of parts")
        require_equal_dims("c3", twiddles.shape[1], length - 1, "twiddles dim 1", "the number of points less 1")
        require_same_dtype("c4", x=x, twiddles=twiddles)
        return x.with_shape([x.shape[0], 2, length, x.shape[3]])

    @staticmethod
    def reference(x: np.ndarray, twiddles: np.ndarray, *, inverse: bool) -> np.ndarray:
        return _transformed(x, twiddles, inverse)


class RFFT(Transform, name="rfft"):
    """Fast Fourier transforms of an even number N of reals over axis 1: frequencies 0 to N / 2. Part of ONNX DFT and STFT.

    result[b, :, k, i] = real and imaginary part of the sum over n of x[b, n, i] * exp(-2 pi i k n / N)

    Pairs of neighbours are transformed as complex numbers, as by `dl.fft`. `twiddles` is `real_twiddle_factors(N)` of
    `fft_plan.py`, rounded to the type of x.

    c1: x is [batch, N, inner], and N is known, even and 2 or more.    c2: N / 2 has no prime factor above 13.
    c3: twiddles is [2, N].    c4: operands have one element type.
    """

    @staticmethod
    def infer(x: TensorType, twiddles: TensorType) -> TensorType:
        require("c1", x.rank == 3, f"x is {x}")
        length = x.shape[1]
        require("c1", isinstance(length, int) and length >= 2 and length % 2 == 0, f"x dim 1 is {length}")
        assert isinstance(length, int)
        _check_halves(length, x, twiddles)
        return x.with_shape([x.shape[0], 2, length // 2 + 1, x.shape[2]])

    @staticmethod
    def reference(x: np.ndarray, twiddles: np.ndarray) -> np.ndarray:
        half = x.shape[1] // 2
        pairs = np.moveaxis(x.reshape(x.shape[0], half, 2, x.shape[2]), 2, 1)
        found = _complex(_transformed(pairs, twiddles[:, : half - 1], False))
        found = np.concatenate([found, found[:, :1]], axis=1)
        mirrored = found[:, ::-1].conj()
        turns = -1j * _complex(twiddles[None, :, half - 1 :, None])
        return _planes((found + mirrored + turns * (found - mirrored)) / 2, x.dtype)


class IRFFT(Transform, name="irfft"):
    """The inverse of `dl.rfft`: an even number N of reals from their frequencies 0 to N / 2. Part of ONNX DFT.

    The imaginary parts of frequencies 0 and N / 2, which are 0 of reals, do not count.

    c1: x is [batch, 2, N / 2 + 1, inner], and N is known and 2 or more.    c2: N / 2 has no prime factor above 13.
    c3: twiddles is [2, N].    c4: operands have one element type.
    """

    @staticmethod
    def infer(x: TensorType, twiddles: TensorType) -> TensorType:
        require("c1", x.rank == 4 and x.shape[1] in (2, None), f"x is {x}")
        count = x.shape[2]
        require("c1", isinstance(count, int) and count >= 2, f"x dim 2 is {count}")
        assert isinstance(count, int)
        _check_halves(2 * (count - 1), x, twiddles)
        return x.with_shape([x.shape[0], 2 * (count - 1), x.shape[3]])

    @staticmethod
    def reference(x: np.ndarray, twiddles: np.ndarray) -> np.ndarray:
        half = x.shape[2] - 1
        numbers = _complex(x)
        numbers[:, [0, half]] = numbers[:, [0, half]].real
        mirrored = numbers[:, ::-1].conj()
        turns = 1j * _complex(twiddles[None, :, half - 1 :, None]).conj()
        pairs = _planes((numbers + mirrored + turns * (numbers - mirrored))[:, :half] / 2, x.dtype)
        found = _transformed(pairs, twiddles[:, : half - 1], True)
        return np.moveaxis(found, 1, 2).reshape(x.shape[0], 2 * half, x.shape[3])


def _check_halves(length: int, x: TensorType, twiddles: TensorType) -> None:
    """What both transforms of `length` reals require of their operands."""
    require("c2", is_smooth(length // 2), f"half of {length} points have a prime factor above {MOST_RADIX}")
    require("c3", twiddles.rank == 2, f"twiddles is {twiddles}")
    require_equal_dims("c3", twiddles.shape[0], 2, "twiddles dim 0", "the number of parts")
    require_equal_dims("c3", twiddles.shape[1], length, "twiddles dim 1", "the number of points")
    require_same_dtype("c4", x=x, twiddles=twiddles)


def _complex(planes: np.ndarray) -> np.ndarray:
    """[batch, 2, points, inner] as complex numbers, [batch, points, inner]."""
    kind = np.complex64 if planes.dtype == np.float32 else np.complex128
    found: np.ndarray = (planes[:, 0] + 1j * planes[:, 1]).astype(kind)
    return found


def _planes(numbers: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The inverse of `_complex`."""
    return np.stack([numbers.real, numbers.imag], 1).astype(dtype)


def _transformed(x: np.ndarray, twiddles: np.ndarray, inverse: bool) -> np.ndarray:
    """The transform by stages, of any length from 1 on."""
    batch, _, length, inner = x.shape
    factors = _complex(twiddles[None, :, :, None])[0, :, 0]
    numbers = _complex(x)
    numbers = numbers.conj() if inverse else numbers
    for stage in stages(length):
        parts = numbers.reshape(batch, stage.blocks, stage.radix, stage.rest, inner)
        dense = np.exp(-2j * np.pi * np.outer(*[np.arange(stage.radix)] * 2) / stage.radix).astype(factors.dtype)
        found = np.einsum("uj,bkjri->bukri", dense, parts)
        size = (stage.radix - 1) * stage.rest
        found[:, 1:] *= factors[stage.offset : stage.offset + size].reshape(stage.radix - 1, 1, stage.rest, 1)
        numbers = found.reshape(batch, length, inner)
    return _planes(numbers.conj() / length if inverse else numbers, x.dtype)
