"""The binary floating-point formats that the function expansions work in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FloatFormat:
    """One IEEE binary format: names of its float and integer kinds, and the layout of its bits."""

    float_kind: str
    int_kind: str
    bits: int
    mantissa_bits: int

    @property
    def bias(self) -> int:
        """Exponent bias, also the largest exponent."""
        return (1 << (self.bits - self.mantissa_bits - 2)) - 1

    @property
    def sign_bit(self) -> int:
        """The sign bit as a signed integer of the same width."""
        return -(1 << (self.bits - 1))

    @property
    def min_normal(self) -> float:
        """Smallest positive normal number."""
        return 2.0 ** (1 - self.bias)

    @property
    def round_magic(self) -> float:
        """1.5 * 2^mantissa_bits: adding it rounds a small number to an integer, found in the low bits of the sum."""
        return 1.5 * 2.0**self.mantissa_bits

    @property
    def round_magic_bits(self) -> int:
        """The bit pattern of `round_magic`."""
        return ((self.bias + self.mantissa_bits) << self.mantissa_bits) | (1 << (self.mantissa_bits - 1))


F32 = FloatFormat("f32", "i32", 32, 23)
F64 = FloatFormat("f64", "i64", 64, 52)
FORMATS = {"f32": F32, "i32": F32, "f64": F64, "i64": F64}
"""The format of a float kind, or of an integer kind that holds its bits."""
