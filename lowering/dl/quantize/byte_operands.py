"""Operands of integer products that are bytes less a zero point, and how many of their products are summed at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.matching import constant_scalar, source, type_of
from dlc.lowering.policy import policy
from dlc.targets.machine import Machine

_HALF = 128
"""What unsigned bytes are above the signed ones with the same low bits but for the sign."""


@dataclass(frozen=True)
class Centered:
    """An operand of a product: bytes less a zero point (None: 0), in i32."""

    bytes: ir.Value
    zero: ir.Value | None

    @staticmethod
    def of(value: ir.Value) -> Centered | None:
        """That of a `dl.cast` of bytes to i32, or of such a cast less something that broadcasts to it."""
        difference = source(value, "dl.sub")
        cast = source(difference.operands[0] if difference else value, "dl.cast")
        if cast is None or type_of(cast.operands[0]).dtype not in ("i8", "ui8") or type_of(cast.results[0]).dtype != "i32":
            return None
        if difference is None:
            return Centered(cast.operands[0], None)
        kept = type_of(difference.results[0]).rank == type_of(cast.results[0]).rank
        return Centered(cast.operands[0], difference.operands[1]) if kept else None

    def unsigned(self) -> Centered:
        """The same with bytes that are unsigned: those of i8 are raised by 128, as the zero point is."""
        return self if type_of(self.bytes).dtype == "ui8" else self._moved("ui8", _HALF)

    def signed(self) -> Centered:
        """The same with bytes that are signed."""
        return self if type_of(self.bytes).dtype == "i8" else self._moved("i8", -_HALF)

    def _moved(self, dtype: str, offset: int) -> Centered:
        moved = dl.cast(dl.add(dl.cast(self.bytes, to="i32"), number(offset)), to=dtype)
        known = 0.0 if self.zero is None else constant_scalar(self.zero)
        if known is None:
            return Centered(moved, dl.add(self.zero, number(offset)))
        return Centered(moved, number(int(known) + offset))


def number(value: int) -> ir.Value:
    """A constant of i32."""
    return dl.constant(value=np.array(value, np.int32))


@dataclass(frozen=True)
class VnniGroup:
    """What products read an i32 of: four bytes, or two numbers of i16 (`numbers`), in blocks of so many columns."""

    numbers: int
    blocks: tuple[int, ...]

    @staticmethod
    def of(facts: Machine) -> VnniGroup:
        """Two where the target adds two products of i16 by one instruction, but not four of bytes, or not faster.

        Bytes would have to be widened before each such instruction. On a core of Zen 3 whose peak is 100 GFLOP/s, 3x3 taps of
        28x28x128 run at 93 billion operations a second with bytes, and at 146 with i16.
        """
        blocks = policy().packing.byte_columns if facts.has_many_registers else policy().packing.byte_columns[-1:]
        return VnniGroup(2 if facts.arch == "x86_64" and not facts.prefers_vnni else 4, blocks)

    def block_of(self, columns: int) -> int:
        """Columns of a block of a matrix of so many: what divides them, or takes them all."""
        filled = columns + -columns % self.blocks[-1]
        return next((block for block in self.blocks if columns % block == 0), min(self.blocks[0], filled))

    @property
    def _base(self) -> int:
        """What a number is to the one after it in a group."""
        return int(1 << 32 // self.numbers)

    def left(self, side: Centered) -> Centered:
        """An operand whose numbers stand in all lanes: unsigned bytes, or any as i16."""
        return side.unsigned() if self.numbers > 2 else Centered(dl.cast(side.bytes, to="i16"), side.zero)

    def right(self, side: Centered) -> Centered:
        """An operand whose numbers come in groups: signed bytes, or any."""
        return side.signed() if self.numbers > 2 else side

    def pack(self, parts: Sequence[ir.Value]) -> ir.Value:
        """The groups, in i32, of as many bytes, each a tensor; the first ones lowest."""
        found: ir.Value | None = None
        for part in reversed(parts):
            digit = dl.mod(dl.cast(part, to="i32"), number(self._base))
            found = digit if found is None else dl.add(dl.mul(found, number(self._base)), digit)
        assert found is not None
        return found
