"""Cuts the loops of a chain into register tiles: vectors along one loop, copies along another, sums kept across the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import product
from weakref import WeakKeyDictionary

import islpy as isl

from dlc._mlir import ir
from dlc.lowering.affine.cost.cycles import cycles
from dlc.lowering.affine.cost.limits import TileLimits
from dlc.lowering.affine.cost.references import references
from dlc.lowering.affine.cost.strides import access_strides
from dlc.lowering.affine.cost.tile_costs import BandNestCost, outer_order, spare_registers
from dlc.lowering.affine.dependences.band_nests import LoopToBuild, Member, rebuild_innermost_chains
from dlc.lowering.affine.dependences.volumes import volume_of
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.affine.polyhedral.loop_marks import LANES, LOOP, PARALLEL, UNROLL, LoopMark
from dlc.lowering.affine.polyhedral.loop_values import ends_of, place_in_tile, tile_number
from dlc.lowering.affine.polyhedral.model import Scop
from dlc.lowering.affine.search.cache_tiles import CacheBlockPlanner, CachePlan
from dlc.lowering.affine.search.candidates import search, weighed
from dlc.lowering.affine.search.full_tiles import full_tiles, isolated_tiles
from dlc.lowering.affine.search.panels import LocalPanel, local_panels
from dlc.lowering.affine.search.row_buffers import RowBuffer
from dlc.lowering.policy import policy
from dlc.targets.machine import Machine

_GENERATOR = "generic"


@dataclass(frozen=True)
class CacheBlockOptions:
    """That loops are cut into blocks for the caches of `machine`, and with `pack` panels copied."""

    machine: Machine
    pack: bool = True


@dataclass(frozen=True, eq=False)
class Tiled:
    """A schedule in tiles, and the panels to copy at its scratch marks."""

    schedule: isl.Schedule
    panels: tuple[LocalPanel, ...] = ()
    notes: tuple[str, ...] = ()
    """Which blocks were chosen, and why."""
    buffers: tuple[RowBuffer, ...] = ()
    """Buffers in place of arrays, at scratch marks of their names."""

    def then(self, after: Tiled) -> Tiled:
        """One schedule after the other."""
        return Tiled(
            self.schedule.sequence(after.schedule),
            self.panels + after.panels,
            self.notes + after.notes,
            self.buffers + after.buffers,
        )


@dataclass(frozen=True, eq=False)
class BandNest:
    """What is known of an innermost chain: its loops, and the cheapest tile where memory does not count."""

    members: Sequence[Member]
    nest: BandNestCost
    tile: Tile


@dataclass(frozen=True, eq=False)
class Weighed:
    """A schedule, the cycles that it takes in tiles, and its innermost chains in the order in which they are visited."""

    schedule: isl.Schedule
    cycles: float
    chains: Sequence[BandNest]


def weigh(scop: Scop, schedule: isl.Schedule, limits: TileLimits) -> Weighed:
    """What `schedule` costs with its innermost chains cut into tiles."""
    chains: list[BandNest] = []
    costs: list[float] = []

    def look(node: isl.ScheduleNode, members: Sequence[Member]) -> None:
        chain = _chain(scop, node, members, limits)
        chains.append(chain)
        costs.append(cycles(chain.nest, chain.tile, limits.machine))

    rebuild_innermost_chains(schedule, look)
    return Weighed(schedule, sum(costs), chains)


def _chain(scop: Scop, node: isl.ScheduleNode, members: Sequence[Member], limits: TileLimits) -> BandNest:
    strides, is_free = _member_strides(scop, node, members), [one.is_coincident for one in members]
    ranges = [_range(one.value, node) for one in members]
    extents = [len(values) for values in ranges]
    starts, spare = [values.start for values in ranges], spare_registers(scop, strides, limits.machine.has_fma)
    count, bands = volume_of(node.get_domain()), _bands(members)
    nest = BandNestCost(strides, is_free, lanes_of(scop, limits), bands, starts, extents, spare_registers=spare, iterations=count)
    return BandNest(members, nest, _best_tile(scop, nest, limits))


def cut(scop: Scop, chosen: Weighed, limits: TileLimits, blocking: CacheBlockOptions | None = None) -> Tiled:
    """Cut every innermost chain that has a loop fit for vectors or copies; with `blocking`, into blocks for caches, too."""
    tiling = _Tiling(scop, limits, iter(chosen.chains), blocking)
    schedule = rebuild_innermost_chains(chosen.schedule, tiling.levels)
    return Tiled(schedule, tuple(tiling.panels), tuple(tiling.notes))


@dataclass
class _Tiling:
    """Cuts the chains of one schedule."""

    scop: Scop
    limits: TileLimits
    chains: Iterator[BandNest]
    blocking: CacheBlockOptions | None = None
    panels: list[LocalPanel] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def levels(self, node: isl.ScheduleNode, members: Sequence[Member]) -> list[LoopToBuild] | None:
        """The loops in place of a chain; None where it stays."""
        chain = next(self.chains)
        nest, tile = chain.nest, chain.tile
        if tile.lanes == 1 and not tile.unroll_and_jam:
            return None
        blocked, plan = self._plan(node, members, chain)
        if plan is None:
            return _levels(node, members, tile, nest, [(at, nest.tile_size(tile, at)) for at in tile.order], {})
        panels = local_panels(members, nest, blocked, plan)
        self.notes.append(plan.text)
        self.panels += [panel for depth in sorted(panels) for panel in panels[depth]]
        return _levels(node, members, blocked, nest, plan.levels, panels)

    def _plan(self, node: isl.ScheduleNode, members: Sequence[Member], chain: BandNest) -> tuple[Tile, CachePlan | None]:
        """The tile where memory does not count, and blocks around it; no plan where the chain's tile is as good without."""
        refs = None if self.blocking is None else references(self.scop, node, members)
        if self.blocking is None or refs is None or policy().limits.unbounded_trips in chain.nest.extents:
            return chain.tile, None
        blocker = CacheBlockPlanner(refs, chain.nest, self.blocking.machine, self.blocking.pack)
        tile = _best_tile(self.scop, blocker.packed_nest, self.limits)
        return tile, blocker.plan(tile, chain.tile)


