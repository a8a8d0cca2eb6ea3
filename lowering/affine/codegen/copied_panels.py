"""Copies panels of an operand in front of the block that reads them; see `schedule/copied_panels.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dlc._mlir import affine, ir
from dlc.lowering.affine.ir.loops import Bound, build_for
from dlc.lowering.affine.ir.nests import Nest
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.affine.schedule.copied_panels import panel_load


def copy_panels(nest: Nest, tile: Tile) -> None:
    """Let `nest`, one block, read a copy of what its vectors read, which is made in front of it and freed behind it."""
    load = panel_load(nest, tile)
    assert load is not None and nest.chain is not None
    lane, chain, width = nest.lane_loop(tile), nest.chain.loops[0], tile.width
    element = load.results[0].type
    kind = ir.MemRefType.get([(lane.extent or 0) // width, chain.extent or 0, width], element)
    segments = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])}
    with ir.InsertionPoint(nest.top), nest.top.location:
        panels = ir.Operation.create("memref.alloc", results=[kind], attributes=segments).results[0]
        step = build_for(Bound.constant(0), Bound.constant(chain.extent or 0), parallel=True)
        with ir.InsertionPoint(step.regions[0].blocks[0]):
            panel = build_for(Bound.constant(0), Bound.constant(kind.shape[0]), parallel=True)
            affine.AffineYieldOp([])
        with ir.InsertionPoint(panel.regions[0].blocks[0]):
            at = {chain.iv: step.regions[0].blocks[0].arguments[0], lane.iv: panel.regions[0].blocks[0].arguments[0]}
            for number in range(tile.vectors):
                _copy_vector(load, panels, at, lane.iv, (width, number * tile.lanes, tile.lanes))
            affine.AffineYieldOp([])
    with ir.InsertionPoint(load), load.location:
        place, column = ir.AffineDimExpr.get(0), ir.AffineDimExpr.get(1)
        results = [ir.AffineExpr.get_floor_div(column, width), place, ir.AffineExpr.get_mod(column, width)]
        copied = _access("affine.load", [element], [panels, chain.iv, lane.iv], ir.AffineMap.get(2, 0, results))
    load.results[0].replace_all_uses_with(copied.results[0])
    load.erase()
    with ir.InsertionPoint(nest.top), nest.top.location:
        free = ir.Operation.create("memref.dealloc", operands=[panels])
    free.move_after(nest.top)


def _copy_vector(
    load: ir.Operation, panels: ir.Value, at: Mapping[ir.Value, ir.Value], lane: ir.Value, places: tuple[int, int, int]
) -> None:
    """Emit the copy of one vector, `places` being the columns of a panel, the first one of the vector and how many it has."""
    width, first, lanes = places
    buffer, *operands = load.operands
    indexing = load.attributes["map"].value
    dims = [ir.AffineDimExpr.get(dim) for dim in range(indexing.n_dims)]
    moved = [dim * width + first if value == lane else dim for dim, value in zip(dims, operands, strict=False)]
    inner = ir.AffineMap.get(indexing.n_dims, indexing.n_symbols, moved)
    source = ir.AffineMap.get(indexing.n_dims, indexing.n_symbols, [result.compose(inner) for result in indexing.results])
    kind = ir.VectorType.get([lanes], load.results[0].type)
    value = _access("affine.vector_load", [kind], [buffer, *(at.get(each, each) for each in operands)], source).results[0]
    step, panel = at.values()
    place = [ir.AffineDimExpr.get(1), ir.AffineDimExpr.get(0), ir.AffineExpr.get_constant(first)]
    _access("affine.vector_store", [], [value, panels, step, panel], ir.AffineMap.get(2, 0, place))


def _access(name: str, kinds: Sequence[ir.Type], operands: Sequence[ir.Value], indexing: ir.AffineMap) -> ir.Operation:
    return ir.Operation.create(name, results=kinds, operands=operands, attributes={"map": ir.AffineMapAttr.get(indexing)})
