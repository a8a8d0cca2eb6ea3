"""Loops of a thread whose number of iterations depends on the thread, as loops of constant bounds with a condition inside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dlc._mlir import affine, ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.ir.loops import Bound, Loop, build_for, normalized, real_ops
from dlc.lowering.affine_to_gpu.first_threads import WarpRows
from dlc.lowering.affine_to_gpu.warp_values import WarpValues


def values_of(rows: WarpRows, variable: ir.Value | None = None, count: int = 1) -> WarpValues | None:
    """The numbers that all threads of a block have, for each of `count` values of a variable; None for blocks of unknown size."""
    sizes = [size for size in rows.block_sizes if size is not None]
    if len(sizes) < len(rows.block_sizes):
        return None
    numbers, *ids = np.indices((count, *reversed(sizes))).reshape(1 + len(sizes), -1)
    known = dict(zip(rows.thread_ids, reversed(ids), strict=True))
    if variable is not None:
        known[variable] = numbers
    return WarpValues(sizes, len(numbers), known)


def bound_loops(rows: WarpRows, most: int) -> None:
    """Rewrite the loops of a launch that have up to `most` iterations, as many as the thread's numbers say."""
    values = values_of(rows)
    for op in [inner for inner in nested_ops(rows.op) if inner.name == "affine.for"]:
        loop = normalized(op)
        if values is None or loop is None or loop.extent is not None:
            continue
        (found,) = values.results(loop.upper.map, loop.upper.operands)
        if found is not None and 0 < int(found.max()) <= most:
            _rewrite(loop, int(found.max()))


def _rewrite(loop: Loop, count: int) -> None:
    """Go through `count` iterations, and do what the loop did in those that it had."""
    upper, inits, dims = loop.upper, loop.inits, loop.upper.map.n_dims
    old_variable, *old_carried = loop.body.arguments
    yielded = list(list(loop.body.operations)[-1].operands)
    with ir.InsertionPoint(loop.op), loop.op.location:
        new = build_for(Bound.constant(0), Bound.constant(count), inits=inits)
        variable, *carried = new.regions[0].blocks[0].arguments
        with ir.InsertionPoint(new.regions[0].blocks[0]):
            gap = upper.map.results[0] - ir.AffineExpr.get_dim(dims) - 1
            condition = ir.IntegerSet.get(dims + 1, upper.map.n_symbols, [gap], [False])
            operands = [*upper.operands[:dims], variable, *upper.operands[dims:]]
            kinds = [value.type for value in carried]
            branch = affine.AffineIfOp(condition, kinds, cond_operands=operands, has_else=bool(kinds))
            affine.AffineYieldOp(list(branch.results))
    for old, value in zip([old_variable, *old_carried], [variable, *carried], strict=True):
        old.replace_all_uses_with(value)
    with ir.InsertionPoint(branch.then_block), loop.op.location:
        end = affine.AffineYieldOp(_renamed(yielded, old_carried, carried)).operation
    for op in real_ops(loop.body):
        op.move_before(end)
    if kinds:
        with ir.InsertionPoint(branch.else_block), loop.op.location:
            affine.AffineYieldOp(carried)
    for before, after in zip(loop.op.results, new.results, strict=True):
        before.replace_all_uses_with(after)
    loop.op.erase()


def _renamed(values: Sequence[ir.Value], old: Sequence[ir.Value], new: Sequence[ir.Value]) -> list[ir.Value]:
    names = dict(zip(old, new, strict=True))
    return [names.get(value, value) for value in values]
