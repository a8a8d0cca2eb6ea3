"""Which panels of an operand can be copied, block by block, into the order in which tiles read them.

A matrix that is given at the call has rows far apart: a panel of a few columns is a cache line of each, on pages and in sets of
their own. A block of some panels is copied right before its tiles run, so that these find dense panels in the second-level cache,
and what is copied never leaves it.
"""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.buffers import root_of
from dlc.lowering.affine.ir.accesses import are_apart, stride_along
from dlc.lowering.affine.ir.loops import real_ops
from dlc.lowering.affine.ir.nests import Nest
from dlc.lowering.affine.ir.tile import Tile


def problem_of_copies(nest: Nest, tile: Tile) -> str:
    """Why the panels of `nest` cannot be copied for each block of `tile`; empty when they can."""
    if problem := problem_of_panels(nest, tile):
        return problem
    size, extent = dict(tile.blocks).get(tile.lane_loop), nest.lane_loop(tile).extent or 0
    if size is None or size >= extent or size % tile.width:
        return "the lane loop is not cut into blocks of whole tiles"
    return ""


def problem_of_panels(nest: Nest, tile: Tile) -> str:
    if nest.reduces(tile) or nest.chain is None or len(nest.chain.loops) != 1 or nest.chain.loops[0].extent is None:
        return "the nest has no single reduction loop of a known extent"
    lane_loop = nest.lane_loop(tile)
    if lane_loop.extent is None or lane_loop.extent % tile.width:
        return "the lane loop does not consist of whole tiles"
    load, chain = panel_load(nest, tile), nest.chain.loops[0]
    if load is None or not isinstance(load.results[0].type, (ir.F32Type, ir.F64Type)):
        return "the lanes of the sum are not those of one operand, f32 or f64"
    if stride_along(load, lane_loop.iv) != 1:
        return "columns of what vectors read are not neighbours"
    outside = {value for value in list(load.operands)[1:] if value not in (lane_loop.iv, chain.iv)}
    if any(loop.iv in outside for loop in nest.band) or any(not isinstance(value, ir.BlockArgument) for value in outside):
        return "what vectors read follows other loops"
    stores = [root_of(op.operands[1]) for op in nest.ops if op.name == "affine.store"]
    return "" if all(are_apart(root_of(load.operands[0]), store) for store in stores) else "the nest writes what vectors read"


def panel_load(nest: Nest, tile: Tile) -> ir.Operation | None:
    """The only load of the sum that follows the lanes."""
    lanes = nest.lane_loop(tile).iv
    loads = [op for op in real_ops(nest.innermost_body) if op.name == "affine.load" and lanes in set(op.operands)]
    return loads[0] if len(loads) == 1 else None
