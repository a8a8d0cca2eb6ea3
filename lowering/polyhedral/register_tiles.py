"""Cuts the loops of a chain into register tiles: vectors along one loop, copies along another, sums kept across the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from dlc._mlir import ir
from dlc.analysis.polyhedral.model import Access, Scop
from dlc.lowering.polyhedral.chains import Level, Member, rebuild_innermost_chains
from dlc.lowering.polyhedral.loop_marks import COPIES, LANES, LOOP, PARALLEL
from dlc.lowering.polyhedral.strides import access_strides

_GATHER = 1.5
"""Cost of an element of a vector whose elements do not lie side by side, in scalar loads."""


@dataclass(frozen=True)
class TileShape:
    """Registers for vectors, and bytes of each."""

    vector_bytes: int
    registers: int


@dataclass(frozen=True, eq=False)
class _Choice:
    """The members that become lanes and copies, and how many iterations of each make a tile."""

    lanes: int
    vectors: int
    copied: int | None
    copies: int


def tile_registers(scop: Scop, schedule: isl.Schedule, shape: TileShape) -> isl.Schedule:
    """Cut every innermost chain that has a loop fit for vectors."""
    return rebuild_innermost_chains(schedule, lambda node, members: _levels(scop, node, members, shape))


def lanes_of(scop: Scop, shape: TileShape) -> int:
    """Lanes of a vector of the widest elements that the scop touches; 0 where a type has no vectors."""
    widths = [_width(array.value.type) for array in scop.arrays]
    return 0 if None in widths or not widths else shape.vector_bytes * 8 // max(width for width in widths if width)


def _width(kind: ir.Type) -> int | None:
    element = ir.MemRefType(kind).element_type if isinstance(kind, ir.MemRefType) else kind
    return getattr(element, "width", None)


def _levels(scop: Scop, node: isl.ScheduleNode, members: Sequence[Member], shape: TileShape) -> list[Level] | None:
    lanes = lanes_of(scop, shape)
    strides = _member_strides(scop, node, members)
    choice = _choose(members, strides, lanes, shape) if lanes > 1 else None
    if choice is None:
        return None
    sizes = {choice.lanes: choice.vectors * lanes} | ({} if choice.copied is None else {choice.copied: choice.copies})
    points = [(at, COPIES if at == choice.copied else LANES) for at in (choice.copied, choice.lanes) if at is not None]
    outer = _outer_levels(members, choice, sizes, strides)
    inner = [Level(_point(members[at].value, sizes[at]), word) for at, word in points]
    isolated = _full_tiles(node, [*outer, *inner], [sizes[at] for at, _ in points])
    return [*outer[:-1], Level(outer[-1].value, outer[-1].word, isolated), *inner]


def _member_strides(scop: Scop, node: isl.ScheduleNode, members: Sequence[Member]) -> list[list[tuple[Access, int | None]]]:
    """For each member the strides of all accesses along it."""
    times = node.get_prefix_schedule_union_map()
    depth = node.get_schedule_depth()
    for member in members:
        times = times.flat_range_product(isl.UnionMap.from_union_pw_aff(member.value))
    return [access_strides(scop, times, depth + at) for at in range(len(members))]


def _choose(
    members: Sequence[Member], strides: Sequence[Sequence[tuple[Access, int | None]]], lanes: int, shape: TileShape
) -> _Choice | None:
    """The cheapest member without dependences for lanes, and another that shares the most loads for copies."""
    free = [at for at, member in enumerate(members) if member.is_coincident]
    copies = 8 if shape.registers >= 32 else 4
    sums = _keeps_sums(members, strides)
    found: list[tuple[float, int, int | None]] = []
    for at in free:
        partners = [other for other in free if other != at and sums and _shared(strides[other])]
        copied = max(partners, key=lambda other: _shared(strides[other]), default=None)
        shared = {} if copied is None else {access: stride == 0 for access, stride in strides[copied]}
        found.append((_vector_cost(strides[at], lanes, shared, copies), -at, copied))
    if not found:
        return None
    cost, at, copied = min(found, key=lambda one: one[:2])
    if cost > lanes * len(strides[-at]):
        return None
    return _Choice(-at, 1, None, 1) if copied is None else _Choice(-at, 3, copied, copies)


def _vector_cost(strides: Sequence[tuple[Access, int | None]], lanes: int, shared: Mapping[Access, bool], copies: int) -> float:
    """Scalar loads that one vector's accesses cost as much as; those that all copies share are divided among them."""
    total = 0.0
    for access, stride in strides:
        cost = 1.0 if stride in (0, 1) else _GATHER * lanes * (2 if access.writes else 1)
        total += cost / copies if shared.get(access) else cost
    return total


