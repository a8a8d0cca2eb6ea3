"""One loop in the place of the loops of a reduction that go through memory without gaps together."""

from __future__ import annotations

from math import prod

from dlc._mlir import affine, ir
from dlc.lowering.affine.ir.accesses import stride_along
from dlc.lowering.affine.ir.loops import Bound, Loop, apply, build_for, normalized, real_ops
from dlc.lowering.affine.ir.reductions import ReductionNest


def extent_of_nest(nest: ReductionNest) -> int | None:
    """The iterations of all loops of a nest; None where they are not constant."""
    extents = [loop.extent for loop in nest.loops]
    known = [extent for extent in extents if extent is not None]
    return prod(known) if len(known) == len(extents) else None


def likely_extent(nest: ReductionNest) -> int | None:
    """The iterations of all loops of a nest, or those that a single loop has likely where sizes of run time alone decide on them;
    None for other nests."""
    outer = nest.loops[0]
    is_open = outer.extent is None and len(nest.loops) == 1 and outer.upper.map.n_dims == 0
    return outer.likely_extent if is_open else extent_of_nest(nest)


def is_dense(op: ir.Operation, nest: ReductionNest) -> bool:
    """Whether an access goes element by element through memory, forward or, in a single loop, backward."""
    strides = [stride_along(op, loop.iv) for loop in reversed(nest.loops)]
    if len(strides) == 1:
        return strides[0] in (1, -1)
    want = 1
    for loop, stride in zip(reversed(nest.loops), strides, strict=True):
        if stride != want or loop.extent is None:
            return False
        want *= loop.extent
    return True


def coalesce(nest: ReductionNest) -> Loop:
    """Replace the loops of a nest of constant extents by one, in the same order; the loop itself where there is one."""
    outer = nest.loops[0]
    if len(nest.loops) == 1:
        return outer
    with ir.InsertionPoint(outer.op), outer.op.location:
        new = build_for(Bound.constant(0), Bound.constant(extent_of_nest(nest) or 0), inits=outer.inits)
    body, old = new.regions[0].blocks[0], nest.body
    with ir.InsertionPoint(body), outer.op.location:
        here, step = ir.AffineDimExpr.get(0), 1
        for loop in reversed(nest.loops):
            assert loop.extent is not None
            part = ir.AffineExpr.get_floor_div(here, step)
            place = part if loop is outer else ir.AffineExpr.get_mod(part, loop.extent)
            loop.iv.replace_all_uses_with(apply(ir.AffineMap.get(1, 0, [place]), [body.arguments[0]]))
            step *= loop.extent
        end = affine.AffineYieldOp(list(list(old.operations)[-1].operands)).operation
    for argument, value in zip(list(old.arguments)[1:], list(body.arguments)[1:], strict=True):
        argument.replace_all_uses_with(value)
    for op in real_ops(old):
        op.move_before(end)
    for before, after in zip(outer.op.results, new.results, strict=True):
        before.replace_all_uses_with(after)
    outer.op.erase()
    found = normalized(new)
    assert found is not None
    return found
