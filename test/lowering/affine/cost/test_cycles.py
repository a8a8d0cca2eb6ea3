"""Every nest tells its cycles by one function, in cycles of all its iterations."""

from __future__ import annotations

import ast
import math
from dataclasses import replace
from pathlib import Path

import pytest

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.affine.cost.contractions import (
    ColumnCopy,
    DirectConvolution,
    StridedSums,
    WeightProduct,
    WinogradBlocks,
    WinogradConvolution,
)
from dlc.lowering.affine.cost.cycles import cycles
from dlc.lowering.affine.cost.instructions import LoopNestCost
from dlc.lowering.affine.cost.limits import TileLimits
from dlc.lowering.affine.cost.time_tile_costs import FootprintDim, Footprints, SkewedNestCost, TimeTiles
from dlc.lowering.affine.ir.element_relations import Array
from dlc.lowering.affine.ir.nests import nests_of
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.affine.polyhedral.extract import extract
from dlc.lowering.affine.polyhedral.schedule_tree import original_schedule
from dlc.lowering.affine.schedule.given_tiles import lane_facts
from dlc.lowering.affine.search.candidates import search, weighed
from dlc.lowering.affine.search.register_tiles import weigh
from dlc.targets.machine import target_facts

LOWERING = Path(__file__).resolve().parents[4] / "lowering"
_ZEN4 = target_facts("znver4")
_PRODUCT = """
func.func @f(%x: memref<{rows}x64xf32>, %y: memref<64x96xf32>, %z: memref<{rows}x96xf32>) {{
  affine.for %i = 0 to {rows} {{
    affine.for %j = 0 to 96 {{
      %zero = arith.constant 0.0 : f32
      %sum = affine.for %k = 0 to 64 iter_args(%acc = %zero) -> (f32) {{
        %a = affine.load %x[%i, %k] : memref<{rows}x64xf32>
        %b = affine.load %y[%k, %j] : memref<64x96xf32>
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %acc, %p : f32
        affine.yield %s : f32
      }}
      affine.store %sum, %z[%i, %j] : memref<{rows}x96xf32>
    }} {{dlc.parallel}}
  }} {{dlc.parallel}}
  return
}}
"""
_SCALED = """
func.func @f(%x: memref<33x96xf32>, %y: memref<33x96xf32>) {
  affine.for %i = 0 to 33 {
    affine.for %j = 0 to 96 {
      %a = affine.load %x[%i, %j] : memref<33x96xf32>
      %b = arith.mulf %a, %a : f32
      affine.store %b, %y[%i, %j] : memref<33x96xf32>
    }
  }
  return
}
"""


def _function(rows: int) -> ir.Module:
    return ir.Module.parse(_PRODUCT.format(rows=rows))


def test_a_loop_nest_takes_longer_without_lanes_and_with_more_rows() -> None:
    found = []
    for rows in (32, 64):
        with make_context(), ir.Location.unknown():
            module = _function(rows)
            (nest,) = nests_of(module.body.operations[0].operation)
            tile = Tile("tile", lane_loop=1, lanes=16, vectors=2, unroll_and_jam=((0, 8),))
            lanes = LoopNestCost(nest, lane_facts(nest, tile), nest.loops[1])
            found.append((cycles(lanes, tile, _ZEN4), cycles(LoopNestCost(nest, None, None), Tile(), _ZEN4)))
    (short, short_scalar), (tall, tall_scalar) = found
    assert short * 16 < short_scalar
    assert (tall, tall_scalar) == pytest.approx((2 * short, 2 * short_scalar))


def test_a_band_nest_takes_cycles_of_all_its_iterations() -> None:
    costs = []
    for rows in (32, 64):
        with make_context(), ir.Location.unknown():
            module = _function(rows)
            scop = extract(module.body.operations[0].operation, assume_no_alias=True)
            found = weigh(scop, original_schedule(scop, scop.statements), TileLimits(512, 32, _ZEN4))
            each = [cycles(chain.nest, chain.tile, _ZEN4) for chain in found.chains]
            assert found.cycles == sum(each)
            costs.append(found.cycles)
    assert costs[1] == pytest.approx(2 * costs[0])


def test_slow_masks_make_parts_of_tiles_cost_more() -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(_SCALED)
        scop = extract(module.body.operations[0].operation, assume_no_alias=True)
        (chain,) = weigh(scop, original_schedule(scop, scop.statements), TileLimits(256, 16, _ZEN4)).chains
        tile = Tile("generic", lane_loop=1, lanes=chain.nest.lanes, vectors=2, unroll_and_jam=((0, 4),), order=(0, 1))
        haswell = target_facts("haswell")
        assert not _ZEN4.has_slow_masks and haswell.has_slow_masks
        assert cycles(chain.nest, tile, _ZEN4) < cycles(chain.nest, tile, haswell)


def test_time_tiles_pay_for_arrays_beyond_the_second_cache() -> None:
    with make_context(), ir.Location.unknown():
        module = _function(8)
        value = module.body.operations[0].operation.regions[0].blocks[0].arguments[0]
        rows = FootprintDim((((0, 1.0), (1, 1.0)),), 2.0, 4096.0)
        columns = FootprintDim((((2, 1.0),),), 2.0, 4096.0)
        touched = Footprints({Array("A0", value, 2): (rows, columns)})
        nest = SkewedNestCost((100, 4096, 4096), (touched,))
        sizes = [(time, space, 0) for time in (4, 8) for space in (4, 8)]
        best = search([lambda: [TimeTiles(size, touched) for size in sizes]], weighed(nest, _ZEN4))
        assert best is not None and best.cycles < cycles(nest, None, _ZEN4)
        assert math.isinf(cycles(nest, TimeTiles((64, 4000, 0), touched), _ZEN4))


def test_contractions_by_sizes() -> None:
    taps = DirectConvolution(56 * 56, 9 * 64 * 64, 4)
    tiles = WinogradConvolution(16, 64, 64, 4)
    assert cycles(tiles, WinogradBlocks(4, 7 * 28, 16), _ZEN4) < cycles(taps, None, _ZEN4)
    wider = replace(_ZEN4, fma_ports=2 * _ZEN4.fma_ports)
    assert cycles(taps, None, _ZEN4) == pytest.approx(2 * cycles(taps, None, wider))
    assert (
        cycles(StridedSums(1, 512), None, _ZEN4) < cycles(ColumnCopy(512), None, _ZEN4) < cycles(StridedSums(64, 512), None, _ZEN4)
    )


@pytest.mark.parametrize("size", [512, 1024, 8192])
def test_widening_pays_for_few_rows(size: int) -> None:
    """Half the bytes are worth more the farther away they lie; shifts for each tile of rows cost more the more rows there are."""

    def gain(rows: int, more: int = 0) -> float:
        wide, narrow = (WeightProduct(rows, size * size, 4, grouped, size * size + more) for grouped in (1, 2))
        return cycles(wide, None, _ZEN4) - cycles(narrow, None, _ZEN4)

    assert gain(1) > 0 > gain(128)
    assert gain(1, more=_ZEN4.l3_bytes) >= gain(1)


def test_no_schedules_have_no_cheapest() -> None:
    assert search([], weighed(DirectConvolution(1, 1, 4), _ZEN4)) is None


def test_cycles_alone_asks_nests() -> None:
    asking = [
        file.relative_to(LOWERING).as_posix()
        for file in sorted(LOWERING.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "total" and len(node.args) == 2
    ]
    assert asking == ["affine/cost/cycles.py"]
