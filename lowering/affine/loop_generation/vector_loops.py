"""Loops as vectors: of a fixed number of iterations written out, else a loop over vectors with masks."""

from __future__ import annotations

import islpy as isl

from dlc._mlir import affine, ir
from dlc.lowering.affine.ir import loops
from dlc.lowering.affine.loop_generation.ast_nodes import calls_in, iterator_of, step_of
from dlc.lowering.affine.loop_generation.lane_copy import LaneCopy, can_copy_lanes
from dlc.lowering.affine.loop_generation.lane_masks import begins_whole, lane_mask
from dlc.lowering.affine.loop_generation.loop_ops import affine_for
from dlc.lowering.affine.loop_generation.loop_site import LoopSite
from dlc.lowering.policy import policy


def build_vectors(site: LoopSite, node: isl.AstNode) -> bool:
    """Build the loop as vectors; False, with nothing built, where a statement has no form on vectors."""
    calls = calls_in(node.for_get_body())
    values = site.values(node)
    width = len(values or ()) if site.lanes is None else site.lanes
    if calls is None or not width or step_of(node) != 1:
        return False
    is_fixed = values is not None and len(values) <= policy().limits.lane_copies * width
    lane = len(site.scope.variables) + (not is_fixed)
    site.names[iterator_of(node)] = ir.AffineExpr.get_dim(lane)
    instances = [site.instance(call) for call in calls]
    masked = not is_fixed or values is None or bool(len(values) % width)
    if not all(can_copy_lanes(*instance, lane, masked=masked) for instance in instances):
        return False
    if values is None or not is_fixed:
        _masked_vectors(site, node, lane, width)
        return True
    for start in values[::width]:
        mask = (
            lane_mask(site.scope, width, [], [ir.AffineExpr.get_constant(values.stop - start)], site.location)
            if values.stop < start + width
            else None
        )
        for instance in instances:
            LaneCopy(*instance, site.scope, lane, ir.AffineExpr.get_constant(start), width, mask).run()
    return True


def _masked_vectors(site: LoopSite, node: isl.AstNode, lane: int, width: int) -> None:
    """A loop over those vectors, counted from variable 0, that hold some of the iterations."""
    lower, upper = site.bounds(node)
    constraints = [(high - low - 1, False) for low in lower for high in upper]
    condition, operands = site.scope.set(constraints)
    guard = affine.AffineIfOp(condition, cond_operands=operands, loc=site.location)
    with ir.InsertionPoint(guard.then_block):
        first = [ir.AffineExpr.get_floor_div(bound, width) for bound in lower]
        end = [ir.AffineExpr.get_ceil_div(bound, width) for bound in upper]
        loop = affine_for(site.scope, first, end, 1, site.location)
        loop.operation.attributes[loops.PARALLEL] = ir.UnitAttr.get()
        start = ir.AffineExpr.get_dim(lane - 1) * width
        site.scope.variables.append(loop.induction_variable)
        with ir.InsertionPoint(loop.body):
            before = [] if begins_whole(lower, width) else [bound - start for bound in lower]
            mask = lane_mask(site.scope, width, before, [bound - start for bound in upper], site.location)
            site.names[iterator_of(node)] = ir.AffineExpr.get_dim(lane)
            for call in calls_in(node.for_get_body()) or []:
                LaneCopy(*site.instance(call), site.scope, lane, start, width, mask).run()
            affine.AffineYieldOp([], loc=site.location)
        site.scope.variables.pop()
        affine.AffineYieldOp([], loc=site.location)
