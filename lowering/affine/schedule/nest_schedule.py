"""The schedule of a nest: everything that an emitter decides about it, as data and as an attribute in the IR.

    affine.for %i = 0 to 128 { ... } {dlc.parallel, dlc.schedule = {emitter = "tile", lane_loop = 1 : i64, lanes = 16 : i64,
        vectors = 3 : i64, unroll_and_jam = [array<i64: 0, 8>], order = array<i64: 1, 0>, unroll = 4 : i64, prefetch = 2 : i64}}

Loops go by their position in the nest: 0, 1, ... for the band from the outside in, then the reduction loops. The attribute
stands on the outermost loop of the nest; what an emitter finds there it does, and what it did it leaves on the first
loop that it makes. A field that is left out has its default.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dlc._mlir import ir
from dlc.lowering.affine.cost.instructions import RegisterTile
from dlc.lowering.affine.ir.blocking import problem_of_blocks
from dlc.lowering.affine.ir.lanes import LaneFacts, NoLanesError, analyse_lanes
from dlc.lowering.affine.ir.loops import SCHEDULE, Loop
from dlc.lowering.affine.ir.nests import Nest
from dlc.lowering.affine.schedule.copied_panels import problem_of_copies
from dlc.lowering.pass_base import PassFailure
from dlc.lowering.policy import policy

NEST = "dlc.nest"
"""The number that `affine-assign-schedules` gives each nest of a function; it goes where the schedule goes."""
EMITTERS = {
    "tile": "affine-tile-registers",
    "windows": "affine-tile-windows",
    "rows": "affine-vectorize-loops",
    "transpose": "affine-transpose-tiles",
    "generic": "affine-schedule-generic",
}
"""What makes the code of a nest, and the pass that does."""
_FETCHES = ("prefetch", "fetch_rows")
REMEDY = "change the schedule, or leave it out for the cost model's"


class ScheduleError(ValueError):
    """A schedule that says nothing sensible or does not fit its nest; the message says why."""


@dataclass(frozen=True)
class NestSchedule:
    """How one nest becomes code."""

    emitter: str = "tile"
    lane_loop: int = 0
    """The loop whose iterations are the lanes of vectors."""
    lanes: int = 1
    """Elements of a vector."""
    vectors: int = 1
    """Vectors of a step of the lane loop."""
    unroll_and_jam: tuple[tuple[int, int], ...] = ()
    """(loop, copies) of each other parallel loop that is unrolled into the tile."""
    order: tuple[int, ...] = ()
    """The band from the outside in; empty for the order of the source."""
    unroll: int = 1
    """Steps of the innermost reduction loop that stand in its body."""
    prefetch: int = 0
    """The level of cache (1, 2, 3) that the next panels of operands are fetched into; 0 fetches none."""
    fetch_rows: int = 0
    """The same for the next rows of operands that all lanes share."""
    blocks: tuple[tuple[int, int], ...] = ()
    """(loop, iterations of a block) of the cache-blocking loops around all others, from the outside in: parallel loops, and the
    outermost reduction loop, whose blocks add to the result one after the other."""
    pack: int = 0
    """1: what the vectors of a block read is copied in front of it, in the order of its tiles."""

    @property
    def body_copies(self) -> int:
        """How many times the body stands in the tile, not counting `unroll`."""
        total = self.vectors
        for _, count in self.unroll_and_jam:
            total *= count
        return total

    def attribute(self) -> ir.DictAttr:
        """The schedule as the value of `dlc.schedule`, without the fields that have their defaults."""
        fields: dict[str, ir.Attribute] = {"emitter": ir.StringAttr.get(self.emitter)}
        for field in dataclasses.fields(self)[1:]:
            value = getattr(self, field.name)
            if value != field.default:
                fields[field.name] = _attribute_of(value)
        return ir.DictAttr.get(fields)

    @staticmethod
    def parse(attribute: ir.Attribute) -> NestSchedule:
        """The inverse of `attribute`; `ScheduleError` when it is no schedule."""
        if not isinstance(attribute, ir.DictAttr):
            raise ScheduleError(f"a schedule is a dictionary, not {attribute}")
        defaults = {field.name: field.default for field in dataclasses.fields(NestSchedule)}
        given: dict[str, Any] = {}
        for named in attribute:
            if named.name not in defaults:
                raise ScheduleError(f"a schedule has no '{named.name}' (fields: {', '.join(defaults)})")
            given[named.name] = _value_of(named.name, named.attr, defaults[named.name])
        schedule = NestSchedule(**given)
        if schedule.emitter not in EMITTERS:
            raise ScheduleError(f"no emitter is called '{schedule.emitter}' (emitters: {', '.join(EMITTERS)})")
        return schedule


def _attribute_of(value: int | tuple[int, ...] | tuple[tuple[int, int], ...]) -> ir.Attribute:
    if isinstance(value, int):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
    if value and isinstance(value[0], tuple):
        return ir.ArrayAttr.get([ir.DenseI64ArrayAttr.get(pair) for pair in value])
    return ir.DenseI64ArrayAttr.get(value)


def _value_of(name: str, attribute: ir.Attribute, default: object) -> Any:
    if isinstance(default, str) and isinstance(attribute, ir.StringAttr):
        return attribute.value
    if isinstance(default, int) and isinstance(attribute, ir.IntegerAttr):
        return int(attribute.value)
    has_pairs = isinstance(attribute, ir.ArrayAttr) and all(isinstance(pair, ir.DenseI64ArrayAttr) for pair in attribute)
    if name in ("unroll_and_jam", "blocks") and has_pairs:
        return tuple(tuple(ir.DenseI64ArrayAttr(pair)) for pair in attribute)
    if name == "order" and isinstance(attribute, ir.DenseI64ArrayAttr):
        return tuple(attribute)
    raise ScheduleError(f"'{name}' of a schedule cannot be {attribute}")


def schedule_of(op: ir.Operation) -> NestSchedule | None:
    """The schedule that stands on the loop `op`, None when there is none; `PassFailure` when it is no schedule."""
    if SCHEDULE not in op.attributes:
        return None
    try:
        return NestSchedule.parse(op.attributes[SCHEDULE])
    except ScheduleError as error:
        raise PassFailure(op, str(error), REMEDY) from None


def leave_schedule(made: ir.Operation, nest: Nest, schedule: NestSchedule) -> None:
    """Say on `made`, the first loop that an emitter made of `nest`, what was done; before `nest` is erased."""
    made.attributes[SCHEDULE] = schedule.attribute()
    if NEST in nest.top.attributes:
        made.attributes[NEST] = nest.top.attributes[NEST]


def given_schedule(nest: Nest, emitter: str) -> NestSchedule | None:
    """The schedule that stands on `nest`; `PassFailure` when it is none, or one for `emitter` that does not fit."""
    schedule = schedule_of(nest.top)
    if schedule is not None and schedule.emitter == emitter:
        try:
            require_fit(nest, schedule)
        except ScheduleError as error:
            raise PassFailure(nest.top, str(error), REMEDY) from None
    return schedule


def loops_of(nest: Nest) -> tuple[Loop, ...]:
    """The loops of `nest` by position: the band, then the reduction loops."""
    return (*nest.band, *(nest.chain.loops if nest.chain else ()))


def require_fit(nest: Nest, schedule: NestSchedule) -> None:
    """`ScheduleError` unless `schedule`, one for the emitters `tile`, `windows` and `rows`, fits `nest`."""
    for name in ("lanes", "vectors", "unroll"):
        if getattr(schedule, name) < 1:
            raise ScheduleError(f"'{name}' is {getattr(schedule, name)} but must be 1 or more")
    if schedule.lanes & (schedule.lanes - 1):
        raise ScheduleError(f"'lanes' is {schedule.lanes} but must be a power of two")
    for name in _FETCHES:
        if not 0 <= getattr(schedule, name) <= 3:
            raise ScheduleError(f"'{name}' is {getattr(schedule, name)} but must be a level of cache, 1 to 3, or 0")
    if schedule.body_copies * schedule.unroll > policy().limits.unrolled_copies:
        raise ScheduleError(
            f"{schedule.body_copies * schedule.unroll} copies of the body are more than {policy().limits.unrolled_copies}"
        )
    _require_loops(nest, schedule)
    _require_blocks(nest, schedule)
    lane_facts(nest, schedule)


def _require_loops(nest: Nest, schedule: NestSchedule) -> None:
    loops, band = loops_of(nest), len(nest.band)
    if not 0 <= schedule.lane_loop < len(loops):
        raise ScheduleError(f"'lane_loop' is {schedule.lane_loop} but the nest has loops 0 to {len(loops) - 1}")
    if band <= schedule.lane_loop < len(loops) - 1:
        raise ScheduleError(f"loop {schedule.lane_loop} cannot be lanes: of reduction loops only the innermost can")
    if schedule.unroll > 1 and (nest.chain is None or schedule.lane_loop >= band):
        raise ScheduleError("'unroll' needs a reduction loop that is not the lane loop")
    for name in _FETCHES:
        if getattr(schedule, name) and (nest.chain is None or schedule.lane_loop >= band):
            raise ScheduleError(f"'{name}' needs a reduction loop that is not the lane loop")
    if schedule.order and sorted(schedule.order) != list(range(band)):
        raise ScheduleError(f"'order' {list(schedule.order)} does not name each of the {band} parallel loops once")
    jammed = [loop for loop, _ in schedule.unroll_and_jam]
    for loop, count in schedule.unroll_and_jam:
        if not 0 <= loop < band or loop == schedule.lane_loop or jammed.count(loop) > 1 or count < 1:
            raise ScheduleError(f"unroll-and-jam of loop {loop} by {count}: not another parallel loop than the lane loop")


def _require_blocks(nest: Nest, schedule: NestSchedule) -> None:
    if schedule.blocks and schedule.emitter != "tile":
        raise ScheduleError(f"'blocks' are for the emitter 'tile', not '{schedule.emitter}'")
    if problem := problem_of_blocks(nest, schedule.blocks):
        raise ScheduleError(problem)
    if schedule.pack not in (0, 1):
        raise ScheduleError(f"'pack' is {schedule.pack} but must be 0 or 1")
    if schedule.pack and (problem := problem_of_copies(nest, tile_of(nest, schedule), schedule.blocks)):
        raise ScheduleError(f"'pack' does not fit: {problem}")


def lane_facts(nest: Nest, schedule: NestSchedule) -> LaneFacts:
    """What each op of `nest` does in the lanes of `schedule`; `ScheduleError` when the loop cannot be lanes."""
    reduces = schedule.lane_loop >= len(nest.band)
    chain: Sequence[Loop] = nest.chain.loops if reduces and nest.chain else ()
    try:
        iv = loops_of(nest)[schedule.lane_loop].iv
        facts = analyse_lanes(nest.body, iv, chain, lanes=schedule.lanes, may_scatter=schedule.emitter == "tile")
    except NoLanesError as error:
        raise ScheduleError(f"loop {schedule.lane_loop} cannot be lanes: {error}") from None
    if reduces and not facts.maskable:
        raise ScheduleError(f"loop {schedule.lane_loop} cannot be lanes: lanes beyond its end could trap")
    return facts


def tile_of(nest: Nest, schedule: NestSchedule) -> RegisterTile:
    """`schedule` in terms of the loops of `nest`, which it fits."""
    loops = loops_of(nest)
    return RegisterTile(
        lane_loop=loops[schedule.lane_loop],
        lanes=schedule.lanes,
        vectors=schedule.vectors,
        unroll_and_jam=tuple((loops[place], count) for place, count in schedule.unroll_and_jam),
        reduces=schedule.lane_loop >= len(nest.band),
        unroll=schedule.unroll,
        prefetch=schedule.prefetch,
        fetch_rows=schedule.fetch_rows,
    )


def schedule_for(nest: Nest, tile: RegisterTile, order: Sequence[Loop], emitter: str) -> NestSchedule:
    """The schedule that says the same as `tile` with the band in the order `order`."""
    place = {loop.iv: index for index, loop in enumerate(loops_of(nest))}
    return NestSchedule(
        emitter=emitter,
        lane_loop=place[tile.lane_loop.iv],
        lanes=tile.lanes,
        vectors=tile.vectors,
        unroll_and_jam=tuple((place[loop.iv], count) for loop, count in tile.unroll_and_jam),
        order=tuple(place[loop.iv] for loop in order),
        unroll=tile.unroll,
        prefetch=tile.prefetch,
        fetch_rows=tile.fetch_rows,
    )
