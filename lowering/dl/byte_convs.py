"""Convolutions of bytes less a zero point: which are computed as such, and their operands."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.byte_operands import Centered, Words
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
        return None if image is None or kernel is None else ByteConv.over(op, image, kernel)

    @staticmethod
    def over(op: ir.Operation, image: Centered, kernel: Centered) -> ByteConv | None:
        """That of such a `dl.conv`, whose operands stand for these."""
        attributes = attributes_of(op)
        if attributes["channels_last"] or attributes["groups"] != 1:
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

    @property
    def window(self) -> dict[str, list[int]]:
        """Strides and dilations."""
        attributes, spatial = attributes_of(self.op), type_of(self.image.bytes).rank - 2
        return {name: list(attributes[name]) or [1] * spatial for name in ("strides", "dilations")}

    @property
    def is_product(self) -> bool:
        """Whether each pixel of the result reads one of the image, in order."""
        taps = type_of(self.kernel.bytes).shape[2:]
        return {*taps, *self.window["strides"]} == {1}

    def operands(self, words: Words) -> tuple[Centered, Centered]:
        """The padded image [n, pixels..., channels] and the kernel [taps..., channels, out], as `words` takes them.

        Channels are added until they are words: the zero point in the image, so that their products are nothing whatever the
        kernel has, and in the kernel 0.
        """
        image, kernel = words.left(self.image), words.right(self.kernel)
        rank = type_of(image.bytes).rank
        added = -int(str(type_of(image.bytes).dim(1))) % words.numbers
        weights = dl.transpose(kernel.bytes, perm=[*range(2, rank), 1, 0])
        if added:
            weights = dl.pad(weights, None, low=[0] * rank, high=[*[0] * (rank - 2), added, 0])
        return Centered(self._padded(image, added), image.zero), Centered(weights, _vector(kernel.zero))

    def _padded(self, image: Centered, added: int) -> ir.Value:
        spatial = type_of(image.bytes).rank - 2
        pads = list(attributes_of(self.op)["pads"]) or [0] * (2 * spatial)
        value = dl.transpose(image.bytes, perm=[0, *range(2, spatial + 2), 1])
        if not added and not any(pads):
            return value
        zero = None if image.zero is None else dl.cast(image.zero, to=type_of(image.bytes).dtype)
        return dl.pad(value, zero, low=[0, *pads[:spatial], 0], high=[0, *pads[spatial:], added])


def _vector(zero: ir.Value | None) -> ir.Value | None:
    """A zero point of each output channel, as it combines with images whose channels are last."""
    return zero if zero is None or not type_of(zero).rank else dl.reshape(zero, shape=[type_of(zero).dim(0)])


def channels_first(value: ir.Value) -> ir.Value:
    """[n, pixels..., channels] as [n, channels, pixels...]."""
    rank = type_of(value).rank
    return dl.transpose(value, perm=[0, rank - 1, *range(1, rank - 1)])


def with_bias(value: ir.Value, op: ir.Operation) -> ir.Value:
    """`value`, with channels last, plus the bias of the convolution `op`."""
    return dl.add(value, op.operands[2]) if len(op.operands) > 2 else value
