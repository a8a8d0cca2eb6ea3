"""Lowering of products with several narrow numbers of a column in one i32: the forms of `dialects/dl/vnni.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dlc._mlir import ir
from dlc.dialects.dl.vnni import FORMS
from dlc.dialects.dl.window import Layout, Window
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder
from dlc.lowering.dl_to_linalg.building.contraction import Loops, widened, zeros
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.building.windows import pad_spatial, position_extents
from dlc.lowering.vnni import HALF_BITS, QUAD, UPPER_HALF

_BITS = 32

GroupProducts = Callable[[Builder, Sequence[ir.Value], ir.Value], ir.Value]
"""The sum of the products of neighbours of a row with the numbers of a group."""


@lowering("vnni_matmul")
def lower_vnni_matmul(b: Builder, op: SourceOp) -> ir.Value:
    """Loops (rows..., block, column, group). The neighbours of a group are so many readings of the operand.

    Static rows are merged.
    """
    lhs, rhs = op.operands
    numbers = FORMS[op.types[0].dtype].numbers
    rows = b.shape(lhs)[:-1]
    is_static = ir.ShapedType.get_dynamic_size() not in list(lhs.type.shape[:-1])
    groups = [list(range(len(rows))), [len(rows)]]
    merged = b.collapse(lhs, groups) if is_static and len(rows) > 1 else lhs
    blocks, _, width = rhs.type.shape
    shape = [*b.shape(merged)[:-1], op["columns"] or blocks * width]
    loops = Loops(len(shape), 1)
    *outer, n, k = loops.dims()
    weight = loops.map([ir.AffineExpr.get_floor_div(n, width), k, ir.AffineExpr.get_mod(n, width)])
    maps = [*(loops.map([*outer, k * numbers + place]) for place in range(numbers)), weight, loops.map([*outer, n])]

    start = zeros(b, shape, op.result.dtype)
    product = b.generic([*[merged] * numbers, rhs], start, maps, loops.iterators, _adding(b, op))
    return product if merged is lhs else b.expand(product, groups, [*rows, shape[-1]])


@lowering("vnni_conv")
def lower_vnni_conv(b: Builder, op: SourceOp) -> ir.Value:
    """Pad, then loops (n, positions..., block, lane, taps..., group); block and lane become one axis."""
    x, weight = op.operands
    numbers = FORMS[op.types[0].dtype].numbers
    layout = Layout(op.types[0].rank - 2, channels_last=True)
    blocks, *taps, _, width = weight.type.shape
    window = Window.of("", taps, op["strides"], op["pads"], op["dilations"])
    positions = position_extents(b, x, taps, window, layout)
    padded = pad_spatial(b, x, window.pads_begin, window.pads_end, layout, b.scalar(0, op.types[0].dtype))
    shape, rank = [b.dim(x, 0), *positions, blocks, width], layout.rank
    loops = Loops(rank + 3, rank + 1)
    batch, *image, block, lane = loops.dims()[: rank + 3]
    *steps, group = loops.dims()[rank + 3 :]
    moves = zip(image, window.strides, steps, window.dilations, strict=True)
    reads = [place * stride + step * dilation for place, stride, step, dilation in moves]
    maps = [
        *(loops.map([batch, *reads, group * numbers + place]) for place in range(numbers)),
        loops.map([block, *steps, group, lane]),
        loops.map([batch, *image, block, lane]),
    ]

    start = zeros(b, shape, op.result.dtype)
    found = b.generic([*[padded] * numbers, weight], start, maps, loops.iterators, _adding(b, op))
    return b.collapse(found, [*([axis] for axis in range(rank + 1)), [rank + 1, rank + 2]])


def _adding(b: Builder, op: SourceOp) -> Callable[..., ir.Value]:
    """The body of the loops: a sum and the products of one group."""
    dtype = FORMS[op.types[0].dtype].sums
    products: GroupProducts = integer_products if dtype == "i32" else bf16_products

    def body(*scalars: ir.Value) -> ir.Value:
        *values, packed, total = scalars
        return b.arith("add", total, products(b, values, packed), dtype)

    return body


def integer_products(b: Builder, values: Sequence[ir.Value], packed: ir.Value) -> ir.Value:
    """Products of widened numbers with those cut out of an i32, as `affine-use-dot-products` finds them again.

    Four values are unsigned bytes, two are of i16.
    """
    widen = "arith.extui" if len(values) == QUAD else "arith.extsi"
    wide = [b.create(widen, [b.element("i32")], [value]) for value in values]
    sums = [b.arith("mul", value, _part(b, packed, place, len(values)), "i32") for place, value in enumerate(wide)]
    while len(sums) > 1:
        sums = [b.arith("add", low, high, "i32") for low, high in zip(sums[::2], sums[1::2], strict=True)]
    return sums[0]


def _part(b: Builder, packed: ir.Value, place: int, count: int) -> ir.Value:
    """Number `place` of the `count` of an i32, with its sign."""
    kind, width = b.element("i32"), _BITS // count
    top = _BITS - width
    if place < count - 1:
        packed = b.create("arith.shli", [kind], [packed, b.scalar(top - width * place, "i32")])
    return b.create("arith.shrsi", [kind], [packed, b.scalar(top, "i32")])


def bf16_products(b: Builder, values: Sequence[ir.Value], packed: ir.Value) -> ir.Value:
    """Products of f32, of which a bf16 number is the upper half, as `affine-use-dot-products` finds them again."""
    halves = b.binary("arith.shli", packed, b.scalar(HALF_BITS, "i32")), b.binary("arith.andi", packed, b.scalar(UPPER_HALF, "i32"))
    factors = [b.create("arith.bitcast", [b.element("f32")], [half]) for half in halves]
    pairs = zip(values, factors, strict=True)
    low, high = (b.arith("mul", widened(b, value, "f32"), factor, "f32") for value, factor in pairs)
    return b.arith("add", low, high, "f32")


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
        raised = b.binary("arith.shli", _bits(b, high), b.scalar(HALF_BITS, "i32"))
        return b.binary("arith.ori", _bits(b, low), raised)

    maps = [*reads, ir.AffineMap.get_identity(rank)]
    return b.generic([padded, padded], b.empty(shape, "i32"), maps, [PARALLEL] * rank, body)


def _bits(b: Builder, x: ir.Value) -> ir.Value:
    """The bits of an f32 scalar rounded to bf16, as an i32."""
    narrow = b.create("arith.bitcast", [ir.IntegerType.get_signless(HALF_BITS)], [b.narrow(x, "bf16")])
    return b.create("arith.extui", [b.element("i32")], [narrow])
