"""Fourier transforms."""

import numpy as np

from dlc.dialects.dl.attributes import BoolAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.fft_plan import MOST_RADIX, is_smooth, stages
from dlc.dialects.dl.types import TensorType, require, require_equal_dims, require_same_dtype


class FFT(DLOp, name="fft"):
    """Fast Fourier transforms over axis 2 of complex numbers, whose real and imaginary parts are axis 1. Part of ONNX DFT and STFT.

    result[b, :, k, i] = sum over n of x[b, :, n, i] * exp(-2 pi i k n / N)    with +, and divided by N, where `inverse`

    By Cooley and Tukey's mixed radices, in the stages and with the factors of `fft_plan.py`: `twiddles` is `twiddle_factors(N)`
    rounded to the type of x. Takes time in proportion to N times the sum of the radices.

    c1: x is [batch, 2, N, inner], and N is known and 2 or more.    c2: N has no prime factor above 13.
    c3: twiddles is [2, N - 1].    c4: operands have one element type.
    """

    fusion_class = "opaque"
    accepts = ("f64", "f32")
    x: Operand[Tensor]
    twiddles: Operand[Tensor]
    result: Result[Tensor]
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
        batch, _, length, inner = x.shape
        factors = twiddles[0] + 1j * twiddles[1]
        numbers = (x[:, 0] + 1j * x[:, 1]).astype(factors.dtype)
        numbers = numbers.conj() if inverse else numbers
        for stage in stages(length):
            parts = numbers.reshape(batch, stage.blocks, stage.radix, stage.rest, inner)
            dense = np.exp(-2j * np.pi * np.outer(*[np.arange(stage.radix)] * 2) / stage.radix).astype(factors.dtype)
            found = np.einsum("uj,bkjri->bukri", dense, parts)
            size = (stage.radix - 1) * stage.rest
            turns = factors[stage.offset : stage.offset + size].reshape(stage.radix - 1, 1, stage.rest, 1)
            found[:, 1:] *= turns
            numbers = found.reshape(batch, length, inner)
        scale = x.dtype.type(1 / length if inverse else 1)
        return np.stack([numbers.real * scale, numbers.imag * (-scale if inverse else scale)], 1).astype(x.dtype)
