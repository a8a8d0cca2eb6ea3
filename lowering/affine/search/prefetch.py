"""Fetching ahead: while tiles run over one panel of an operand, the next panel comes into the cache, evenly spread.

A panel is what the vector loads of one tile read of an operand through all reduction loops: 48 columns of a matrix, a
block of 16 filters. The loops right around the tile that an operand does not follow (rows of the other matrix, pixels)
run over the same panel; all their tiles together fetch the next one, a few lines in each step of the reduction. Where no
loop does, a tile of several rows is ahead of its own loads in a packed operand, whose panels lie one after the other, by what
it reads until memory answers: its products keep a core from running ahead so far by itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dlc._mlir import affine, ir
from dlc.lowering.affine.cost.instructions import trips_of
from dlc.lowering.affine.ir.accesses import stride_along
from dlc.lowering.affine.ir.lanes import LaneFacts
from dlc.lowering.affine.ir.loops import Loop, apply, real_ops
from dlc.lowering.affine.ir.nests import Nest
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.affine.ir.values import TileValues
from dlc.lowering.policy import policy
from dlc.targets.machine import L1_WAY_BYTES, LINE_BYTES, Machine, facts_of

_LOCALITY = {1: 3, 2: 2, 3: 1}
"""The hint of memref.prefetch for the first, second and third level of cache."""


@dataclass(frozen=True)
class PrefetchedPanel:
    """How the panel after the one that `load` reads is fetched: `count` units of `unit` elements, `stride` apart."""

    load: ir.Operation
    level: int
    ahead: Mapping[ir.Value, int]
    """By how much induction variables lead to the next panel."""
    inner: tuple[tuple[Loop, int], ...]
    """The loops over one panel, outermost first, and their steps."""
    chain: tuple[Loop, ...]
    unroll: int
    count: int
    stride: int
    line_offsets: tuple[int, ...]
    """Where the cache lines of a unit start, in elements."""
    distance: int = 0
    """Elements by which a tile that alone reads a panel fetches ahead of its own loads; 0 where tiles fetch the next panel."""

    @property
    def bytes(self) -> int:
        """Bytes of the panel's cache lines."""
        return self.count * len(self.line_offsets) * LINE_BYTES

    @property
    def bytes_ahead(self) -> int:
        """Bytes that are fetched and not read yet: the next panel, or what a tile that alone reads one is ahead by."""
        return self.distance * self.load.results[0].type.width // 8 if self.distance else self.bytes

    def set_conflicts(self, unroll_and_jam: Sequence[tuple[Loop, int]]) -> int:
        """Rows that such copies read in a step from one set of the first-level cache: lines a multiple of `L1_WAY_BYTES` apart."""
        width = self.load.results[0].type.width // 8
        places = [0]
        for loop, count in unroll_and_jam:
            stride = (stride_along(self.load, loop.iv) or 0) * width
            places = [place + copy * stride for place in places for copy in range(count if stride else 1)]
        return max(sum(_share_set(one, other) for other in places) for one in places)

    @property
    def _per_trip(self) -> int:
        trips = [trips_of(loop, step) or policy().cost.assumed_inner_trips for loop, step in self.inner]
        return -(-self.count // math.prod(trips))

    @property
    def _steps(self) -> list[int]:
        """Steps of each reduction loop; the innermost is unrolled."""
        extents = [loop.extent or 1 for loop in self.chain]
        return [*extents[:-1], extents[-1] // self.unroll]

    @property
    def per_step(self) -> int:
        """Units that are fetched in each step."""
        return -(-self._per_trip // max(1, math.prod(self._steps)))

    def start(self, values: TileValues) -> ir.Value:
        """Emit where the share of this tile starts in the panel, in elements."""
        trip = ir.AffineConstantExpr.get(0)
        operands: list[ir.Value] = []
        for loop, step in self.inner:
            at = ir.AffineExpr.get_floor_div(ir.AffineDimExpr.get(len(operands)), step)
            trip = trip * (trips_of(loop, step) or policy().cost.assumed_inner_trips) + at
            operands.append(values.start_of(loop.iv))
        limits = [trip * (self._per_trip * self.stride), ir.AffineConstantExpr.get(self.count * self.stride)]
        exact = all(loop.extent is not None for loop, _ in self.inner)
        if exact:
            return apply(ir.AffineMap.get(len(operands), 0, limits[:1]), operands)
        return affine.AffineMinOp(ir.AffineMap.get(len(operands), 0, limits), operands).result

    def fetch(self, values: TileValues, start: ir.Value, ivs: Sequence[ir.Value]) -> None:
        """Emit the fetches of one step, the reduction loops being at `ivs`."""
        operands = [values.start_of(operand) for operand in self._fixed] + list(ivs)
        results = self._moved(len(operands))
        indices = [apply(ir.AffineMap.get(len(operands), 0, [result]), operands) for result in results]
        for unit in range(self.per_step):
            for offset in self.line_offsets:
                self._fetch_line(indices, start, unit * self.stride + offset)

    def _fetch_line(self, indices: Sequence[ir.Value], start: ir.Value, offset: int) -> None:
        index = ir.IndexType.get()
        shift = apply(ir.AffineMap.get(1, 0, [ir.AffineDimExpr.get(0) + offset]), [indices[-1]])
        last = ir.Operation.create("arith.addi", results=[index], operands=[shift, start]).results[0]
        hint = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), _LOCALITY[self.level])
        attributes = {"isWrite": ir.BoolAttr.get(False), "localityHint": hint, "isDataCache": ir.BoolAttr.get(True)}
        ir.Operation.create("memref.prefetch", operands=[self.load.operands[0], *indices[:-1], last], attributes=attributes)

    @property
    def _fixed(self) -> list[ir.Value]:
        """The indices of the load that the reduction does not change."""
        reduced = {loop.iv for loop in self.chain}
        return [operand for operand in list(self.load.operands)[1:] if operand not in reduced]

    def _moved(self, count: int) -> list[ir.AffineExpr]:
        """The subscripts of the next panel's first element, plus the way of the reduction's steps through its units.

        The `count` dims are those in `_fixed`, then the induction variables of the reduction loops.
        """
        place = {operand: number for number, operand in enumerate(self._fixed)}
        zero = ir.AffineConstantExpr.get(0)
        dims = [
            (ir.AffineDimExpr.get(place[operand]) if operand in place else zero) + self.ahead.get(operand, 0)
            for operand in list(self.load.operands)[1:]
        ]
        inner = ir.AffineMap.get(count, 0, dims)
        results = [result.compose(inner) for result in self.load.attributes["map"].value.results]
        return [*results[:-1], results[-1] + self._way(len(place)) + self.distance]

    def _way(self, first: int) -> ir.AffineExpr:
        """Elements that the reduction's steps have gone through, its induction variables being dims from `first` on."""
        each = self.per_step * self.stride
        way = ir.AffineConstantExpr.get(0)
        for place, steps in enumerate(self._steps[1:]):
            way = (way + ir.AffineDimExpr.get(first + place)) * steps
        last = ir.AffineDimExpr.get(first + len(self.chain) - 1)
        if each % self.unroll == 0:
            return way * each + last * (each // self.unroll)
        return (way + ir.AffineExpr.get_floor_div(last, self.unroll)) * each


def _share_set(one: int, other: int) -> bool:
    """Whether bytes are in one set of the first-level cache and not in one line, if not the same."""
    return one == other or (abs(one - other) >= LINE_BYTES > (other - one) % L1_WAY_BYTES)


def panels_of(nest: Nest, tile: Tile, facts: LaneFacts, ahead: Mapping[ir.Value, int] | None = None) -> list[PrefetchedPanel]:
    """The panels that tiles of `nest` can fetch ahead: of vectors, and rows that all lanes share.

    Where all tiles of `nest` read one panel, the next one is that of the nest which runs next, `ahead` of this one.
    """
    if nest.chain is None or nest.reduces(tile):
        return []
    loads = [op for op in real_ops(nest.innermost_body) if op.name == "affine.load" and facts.strides[op] in (0, 1)]
    loads = [load for load in loads if not load.attributes["map"].value.n_symbols]
    panels = [_panel_of(load, nest, tile, bool(facts.strides[load]), ahead or {}) for load in loads]
    return [panel for panel in panels if panel is not None and panel.level]


def _panel_of(load: ir.Operation, nest: Nest, tile: Tile, is_vector: bool, after: Mapping[ir.Value, int]) -> PrefetchedPanel | None:
    """The panel of `load`, which tiles or rows must share where it is one of vectors: one row alone would read them no later."""
    assert nest.chain is not None
    followed, steps, order = set(list(load.operands)[1:]), nest.steps(tile), nest.order(tile)
    moving = [place for place, loop in enumerate(order) if loop.iv in followed and trips_of(loop, steps.get(loop, 1)) != 1]
    rows = _uniform_rows(load, nest.chain.loops)
    ahead = {order[moving[-1]].iv: steps.get(order[moving[-1]], 1)} if moving else after
    if not followed & ahead.keys() or rows is None or rows[0] < tile.unroll:
        return None
    inside = order[moving[-1] + 1 :] if moving else order
    inner = tuple((loop, steps.get(loop, 1)) for loop in inside if loop.iv not in followed)
    inner = tuple((loop, step) for loop, step in inner if trips_of(loop, step) != 1)
    row = tile.width if is_vector else 1
    copies = _adjacent_copies(load, nest.unroll_and_jam(tile), rows, row)
    is_alone = is_vector and not inner
    reuse = math.prod(count for loop, count in nest.unroll_and_jam(tile) if loop.iv not in followed)
    if copies is None or (is_alone and (reuse == 1 or rows[1] != row)):
        return None
    line, level = 8 * LINE_BYTES // load.results[0].type.width, tile.prefetch if is_vector else tile.fetch_rows
    units: tuple[int, int, tuple[int, ...]] = -(-rows[0] * row * copies // line), line, (0,)
    if rows[1] != row:
        units = rows[0], rows[1], tuple(range(0, row, line))
    if not is_alone:
        return PrefetchedPanel(load, level, ahead, inner, nest.chain.loops, tile.unroll, *units)
    distance = row * _prefetch_distance(reuse * tile.vectors * copies, facts_of(load))
    return PrefetchedPanel(load, level, {}, inner, nest.chain.loops, tile.unroll, *units, distance)


def _prefetch_distance(products: int, machine: Machine) -> int:
    """Rows of a panel, each with so many vectors of products, that are multiplied in the time of a load from memory."""
    return math.ceil(machine.memory.latency / (products * machine.cycles("fma_f32")))


def _adjacent_copies(load: ir.Operation, copied: Sequence[tuple[Loop, int]], rows: tuple[int, int], size: int) -> int | None:
    """How many panels a tile reads that lie one after the other, as the blocks that an unrolled loop reads do; None for others.

    `rows` are those of a panel, with `size` elements each.
    """
    followed = set(list(load.operands)[1:])
    unroll_and_jam = [(loop, count) for loop, count in copied if loop.iv in followed]
    if not unroll_and_jam:
        return 1
    is_adjacent = len(unroll_and_jam) == 1 and rows[1] == size and stride_along(load, unroll_and_jam[0][0].iv) == rows[0] * size
    return unroll_and_jam[0][1] if is_adjacent else None


def _uniform_rows(load: ir.Operation, chain: Sequence[Loop]) -> tuple[int, int] | None:
    """(count, distance in elements) of the rows that `load` reads as the reduction loops run; None when they lie unevenly."""
    stride, count = stride_along(load, chain[-1].iv), 1
    for loop in reversed(chain):
        if stride is None or stride <= 0 or loop.extent is None or stride_along(load, loop.iv) != stride * count:
            return None
        count *= loop.extent
    return None if stride is None else (count, stride)
