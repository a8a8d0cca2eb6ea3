"""Butterflies: discrete Fourier transforms of a few complex numbers as straight scalar code, as pocketfft writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dlc._mlir import ir
from dlc.dialects.dl.fft_plan import cosines
from dlc.lowering.dl_to_linalg.building.builder import Builder

Complex: TypeAlias = tuple[ir.Value, ir.Value]
"""Real and imaginary part."""


@dataclass(frozen=True)
class Butterfly:
    """Sums and products of complex numbers of `dtype`, each rounded: so every machine gives the results that pocketfft gives."""

    b: Builder
    dtype: str
    inverse: bool

    def transform(self, numbers: Sequence[Complex]) -> list[Complex]:
        """The transform of the numbers: radix 2, 4, 8 or an odd one."""
        if len(numbers) == 1:
            return list(numbers)
        if len(numbers) % 2:
            return self._odd(numbers)
        even, odd = self.transform(numbers[::2]), self.transform(numbers[1::2])
        turned = [self._turned(number, power, len(numbers)) for power, number in enumerate(odd)]
        sums = [self.add(left, right) for left, right in zip(even, turned, strict=True)]
        return [*sums, *(self.sub(left, right) for left, right in zip(even, turned, strict=True))]

    def add(self, left: Complex, right: Complex) -> Complex:
        """The sum."""
        return self._plus(left[0], right[0]), self._plus(left[1], right[1])

    def sub(self, left: Complex, right: Complex) -> Complex:
        """The difference."""
        return self._minus(left[0], right[0]), self._minus(left[1], right[1])

    def multiply(self, number: Complex, factor: Complex) -> Complex:
        """The product with `factor`, or with its conjugate where the transform is inverse."""
        (real, imaginary), (cos, sin) = number, factor
        first, second = self._times(real, cos), self._times(imaginary, cos)
        across, back = self._times(imaginary, sin), self._times(real, sin)
        if self.inverse:
            return self._plus(first, across), self._minus(second, back)
        return self._minus(first, across), self._plus(second, back)

    def scaled(self, number: Complex, factor: float) -> Complex:
        """The product with a real number."""
        constant = self.b.scalar(factor, self.dtype)
        return self._times(number[0], constant), self._times(number[1], constant)

    def quarter(self, number: Complex) -> Complex:
        """The product with -i, or with i where the transform is inverse."""
        real, imaginary = number
        if self.inverse:
            return self._negated(imaginary), real
        return imaginary, self._negated(real)

    def _turned(self, number: Complex, power: int, length: int) -> Complex:
        """The product with w^power, w = exp(-2 pi i / length), for length 2, 4 or 8 and power below its half."""
        if power == 0:
            return number
        if 4 * power == length:
            return self.quarter(number)
        half = self.b.scalar(0.5**0.5, self.dtype)
        other = self.quarter(number)
        mixed = self.add(number, other) if 8 * power == length else self.sub(other, number)
        return self._times(mixed[0], half), self._times(mixed[1], half)

    def _odd(self, numbers: Sequence[Complex]) -> list[Complex]:
        """A prime radix: cosines multiply sums of opposite numbers, sines their differences."""
        radix, half = len(numbers), len(numbers) // 2
        pairs = [(numbers[place], numbers[radix - place]) for place in range(1, half + 1)]
        sums, differences = [self.add(*pair) for pair in pairs], [self.sub(*pair) for pair in pairs]
        first = numbers[0]
        for number in sums:
            first = self.add(first, number)
        lower, upper = [], []
        for result in range(1, half + 1):
            even, odd = self._projections(numbers[0], sums, differences, result)
            lower.append(self.add(even, odd))
            upper.append(self.sub(even, odd))
        return [first, *lower, *reversed(upper)]

    def _projections(
        self, first: Complex, sums: Sequence[Complex], differences: Sequence[Complex], result: int
    ) -> tuple[Complex, Complex]:
        """The even and the odd half of one result of a prime radix."""
        radix = 2 * len(sums) + 1
        cos, sin = cosines(radix)
        even, odd = first, None
        for place, (total, difference) in enumerate(zip(sums, differences, strict=True), start=1):
            turn = place * result % radix
            even = self.add(even, self.scaled(total, cos[turn]))
            term = self.scaled(difference, sin[turn] if self.inverse else -sin[turn])
            odd = term if odd is None else self.add(odd, term)
        assert odd is not None
        return even, (self._negated(odd[1]), odd[0])

    def _plus(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return self.b.binary("arith.addf", left, right)

    def _minus(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return self.b.binary("arith.subf", left, right)

    def _times(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return self.b.binary("arith.mulf", left, right)

    def _negated(self, value: ir.Value) -> ir.Value:
        return self.b.unary("arith.negf", value)
