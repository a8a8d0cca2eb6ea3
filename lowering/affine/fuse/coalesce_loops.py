"""affine-coalesce-loops: two loops over the rows of a product become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import arith, ir
from dlc.analysis.buffers import defining_op, is_allocation, is_row_major, nested_ops
from dlc.lowering.affine.fuse.fusion import reuses
from dlc.lowering.affine.fuse.row_windows import redirect, top_of, without_rows
from dlc.lowering.affine.ir.accesses import MemRefAccess, access_of
from dlc.lowering.affine.ir.bands import Band, build_band, move_body
from dlc.lowering.affine.ir.expressions import Linear
from dlc.lowering.affine.ir.index_maps import MOST_ADDRESSED
from dlc.lowering.affine.ir.loops import Bound, Loop, apply, normalized, real_ops
from dlc.lowering.outlining import is_kernel
from dlc.lowering.pass_base import Pass
from dlc.targets.machine import is_for_gpu

_ACCESSES = ("affine.load", "affine.store")


@dataclass(frozen=True)
class CoalesceLoops(Pass):
    """Make one loop of two that follow the rows of a product, where these lie one after another in memory.

    before: parallel h to %m { parallel w to %n { parallel c { y[h, w, c] = sum over k of x[h, w, k] * w[k, c] } } }
    after:  parallel p to %m * %n { parallel c { flat_y[p, c] = sum over k of flat_x[p, k] * w[k, c] } }

    Register tiles leave over less of many rows than of a few, again and again: Winograd's tiles of an image of unknown sides are
    such rows. `linalg-collapse-dims` keeps loops apart that neighbouring ops do not walk as one, so that nests match; this pass
    comes after fusion, when nothing is to match any more. For GPUs, products stay as they are.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        """Coalesce the loops of one function."""
        if not is_kernel(op) or is_for_gpu(op):
            return
        for outer in reversed([one for one in nested_ops(op) if one.name == "affine.for"]):
            pair = _rows_of_product(outer)
            flat = _flat_accesses(*pair) if pair is not None else None
            if pair is not None and flat:
                _coalesce(*pair, flat)


def _rows_of_product(op: ir.Operation) -> tuple[Loop, Loop] | None:
    """The parallel loop `op` and the one that is all of its body, for each of which a product reads values again."""
    outer = normalized(op)
    body = real_ops(outer.body) if outer is not None and not outer.inits else []
    inner = normalized(body[0]) if len(body) == 1 and body[0].name == "affine.for" else None
    if outer is None or inner is None or inner.inits or not (outer.parallel and inner.parallel):
        return None
    is_absurd = (outer.extent or 0) * (inner.extent or 0) > MOST_ADDRESSED
    if outer.upper.map.n_dims or inner.upper.map.n_dims or is_absurd:
        return None
    band = Band((outer, inner))
    return (outer, inner) if reuses(band, outer) and reuses(band, inner) else None


def _flat_accesses(outer: Loop, inner: Loop) -> list[tuple[MemRefAccess, int]] | None:
    """The accesses that the loops move, and the first of the two axes; None where one does not walk both as one."""
    users = {use.owner.operation for loop in (outer, inner) for use in loop.iv.uses}
    if any(user.name not in _ACCESSES for user in users):
        return None
    accesses = [access_of(user) for user in nested_ops(outer.op) if user in users]
    axes = [_flat_axis(access, outer, inner) for access in accesses]
    found = [(access, axis) for access, axis in zip(accesses, axes, strict=True) if axis is not None]
    return found if len(found) == len(accesses) else None


def _flat_axis(access: MemRefAccess, outer: Loop, inner: Loop) -> int | None:
    """The axis that `outer` alone goes along, if `inner` alone goes along all of the next, and rows follow each other."""
    kind, forms = ir.MemRefType(access.memref.type), access.subscripts
    if forms is None or not is_row_major(kind):
        return None
    moved = [axis for axis, form in enumerate(forms) if form is None or form.of(outer.iv) or form.of(inner.iv)]
    if len(moved) != 2 or moved[1] != moved[0] + 1:
        return None
    is_plain = forms[moved[0]] == Linear({outer.iv: 1}) and forms[moved[1]] == Linear({inner.iv: 1})
    return moved[0] if is_plain and _has_extent(access.memref, moved[1], inner.upper) else None


def _has_extent(memref: ir.Value, axis: int, bound: Bound) -> bool:
    """Whether the axis is known to have as many elements as the loop with this bound has iterations."""
    kind = ir.MemRefType(memref.type)
    if not kind.is_dynamic_dim(axis):
        return bound.static == kind.shape[axis]
    symbol = ir.AffineMap.get(0, 1, [ir.AffineSymbolExpr.get(0)])
    if bound.map != symbol or not is_allocation(memref):
        return False
    maker = defining_op(memref)
    assert maker is not None
    dynamic = [at for at in range(kind.rank) if kind.is_dynamic_dim(at)]
    return maker.operands[dynamic.index(axis)] == bound.operands[0]


def _coalesce(outer: Loop, inner: Loop, flat: Sequence[tuple[MemRefAccess, int]]) -> None:
    """One loop in place of two, whose variable is that of the inner one, over views without rows."""
    count = _product(outer, inner)
    views: dict[tuple[ir.Value, int], ir.Value] = {}
    for access, axis in flat:
        key = access.memref, axis
        if key not in views:
            views[key] = without_rows(access.memref, axis, _after(access.memref))
        redirect(
            access.op, views[key], [form for at, form in enumerate(access.subscripts or ()) if at != axis and form is not None]
        )
    _, end = build_band([Loop(inner.op, count)], outer.op)
    move_body(inner.body, end)
    outer.op.erase()


def _product(outer: Loop, inner: Loop) -> Bound:
    """The iterations of both loops."""
    if outer.extent is not None and inner.extent is not None:
        return Bound.constant(outer.extent * inner.extent)
    with ir.InsertionPoint(top_of(outer.op)), outer.op.location:
        sizes = [apply(loop.upper.map, loop.upper.operands) for loop in (outer, inner)]
        return Bound.symbol(arith.MulIOp(*sizes).result)


def _after(memref: ir.Value) -> ir.InsertionPoint:
    """Where a memref is there first."""
    maker = defining_op(memref)
    return ir.InsertionPoint.after(maker) if maker is not None else ir.InsertionPoint.at_block_begin(memref.owner)
