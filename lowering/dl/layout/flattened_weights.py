"""A transpose before a flattening and a product with a weight: the weight's rows take the other order instead."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl import ops
from dlc.lowering.dl.layout.axis_orders import identity, inverse, moves_nothing
from dlc.lowering.dl.matching import attributes_of, has_one_use, is_weight, source, type_of
from dlc.lowering.dl.rewriting import Rewriter, RuleSet

RULES = RuleSet()
_OPS = ops()


@RULES.rule("dl.matmul")
def reorder_flattened_rows(op: ir.Operation, rewriter: Rewriter) -> bool:
    """matmul(reshape(transpose(x, p), [..., k]), w) = matmul(reshape(x, [..., k]), rows of w in the order of x)"""
    flat, weight = op.operands
    reshape = source(flat, "dl.reshape")
    transpose = source(reshape.operands[0], "dl.transpose") if reshape is not None else None
    if reshape is None or transpose is None or len(reshape.operands) > 1 or not is_weight(weight) or type_of(weight).rank != 2:
        return False
    x, order = transpose.operands[0], attributes_of(transpose)["perm"]
    first = _first_merged(type_of(reshape.operands[0]).shape, type_of(flat).shape)
    if first is None or order[:first] != identity(len(order))[:first] or moves_nothing(order, type_of(x).shape):
        return False
    if not (has_one_use(flat) and has_one_use(transpose.results[0])) or not type_of(weight).is_static:
        return False
    dims, columns = type_of(transpose.results[0]).shape[first:], type_of(weight).shape[1]
    back = [axis - first for axis in inverse(order)[first:]]
    rows = dl.reshape(weight, shape=[*dims, columns])
    moved = dl.transpose(rows, perm=[*back, len(dims)])
    plain = dl.reshape(moved, shape=type_of(weight).shape)
    found = attributes_of(reshape)
    whole = _OPS["reshape"].create(x, None, result_types=[type_of(flat)], shape=found["shape"], copied=found["copied"])
    product = _OPS["matmul"].create(whole.results[0], plain, result_types=[type_of(op.results[0])])
    rewriter.replace(op, product.results[0])
    return True


def _first_merged(dims: Sequence[object], flat: Sequence[object]) -> int | None:
    """The first of the axes that become the last one of `flat` while those before it stay; None where that is not all."""
    first = len(flat) - 1
    merged = dims[first:]
    count = 1
    for dim in merged:
        if not isinstance(dim, int):
            return None
        count *= dim
    same = all(own == kept for own, kept in zip(dims[:first], flat[:first], strict=False))
    known = all(isinstance(dim, int) for dim in dims[:first])
    return first if len(merged) > 1 and same and flat[-1] == count and (known or first == 1) else None
