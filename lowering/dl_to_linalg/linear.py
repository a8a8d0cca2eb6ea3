"""Lowering of matrix products: one `linalg.generic` (batch..., m, n, k)."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.dialects.dl.types import TensorType
from dlc.lowering.dl_to_linalg.builder import Builder, Extent
from dlc.lowering.dl_to_linalg.contraction import Loops, contract, rounded, zeros
from dlc.lowering.dl_to_linalg.lowerings import SourceOp, lowering


@lowering("matmul")
def lower_matmul(b: Builder, op: SourceOp) -> ir.Value:
    """Batch dims stay loops, with a constant index where an operand has size 1.

    Rows of a batch are not merged, so that a dynamic batch leaves static m, n and k to tile.
    """
    dtype = op.result.dtype
    outer = [_outer(kind) for kind in op.types]
    batch = b.broadcast_extents(op.operands, outer)[:-2]
    target = [*batch, 1, 1]
    lhs, rhs = (
        b.expand_ones(value, kind, target, _outer(op.result)) for value, kind in zip(op.operands, outer, strict=True)
    )
    shape = [*batch, b.dim(lhs, lhs.type.rank - 2), b.dim(rhs, rhs.type.rank - 1)]
    loops = Loops(len(shape), 1)
    *outer_dims, m, n, k = loops.dims()
    maps = [
        loops.map([*_outer_indices(lhs, batch, outer_dims), m, k]),
        loops.map([*_outer_indices(rhs, batch, outer_dims), k, n]),
        loops.map([*outer_dims, m, n]),
    ]
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
