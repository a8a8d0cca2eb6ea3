"""Floats that stand for bytes: what conversions from and to quantised numbers look like in dl ops, and how they are built."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.matching import WeightFacts, has_one_use, source, type_of
from dlc.lowering.dl.quantize.byte_operands import Centered
from dlc.lowering.dl.weights.scales import Term

_BYTES = ("i8", "ui8")


@dataclass(frozen=True)
class Dequantized:
    """f32 numbers (bytes - zero) * scale, as `DequantizeLinear` computes them; `scale` None is 1.

    A scale, and a zero point in i32, is a scalar, or of a shape that broadcasts to that of the bytes.
    """

    ints: Centered
    scale: ir.Value | None

    @staticmethod
    def of(value: ir.Value, is_weight: WeightFacts) -> Dequantized | None:
        """That of a cast of bytes, or of bytes less a zero point, to f32, perhaps times a weight."""
        if type_of(value).dtype != "f32":
            return None
        term = Term.of(source(value, "dl.mul"), is_weight, "dl.mul")
        if term is None and is_weight(value):
            return Dequantized._of_weight(value)
        ints = _ints(value if term is None else term.value)
        return None if ints is None else Dequantized(ints, None if term is None else term.weight)

    @staticmethod
    def _of_weight(value: ir.Value) -> Dequantized | None:
        """That of bytes that are weights themselves: then both factors are, and the bytes are what is cast."""
        product = source(value, "dl.mul")
        if product is None:
            ints = _ints(value)
            return None if ints is None else Dequantized(ints, None)
        for number, scale in (tuple(product.operands), tuple(product.operands)[::-1]):
            ints = _ints(number)
            if ints is not None and type_of(number) == type_of(value):
                return Dequantized(ints, scale)
        return None

    @property
    def bytes(self) -> ir.Value:
        return self.ints.bytes

    @property
    def is_per_tensor(self) -> bool:
        """Whether scale and zero point are scalars."""
        return all(value is None or type_of(value).rank == 0 for value in (self.scale, self.ints.zero))

    def integers(self) -> ir.Value:
        """The numbers before they are scaled, in i32."""
        wide = dl.cast(self.bytes, to="i32")
        return wide if self.ints.zero is None else dl.sub(wide, self.ints.zero)

    def floats(self, of: ir.Value | None = None) -> ir.Value:
        """The numbers that these bytes stand for, or, with scalars, those that the bytes `of` stand for."""
        values = self if of is None else Dequantized(Centered(of, self.ints.zero), self.scale)
        found = dl.cast(values.integers(), to="f32")
        return found if self.scale is None else dl.mul(found, self.scale)


def _ints(value: ir.Value) -> Centered | None:
    """The bytes that are cast to f32 at once, or as i32 less a zero point."""
    cast = source(value, "dl.cast")
    if cast is None or type_of(value).dtype != "f32":
        return None
    inner = cast.operands[0]
    return Centered(inner, None) if type_of(inner).dtype in _BYTES else Centered.of(inner)


@dataclass(frozen=True)
class Quantized:
    """Bytes saturate(round(value / scale) + zero), as `QuantizeLinear` computes them.

    `scaling` is the product or quotient with a scalar weight that is rounded, None where `value` itself is; `zero` is in f32.
    """

    scaling: Term | None
    value: ir.Value
    zero: ir.Value | None
    dtype: str

    @staticmethod
    def of(op: ir.Operation, is_weight: WeightFacts) -> Quantized | None:
        """That of a cast of f32 to bytes, whose operands nothing else uses and whose scale and zero point are scalars."""
        dtype = type_of(op.results[0]).dtype if op.name == "dl.cast" else ""
        if dtype not in _BYTES or type_of(op.operands[0]).dtype != "f32":
            return None
        shift = Term.of(source(op.operands[0]), is_weight, "dl.add")
        rounded = op.operands[0] if shift is None else shift.value
        rounding = source(rounded, "dl.round")
        if rounding is None or not has_one_use(rounded) or (shift is not None and type_of(shift.weight).rank):
            return None
        scaled = rounding.operands[0]
        scaling = Term.of(source(scaled), is_weight, "dl.mul", "dl.div")
        if scaling is not None and (type_of(scaling.weight).rank or not has_one_use(scaled)):
            scaling = None
        return Quantized(scaling, scaling.value if scaling else scaled, shift.weight if shift else None, dtype)

    def bytes(self, value: ir.Value) -> ir.Value:
        """The bytes for other floats, with the same scale and zero point."""
        found = dl.round(value if self.scaling is None else self.scaling.combine(value, self.scaling.weight))
        return dl.cast(found if self.zero is None else dl.add(found, self.zero), to=self.dtype)