_KNOWN: WeakKeyDictionary[Scop, dict[object, Tile]] = WeakKeyDictionary()
"""The best tiles so far: schedules that are compared have nests in common."""


def _best_tile(scop: Scop, nest: BandNestCost, limits: TileLimits) -> Tile:
    """The tile of the fewest cycles."""
    strides, bands = tuple(map(tuple, nest.strides)), tuple(map(tuple, nest.bands))
    key = (
        strides,
        bands,
        tuple(nest.is_free),
        tuple(nest.starts),
        nest.lanes,
        nest.straddling,
        tuple(nest.extents),
        limits,
        nest.line_cycles,
    )
    known = _KNOWN.setdefault(scop, {})
    if key not in known:
        known[key] = _cheapest(nest, limits)
    return known[key]


def _cheapest(nest: BandNestCost, limits: TileLimits) -> Tile:
    each = replace(nest, iterations=1.0)  # nests that differ in how often they run have the same tile
    found = search([partial(_tiles, nest, limits)], weighed(each, limits.machine))
    assert found is not None  # a nest without tiles is a candidate
    return found.schedule


def tile_registers(scop: Scop, schedule: isl.Schedule, limits: TileLimits, blocking: CacheBlockOptions | None = None) -> Tiled:
    """`schedule` in tiles, as `cut` does it."""
    return cut(scop, weigh(scop, schedule, limits), limits, blocking)


def _tiles(nest: BandNestCost, limits: TileLimits) -> Iterator[Tile]:
    """The tiles that fit into the registers and the loops."""
    extents, free = nest.extents, [at for at, is_free in enumerate(nest.is_free) if is_free]
    yield Tile(_GENERATOR, order=outer_order(nest, (), tiles_first=True))
    lanes: list[int | None] = [at for at in free if nest.lanes > 1 and extents[at] >= nest.lanes]
    orders = (True, False) if nest.kept else (True,)
    sums = any(nest.stride(access, at) == 0 for at in nest.kept for access in nest.accesses if access.writes)
    most = limits.registers - nest.spare_registers
    sizes = [
        (vectors, copies)
        for vectors, copies in product(policy().tiles.tile_vectors, policy().tiles.tile_copies)
        if vectors * (copies + 1) <= most
    ]
    order_of = cache(partial(outer_order, nest))
    for along, across, (vectors, copies), first in product([*lanes, None], [*free, None], sizes if sums else [(1, 1)], orders):
        if along == across or (along is None and vectors > 1) or (across is None) != (copies == 1):
            continue
        room = 0 if along is None else extents[along] + (0 if nest.starts[along] else nest.lanes - 1)
        if (along is not None and vectors * nest.lanes > room) or (across is not None and copies > extents[across]):
            continue
        order = order_of(tuple(at for at in (along, across) if at is not None), tiles_first=first)
        lane_loop, count = (0, 1) if along is None else (along, nest.lanes)
        yield Tile(_GENERATOR, lane_loop, count, vectors, () if across is None else ((across, copies),), order)


