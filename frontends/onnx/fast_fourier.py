"""Fourier transforms of any length and kind as `dl.fft` and what is before and behind it.

Numbers come as planes, [batch, components, length, inner]: real parts, then imaginary ones where there are any.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.fft_plan import is_smooth, roots_of_unity, twiddle_factors
from dlc.dialects.dl.types import NUMPY_DTYPES, type_of_value
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.shape_values import merge_axes, split_axis

_PARTS, _POINTS = 1, 2


@dataclass(frozen=True)
class FastFourier:
    """Builds transforms for a node, of planes of element type `dtype`."""

    node: NodeContext
    dtype: str

    def of_reals(self, x: ir.Value, length: int, onesided: bool) -> ir.Value:
        """The transform of real numbers, [batch, 1, length, inner]: of `length`, or of the first `length // 2 + 1` frequencies."""
        if length % 2:
            found = self.of_numbers(with_zeros(x), length)
            return _part(found, _POINTS, 0, length // 2 + 1) if onesided else found
        half = length // 2
        pairs = dl.transpose(dl.squeeze(split_axis(x, _POINTS, half, 2), axes=[_PARTS]), perm=[0, 2, 1, 3])
        found = self._combined(self.of_numbers(pairs, half), length)
        if onesided or half == 1:
            return found
        return dl.concat(found, _conjugate(_reversed(_part(found, _POINTS, 1, half))), axis=_POINTS)

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
        if length % 2:
            x = self._with_real_ends(x, half + 1, (0, 0))
            mirrored = _conjugate(_reversed(_part(x, _POINTS, 1, half + 1))) if half else None
            numbers = x if mirrored is None else dl.concat(x, mirrored, axis=_POINTS)
            return _part(self.of_numbers(numbers, length, inverse=True), _PARTS, 0, 1)
        found = self.of_numbers(self._divided(self._with_real_ends(x, half + 1, (0, 1)), length), half, inverse=True)
        return merge_axes(dl.unsqueeze(dl.transpose(found, perm=[0, 2, 1, 3]), axes=[_PARTS]), _POINTS)

    def _combined(self, x: ir.Value, length: int) -> ir.Value:
        """Frequencies 0 to length / 2 of real numbers, from the transform of their pairs taken as complex numbers.

        With the transforms E and O of the numbers at even and odd places, x = E + i O and result = E + w^k O.
        """
        half = length // 2
        x = dl.concat(x, _part(x, _POINTS, 0, 1), axis=_POINTS)
        mirrored = _conjugate(_reversed(x))
        even, odd = self._halved(dl.add(x, mirrored)), self._halved(dl.sub(x, mirrored))
        return dl.add(even, self._multiplied(odd, -1j * _complex(roots_of_unity(length, np.arange(half + 1))), f"halves{length}"))

    def _divided(self, x: ir.Value, length: int) -> ir.Value:
        """What `_combined` is given, from what it gives."""
        half = length // 2
        mirrored = _conjugate(_reversed(x))
        even, odd = (_part(op(x, mirrored), _POINTS, 0, half) for op in (dl.add, dl.sub))
        factors = 1j * _complex(roots_of_unity(length, np.arange(half))).conj()
        return self._halved(dl.add(even, self._multiplied(odd, factors, f"halves_back{length}")))

    def _with_real_ends(self, x: ir.Value, count: int, ends: tuple[int, int]) -> ir.Value:
        """x with 0 for the imaginary part of the first number, and of the last one of `count` where `ends` says so."""
        kept = _part(_part(x, _PARTS, 1, 2), _POINTS, 1, count - ends[1])
        filled = dl.pad(kept, low=[0, 0, 1, 0], high=[0, 0, ends[1], 0], mode="constant")
        return dl.concat(_part(x, _PARTS, 0, 1), filled, axis=_PARTS)

    def _chirped(self, x: ir.Value, length: int, inverse: bool) -> ir.Value:
        """By Bluestein: a convolution with the chirp exp(i pi k^2 / length), as a product of transforms of a smooth length."""
        chirp = _complex(roots_of_unity(2 * length, np.arange(length) ** 2))
        chirp = chirp.conj() if inverse else chirp
        size = _smooth_length(2 * length - 1)
        wave = np.zeros(size, complex)
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

    def _halved(self, x: ir.Value) -> ir.Value:
        return dl.mul(x, self.node.constant_value(0.5, self.dtype))

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


def _reversed(x: ir.Value) -> ir.Value:
    """The points in reverse order."""
    return dl.slice(x, starts=[-1], ends=[-(1 << 62)], axes=[_POINTS], steps=[-1])


def _part(x: ir.Value, axis: int, start: int, end: int) -> ir.Value:
    return dl.slice(x, starts=[start], ends=[end], axes=[axis], steps=[1])


def with_zeros(x: ir.Value) -> ir.Value:
    """Real numbers as complex ones."""
    return dl.pad(x, low=[0] * 4, high=[0, 1, 0, 0], mode="constant")
