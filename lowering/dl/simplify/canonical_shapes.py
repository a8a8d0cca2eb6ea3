"""Canonical forms of what changes shapes alone: views, transposes, repetitions, and reductions of single elements."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.reduce import reduced_axes
from dlc.dialects.dl.types import ConstraintError
from dlc.lowering.dl.matching import attributes_of, groups_of, source, type_of
from dlc.lowering.dl.rewriting import Rewriter, RuleSet
from dlc.lowering.dl.simplify.replacing import forward, rebuild
from dlc.lowering.dl.simplify.views import VIEWS, View, composed, is_identity, view_of

SHAPES = RuleSet()

BROADCASTING = (
    *("dl.add", "dl.sub", "dl.mul", "dl.div", "dl.mod", "dl.pow", "dl.max", "dl.min", "dl.where"),
    *("dl.equal", "dl.not_equal", "dl.less", "dl.less_equal", "dl.and", "dl.or", "dl.xor", "dl.shift_left", "dl.shift_right"),
)
"""Ops whose operands, all of them, broadcast."""


def _replace_by_view(op: ir.Operation, rewriter: Rewriter, x: ir.Value, view: View, absorbing: ir.Operation | None = None) -> bool:
    """Put `view` of `x` in the place of `op`, and of the op `absorbing` between them."""
    if is_identity(view, type_of(x)) and forward(op, rewriter, x):
        return True
    shape, copied = view.attributes()
    return rebuild(op, rewriter, "reshape", x, None, absorbing=absorbing, shape=shape, copied=copied)


@SHAPES.rule(*VIEWS)
def drop_reshape_to_own_shape(op: ir.Operation, rewriter: Rewriter) -> bool:
    """reshape(x, shape of x) = x"""
    view = view_of(op)
    return view is not None and is_identity(view, type_of(op.operands[0])) and forward(op, rewriter, op.operands[0])


@SHAPES.rule(*VIEWS)
def merge_reshapes(op: ir.Operation, rewriter: Rewriter) -> bool:
    """reshape(reshape(x, s), t) = reshape(x, t); squeeze and unsqueeze are reshapes, too"""
    inner, outer = source(op.operands[0]), view_of(op)
    first = view_of(inner) if inner is not None and inner.name in VIEWS else None
    if first is None or outer is None or inner is None:
        return False
    both = composed(first, outer)
    return both is not None and _replace_by_view(op, rewriter, inner.operands[0], both, absorbing=inner)


@SHAPES.rule("dl.reshape")
def drop_reshape_before_reshape_to_sizes(op: ir.Operation, rewriter: Rewriter) -> bool:
    """reshape(reshape(x, s), sizes) = reshape(x, sizes), where no dim of the inner one is copied"""
    x, sizes = groups_of(op)
    inner, attributes = source(x), attributes_of(op)
    if sizes is None or inner is None or inner.name not in VIEWS:
        return False
    if attributes["zero_copies"] or any(axis >= 0 for axis in attributes["copied"]):
        return False
    if len(inner.operands) > 1:
        return False  # sizes that do not fit are an error of the inner one
    return rebuild(op, rewriter, "reshape", inner.operands[0], sizes, absorbing=inner, shape=attributes["shape"])


@SHAPES.rule("dl.reshape")
def spell_out_reshape(op: ir.Operation, rewriter: Rewriter) -> bool:
    """reshape(x, [-1, 3]) = reshape(x, [2, 3]) where all sizes are known, so that equal reshapes look equal"""
    view, attributes = view_of(op), attributes_of(op)
    if view is None or (attributes["shape"], attributes["copied"]) == view.attributes():
        return False
    return _replace_by_view(op, rewriter, op.operands[0], view)


@SHAPES.rule("dl.transpose")
def drop_transpose_to_own_order(op: ir.Operation, rewriter: Rewriter) -> bool:
    """transpose(x, [0, 1, ...]) = x"""
    perm = attributes_of(op)["perm"]
    return list(perm) == list(range(len(perm))) and forward(op, rewriter, op.operands[0])


@SHAPES.rule("dl.transpose")
def merge_transposes(op: ir.Operation, rewriter: Rewriter) -> bool:
    """transpose(transpose(x, p), q) = transpose(x, p[q])"""
    inner = source(op.operands[0], "dl.transpose")
    if inner is None:
        return False
    first = attributes_of(inner)["perm"]
    perm = [first[axis] for axis in attributes_of(op)["perm"]]
    return rebuild(op, rewriter, "transpose", inner.operands[0], absorbing=inner, perm=perm)


@SHAPES.rule("dl.transpose")
def transpose_of_unit_dims_to_reshape(op: ir.Operation, rewriter: Rewriter) -> bool:
    """transpose(x, p) = reshape(x), where p keeps the order of all axes but those of size 1"""
    x, perm = op.operands[0], attributes_of(op)["perm"]
    dims = type_of(x).shape
    moved = [axis for axis in perm if dims[axis] != 1]
    if moved != sorted(moved) or list(perm) == sorted(perm):
        return False
    return _replace_by_view(op, rewriter, x, View.picking(type_of(x), perm))


@SHAPES.rule("dl.expand")
def expand_of_nothing_to_reshape(op: ir.Operation, rewriter: Rewriter) -> bool:
    """expand(x, s) = x, or reshape(x) with leading axes of size 1, where s repeats nothing"""
    x, sizes = groups_of(op)
    shape = attributes_of(op)["shape"]
    dims = type_of(x).shape
    added = max(len(shape) - len(dims), 0)
    own = dims[len(dims) - (len(shape) - added) :]
    kept = all(size in (1, dim) and isinstance(size, int) for size, dim in zip(shape[added:], own, strict=True))
    if sizes is not None or not kept or any(size != 1 for size in shape[:added]):
        return False
    return _replace_by_view(op, rewriter, x, View.picking(type_of(x), [*[-1] * added, *range(len(dims))]))


@SHAPES.rule("dl.expand")
def merge_expands(op: ir.Operation, rewriter: Rewriter) -> bool:
    """expand(expand(x, s), t) = expand(x, s broadcast with t)"""
    x, sizes = groups_of(op)
    inner = source(x, "dl.expand")
    if inner is None or sizes is not None or len(inner.operands) > 1:
        return False
    first, then = attributes_of(inner)["shape"], attributes_of(op)["shape"]
    rank = max(len(first), len(then))
    pairs = zip(_aligned(first, rank), _aligned(then, rank), strict=True)
    shape = [b if a == 1 else a for a, b in pairs]
    return rebuild(op, rewriter, "expand", inner.operands[0], None, absorbing=inner, shape=shape)


def _aligned(shape: Sequence[int], rank: int) -> list[int]:
    return [1] * (rank - len(shape)) + list(shape)


@SHAPES.rule(*BROADCASTING)
def drop_expand_before_broadcast(op: ir.Operation, rewriter: Rewriter) -> bool:
    """op(expand(x), y) = op(x, y), where the result is as large without the expand"""
    operands = list(op.operands)
    for index, operand in enumerate(operands):
        inner = source(operand, "dl.expand")
        if inner is None:
            continue
        given = [*operands[:index], inner.operands[0], *operands[index + 1 :]]
        if _is_as_large(op, given, rewriter):
            return rebuild(op, rewriter, op.name.removeprefix("dl."), *given, **attributes_of(op))
    return False


def _is_as_large(op: ir.Operation, operands: Sequence[ir.Value], rewriter: Rewriter) -> bool:
    """Whether the op has the same shape on these operands; equal symbols are equal dims."""
    found, wanted = dl.op_class(op.name), type_of(op.results[0])
    assert found is not None
    if wanted.is_static:
        kinds = [type_of(value) for value in operands]
    else:
        kinds, wanted = [rewriter.type_of(value) for value in operands], rewriter.type_of(op.results[0])
    try:
        shape = found.inferred_types(*kinds, **attributes_of(op))[0].shape
    except ConstraintError:
        return False
    return None not in shape and shape == wanted.shape


@SHAPES.rule("dl.tile")
def drop_tile_of_one(op: ir.Operation, rewriter: Rewriter) -> bool:
    """tile(x, [1, ...]) = x"""
    return all(count == 1 for count in attributes_of(op)["repeats"]) and forward(op, rewriter, op.operands[0])


@SHAPES.rule("dl.tile")
def tile_of_unit_dims_to_expand(op: ir.Operation, rewriter: Rewriter) -> bool:
    """tile(x, r) = expand(x, r), where axes of size 1 alone are repeated"""
    x, repeats = op.operands[0], attributes_of(op)["repeats"]
    pairs = zip(type_of(x).shape, repeats, strict=True)
    if all(count == 1 for count in repeats) or any(count < 1 or (count > 1 and dim != 1) for dim, count in pairs):
        return False
    return rebuild(op, rewriter, "expand", x, None, shape=repeats)


@SHAPES.rule("dl.tile")
def merge_tiles(op: ir.Operation, rewriter: Rewriter) -> bool:
    """tile(tile(x, r), s) = tile(x, r * s)"""
    inner = source(op.operands[0], "dl.tile")
    if inner is None:
        return False
    pairs = zip(attributes_of(inner)["repeats"], attributes_of(op)["repeats"], strict=True)
    repeats = [one * other for one, other in pairs]
    return rebuild(op, rewriter, "tile", inner.operands[0], absorbing=inner, repeats=repeats)


@SHAPES.rule("dl.reduce_sum", "dl.reduce_mean", "dl.reduce_max", "dl.reduce_min", "dl.reduce_prod")
def reduce_of_single_elements_to_reshape(op: ir.Operation, rewriter: Rewriter) -> bool:
    """reduce(x) = reshape(x), where all reduced axes have size 1"""
    x, attributes = op.operands[0], attributes_of(op)
    kind = type_of(x)
    gone = reduced_axes(attributes["axes"], kind.rank)
    if any(kind.shape[axis] != 1 for axis in gone):
        return False
    kept = [axis for axis in range(kind.rank) if attributes["keepdims"] or axis not in gone]
    return _replace_by_view(op, rewriter, x, View.picking(kind, kept))
