"""Lowerings of comparisons, logic on bits and selection."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.dialects.dl.types import UNSIGNED_INTS
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.checks import require_each
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.elementwise import lower_elementwise

_PREDICATES = {"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le"}
_BIT_OPS = {"and": "arith.andi", "or": "arith.ori", "xor": "arith.xori"}


@lowering(*_PREDICATES)
def lower_comparison(b: Builder, op: SourceOp) -> ir.Value:
    """One compare."""
    predicate, dtype = _PREDICATES[op.name.removeprefix("dl.")], b.wide(op.types[0].dtype)
    return lower_elementwise(b, op, lambda lhs, rhs: b.compare(predicate, lhs, rhs, dtype))


@lowering("isnan")
def lower_isnan(b: Builder, op: SourceOp) -> ir.Value:
    """x unordered with itself."""
    dtype = b.wide(op.types[0].dtype)
    return lower_elementwise(b, op, lambda x: b.compare("uno", x, x, dtype))


@lowering("isinf")
def lower_isinf(b: Builder, op: SourceOp) -> ir.Value:
    """Equality with the infinities that count."""
    dtype = b.wide(op.types[0].dtype)

    def body(x: ir.Value) -> ir.Value:
        found = b.scalar(False, "i1")
        if op["detect_positive"]:
            found = b.compare("eq", x, b.highest(dtype), dtype)
        if op["detect_negative"]:
            found = b.binary("arith.ori", found, b.compare("eq", x, b.lowest(dtype), dtype))
        return found

    return lower_elementwise(b, op, body)


@lowering(*_BIT_OPS)
def lower_bit_op(b: Builder, op: SourceOp) -> ir.Value:
    """Ops that are one arith op on integers and i1."""
    return lower_elementwise(b, op, lambda lhs, rhs: b.binary(_BIT_OPS[op.name.removeprefix("dl.")], lhs, rhs))


@lowering("not")
def lower_not(b: Builder, op: SourceOp) -> ir.Value:
    """Exclusive or with all ones."""
    dtype = op.result.dtype
    ones = 1 if dtype == "i1" else -1
    return lower_elementwise(b, op, lambda x: b.binary("arith.xori", x, b.scalar(ones, dtype)))


@lowering("shift_left", "shift_right")
def lower_shift(b: Builder, op: SourceOp) -> ir.Value:
    """A shift whose amount is kept within the width, where the machine's shift is undefined."""
    dtype = op.result.dtype
    width = b.element(dtype).width
    signed_right = op.name == "dl.shift_right" and dtype not in UNSIGNED_INTS
    name = "arith.shli" if op.name == "dl.shift_left" else "arith.shrsi" if signed_right else "arith.shrui"

    def body(x: ir.Value, amount: ir.Value) -> ir.Value:
        inside = b.binary("arith.minui", amount, b.scalar(width - 1, dtype))
        shifted = b.binary(name, x, inside)
        if signed_right:
            return shifted
        return b.select(b.compare("eq", inside, amount, dtype), shifted, b.scalar(0, dtype))

    return lower_elementwise(b, op, body)


@lowering("where")
def lower_where(b: Builder, op: SourceOp) -> ir.Value:
    """One select."""
    return lower_elementwise(b, op, lambda condition, x, y: b.select(condition, x, y))


@lowering("assert")
def lower_assert(b: Builder, op: SourceOp) -> ir.Value:
    """x itself, behind a check of all elements of the condition."""
    x, condition = op.operands
    require_each(b, condition, lambda element: element, op["message"])
    return x
