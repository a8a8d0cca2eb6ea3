"""Lowering of products of bytes: one `linalg.generic` whose body multiplies four bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.builder import Builder
from dlc.lowering.dl_to_linalg.contraction import Loops, zeros
from dlc.lowering.dl_to_linalg.lowerings import SourceOp, lowering

_BYTES = 4
WordProducts = Callable[[Sequence[ir.Value], ir.Value], ir.Value]
"""The sum of the products of neighbours of a row with the parts of a word."""


@lowering("byte_matmul")
def lower_byte_matmul(b: Builder, op: SourceOp) -> ir.Value:
    """Products of a widened byte with a byte cut out of an i32, as `affine-use-dot-products` finds them again."""

    def body(values: Sequence[ir.Value], packed: ir.Value) -> ir.Value:
        products = [b.arith("mul", _unsigned(b, value), _byte(b, packed, place), "i32") for place, value in enumerate(values)]
        low, high = (b.arith("add", products[start], products[start + 1], "i32") for start in (0, 2))
        return b.arith("add", low, high, "i32")

    return multiply_words(b, op, _BYTES, "i32", body)


def multiply_words(b: Builder, op: SourceOp, parts: int, dtype: str, products: WordProducts) -> ir.Value:
    """Sums of `dtype` of what `products` gives for `parts` neighbours of a row and the word with their factors.

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


def _unsigned(b: Builder, value: ir.Value) -> ir.Value:
    return b.create("arith.extui", [b.element("i32")], [value])


def _byte(b: Builder, packed: ir.Value, place: int) -> ir.Value:
    """Byte `place` of an i32 as a signed number."""
    kind, top = b.element("i32"), 8 * (_BYTES - 1)
    if place < _BYTES - 1:
        packed = b.create("arith.shli", [kind], [packed, b.scalar(top - 8 * place, "i32")])
    return b.create("arith.shrsi", [kind], [packed, b.scalar(top, "i32")])
