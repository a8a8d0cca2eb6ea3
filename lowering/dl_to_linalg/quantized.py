"""Lowering of products of bytes: one `linalg.generic` whose body multiplies four bytes."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.builder import Builder
from dlc.lowering.dl_to_linalg.contraction import Loops, zeros
from dlc.lowering.dl_to_linalg.lowerings import SourceOp, lowering

_BYTES = 4


@lowering("byte_matmul")
def lower_byte_matmul(b: Builder, op: SourceOp) -> ir.Value:
    """Loops (rows..., block, column, group of bytes). The four bytes of a group are four readings of the operand.

    The body is what `affine-use-dot-products` finds again: products of a widened byte with a byte cut out of an i32.
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
    maps = [*(loops.map([*outer, k * _BYTES + place]) for place in range(_BYTES)), weight, loops.map([*outer, n])]

    def body(*scalars: ir.Value) -> ir.Value:
        *values, packed, total = scalars
        products = [b.arith("mul", _unsigned(b, value), _byte(b, packed, place), "i32") for place, value in enumerate(values)]
        low, high = (b.arith("add", products[start], products[start + 1], "i32") for start in (0, 2))
        return b.arith("add", total, b.arith("add", low, high, "i32"), "i32")

    product = b.generic([*[merged] * _BYTES, rhs], zeros(b, shape, "i32"), maps, loops.iterators, body)
    return product if merged is lhs else b.expand(product, groups, [*rows, shape[-1]])


def _unsigned(b: Builder, value: ir.Value) -> ir.Value:
    return b.create("arith.extui", [b.element("i32")], [value])


def _byte(b: Builder, packed: ir.Value, place: int) -> ir.Value:
    """Byte `place` of an i32 as a signed number."""
    kind, top = b.element("i32"), 8 * (_BYTES - 1)
    if place < _BYTES - 1:
        packed = b.create("arith.shli", [kind], [packed, b.scalar(top - 8 * place, "i32")])
    return b.create("arith.shrsi", [kind], [packed, b.scalar(top, "i32")])