def _keeps_sums(members: Sequence[Member], strides: Sequence[Sequence[tuple[Access, int | None]]]) -> bool:
    """Whether a store stays in place along a loop that is not free."""
    return any(
        access.writes and stride == 0
        for at, member in enumerate(members)
        if not member.is_coincident
        for access, stride in strides[at]
    )


def _shared(strides: Sequence[tuple[Access, int | None]]) -> int:
    """Loads that stay in place."""
    return sum(stride == 0 and not access.writes for access, stride in strides)


def _outer_levels(
    members: Sequence[Member], choice: _Choice, sizes: dict[int, int], strides: Sequence[Sequence[tuple[Access, int | None]]]
) -> list[Level]:
    """The loops around the points: tiles of free loops first, then the loops along which sums are kept."""
    free = [at for at, member in enumerate(members) if member.is_coincident and at not in sizes]
    tiled = [choice.lanes] if choice.copied is None else [choice.lanes, choice.copied]
    kept = [at for at, member in enumerate(members) if not member.is_coincident]
    order = [*free, *tiled, *kept] if _tiles_first(members, choice, strides) else [*free, *kept, *tiled]
    return [Level(_tile(members[at].value, sizes.get(at, 1)), PARALLEL if members[at].is_coincident else LOOP) for at in order]


def _tiles_first(members: Sequence[Member], choice: _Choice, strides: Sequence[Sequence[tuple[Access, int | None]]]) -> bool:
    """Whether a tile goes through the loops that are not free before the next tile: sums stay in registers, or rows are read
    along these loops."""
    gathers = any(stride not in (0, 1) for _, stride in strides[choice.lanes])
    return gathers or _keeps_sums(members, strides)


def _tile(value: isl.UnionPwAff, size: int) -> isl.UnionPwAff:
    """The number of the tile of `size` that `value` lies in."""
    return value if size == 1 else value.scale_down_val(isl.Val(size)).floor()


def _point(value: isl.UnionPwAff, size: int) -> isl.UnionPwAff:
    """The place of `value` in its tile."""
    return value.sub(_tile(value, size).scale_val(isl.Val(size)))


def _full_tiles(node: isl.ScheduleNode, levels: Sequence[Level], sizes: Sequence[int]) -> isl.Set:
    """The iterations of all loops but the points' in which every statement that has a point has all of them."""
    times = node.get_prefix_schedule_union_map()
    for level in levels:
        times = times.flat_range_product(isl.UnionMap.from_union_pw_aff(level.value))
    domain = node.get_domain()
    whole: isl.Set | None = None
    partial: isl.Set | None = None
    ranges = times.intersect_domain(domain)
    statements = ranges.get_map_list()
    for at in range(statements.n_map()):
        points = statements.get_map(at).range()
        outer = points.dim(isl.dim_type.set) - len(sizes)
        prefix = points.project_out(isl.dim_type.set, outer, len(sizes))
        box = prefix.add_dims(isl.dim_type.set, len(sizes))
        for place, size in enumerate(sizes):
            box = box.lower_bound_val(isl.dim_type.set, outer + place, isl.Val(0))
            box = box.upper_bound_val(isl.dim_type.set, outer + place, isl.Val(size - 1))
        missing = box.subtract(points).project_out(isl.dim_type.set, outer, len(sizes))
        whole = prefix if whole is None else whole.union(prefix)
        partial = missing if partial is None else partial.union(missing)
    assert whole is not None and partial is not None
    return whole.subtract(partial).coalesce()
