"""Convolutions of bytes by Winograd's tiles: where they are exact and pay, and their operands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.winograd_matrices import MATRICES, TAPS
from dlc.lowering.dl.matching import type_of
from dlc.lowering.dl.quantize.byte_operands import VnniGroup
from dlc.lowering.dl.weights.winograd_choice import LANES, pays_for_words
from dlc.lowering.vnni import PAIR
from dlc.targets.machine import Machine

_RESULTS = 2
"""Results of a tile along one axis: F(2, 3) has transforms of whole numbers, once those of taps are doubled in each dimension."""
_WHOLE = 4
"""What kernels of two dimensions are multiplied with so that their factors are whole numbers."""
_MOST = 4 * TAPS * TAPS * 255 * 255
"""The largest number that a channel adds to four times a result."""


def takes_tiles(image: ir.Value, kernel: ir.Value, tiles: Sequence[int], group: VnniGroup, facts: Machine) -> bool:
    """Whether an image [n, height, width, C] of i16 and a kernel [taps..., C, out] are convolved, with stride 1, by tiles.

    `tiles` are the sizes that the module allows. Transformed bytes have no more than 12 bits, so that nothing is lost as long as
    four times the sums are numbers of i32, which takes 900 channels or less.
    """
    pixels, weights = type_of(image).shape, type_of(kernel).shape
    if group.numbers != PAIR or _RESULTS not in tiles or len(pixels) != 4 or weights[:2] != (TAPS, TAPS):
        return False
    _, height, width, _ = (dim if isinstance(dim, int) else 0 for dim in pixels)
    inner, out = (int(str(dim)) for dim in weights[2:])
    if inner % PAIR or out % LANES or inner * _MOST > np.iinfo(np.int32).max:
        return False
    return pays_for_words(height - TAPS + 1, width - TAPS + 1, inner // PAIR, out, facts)


def convolved(image: ir.Value, kernel: ir.Value, group: VnniGroup) -> ir.Value:
    """The convolution of what `takes_tiles` takes."""
    return dl.pair_winograd_conv(image, _transformed(kernel, group))


def _transformed(kernel: ir.Value, group: VnniGroup) -> ir.Value:
    """The operand of dl.pair_winograd_conv from a kernel [taps, taps, in, out]."""
    *_, inner, out = (int(str(dim)) for dim in type_of(kernel).shape)
    factors = _WHOLE * MATRICES[_RESULTS].kernels
    positions = len(factors)
    flat = dl.reshape(dl.cast(kernel, to="i32"), shape=[TAPS * TAPS, inner * out])
    product = dl.matmul(dl.constant(value=factors.astype(np.int32)), flat)
    split = dl.reshape(product, shape=[positions, inner // PAIR, PAIR, out // LANES, LANES])
    parts = [dl.slice(split, None, starts=[place], ends=[place + 1], axes=[2], steps=[1]) for place in range(PAIR)]
    return dl.transpose(group.pack([dl.squeeze(part, axes=[2]) for part in parts]), perm=[0, 2, 1, 3])
