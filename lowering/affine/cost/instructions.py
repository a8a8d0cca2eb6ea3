"""Estimates what a tile of iterations costs, to choose between tiles.

The model is a core that, each cycle, starts two vector instructions and two loads, and finishes an accumulation four
cycles after it starts. It only ranks choices: on one core of AVX-512 its figures are within 30% of measured times.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dlc._mlir import ir
from dlc.lowering.affine.cost.cycles import Cycles, issue_cycles
from dlc.lowering.affine.cost.function_bodies import FunctionBody
from dlc.lowering.affine.cost.latencies import PRODUCT_LATENCY
from dlc.lowering.affine.cost.scattering import runs_along, scatter_cycles
from dlc.lowering.affine.cost.step_heights import balanced, open_steps, vectors_of_step
from dlc.lowering.affine.ir.accesses import stride_along
from dlc.lowering.affine.ir.lanes import LaneFacts, element_bits
from dlc.lowering.affine.ir.loops import Loop, real_ops
from dlc.lowering.affine.ir.nests import Nest
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.policy import policy
from dlc.targets.machine import LINE_BYTES, Machine

_LOADS = {0: 1.0, 1: 1.0, 2: 3.0, 3: 5.0, 4: 7.0}
"""Instructions that load a vector, by the distance of its lanes in memory; others take one for each lane."""
_LANE_BY_LANE = -1
_GROUPS = {4: 1, 2: 2}
"""Products of integers that `affine-use-dot-products` sums up at once, and vector instructions of that."""

Copies = tuple[tuple[int, int], ...]
"""(position of a loop, copies of its iterations), as in `Tile.unroll_and_jam`."""


@dataclass(frozen=True)
class _InnermostLoad:
    """A load of the innermost body."""

    followed: tuple[int, ...]
    """The positions of the band loops, and of the lane loop, that it follows."""
    stride: int
    """Its distance between lanes."""
    line_share: float
    """The part of a cache line that a step of the reduction moves it by."""
    line_shares: Mapping[int, float]
    """The same for each loop of `followed`."""
    part: float = 1.0
    """Its part of an instruction: bytes that are multiplied by those of a group are loaded together."""

    def lines(self, unroll_and_jam: Mapping[int, int]) -> float:
        """Cache lines that its copies, each the same in all lanes, come to in a step: neighbours may share one.

        A tile of 1024x14x14 images with 7 pixels of a row is 1.3 times as fast as with 7 of a column.
        """
        lines = self.line_share
        if lines:
            for place, share in self.line_shares.items():
                lines *= max(1.0, unroll_and_jam.get(place, 1) * share)
        return lines


class LoopNestCost:
    """A nest of rectangular loops for one choice of the lane loop, or without one, whose schedules are tiles.

    `functions` is what a vector of its body takes that has functions of mathematics and no loops.
    """

    def __init__(self, nest: Nest, facts: LaneFacts | None, lane_loop: Loop | None, functions: FunctionBody | None = None) -> None:
        self.nest = nest
        self.facts = facts
        self.lane_loop = lane_loop
        self.functions = functions
        self._steps: dict[tuple[int, int, Copies], Cycles] = {}
        self._parts: dict[Copies, list[tuple[float, Copies]]] = {}

    @cached_property
    def _lane_place(self) -> int | None:
        """The position of the lane loop."""
        return None if self.lane_loop is None else self.nest.loops.index(self.lane_loop)

    @cached_property
    def _loads(self) -> list[_InnermostLoad]:
        """The loads of the innermost body."""
        places = dict.fromkeys([*range(len(self.nest.band)), *([] if self._lane_place is None else [self._lane_place])])
        ivs = {place: self.nest.loops[place].iv for place in places}
        found = []
        for op in real_ops(self.nest.innermost_body):
            if op.name in ("affine.load", "memref.load"):
                stride = self.facts.strides[op] if self.facts else 0
                wide = bool(self.facts and op in self.facts.lanewise)
                operands = set(op.operands)
                followed = {place: iv for place, iv in ivs.items() if iv in operands}
                part = 1.0 if stride or wide else 1.0 / self._dot
                line = self._line_shares(op, followed)
                found.append(_InnermostLoad(tuple(followed), _LANE_BY_LANE if wide else stride, *line, part))
        return found

    def _line_shares(self, op: ir.Operation, followed: Mapping[int, ir.Value]) -> tuple[float, Mapping[int, float]]:
        """The parts of a cache line that `op` moves by in one step of the innermost reduction loop, and of each of `followed`."""
        chain = self.nest.chain
        if chain is None or op.name != "affine.load":
            return 0.0, {}
        return _line_share(op, chain.loops[-1].iv), {place: _line_share(op, iv) for place, iv in followed.items()}

    @cached_property
    def _dot(self) -> int:
        """Products that an instruction sums up: four where bytes are cut out of the lanes, two of i16."""
        names = [op.name for op in real_ops(self.nest.innermost_body)]
        products = names.count("arith.muli")
        return products if products in _GROUPS and "arith.shrsi" in names else 1

    @property
    def _sums_apart(self) -> bool:
        """Whether products are added to a sum by another instruction, which takes no unit for products but a register between."""
        return _GROUPS.get(self._dot, 1) > 1

    @cached_property
    def _arithmetic(self) -> float:
        """Vector instructions of one copy of the innermost body; a product and its sum count once."""
        if self._dot > 1:
            return 1.0
        names = [op.name for op in real_ops(self.nest.innermost_body)]
        multiply_adds = min(names.count("arith.mulf"), names.count("arith.addf")) if self.nest.inner_loops else 0
        plain = sum(name.startswith("arith.") for name in names) - multiply_adds
        return plain + policy().cost.expensive_op * sum(name.startswith("math.") for name in names)

    def step(self, tile: Tile) -> Cycles:
        """Cycles of one run of the innermost body with the copies of `tile`."""
        return self._step(tile.lanes, tile.vectors, tile.unroll_and_jam)

    def _step(self, lanes: int, vectors: int, copies: Copies) -> Cycles:
        """The same, counted once: tiles that leave the same rest have steps in common."""
        key = lanes, vectors, copies
        if key not in self._steps:
            self._steps[key] = self._counted(lanes, vectors, dict(copies))
        return self._steps[key]

    def _counted(self, lanes: int, vectors: int, unroll_and_jam: Mapping[int, int]) -> Cycles:
        copies, cost = vectors * math.prod(unroll_and_jam.values()), policy().cost
        loads = waits = 0.0
        for load in self._loads:
            share = load.part * _LOADS.get(load.stride, float(lanes))
            for place in load.followed:
                share *= unroll_and_jam.get(place, 1)
            share *= vectors if self._lane_place in load.followed else 1
            loads += share
            waits += (
                share * cost.exposed_vector_load
                if load.stride
                else max(share * cost.exposed_scalar_load, load.lines(unroll_and_jam) * cost.exposed_vector_load)
            )
        # Four instructions of any kind start in a cycle.
        issue = max(issue_cycles(loads, copies * self._arithmetic), (copies * (1 + self._sums_apart) + loads) / 4.0)
        if self.functions is not None:
            started = issue_cycles(loads, copies * self.functions.instructions)
            issue = max(started, copies * self.functions.divider_cycles)
            return Cycles(issue, self.functions.waiting_cycles(copies), waits)
        return Cycles(issue, PRODUCT_LATENCY if self.nest.inner_loops else 1.0, waits)

    def fits(self, tile: Tile, registers: int) -> bool:
        """Whether the innermost body of `tile` keeps at most so many vector registers alive."""
        sums = tile.body_copies if self.nest.inner_loops else 0
        return sums < registers and self.registers(tile) <= registers

    def registers(self, tile: Tile) -> int:
        """Vector registers that the innermost body of `tile` keeps alive."""
        unroll_and_jam = dict(tile.unroll_and_jam)
        loaded = []
        for load in self._loads:
            if load.stride:
                share = tile.vectors
                for place in load.followed:
                    share *= unroll_and_jam.get(place, 1)
                loaded.append(share)
        held = sum(sorted(loaded)[:1]) if self.nest.inner_loops else sum(loaded)
        if len(loaded) == 1 and tile.body_copies == tile.vectors:
            held = min(held, 1)  # each vector meets one number, and is read where it does
        if self.functions is not None:
            held = max(held, tile.body_copies * self.functions.registers)
        return (tile.body_copies if self.nest.inner_loops else 0) + held + 1 + self._sums_apart

    def total(self, tile: Tile, machine: Machine) -> float:
        """Cycles of the whole nest, cut like `tile`; of the loops as they are where there is no lane loop."""
        if self.lane_loop is None:
            return math.prod((_extent(loop) for loop in self.nest.loops), start=1.0) * self.step(tile).total
        reduces, cycles, inner_trips = self.nest.reduces(tile), 0.0, self._inner_trips
        for jam_trips, factors in self._jam_parts(tile.unroll_and_jam):
            for lane_trips, vectors in _lane_parts(_extent(self.lane_loop), self._widened(tile, factors), reduces):
                once = self._step(tile.lanes, vectors, factors).total * inner_trips
                if self._scattered:
                    body_copies = vectors * math.prod(count for _, count in factors)
                    once += sum(scatter_cycles(along, dict(factors), body_copies, tile.lanes) for along in self._scattered)
                once *= lane_trips if reduces else 1
                copies = tile.body_copies if reduces else 0
                cycles += (once + copies * policy().cost.horizontal_cycles) * jam_trips * (1 if reduces else lane_trips)
        cut = {tile.lane_loop, *(place for place, _ in tile.unroll_and_jam)}
        for place, extent in enumerate(self._band_extents):
            if place not in cut:
                cycles *= extent
        return cycles

    def _widened(self, tile: Tile, factors: Copies) -> Tile:
        """`tile` with the vectors of a step of such copies."""
        if len(factors) != 1:
            return tile
        vectors = vectors_of_step(self.nest, tile, factors[0][1])
        return tile if vectors == tile.vectors else dataclasses.replace(tile, vectors=vectors)

    @cached_property
    def _band_extents(self) -> list[int]:
        return [_extent(loop) for loop in self.nest.band]

    def _jam_parts(self, unroll_and_jam: Copies) -> list[tuple[float, Copies]]:
        """(trips, factors) of every combination of main steps and remainders, found once for tiles that differ in vectors."""
        if unroll_and_jam not in self._parts:
            self._parts[unroll_and_jam] = _unroll_and_jam_parts(self.nest, unroll_and_jam)
        return self._parts[unroll_and_jam]

    @cached_property
    def _scattered(self) -> list[frozenset[int]]:
        """For each store whose lanes lie apart the loops, by position, along which its copies are neighbours."""
        ivs = [loop.iv for loop in self.nest.band]
        return [runs_along(op, ivs) for op in (self.facts.scattered if self.facts else ())]

    @cached_property
    def _inner_trips(self) -> float:
        """Iterations of the reduction loops but for one whose iterations are lanes."""
        trips = 1.0
        for loop in self.nest.loops[len(self.nest.band) :]:
            if loop is not self.lane_loop:
                trips *= _extent(loop)
        return trips


def _line_share(load: ir.Operation, iv: ir.Value) -> float:
    """The part of a cache line that an affine.load moves by when `iv` grows by one; 1 where it is more, or not known."""
    stride = stride_along(load, iv)
    if stride is None:
        return 1.0
    return min(1.0, abs(stride) * (element_bits(load.results[0].type) or 64) / (8 * LINE_BYTES))


def trips_of(loop: Loop, step: int) -> int | None:
    """Steps of `step` iterations that `loop` takes, the last one maybe shorter; None when it is dynamic."""
    return None if loop.extent is None else -(-loop.extent // step)


def _open_parts(loop: Loop, factor: int) -> list[tuple[float, int]]:
    """(steps, iterations of each) of a loop of unknown extent in the mean over extents around the likely one."""
    likely = loop.likely_extent
    reach = min(likely, policy().cost.assumed_trips) - 1
    sizes = loop.upper.known.sizes(likely + reach, likely - reach)
    steps = Counter[int]()
    for size in sizes:
        for trips, height in open_steps(size, factor):
            steps[height] += trips
    return [(trips / len(sizes), height) for height, trips in sorted(steps.items(), reverse=True)]


def _extent(loop: Loop) -> int:
    return max(loop.likely_extent, 1)


def _lane_parts(extent: int, tile: Tile, reduces: bool) -> list[tuple[int, int]]:
    """(trips, vectors) of the main steps and of the tail of a lane loop of `extent` iterations."""
    whole, left = divmod(extent, tile.width)
    tail = -(-left // tile.lanes)
    if tail and reduces:
        return [(whole, tile.vectors), (tail, 1)]
    return [(whole, tile.vectors), *([(1, tail)] if tail else [])]


def _unroll_and_jam_parts(nest: Nest, unroll_and_jam: Copies) -> list[tuple[float, Copies]]:
    """(trips, factors) of every combination of main steps and remainders."""
    parts: list[tuple[float, Copies]] = [(1, ())]
    for place, factor in unroll_and_jam:
        loop = nest.loops[place]
        is_open = loop.extent is None
        cuts: Sequence[tuple[float, int]] = _open_parts(loop, factor) if is_open else balanced(loop.likely_extent, factor)
        parts = [(trips * count, (*done, (place, size))) for trips, done in parts for count, size in cuts]
    return parts
