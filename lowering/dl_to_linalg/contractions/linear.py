"""Lowering of matrix products: one `linalg.generic` (batch..., m, n, k)."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.dialects.dl.types import TensorType
from dlc.lowering.dl_to_linalg.building.broadcasting import broadcast_extents, expand_ones
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.checks import require_same
from dlc.lowering.dl_to_linalg.building.contraction import Loops, contract, rounded, widened_once, zeros
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.policy import policy


@lowering("matmul", "widening_matmul")
def lower_matmul(b: Builder, op: SourceOp) -> ir.Value:
    """Rows of all matrices of a batch that share one right-hand side are merged: it is then read once, not per matrix.

    Where they are dynamic they are not, so that a dynamic batch leaves a static m to tile.
    """
    lhs, rhs = op.operands
    require_same(b, op, (0, -1), (1, -2))
    rows = list(lhs.type.shape[:-1])
    dynamic = ir.ShapedType.get_dynamic_size()
    if rhs.type.rank > 2 or len(rows) < 2 or dynamic in rows:
        return _batched(b, op)
    groups = [list(range(len(rows))), [len(rows)]]
    merged = b.collapse(lhs, groups)
    m, n, k = (ir.AffineExpr.get_dim(loop) for loop in range(3))
    product = _product(b, merged, rhs, [b.dim(merged, 0), b.dim(rhs, 1)], [[m, k], [k, n]], op.result.dtype)
    return b.expand(product, groups, [*rows, b.dim(rhs, 1)])


@lowering("packed_matmul")
def lower_packed_matmul(b: Builder, op: SourceOp) -> ir.Value:
    """Loops (rows..., n, k): column n is column n mod C of block n floordiv C. Static rows of the operand are merged."""
    lhs, rhs = op.operands
    require_same(b, op, (0, -1), (1, 1))
    width = rhs.type.shape[2]
    if width == ir.ShapedType.get_dynamic_size() or width == 0:
        return _packed_by_block(b, op)
    rows = b.shape(lhs)[:-1]
    is_static = ir.ShapedType.get_dynamic_size() not in list(lhs.type.shape[:-1])
    groups = [list(range(len(rows))), [len(rows)]]
    merged = b.collapse(lhs, groups) if is_static and len(rows) > 1 else lhs
    shape = [*b.shape(merged)[:-1], op["columns"] or b.extent("mul", b.dim(rhs, 0), width)]
    *outer, n, k = (ir.AffineExpr.get_dim(loop) for loop in range(len(shape) + 1))
    block, column = ir.AffineExpr.get_floor_div(n, width), ir.AffineExpr.get_mod(n, width)
    product = _product(b, merged, rhs, shape, [[*outer, k], [block, k, column]], op.result.dtype)
    return product if merged is lhs else b.expand(product, groups, [*rows, shape[-1]])


def _packed_by_block(b: Builder, op: SourceOp) -> ir.Value:
    """Loops (rows..., block, column of the block, k), for blocks whose width is not known."""
    lhs, rhs = op.operands
    shape = [*b.shape(lhs)[:-1], b.dim(rhs, 0), b.dim(rhs, 2)]
    *outer, block, column, k = (ir.AffineExpr.get_dim(loop) for loop in range(len(shape) + 1))
    product = _product(b, lhs, rhs, shape, [[*outer, k], [block, k, column]], op.result.dtype)
    last = len(shape) - 2
    found = b.collapse(product, [*([axis] for axis in range(last)), [last, last + 1]])
    if not op["columns"]:
        return found
    sizes = [*b.shape(found)[:-1], op["columns"]]
    return b.slice(found, [0] * len(sizes), sizes, [1] * len(sizes))


def _batched(b: Builder, op: SourceOp) -> ir.Value:
    """Batch dims are loops, with a constant index where an operand has size 1."""
    outer = [_outer(kind) for kind in op.types]
    batch = broadcast_extents(b, op.operands, outer)[:-2]
    target = [*batch, 1, 1]
    operands = zip(op.operands, outer, ("lhs", "rhs"), strict=True)
    lhs, rhs = (expand_ones(b, value, kind, target, _outer(op.result), name) for value, kind, name in operands)
    shape = [*batch, b.dim(lhs, lhs.type.rank - 2), b.dim(rhs, rhs.type.rank - 1)]
    *dims, m, n, k = (ir.AffineExpr.get_dim(loop) for loop in range(len(shape) + 1))
    reads = [[*_outer_indices(lhs, batch, dims), m, k], [*_outer_indices(rhs, batch, dims), k, n]]
    return _product(b, lhs, rhs, shape, reads, op.result.dtype)


def _product(
    b: Builder,
    lhs: ir.Value,
    rhs: ir.Value,
    shape: Sequence[Extent],
    reads: Sequence[Sequence[ir.AffineExpr]],
    dtype: str,
) -> ir.Value:
    """One generic with a parallel loop per dim of the result and a reduction; `reads` indexes the operands."""
    loops = Loops(len(shape), 1)
    if isinstance(shape[-1], int) and shape[-1] >= policy().graph.widened_columns:
        lhs = widened_once(b, lhs)
    maps = [*(loops.map(read) for read in reads), loops.map(loops.dims()[:-1])]
    return rounded(b, contract(b, loops, lhs, rhs, zeros(b, shape, dtype), maps, dtype), dtype)


def _outer(kind: TensorType) -> TensorType:
    """The type with its matrix dims replaced by 1, so that only batch dims take part in broadcasting."""
    return kind.with_shape((*kind.shape[:-2], 1, 1))


def _outer_indices(value: ir.Value, batch: Sequence[Extent], dims: Sequence[ir.AffineExpr]) -> list[ir.AffineExpr]:
    """Index of each batch axis of an operand, aligned at the last: its loop, or 0 where a size of 1 is repeated."""
    own = value.type.shape[:-2]
    skipped = len(batch) - len(own)
    return [
        ir.AffineExpr.get_constant(0) if size == 1 and batch[skipped + axis] != 1 else dims[skipped + axis]
        for axis, size in enumerate(own)
    ]
