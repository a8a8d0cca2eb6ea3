"""Fourier transforms of any length and kind as `dl.fft` and what is before and behind it.

Numbers come as planes, [batch, components, length, inner]: real parts, then imaginary ones where there are any.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.fft_plan import is_smooth, real_twiddle_factors, roots_of_unity, twiddle_factors
from dlc.dialects.dl.types import NUMPY_DTYPES
from dlc.frontends.onnx.node import NodeContext

_PARTS, _POINTS = 1, 2


@dataclass(frozen=True)
class FastFourier:
    """Builds transforms for a node, of planes of element type `dtype`."""

    node: NodeContext
    dtype: str

    def of_reals(self, x: ir.Value, length: int) -> ir.Value:
        """The first `length // 2 + 1` frequencies of real numbers, [batch, 1, length, inner]."""
        half = length // 2
        if length % 2 or not is_smooth(half):
            return _part(self.of_numbers(with_zeros(x), length), _POINTS, 0, half + 1)
        return dl.rfft(dl.squeeze(x, axes=[_PARTS]), self._param(real_twiddle_factors(length), f"twiddles{length}"))

    def of_numbers(self, x: ir.Value, length: int, inverse: bool = False) -> ir.Value:
        """The transform of complex numbers, [batch, 2, length, inner]."""
        if length == 1:
            return x
        if not is_smooth(length):
            return self._chirped(x, length, inverse)
        return dl.fft(x, self._param(twiddle_factors(length), f"twiddles{length}"), inverse=inverse)

    def to_reals(self, x: ir.Value, length: int) -> ir.Value:
        """`length` real numbers of the first `length // 2 + 1` frequencies; those that must be real are taken to be."""
        half = length // 2
        if length % 2 == 0 and is_smooth(half):
            found = dl.irfft(x, self._param(real_twiddle_factors(length), f"twiddles{length}"))
            return dl.unsqueeze(found, axes=[_PARTS])
        x = self._with_real_ends(x, half + 1, length % 2 == 0)
        return _part(self.of_numbers(mirrored(x, length), length, inverse=True), _PARTS, 0, 1)

    def _with_real_ends(self, x: ir.Value, count: int, both: bool) -> ir.Value:
        """x with 0 for the imaginary part of the first number, and of the last one of `count`, too, where `both`."""
        kept = _part(_part(x, _PARTS, 1, 2), _POINTS, 1, count - both)
        filled = dl.pad(kept, low=[0, 0, 1, 0], high=[0, 0, int(both), 0], mode="constant")
        return dl.concat(_part(x, _PARTS, 0, 1), filled, axis=_PARTS)

    def _chirped(self, x: ir.Value, length: int, inverse: bool) -> ir.Value:
        """By Bluestein: a convolution with the chirp exp(i pi k^2 / length), as a product of transforms of a smooth length."""
        chirp = _complex(roots_of_unity(2 * length, np.arange(length) ** 2))
        chirp = chirp.conj() if inverse else chirp
        size = _smooth_length(2 * length - 1)
        wave: np.ndarray = np.zeros(size, complex)
        wave[:length] = chirp.conj()
        wave[size - length + 1 :] = chirp.conj()[:0:-1]
        name = f"chirp{'_back' if inverse else ''}{length}"
        x = dl.pad(self._multiplied(x, chirp, name), low=[0] * 4, high=[0, 0, size - length, 0], mode="constant")
        waves = self._multiplied(self.of_numbers(x, size), np.fft.fft(wave), f"{name}_wave")
        found = _part(self.of_numbers(waves, size, inverse=True), _POINTS, 0, length)
        return self._multiplied(found, chirp / length if inverse else chirp, f"{name}_out")

    def _multiplied(self, x: ir.Value, factors: np.ndarray, name: str) -> ir.Value:
        """x times one complex factor for each point."""
        table = self._param(np.stack([factors.real, factors.imag]), name)
        table = dl.unsqueeze(table, axes=[0, 3])
        (real, imaginary), (cos, sin) = ((_part(each, _PARTS, 0, 1), _part(each, _PARTS, 1, 2)) for each in (x, table))
        parts = (
            dl.sub(dl.mul(real, cos), dl.mul(imaginary, sin)),
            dl.add(dl.mul(real, sin), dl.mul(imaginary, cos)),
        )
        return dl.concat(*parts, axis=_PARTS)

    def _param(self, table: np.ndarray, name: str) -> ir.Value:
        """A table of f64 as a weight of the transforms' type."""
        return self.node.new_param(table.astype(NUMPY_DTYPES[self.dtype]), f"{self.node.node.output[0]}_{name}")


def _smooth_length(least: int) -> int:
    """The smallest length from `least` on that is a power of two, or one times 3 or 5."""
    return min(factor << max(-(-least // factor) - 1, 0).bit_length() for factor in (1, 3, 5))


def _complex(parts: np.ndarray) -> np.ndarray:
    found: np.ndarray = parts[0] + 1j * parts[1]
    return found


def _conjugate(x: ir.Value) -> ir.Value:
    return dl.concat(_part(x, _PARTS, 0, 1), dl.neg(_part(x, _PARTS, 1, 2)), axis=_PARTS)


def mirrored(x: ir.Value, length: int) -> ir.Value:
    """All frequencies of `length` reals from the first `length // 2 + 1`: opposite ones are conjugates."""
    others = (length - 1) // 2
    if not others:
        return x
    return dl.concat(x, _conjugate(_reversed(_part(x, _POINTS, 1, others + 1))), axis=_POINTS)


def _reversed(x: ir.Value) -> ir.Value:
    """The points in reverse order."""
    return dl.slice(x, starts=[-1], ends=[-(1 << 62)], axes=[_POINTS], steps=[-1])


def _part(x: ir.Value, axis: int, start: int, end: int) -> ir.Value:
    return dl.slice(x, starts=[start], ends=[end], axes=[axis], steps=[1])


def with_zeros(x: ir.Value) -> ir.Value:
    """Real numbers as complex ones."""
    return dl.pad(x, low=[0] * 4, high=[0, 1, 0, 0], mode="constant")
