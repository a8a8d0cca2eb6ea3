"""Operands of integer products that are bytes less a zero point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.matching import constant_scalar, source, type_of

WORD = 4
"""Bytes of an i32."""
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
