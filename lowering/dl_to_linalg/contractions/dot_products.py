"""Loops of products whose right-hand side has several numbers of a column in one integer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dlc._mlir import ir
from dlc.dialects.dl.window import Layout, Window
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.contraction import Loops, zeros
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp
from dlc.lowering.dl_to_linalg.building.windows import pad_spatial, position_extents

GroupProducts = Callable[[Sequence[ir.Value], ir.Value], ir.Value]
"""The sum of the products of neighbours of a row with the parts of a VNNI group."""


def multiply_groups(b: Builder, op: SourceOp, parts: int, dtype: str, products: GroupProducts) -> ir.Value:
    """Sums of `dtype` of what `products` gives for `parts` neighbours of a row and the group with their factors.

    Loops (rows..., block, column, group). The neighbours of a group are so many readings of the operand. Static rows are merged.
    """
    lhs, rhs = op.operands
    rows = b.shape(lhs)[:-1]
    is_static = ir.ShapedType.get_dynamic_size() not in list(lhs.type.shape[:-1])
    groups = [list(range(len(rows))), [len(rows)]]
    merged = b.collapse(lhs, groups) if is_static and len(rows) > 1 else lhs
    blocks, _, width = rhs.type.shape
    shape = [*b.shape(merged)[:-1], op["columns"] or blocks * width]
    loops = Loops(len(shape), 1)
    *outer, n, k = loops.dims()
    weight = loops.map([ir.AffineExpr.get_floor_div(n, width), k, ir.AffineExpr.get_mod(n, width)])
    maps = [*(loops.map([*outer, k * parts + place]) for place in range(parts)), weight, loops.map([*outer, n])]

    def body(*scalars: ir.Value) -> ir.Value:
        *values, packed, total = scalars
        return b.arith("add", total, products(values, packed), dtype)

    product = b.generic([*[merged] * parts, rhs], zeros(b, shape, dtype), maps, loops.iterators, body)
    return product if merged is lhs else b.expand(product, groups, [*rows, shape[-1]])


def convolve_groups(b: Builder, op: SourceOp, parts: int, dtype: str, products: GroupProducts) -> ir.Value:
    """Pad, then loops (n, positions..., block, lane, taps..., group); block and lane become one axis."""
    x, weight = op.operands
    layout = Layout(op.types[0].rank - 2, channels_last=True)
    blocks, *taps, _, width = weight.type.shape
    window = Window.of("", taps, op["strides"], op.attributes.get("pads", ()), op["dilations"])
    positions = position_extents(b, x, taps, window, layout)
    padded = pad_spatial(b, x, window.pads_begin, window.pads_end, layout, b.scalar(0, op.types[0].dtype))
    shape, rank = [b.dim(x, 0), *positions, blocks, width], layout.rank
    loops = Loops(rank + 3, rank + 1)
    batch, *image, block, lane = loops.dims()[: rank + 3]
    *steps, group = loops.dims()[rank + 3 :]
    moves = zip(image, window.strides, steps, window.dilations, strict=True)
    reads = [place * stride + step * dilation for place, stride, step, dilation in moves]
    maps = [
        *(loops.map([batch, *reads, group * parts + place]) for place in range(parts)),
        loops.map([block, *steps, group, lane]),
        loops.map([batch, *image, block, lane]),
    ]

    def body(*scalars: ir.Value) -> ir.Value:
        *values, packed, total = scalars
        return b.arith("add", total, products(values, packed), dtype)

    found = b.generic([*[padded] * parts, weight], zeros(b, shape, dtype), maps, loops.iterators, body)
    return b.collapse(found, [*([axis] for axis in range(rank + 1)), [rank + 1, rank + 2]])
