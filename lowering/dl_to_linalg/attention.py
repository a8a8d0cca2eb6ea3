"""Lowerings of attention (products, scaled and masked scores, softmax) and of rotary embedding."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dlc._mlir import ir, linalg_regions
from dlc.dialects.dl.types import TensorType
from dlc.lowering.dl_to_linalg.building.broadcasting import expand_ones
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder, accumulator_dtype
from dlc.lowering.dl_to_linalg.building.checks import operand_name, require_groups, require_same, size_of
from dlc.lowering.dl_to_linalg.building.contraction import Loops, contract, spread, widened, zeros
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.norm import exponentials, largest_along
from dlc.lowering.policy import policy
from dlc.targets.machine import is_for_gpu

_SPLIT = [[0], [1, 2], [3], [4]]
"""Axes of [batch, heads, queries, size] when heads are split."""


@lowering("attention")
def lower_attention(b: Builder, op: SourceOp) -> ir.Value:
    """Scores, their exponentials and the products with `v`, all in the accumulator's dtype.

    The division by the sum of a row comes last, on the smaller tensor. Where heads share keys and values, all of it has the
    axes [batch, kv heads, heads that share one, queries, ...].
    """
    q, k, v, _ = op.operands
    for left, right in (((0, 0), (1, 0)), ((0, 0), (2, 0)), ((0, 3), (1, 3)), ((1, 1), (2, 1)), ((1, 2), (2, 2))):
        require_same(b, op, left, right)
    outer: list[Extent] = [b.dim(q, 0), b.dim(q, 1)]
    if _shares_heads(op):
        require_groups(b, size_of(b, op, (0, 1)), b.dim(k, 1))
        outer = [outer[0], *_split_heads(b, q, k)]
        q = b.expand(q, _SPLIT, [*outer, b.dim(q, 2), b.dim(q, 3)])
    dtype, wide = op.result.dtype, accumulator_dtype(op.result.dtype)
    scores = _adjusted(b, op, _head_products(b, q, k, outer, dtype, transposed=True))
    last = len(outer) + 1
    powers, total = exponentials(b, scores, _finite(b, largest_along(b, scores, last, wide), wide), last, wide)
    weighted = _head_products(b, powers, v, outer, dtype, transposed=False)

    def divide(element: ir.Value, total: ir.Value) -> ir.Value:
        zero = b.scalar(0, wide)
        inverse = b.arith("div", b.scalar(1, wide), total, wide)
        inverse = b.select(b.compare("eq", total, zero, wide), zero, inverse)
        return b.narrow(b.arith("mul", element, inverse, wide), dtype)

    found = spread(b, weighted, [(total, list(range(last)))], dtype, divide)
    return b.collapse(found, _SPLIT) if len(outer) == len(_SPLIT) - 1 else found


def _finite(b: Builder, tops: ir.Value, wide: str) -> ir.Value:
    """The largest scores, or 0 for a query that sees no key, so that its exponentials become 0 and not NaN."""

    def body(top: ir.Value) -> ir.Value:
        return b.select(b.compare("eq", top, b.lowest(wide), wide), b.scalar(0, wide), top)

    return b.map([tops], b.shape(tops), wide, body)


def _shares_heads(op: SourceOp) -> bool:
    """False when q and k surely have as many heads."""
    return bool(op.types[0].shape[1] != op.types[1].shape[1])


def _split_heads(b: Builder, q: ir.Value, k: ir.Value) -> list[Extent]:
    """The heads of `q` as [kv heads, heads that share one]."""
    kv_heads = b.dim(k, 1)
    return [kv_heads, b.extent("floordiv", b.dim(q, 1), b.extent("max", kv_heads, 1))]


def _head_products(b: Builder, lhs: ir.Value, rhs: ir.Value, outer: Sequence[Extent], dtype: str, transposed: bool) -> ir.Value:
    """Matrix products [*outer, m, n] of `lhs` with the kv heads `rhs` (with their transposes), unrounded.

    Fewer rows than a register tile has read the keys as they lie. An open number of rows reads transposed keys, which
    `affine-forward-transposes` leaves out where it is small.
    """
    rows, columns = b.dim(lhs, len(outer)), b.dim(rhs, 2 if transposed else 3)
    loops = Loops(len(outer) + 2, 1)
    *dims, m, n, k = loops.dims()
    are_few = isinstance(rows, int) and rows < policy().fusion.tile_rows
    if transposed and not are_few and not _are_read_by_rows(b, rhs):
        rhs, transposed = _transposed(b, rhs), False
    inner = [n, k] if transposed else [k, n]
    maps = [loops.map([*dims, m, k]), loops.map([*dims[:2], *inner]), loops.map([*dims, m, n])]
    return contract(b, loops, lhs, rhs, zeros(b, [*outer, rows, columns], dtype), maps, dtype)


def _are_read_by_rows(b: Builder, keys: ir.Value) -> bool:
    """Whether a kernel of a GPU multiplies the keys, which takes them as they lie."""
    kinds = {b.element(name) for name in ("f16", "bf16", "f32")}
    return keys.type.element_type in kinds and is_for_gpu(b.ip.block.owner.operation)


def _transposed(b: Builder, heads: ir.Value) -> ir.Value:
    """[batch, heads, n, k] as [batch, heads, k, n]; not a generic, which fusion would take into the product again."""
    batch, count, n, k = b.shape(heads)
    out = b.empty([batch, count, k, n], heads.type.element_type)
    order = {"permutation": ir.DenseI64ArrayAttr.get([0, 1, 3, 2])}
    operation = b.operation("linalg.transpose", [out.type], [heads, out], order, regions=1)
    linalg_regions.fill_builtin_region(operation)
    return operation.results[0]


def _adjusted(b: Builder, op: SourceOp, scores: ir.Value) -> ir.Value:
    """The scores scaled and masked, in one generic."""
    mask = op.types[3]
    wide = accumulator_dtype(op.result.dtype)
    factor = _factor(b, op, wide)
    shape = b.shape(scores)
    *_, rows, keys = range(len(shape))
    lead = b.index(b.extent("sub", shape[keys], shape[rows]) if op["aligned_at_end"] else 0) if op["is_causal"] else None

    def body(score: ir.Value, *masks: ir.Value) -> ir.Value:
        score = b.arith("mul", score, factor, wide)
        for value in masks:
            if mask.dtype == "i1":
                score = b.select(value, score, b.lowest(wide))
            else:
                score = b.arith("add", score, widened(b, value, wide), wide)
        if lead is None:
            return score
        last = b.binary("arith.addi", b.iteration(rows), lead)
        seen = b.compare_index("le", b.iteration(keys), last)
        return b.create("arith.select", [score.type], [seen, score, b.lowest(wide)], {"dlc.excluded": ir.UnitAttr.get()})

    return b.map([scores, *_masks(b, op, shape)], shape, wide, body)


def _masks(b: Builder, op: SourceOp, shape: Sequence[Extent]) -> list[ir.Value]:
    """The mask, if there is one, with axes that broadcast to those of the scores, `shape`."""
    q, k, _, mask = op.types
    if mask is None:
        return []
    heads = [b.dim(op.operands[0], axis) for axis in (0, 1)]
    whole = TensorType((q.shape[0], q.shape[1], q.shape[2], k.shape[2]), mask.dtype)
    target = [*heads, *shape[-2:]][4 - mask.rank :]
    found = expand_ones(b, op.operands[3], mask, target, whole, "mask")
    if len(shape) == 4 or mask.rank < 3:
        return [found]
    split: list[Extent] = [1, 1] if mask.shape[-3] == 1 else list(shape[1:3])
    sizes = b.shape(found)
    lead = mask.rank - 3
    groups = [[axis] if axis < lead else [axis, axis + 1] if axis == lead else [axis + 1] for axis in range(mask.rank)]
    return [b.expand(found, groups, [*sizes[:lead], *split, *sizes[lead + 1 :]])]


def _factor(b: Builder, op: SourceOp, wide: str) -> ir.Value:
    """The scale as a scalar; by default 1 / sqrt(size of a head)."""
    if op["scale"] is not None:
        return b.scalar(op["scale"], wide)
    size = b.dim(op.operands[0], 3)
    if isinstance(size, int):
        return b.scalar(1 / math.sqrt(size) if size else np.inf, wide)
    root = b.unary("math.sqrt", b.convert(b.index_cast(size, b.element("i64")), "i64", wide))
    return b.arith("div", b.scalar(1, wide), root, wide)


@lowering("rotary_embedding")
def lower_rotary_embedding(b: Builder, op: SourceOp) -> ir.Value:
    """One generic over [batch, heads, positions, half, pair] (or pair, half) that reads the partner backwards."""
    x, cos, sin = op.operands
    dtype, interleaved = op.result.dtype, op["interleaved"]
    wide = accumulator_dtype(dtype)
    shape = b.shape(x)
    require_groups(b, size_of(b, op, (0, 3)), 2)
    pairs = b.extent("floordiv", shape[3], 2)
    for index in (1, 2):
        require_same(b, op, (index, 1), (0, 2))
        b.require_equal(size_of(b, op, (index, 2)), ("half of x dim 3", pairs))
    groups = [[0], [1], [2], [3, 4]]
    split = b.expand(x, groups, [*shape[:3], *([pairs, 2] if interleaved else [2, pairs])])
    half = 4 if interleaved else 3
    dims = [ir.AffineExpr.get_dim(axis) for axis in range(5)]
    partner = [1 - dim if axis == half else dim for axis, dim in enumerate(dims)]

    def body(own: ir.Value, other: ir.Value, cos: ir.Value, sin: ir.Value, _: ir.Value) -> ir.Value:
        own, other, cos, sin = (widened(b, item, wide) for item in (own, other, cos, sin))
        is_first = b.compare_index("eq", b.iteration(half), b.index(0))
        turned = b.arith("mul", other, sin, wide)
        turned = b.select(is_first, b.unary("arith.negf", turned), turned)
        return b.narrow(b.arith("add", b.arith("mul", own, cos, wide), turned, wide), dtype)

    angle_maps = [_angle_map(b, op, index, dims, half) for index in (1, 2)]
    cos, sin = (_whole_batch(b, op, index) for index in (1, 2))
    maps = [ir.AffineMap.get_identity(5), ir.AffineMap.get(5, 0, partner), *angle_maps, ir.AffineMap.get_identity(5)]
    out = b.empty(b.shape(split), dtype)
    return b.collapse(b.generic([split, split, cos, sin], out, maps, [PARALLEL] * 5, body), groups)


def _whole_batch(b: Builder, op: SourceOp, index: int) -> ir.Value:
    """Angles whose dynamic batch may be 1, repeated to that of x."""
    kind = op.types[index]
    whole = kind.with_shape((op.types[0].shape[0], *kind.shape[1:]))
    target = [b.dim(op.operands[0], 0), *b.shape(op.operands[index])[1:]]
    return expand_ones(b, op.operands[index], kind, target, whole, operand_name(op, index))


def _angle_map(b: Builder, op: SourceOp, index: int, dims: list[ir.AffineExpr], half: int) -> ir.AffineMap:
    repeated = op.types[index].shape[0] == 1 and op.types[0].shape[0] != 1
    batch = ir.AffineExpr.get_constant(0) if repeated else dims[0]
    return ir.AffineMap.get(5, 0, [batch, dims[2], dims[3 if half == 4 else 4]])
