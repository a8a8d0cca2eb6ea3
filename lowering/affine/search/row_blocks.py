"""Parts of a function that go over the same large arrays row by row: one block of rows goes through all of them.

    for i { A[i, ..] = .. }  for i { B[i, ..] = .. A[i, ..] .. }

becomes, in blocks of as many rows as the tiles of all parts take,

    parallel for block { for i in block { A[i, ..] = .. }  for i in block { B[i, ..] = .. A[i, ..] .. } }

so that rows are in a cache when the next part reads them, where the arrays come from memory otherwise: `deriche` of PolyBench
(Zen 5, 70 MB an array) takes 0.73 of the time. Arrays that the last cache holds stay as they are: on two threads a layer norm of
8 MiB would take 1.07 of the time, on one 0.96. Each part keeps its own order and tiles inside. (After tiling, as in
Zhao and Di, MICRO 2020: loops that are fused before it would have to share an order.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import lcm, prod

import islpy as isl

from dlc._mlir import ir
from dlc.lowering.affine.cost.limits import TileLimits
from dlc.lowering.affine.dependences.analysis import DependenceAnalysis
from dlc.lowering.affine.dependences.band_nests import is_band
from dlc.lowering.affine.dependences.coincidence import stays
from dlc.lowering.affine.dependences.dependences import Dependence
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.ir.element_relations import Array
from dlc.lowering.affine.polyhedral.loop_marks import mark_scratch
from dlc.lowering.affine.polyhedral.loop_values import LoopValues, ends_of, loop_variable, place_in_tile, tile_number
from dlc.lowering.affine.polyhedral.model import Scop
from dlc.lowering.affine.search.register_tiles import CacheBlockOptions, Tiled, Weighed, cut, tile_registers
from dlc.lowering.affine.search.row_buffers import RowBuffer, row_buffers
from dlc.lowering.affine.search.scheduler import ScheduleUnit
from dlc.lowering.policy import policy
from dlc.targets.machine import LINE_BYTES, Machine, facts_of


@dataclass(frozen=True, eq=False)
class UnitSchedule:
    """A part of a function in the order that was chosen for it."""

    part: ScheduleUnit
    chosen: Weighed


@dataclass(frozen=True, eq=False)
class FusedUnits:
    """Phases one after the other, and for each the loop around all its statements, by its depth, that goes over the rows."""

    phases: tuple[UnitSchedule, ...]
    depths: tuple[int, ...]

    @cached_property
    def value(self) -> isl.UnionPwAff:
        """The row of each instance."""
        rows = [(one, depth) for phase, depth in zip(self.phases, self.depths, strict=True) for one in phase.part.statements]
        return reduce(isl.UnionPwAff.union_add, [isl.UnionPwAff.from_pw_aff(loop_variable(one, depth)) for one, depth in rows])

    def schedule(self, buffers: Sequence[RowBuffer] = ()) -> isl.Schedule:
        """The phases inside of a parallel loop over blocks of rows, each with its `buffers`; loops go over places in it."""
        number, place = tile_number(self.value, self.block), place_in_tile(self.value, self.block)
        phases = reduce(isl.Schedule.sequence, [self._within_block(phase.chosen.schedule, place) for phase in self.phases])
        whole = phases.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(number))
        node = whole.get_root().child(0).band_member_set_coincident(0, 1).child(0)
        for one in buffers:
            node = mark_scratch(node, one.buffer.name)
        return node.get_schedule()

    def buffers(self, scop: Scop, dependences: Sequence[Dependence]) -> list[RowBuffer]:
        """Buffers in place of arrays that nobody reads but the phases."""
        names = [one.name for phase in self.phases for one in phase.part.statements]
        return row_buffers(scop, names, self.value, self.block, dependences)

    @property
    def text(self) -> str:
        """What was chosen, for `print-proof`."""
        names = [phase.part.statements[0].name for phase in self.phases]
        return f"{self.block} rows at a time go through the {len(names)} nests that begin with {', '.join(names)}"

    def _within_block(self, schedule: isl.Schedule, place: isl.UnionPwAff) -> isl.Schedule:
        """A phase whose loops over rows have the variable `place`."""

        def visit(node: isl.ScheduleNode) -> isl.ScheduleNode:
            if not is_band(node):
                return node
            partial = node.band_get_partial_schedule()
            flags = [node.band_member_get_coincident(at) for at in range(node.band_n_member())]
            permutable = node.band_get_permutable()
            for at in range(len(flags)):
                value = partial.get_union_pw_aff(at)
                if self._is_row(value):
                    partial = partial.set_union_pw_aff(at, place.intersect_domain(value.domain()))
            node = node.delete().insert_partial_schedule(partial).band_set_permutable(int(permutable))
            for at, flag in enumerate(flags):
                node = node.band_member_set_coincident(at, int(flag))
            return node

        return schedule.get_root().map_descendant_bottom_up(visit).get_schedule()

    @cached_property
    def block(self) -> int:
        """The rows of a block: whole tiles of each phase, or whole lines of arrays whose neighbours are rows."""
        if self._widths_along:
            return self._run(min(self._widths_along))
        chains = [chain for phase in self.phases for chain in phase.chosen.chains]
        return lcm(
            *(
                chain.nest.tile_size(chain.tile, at)
                for chain in chains
                for at, one in enumerate(chain.members)
                if self._is_row(one.value)
            )
        )

    def _run(self, width: int) -> int:
        """The rows of `width` bytes that lie in as many whole lines as divide all rows, if some do."""
        sizes = [lines * LINE_BYTES // width for lines in range(policy().blocks.most_lines, policy().blocks.fewest_lines - 1, -1)]
        return next((size for size in sizes if (self._count or 0) % size == 0), sizes[0])

    def _is_row(self, value: isl.UnionPwAff) -> bool:
        """Whether `value` is the row of its instances."""
        rows = isl.UnionMap.from_union_pw_aff(self.value)
        return bool(isl.UnionMap.from_union_pw_aff(value).intersect_domain(rows.domain()).is_subset(rows))

    @cached_property
    def _widths_along(self) -> set[int]:
        """Bytes of an element of each array whose elements side by side belong to rows side by side."""
        return {
            access.array.element_bytes
            for phase, depth in zip(self.phases, self.depths, strict=True)
            for access in _accesses([phase])
            if access.array.is_memory and access.array.rank > 1 and _last_subscript_moves(access, depth)
        }

    @property
    def is_in_strips(self) -> bool:
        """Whether a block has a part of each line of some array, since rows lie side by side in it."""
        return bool(self._widths_along)

    def pays(self, facts: Machine, dependences: isl.UnionMap) -> bool:
        """Whether blocks of rows are free of each other, and spare memory arrays that the last cache does not hold."""
        rows = self._count
        if (
            rows is None
            or rows < policy().parallel.fewest_row_blocks * self.block
            or not stays(dependences, LoopValues(self.value))
        ):
            return False
        touched = _touched(self.phases)
        sizes = {array: size for array in touched if (size := _bytes(array)) is not None}
        if len(sizes) < len(touched):
            return False
        own = {array for array, accesses in touched.items() if _is_of_rows(accesses, self.value)}
        block = sum(size * self.block // rows if array in own else size for array, size in sizes.items())
        again = sum(sizes[array] for array in own if sum(array in _touched([one]) for one in self.phases) > 1)
        return again > facts.l3_bytes and block <= facts.l3_bytes * policy().blocks.eighth_share

    @cached_property
    def _count(self) -> int | None:
        """The rows; None where that is not known."""
        low, high = ends_of(self.value)
        return int(str(high.sub(low))) + 1 if low.is_int() and high.is_int() else None


def cut_in_row_blocks(
    analysis: DependenceAnalysis,
    phases: Sequence[UnitSchedule],
    limits: TileLimits,
    blocking: CacheBlockOptions | None,
) -> Iterator[Tiled]:
    """Phases one after the other in tiles; those that pay in blocks of rows."""
    facts = facts_of(phases[0].part.statements[0].ops[0])
    for shared in in_row_blocks(phases, facts, analysis.pairs_map):
        joint = _cut_jointly(analysis, shared, limits, blocking) if len(shared.phases) > 1 else None
        if joint is None or joint.panels:
            yield from (cut(analysis.scop, one.chosen, limits, blocking) for one in shared.phases)
        else:
            yield joint


def _cut_jointly(analysis: DependenceAnalysis, shared: FusedUnits, limits: TileLimits, blocking: CacheBlockOptions | None) -> Tiled:
    buffers = tuple(shared.buffers(analysis.scop, analysis.nearest))
    joint = tile_registers(analysis.scop, shared.schedule(buffers), limits, blocking)
    return replace(joint, buffers=buffers, notes=(shared.text, *joint.notes))


def in_row_blocks(phases: Sequence[UnitSchedule], facts: Machine, dependences: isl.UnionMap) -> list[FusedUnits]:
    """The phases in groups of neighbours that share blocks of rows, as many as can; those that share none are alone."""
    found: list[list[FusedUnits]] = []
    for phase in phases:
        joined = [one for group in found[-1:] for one in _joined(group, phase, facts, dependences)]
        if joined:
            found[-1] = joined
        else:
            found.append(
                [FusedUnits((phase,), (depth,)) for depth in range(_common_depth(phase.part))] or [FusedUnits((phase,), (0,))]
            )
    return [group[0] for group in found]


def _joined(group: Sequence[FusedUnits], phase: UnitSchedule, facts: Machine, dependences: isl.UnionMap) -> list[FusedUnits]:
    """The group with one more phase, by each of its loops for which that pays, those over whole lines first.

    Phases that share whole lines do not go in strips of columns for the sake of another one.
    """
    if not _has_large_array(group[0].phases, phase, facts):
        return []
    depths = range(_common_depth(phase.part))
    longer = [FusedUnits((*one.phases, phase), (*one.depths, depth)) for one in group for depth in depths]
    found = sorted((one for one in longer if one.pays(facts, dependences)), key=lambda one: one.is_in_strips)
    has_lines = len(group[0].phases) > 1 and not group[0].is_in_strips
    return [one for one in found if not (has_lines and one.is_in_strips)]


def _has_large_array(phases: Sequence[UnitSchedule], after: UnitSchedule, facts: Machine) -> bool:
    """Whether both touch an array that a core's cache does not hold."""
    return any((_bytes(array) or 0) > facts.l2_bytes for array in _touched(phases).keys() & _touched([after]).keys())


