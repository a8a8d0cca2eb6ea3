"""Panels of an operand are copied, block by block, into the order in which tiles read them.

A matrix that is given at the call has rows far apart: a panel of a few columns is a cache line of each, on pages and in sets of
their own. A block of some panels is copied right before its tiles run, so that these find dense panels in the second-level cache,
and what is copied never leaves it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dlc._mlir import affine, ir
from dlc.analysis.buffers import root_of
from dlc.lowering.affine.accesses import are_apart, stride_along
from dlc.lowering.affine.block_choice import bytes_of, is_narrow, rows_of
from dlc.lowering.affine.blocking import problem_of_parts
from dlc.lowering.affine.cost import Tile
from dlc.lowering.affine.loops import Bound, Loop, build_for, real_ops
from dlc.lowering.affine.nests import Nest
from dlc.lowering.affine.order import Caches

_PANELS = 4
"""Panels that are copied at once: four lines of each row of the matrix. On one core of AVX2 with 512 KiB, 128x3072x768 takes 0.82
of the time that it takes with a copy of the whole matrix before, and with one panel at a time 1.0; 128x768x3072 0.85 and 0.92.
"""
_FEWEST_ROWS, MOST_ROWS = 16, 192
"""Rows of the other operand that pay for the copy. On that core 16x1024x1024 takes 0.47 of the time that it takes without,
16x768x768 0.92 and 8x768x768 would take 1.3; 256x1024x1024 takes 0.98 of the time with a copy of the whole matrix before.
"""
_ROWS, _COPIED = 3 / 4, 1 / 2
"""Shares of L2 of what a block reads of the other operand, and of its copy; parts of the sum make them so."""


def chosen_copies(nest: Nest, tile: Tile, order: Sequence[Loop], caches: Caches) -> tuple[tuple[int, int], ...]:
    """The blocks, as `Schedule.blocks`, for whose panels a copy pays; empty where none does."""
    found = rows_of(nest, tile, order)
    if found is None or not is_narrow(tile) or len(nest.band) != 2 or _problem(nest, tile):
        return ()
    (loop, row), load = found, _panel_load(nest, tile)
    rows, columns, width = loop.extent or 0, tile.lane_loop.extent or 0, tile.lanes * tile.slots
    assert nest.chain is not None and load is not None
    steps, pitch = nest.chain.loops[0].extent or 1, stride_along(load, nest.chain.loops[0].iv) or 0
    apart = bytes_of(load.results[0].type) * pitch
    if columns <= _PANELS * width or pitch <= width or not caches.falls_out(steps, apart):
        return ()
    if not _FEWEST_ROWS <= rows <= MOST_ROWS:
        return ()
    copied = steps * _PANELS * width * bytes_of(load.results[0].type)
    parts = math.ceil(max(rows * row / (caches.l2_bytes * _ROWS), copied / (caches.l2_bytes * _COPIED)))
    lanes = (nest.band.index(tile.lane_loop), _PANELS * width)
    if parts == 1 or problem_of_parts(nest):
        return (lanes,)
    size = -(-steps // parts)
    return (len(nest.band), -(-size // tile.unroll) * tile.unroll), lanes


def problem_of_copies(nest: Nest, tile: Tile, blocks: Sequence[tuple[int, int]]) -> str:
    """Why the panels of `nest` cannot be copied for each of `blocks`; empty when they can."""
    if problem := _problem(nest, tile):
        return problem
    sizes = {nest.band[place]: size for place, size in blocks if place < len(nest.band)}
    size, extent = sizes.get(tile.lane_loop), tile.lane_loop.extent or 0
    if size is None or size >= extent or size % (tile.lanes * tile.slots):
        return "the lane loop is not cut into blocks of whole tiles"
    return ""


def _problem(nest: Nest, tile: Tile) -> str:
    if tile.reduces or nest.chain is None or len(nest.chain.loops) != 1 or nest.chain.loops[0].extent is None:
        return "the nest has no single reduction loop of a known extent"
    if tile.lane_loop.extent is None or tile.lane_loop.extent % (tile.lanes * tile.slots):
        return "the lane loop does not consist of whole tiles"
    load, chain = _panel_load(nest, tile), nest.chain.loops[0]
    if load is None or not isinstance(load.results[0].type, (ir.F32Type, ir.F64Type)):
        return "the lanes of the sum are not those of one operand, f32 or f64"
    if stride_along(load, tile.lane_loop.iv) != 1:
        return "columns of what vectors read are not neighbours"
    outside = {value for value in list(load.operands)[1:] if value not in (tile.lane_loop.iv, chain.iv)}
    if any(loop.iv in outside for loop in nest.band) or any(not isinstance(value, ir.BlockArgument) for value in outside):
        return "what vectors read follows other loops"
    stores = [root_of(op.operands[1]) for op in nest.ops if op.name == "affine.store"]
    return "" if all(are_apart(root_of(load.operands[0]), store) for store in stores) else "the nest writes what vectors read"


def _panel_load(nest: Nest, tile: Tile) -> ir.Operation | None:
    """The only load of the sum that follows the lanes."""
    loads = [op for op in real_ops(nest.hot_block) if op.name == "affine.load" and tile.lane_loop.iv in set(op.operands)]
    return loads[0] if len(loads) == 1 else None


def copy_panels(nest: Nest, tile: Tile) -> None:
    """Let `nest`, one block, read a copy of what its vectors read, which is made in front of it and freed behind it."""
    load = _panel_load(nest, tile)
    assert load is not None and nest.chain is not None
    lane, chain, width = tile.lane_loop, nest.chain.loops[0], tile.lanes * tile.slots
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
            for slot in range(tile.slots):
                _copy_vector(load, panels, at, lane.iv, (width, slot * tile.lanes, tile.lanes))
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
