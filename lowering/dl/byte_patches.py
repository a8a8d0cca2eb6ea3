"""Convolutions of bytes as products: for each pixel of the result, the bytes that its taps read lie in a row."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.byte_operands import Centered
from dlc.lowering.dl.matching import attributes_of, constant_scalar, source, type_of

_LIMITS = {"ui8": (0, 255), "i8": (-128, 127)}


@dataclass(frozen=True)
class ByteConv:
    """A convolution of bytes less a zero point with weights that are bytes less one per output channel."""

    op: ir.Operation
    image: Centered
    kernel: Centered

    @staticmethod
    def of(op: ir.Operation) -> ByteConv | None:
        """That of a `dl.conv` of one group on images of static sizes, channels first; None for another."""
        image, kernel = (Centered.of(value) for value in list(op.operands)[:2])
        attributes = attributes_of(op)
        if image is None or kernel is None or attributes["channels_last"] or attributes["groups"] != 1:
            return None
        pixels, weights = type_of(image.bytes), type_of(kernel.bytes)
        sizes = (*pixels.shape[1:], *weights.shape)
        if not all(isinstance(dim, int) and dim > 0 for dim in sizes):
            return None
        found = ByteConv(op, image, kernel)
        return found if found._pads_with_a_byte() and found._has_zeros_per_channel() else None

    def _pads_with_a_byte(self) -> bool:
        """Whether what stands for zero at the border, the zero point, is surely one byte."""
        zero = self.image.zero
        if zero is None:
            return True
        if type_of(zero).rank != 0:
            return False
        low, high = _LIMITS[type_of(self.image.bytes).dtype]
        number, cast = constant_scalar(zero), source(zero, "dl.cast")
        if number is not None:
            return low <= number <= high
        return cast is not None and type_of(cast.operands[0]).dtype == type_of(self.image.bytes).dtype

    def _has_zeros_per_channel(self) -> bool:
        zero = self.kernel.zero
        if zero is None or type_of(zero).rank == 0:
            return True
        kind, weights = type_of(zero), type_of(self.kernel.bytes)
        return kind.rank == weights.rank and set(kind.shape[1:]) == {1} and kind.dim(0) in (1, weights.dim(0))

    def operands(self) -> tuple[Centered, Centered]:
        """The rows of bytes [n, pixels..., taps * channels], unsigned, and the matrix [taps * channels, out], signed."""
        image, kernel = self.image.unsigned(), self.kernel.signed()
        return Centered(self._rows(image), image.zero), self._matrix(kernel)

    def _matrix(self, kernel: Centered) -> Centered:
        out, inner, *taps = _dims(kernel.bytes)
        rank = 2 + len(taps)
        matrix = dl.transpose(kernel.bytes, perm=[*range(2, rank), 1, 0])
        zero = kernel.zero
        if zero is not None and type_of(zero).rank:
            zero = dl.reshape(zero, shape=[type_of(zero).dim(0)])
        size = inner
        for tap in taps:
            size *= tap
        return Centered(dl.reshape(matrix, shape=[size, out]), zero)

    def _rows(self, image: Centered) -> ir.Value:
        attributes, spatial = attributes_of(self.op), type_of(image.bytes).rank - 2
        taps = _dims(self.kernel.bytes)[2:]
        strides, dilations = (_each(attributes, name, spatial) for name in ("strides", "dilations"))
        pads = list(attributes["pads"]) or [0] * (2 * spatial)
        value = dl.transpose(image.bytes, perm=[0, *range(2, spatial + 2), 1])
        if any(pads):
            zero = None if image.zero is None else dl.cast(image.zero, to="ui8")
            value = dl.pad(value, zero, low=[0, *pads[:spatial], 0], high=[0, *pads[spatial:], 0])
        pixels = [int(str(dim)) for dim in type_of(self.op.results[0]).shape[2:]]
        rows: ir.Value | None = None
        for tap in itertools.product(*map(range, taps)):
            starts = [place * dilation for place, dilation in zip(tap, dilations, strict=True)]
            ends = [start + (size - 1) * step + 1 for start, size, step in zip(starts, pixels, strides, strict=True)]
            axes = list(range(1, spatial + 1))
            part = dl.slice(value, None, starts=starts, ends=ends, axes=axes, steps=strides)
            rows = part if rows is None else dl.concat(rows, part, axis=spatial + 1)
        assert rows is not None
        return rows


def channels_first(value: ir.Value) -> ir.Value:
    """[n, pixels..., channels] as [n, channels, pixels...]."""
    rank = type_of(value).rank
    return dl.transpose(value, perm=[0, rank - 1, *range(1, rank - 1)])


def with_bias(value: ir.Value, op: ir.Operation) -> ir.Value:
    """`value`, with channels last, plus the bias of the convolution `op`."""
    return dl.add(value, op.operands[2]) if len(op.operands) > 2 else value


def _dims(value: ir.Value) -> list[int]:
    return [dim for dim in type_of(value).shape if isinstance(dim, int)]


def _each(attributes: dict[str, Any], name: str, count: int) -> list[int]:
    return list(attributes[name]) or [1] * count