def _common_depth(part: ScheduleUnit) -> int:
    """The loops around each statement, at least."""
    return min(len(one.loops) for one in part.statements)


def _accesses(phases: Sequence[UnitSchedule]) -> Iterator[MemRefAccess]:
    return (access for phase in phases for one in phase.part.statements for access in one.accesses)


def _touched(phases: Sequence[UnitSchedule]) -> Mapping[Array, list[MemRefAccess]]:
    """The arrays of the phases, each with the accesses to it."""
    found: dict[Array, list[MemRefAccess]] = {}
    for access in _accesses(phases):
        found.setdefault(access.array, []).append(access)
    return found


def _is_of_rows(accesses: Sequence[MemRefAccess], value: isl.UnionPwAff) -> bool:
    """Whether each element belongs to one row."""
    elements = reduce(isl.UnionMap.union, [isl.UnionMap.from_map(one.relation) for one in accesses])
    return bool(elements.reverse().apply_range(isl.UnionMap.from_union_pw_aff(value)).is_single_valued())


def _last_subscript_moves(access: MemRefAccess, depth: int) -> bool:
    """Whether the last subscript of an access depends on the loop at `depth`."""
    column = access.relation.project_out(isl.dim_type.out, 0, access.relation.dim(isl.dim_type.out) - 1)
    found: list[isl.Aff] = []
    isl.PwMultiAff.from_map(column.lexmin()).foreach_piece(lambda _domain, piece: found.append(piece.get_aff(0)))
    return any(one.involves_dims(isl.dim_type.in_, depth, 1) for one in found)


def _bytes(array: Array) -> int | None:
    """Bytes of an array; None where its shape is not known, 0 for values."""
    if not array.is_memory:
        return 0
    kind = ir.MemRefType(array.value.type)
    return prod(kind.shape) * array.element_bytes if kind.has_static_shape else None
