"""Reduction loops become one with loops before them that touch the same elements."""

from __future__ import annotations

from dlc._mlir import affine, ir
from dlc.lowering.affine.dependences.nest_dependences import NestDependences
from dlc.lowering.affine.ir.accesses import accesses_in
from dlc.lowering.affine.ir.bands import move_body, same_trips
from dlc.lowering.affine.ir.loops import Bound, Loop, build_for, normalized, real_ops
from dlc.lowering.affine.ir.reductions import chain_of


def reductions_fit(a: ir.Operation, b: ir.Operation) -> bool:
    """Whether the innermost loop `a` and the reduction `b` after it may and should be one.

    Both have the same bounds, use a buffer in common, and every dependence between them stays within an iteration; the
    accumulators of both can be split into partial results.
    """
    first, second = _innermost(a), _innermost(b)
    if first is None or second is None or not second.op.results or not same_trips(first, second):
        return False
    if not (first.parallel or first.op.results):
        return False
    if any(loop.op.results and chain_of(loop.op) is None for loop in (first, second)):
        return False
    own, other = list(accesses_in(a)), list(accesses_in(b))
    between = NestDependences.of(a, own, b, other)
    shared = ((x, y) for x in own for y in other if x.root == y.root)
    return any(between.is_loop_independent(pair, first, second, {}) for pair in shared) and between.allow_fusion(first, second)


def fuse_reductions(a: ir.Operation, b: ir.Operation, place: ir.Operation) -> ir.Operation:
    """Replace both loops by one in front of `place`, with the accumulators of both."""
    first, second = normalized(a), normalized(b)
    assert first is not None and second is not None
    location = ir.Location.fused(list(dict.fromkeys((a.location, b.location))))
    with ir.InsertionPoint(place), location:
        made = build_for(Bound.constant(0), second.upper, inits=[*first.inits, *second.inits])
    body = made.regions[0].blocks[0]
    ends = [value for loop in (first, second) for value in _ends(loop)]
    with ir.InsertionPoint(body), location:
        end = affine.AffineYieldOp(ends).operation
    carried, results = list(body.arguments)[1:], list(made.results)
    for loop in (first, second):
        move_body(loop.body, end)
        loop.iv.replace_all_uses_with(body.arguments[0])
        for old, new in zip(list(loop.body.arguments)[1:], carried, strict=False):
            old.replace_all_uses_with(new)
        for old, new in zip(loop.op.results, results, strict=False):
            old.replace_all_uses_with(new)
        count = len(loop.inits)
        carried, results = carried[count:], results[count:]
    a.erase()
    b.erase()
    return made


def _ends(loop: Loop) -> list[ir.Value]:
    return list(list(loop.body.operations)[-1].operands)


def _innermost(op: ir.Operation) -> Loop | None:
    loop = normalized(op)
    if loop is None or any(inner.name == "affine.for" or len(inner.regions) for inner in real_ops(loop.body)):
        return None
    return loop