def _range(value: isl.UnionPwAff, node: isl.ScheduleNode) -> range:
    """The values that the loop's variable has at most; a large number of them from 0 on where that is not bounded."""
    low, high = ends_of(value.intersect_domain(node.get_domain()))
    return range(int(str(low)), int(str(high)) + 1) if low.is_int() and high.is_int() else range(policy().limits.unbounded_trips)


def lanes_of(scop: Scop, limits: TileLimits) -> int:
    """Lanes of a vector of the widest elements that the scop touches; 0 where a type has no vectors."""
    widths = [_width(array.value.type) for array in scop.arrays]
    return 0 if None in widths or not widths else limits.vector_bits // max(width for width in widths if width)


def _width(kind: ir.Type) -> int | None:
    element = ir.MemRefType(kind).element_type if isinstance(kind, ir.MemRefType) else kind
    return getattr(element, "width", None)


def _levels(
    node: isl.ScheduleNode,
    members: Sequence[Member],
    tile: Tile,
    nest: BandNestCost,
    order: Sequence[tuple[int, int]],
    panels: Mapping[int, Sequence[LocalPanel]],
) -> list[LoopToBuild]:
    """The loops over blocks and tiles, given from the outside in by member and iterations a step, and those in a tile."""
    inner = [at for at in (tile.copied_loop, tile.vector_loop) if at is not None]
    is_inner = [any(not nest.is_free[other] for other, _ in order[:place]) for place in range(len(order))]
    outer = [
        _outer_level(members[at], size, is_shared=is_inner[place] and any(depth > place for depth in panels))
        for place, (at, size) in enumerate(order)
    ]
    outer = [replace(level, buffers=tuple(panel.name for panel in panels.get(at, ()))) for at, level in enumerate(outer)]
    outer = _short_sums_unrolled(outer, order, nest)
    tiles = 1 + max(place for place, (at, _) in enumerate(order) if at in inner)
    points = [
        LoopToBuild(
            place_in_tile(members[at].value, nest.tile_size(tile, at)), LoopMark(LANES if at == tile.vector_loop else UNROLL)
        )
        for at in inner
    ]
    depth = node.get_schedule_depth()
    place, isolated = isolated_tiles(full_tiles(node, [*outer, *points], [nest.tile_size(tile, at) for at in inner]), depth + tiles)
    outer[place - depth] = replace(outer[place - depth], isolated=isolated)
    return [*outer, *points]


def _member_strides(scop: Scop, node: isl.ScheduleNode, members: Sequence[Member]) -> list[list[tuple[MemRefAccess, int | None]]]:
    """For each member the strides of all accesses along it."""
    around = node.get_prefix_schedule_multi_union_pw_aff()
    depth = around.dim(isl.dim_type.out)
    times = [*(around.get_union_pw_aff(at) for at in range(depth)), *(member.value for member in members)]
    return access_strides(scop, times, node.get_domain(), range(depth, len(times)))


def _short_sums_unrolled(levels: Sequence[LoopToBuild], order: Sequence[tuple[int, int]], nest: BandNestCost) -> list[LoopToBuild]:
    """The loops with the innermost ones written out that carry sums over a few iterations, if there is another around them.

    Sums carried through several loops change registers where these begin and end: 3 x 3 taps in loops took twice the time.
    """
    found, iterations = list(levels), 1
    for place in range(len(order) - 1, 0, -1):
        at, around = order[place][0], order[place - 1][0]
        iterations *= nest.extents[at]
        if nest.is_free[at] or nest.is_free[around] or iterations > policy().tiles.few_taps:
            break
        found[place] = replace(found[place], mark=LoopMark(UNROLL))
    return found


def _outer_level(member: Member, size: int, *, is_shared: bool) -> LoopToBuild:
    """The loop over the tiles of a member, or over all its values; iterations that share a panel's memory have an order."""
    return LoopToBuild(tile_number(member.value, size), LoopMark(PARALLEL if member.is_coincident and not is_shared else LOOP))


def _bands(members: Sequence[Member]) -> list[list[int]]:
    """The members that may change places with each other: those of a permutable band, and neighbours that carry nothing."""
    found: list[list[int]] = []
    for at, member in enumerate(members):
        if at and _joins(member, [members[other] for other in found[-1]]):
            found[-1].append(at)
        else:
            found.append([at])
    return found


def _joins(inner: Member, around: Sequence[Member]) -> bool:
    """Whether a loop may go anywhere among those around it."""
    if inner.is_coincident and all(member.is_coincident for member in around):
        return True
    return inner.is_permutable and around[-1].band == inner.band
