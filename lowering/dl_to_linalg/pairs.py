"""Lowering of products of pairs in bf16: a pair comes in an i32, low bits first."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.dialects.dl.window import Layout, Window
from dlc.lowering.dl_to_linalg.builder import PARALLEL, Builder
from dlc.lowering.dl_to_linalg.contraction import Loops, widened, zeros
from dlc.lowering.dl_to_linalg.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.quantized import multiply_words
from dlc.lowering.dl_to_linalg.windows import pad_spatial, position_extents

_PAIR = 2
_BITS = 16
_UPPER = 0xFFFF0000


@lowering("bf16_pairs")
def lower_bf16_pairs(b: Builder, op: SourceOp) -> ir.Value:
    """One generic that reads two rows; a row of zeros is added where their number is odd."""
    (x,) = op.operands
    *outer, rows, columns = b.shape(x)
    padded = b.pad(x, [0] * x.type.rank, [*[0] * len(outer), int(x.type.shape[-2]) % 2, 0], b.scalar(0, "f32"))
    shape = [*outer, b.extent("ceildiv", rows, 2), columns]
    rank = len(shape)
    *dims, group, column = (ir.AffineExpr.get_dim(loop) for loop in range(rank))
    reads = [ir.AffineMap.get(rank, 0, [*dims, group * 2 + place, column]) for place in (0, 1)]

    def body(low: ir.Value, high: ir.Value, _: ir.Value) -> ir.Value:
        raised = b.binary("arith.shli", _bits(b, high), b.scalar(_BITS, "i32"))
        return b.binary("arith.ori", _bits(b, low), raised)

    maps = [*reads, ir.AffineMap.get_identity(rank)]
    return b.generic([padded, padded], b.empty(shape, "i32"), maps, [PARALLEL] * rank, body)


@lowering("pair_matmul")
def lower_pair_matmul(b: Builder, op: SourceOp) -> ir.Value:
    """Loops of any product of words."""
    return multiply_words(b, op, _PAIR, "f32", lambda values, packed: _products(b, values, packed))


@lowering("pair_conv")
def lower_pair_conv(b: Builder, op: SourceOp) -> ir.Value:
    """Pad, then loops (n, positions..., block, lane, taps..., pair); block and lane become one axis."""
    x, weight = op.operands
    layout = Layout(op.types[0].rank - 2, channels_last=True)
    blocks, *taps, _, width = weight.type.shape
    window = Window.of("", taps, op["strides"], op["pads"], op["dilations"])
    positions = position_extents(b, x, taps, window, layout)
    padded = pad_spatial(b, x, window.pads_begin, window.pads_end, layout, b.scalar(0, op.types[0].dtype))
    shape, rank = [b.dim(x, 0), *positions, blocks, width], layout.rank
    loops = Loops(rank + 3, rank + 1)
    batch, *image, block, lane = loops.dims()[: rank + 3]
    *steps, pair = loops.dims()[rank + 3 :]
    moves = zip(image, window.strides, steps, window.dilations, strict=True)
    reads = [place * stride + step * dilation for place, stride, step, dilation in moves]
    maps = [
        *(loops.map([batch, *reads, pair * _PAIR + place]) for place in range(_PAIR)),
        loops.map([block, *steps, pair, lane]),
        loops.map([batch, *image, block, lane]),
    ]

    def body(*scalars: ir.Value) -> ir.Value:
        *values, packed, total = scalars
        return b.arith("add", total, _products(b, values, packed), "f32")

    found = b.generic([*[padded] * _PAIR, weight], zeros(b, shape, "f32"), maps, loops.iterators, body)
    return b.collapse(found, [*([axis] for axis in range(rank + 1)), [rank + 1, rank + 2]])


def _products(b: Builder, values: Sequence[ir.Value], packed: ir.Value) -> ir.Value:
    """Products of f32, of which a bf16 number is the upper half, as `affine-use-dot-products` finds them again."""
    halves = b.binary("arith.shli", packed, b.scalar(_BITS, "i32")), b.binary("arith.andi", packed, b.scalar(_UPPER, "i32"))
    factors = [b.create("arith.bitcast", [b.element("f32")], [half]) for half in halves]
    pairs = zip(values, factors, strict=True)
    low, high = (b.arith("mul", widened(b, value, "f32"), factor, "f32") for value, factor in pairs)
    return b.arith("add", low, high, "f32")


def _bits(b: Builder, x: ir.Value) -> ir.Value:
    """The bits of an f32 scalar rounded to bf16, as an i32."""
    narrow = b.create("arith.bitcast", [ir.IntegerType.get_signless(_BITS)], [b.narrow(x, "bf16")])
    return b.create("arith.extui", [b.element("i32")], [narrow])
