"""Convolutions of bytes less a zero point: which are computed as such, and their operands."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.matching import attributes_of, constant_scalar, source, type_of
from dlc.lowering.dl.quantize.byte_operands import Centered, VnniGroup
from dlc.lowering.vnni import PAIR

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

    def operands(self, group: VnniGroup) -> tuple[Centered, Centered, dict[str, list[int]]]:
        """The padded image [n, pixels..., channels] and the kernel [taps..., channels, out], as `group` takes them, and the window.

        Channels are added until they are groups: the zero point in the image, so that their products are nothing whatever the
        kernel has, and in the kernel 0. Where a row of taps has fewer groups than that, its groups take the place of taps.
        """
        image, kernel = group.left(self.image), group.right(self.kernel)
        rank = type_of(image.bytes).rank
        weights = dl.transpose(kernel.bytes, perm=[*range(2, rank), 1, 0])
        if self._has_whole_steps(group):
            value, weights, window = self._by_rows(image, weights)
            return Centered(value, image.zero), Centered(weights, None), window
        added = -self._channels % group.numbers
        if added:
            weights = dl.pad(weights, None, low=[0] * rank, high=[*[0] * (rank - 2), added, 0])
        return Centered(self._padded(image, added, 0), image.zero), Centered(weights, _vector(kernel.zero)), self.window

    @property
    def _channels(self) -> int:
        return int(str(type_of(self.image.bytes).dim(1)))

    def _has_whole_steps(self, group: VnniGroup) -> bool:
        """Whether groups are two numbers of an odd number of channels, and each result in a row begins with one of them.

        7 taps of 3 channels, in steps of two, are 11 groups, and 14 with a fourth channel: on a core of Zen 3, 7x7 taps of images
        224x224 take 0.76 of the time.
        """
        channels, taps = self._channels, int(str(type_of(self.kernel.bytes).shape[-1]))
        step, dilation = (self.window[name][-1] for name in ("strides", "dilations"))
        has_zeros = self.kernel.zero is not None and constant_scalar(self.kernel.zero) != 0
        if group.numbers != PAIR or channels % PAIR == 0 or step % PAIR or dilation != 1 or taps == 1 or has_zeros:
            return False
        room = self._even_columns * channels // PAIR - -(-taps * channels // PAIR)
        return room // (step * channels // PAIR) + 1 == type_of(self.op.results[0]).shape[-1]

    @property
    def _even_columns(self) -> int:
        """Columns of the padded image, and one more if they are odd."""
        columns = int(str(type_of(self.image.bytes).shape[-1])) + self._pads[len(self._pads) // 2 - 1] + self._pads[-1]
        return columns + columns % PAIR

    @property
    def _pads(self) -> list[int]:
        spatial = type_of(self.image.bytes).rank - 2
        return list(attributes_of(self.op)["pads"]) or [0] * (2 * spatial)

    def _by_rows(self, image: Centered, weights: ir.Value) -> tuple[ir.Value, ir.Value, dict[str, list[int]]]:
        """Image and kernel with the groups of a row as its pixels, where the last one of the kernel is filled with 0."""
        *taps, width, inner, out = (int(str(dim)) for dim in type_of(weights).shape)
        columns = int(str(type_of(image.bytes).shape[-1])) + self._pads[len(taps)] + self._pads[-1]
        value = self._padded(image, 0, self._even_columns - columns)
        rows = [*type_of(value).shape[1:-2], self._even_columns * inner // PAIR, PAIR]
        value = dl.reshape(value, None, shape=[-1, *rows], copied=[0, *[-1] * len(rows)])
        flat = dl.reshape(weights, shape=[*taps, width * inner, out])
        filled = -width * inner % PAIR
        if filled:
            flat = dl.pad(flat, None, low=[0] * (len(taps) + 2), high=[*[0] * len(taps), filled, 0])
        strides = [*self.window["strides"][:-1], self.window["strides"][-1] * inner // PAIR]
        weights = dl.reshape(flat, shape=[*taps, (width * inner + filled) // PAIR, PAIR, out])
        return value, weights, {"strides": strides, "dilations": self.window["dilations"]}

    def _padded(self, image: Centered, channels: int, columns: int) -> ir.Value:
        """The image, channels last, with its pads and so many `channels` and `columns` more."""
        spatial, pads = type_of(image.bytes).rank - 2, self._pads
        value = dl.transpose(image.bytes, perm=[0, *range(2, spatial + 2), 1])
        if not channels and not columns and not any(pads):
            return value
        zero = None if image.zero is None else dl.cast(image.zero, to=type_of(image.bytes).dtype)
        high = [0, *pads[spatial:-1], pads[-1] + columns, channels]
        return dl.pad(value, zero, low=[0, *pads[:spatial], 0], high=high)


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
