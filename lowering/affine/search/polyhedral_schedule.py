"""affine-polyhedral-schedule: loops in an order that isl computes, cut into vectors and register tiles."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from itertools import groupby
from typing import Literal

import islpy as isl

from dlc._mlir import ir
from dlc.analysis.symbols import symbol_name
from dlc.diagnostics import at_location
from dlc.lowering.affine.cost.limits import TileLimits
from dlc.lowering.affine.dependences.analysis import DependenceAnalysis, ordering_of
from dlc.lowering.affine.dependences.coincidence import with_coincidence
from dlc.lowering.affine.ir.loops import SCHEDULED
from dlc.lowering.affine.loop_generation.emit import replace_loops
from dlc.lowering.affine.polyhedral.ast_expressions import EmissionError
from dlc.lowering.affine.polyhedral.extract import extract
from dlc.lowering.affine.polyhedral.model import ExtractionError, Scop
from dlc.lowering.affine.polyhedral.movable import refuse_unmovable
from dlc.lowering.affine.polyhedral.schedule_tree import original_schedule
from dlc.lowering.affine.schedule.dependence_levels import leveled_schedules
from dlc.lowering.affine.schedule.driver import limited_work
from dlc.lowering.affine.schedule.index_sets import blocked_schedules
from dlc.lowering.affine.schedule.program import PrimitiveError
from dlc.lowering.affine.schedule.proof_text import proof_text
from dlc.lowering.affine.search.candidates import Generator, search
from dlc.lowering.affine.search.distribution import distributed_schedule
from dlc.lowering.affine.search.doacross import mark_doacross
from dlc.lowering.affine.search.panels import with_panels
from dlc.lowering.affine.search.parallel_groups import mark_parallel_groups
from dlc.lowering.affine.search.register_tiles import (
    CacheBlockOptions,
    Tiled,
    Weighed,
    cut,
    lanes_of,
    tile_registers,
    weigh,
)
from dlc.lowering.affine.search.row_blocks import UnitSchedule, cut_in_row_blocks
from dlc.lowering.affine.search.row_buffers import with_row_buffers
from dlc.lowering.affine.search.scheduler import ScheduleUnit, compute_schedules, parts_of
from dlc.lowering.affine.search.skewing import Skewed, skewed_loops
from dlc.lowering.affine.search.time_tiles import choose_time_tiles, with_time_tiles
from dlc.lowering.affine.search.wavefronts import can_be_written_out, wavefront_sizes, with_wavefronts
from dlc.lowering.pass_base import Pass, PassFailure, option
from dlc.lowering.policy import policy
from dlc.targets.machine import facts_of


@dataclass(frozen=True)
class PolyhedralSchedule(Pass):
    """Schedule affine loops anew: parallel loops found, loops ordered for memory, cut into vectors and register tiles.

    before: affine.for %i ... { affine.for %j ... { affine.for %k ... { C[i, j] += A[i, k] * B[k, j] } } }
    after:  affine.for %j by tiles { affine.for %i by tiles { affine.for %k ... { a tile of C in vectors += ... } } }

    Every dependence is kept; sums keep their order unless their ops allow any.
    """

    anchor = "func.func"

    fusion: Literal["min", "max", "smart"] = option(
        "smart",
        "statements that share loops: only those that must (min), all that can (max), or blocks of rows where that spares memory "
        "traffic (smart)",
    )
    vectorize: bool = option(True, "cut loops into vectors and register tiles")

    cache_tiles: bool = option(True, "cut loops into blocks for the target's caches where the cost model says that it pays")
    time_tiles: tuple[int, ...] = option(
        (), "sizes of tiles of loops skewed with time, the outermost first, 0 for a whole loop; 0 alone: none (default: by cost)"
    )
    pack: bool = option(True, "with cache-tiles: copy panels of arrays into local buffers, in the order in which tiles read them")

    leave_others: bool = option(False, "leave functions that cannot be read or built anew as they are, with a remark that says why")
    print_proof: bool = option(False, "print the loops before, the dependences and the loops after on standard error")

    def run(self, op: ir.Operation) -> None:
        try:
            self._schedule(op)
        except PassFailure as failure:
            if not self.leave_others:
                raise
            name = symbol_name(op)
            _remark(failure.location, f"@{name} is left as it is: {failure.message}")

    def _schedule(self, op: ir.Operation) -> None:
        try:
            scop = extract(op)
            refuse_unmovable(scop)
        except ExtractionError as error:
            raise PassFailure(error.op, error.reason, error.remedy) from None
        if not scop.statements:
            return
        limits = TileLimits.of(op)
        analysis = self._analysis(op, scop)
        blocking = CacheBlockOptions(limits.machine, self.pack) if self.cache_tiles else None
        tiled = self._best(analysis, limits, blocking)
        try:
            self._write(op, analysis, tiled)
        except EmissionError as error:
            self._write_given(op, analysis, str(error))
        op.attributes[SCHEDULED] = ir.UnitAttr.get(op.context)

    def _analysis(self, op: ir.Operation, scop: Scop) -> DependenceAnalysis:
        """The dependences of a scop; PassFailure where the nearest pairs are too much for isl."""
        found = DependenceAnalysis(scop)
        try:
            with limited_work(policy().limits.dependence_operations):
                _ = found.nearest
        except PrimitiveError as error:
            raise PassFailure(op, error.reason, "put some of the loops into another function") from None
        return found

    def _write_given(self, op: ir.Operation, analysis: DependenceAnalysis, reason: str) -> None:
        """Build the loops in the text's order, since those that were chosen cannot be, for the `reason`."""
        scop = analysis.scop
        given = with_coincidence(original_schedule(scop, scop.statements), analysis.ordering)
        try:
            self._write(op, analysis, tile_registers(scop, given, TileLimits.of(op)))
        except EmissionError as error:
            raise PassFailure(op, f"the loops cannot be built anew: {error}") from None
        _remark(scop.statements[0].location, f"the loops cannot be built as chosen: {reason}; they keep the text's order")

    def _write(self, op: ir.Operation, analysis: DependenceAnalysis, tiled: Tiled) -> None:
        """Check the schedule and build its loops; EmissionError, with the IR as it was, where these are not affine."""
        scop = analysis.scop
        packed, best = with_panels(scop, tiled.schedule, tiled.panels)
        packed = with_row_buffers(packed, tiled.buffers)
        for violation in analysis.broken_by(best):
            raise PassFailure(violation.dependence.sink.op, "the schedule would not keep a dependence", "report this nest")
        name = symbol_name(op)
        proof = proof_text(name, scop, analysis.nearest, best, tiled.notes) if self.print_proof else ""
        lanes = lanes_of(scop, TileLimits.of(op))
        grouped = mark_parallel_groups(best, analysis.ordering, packed.statements)
        marked = mark_doacross(grouped, ordering_of(scop, analysis.apart), packed.statements)
        replace_loops(packed, marked, lanes)
        if proof:
            print(proof, file=sys.stderr)

    def _best(self, analysis: DependenceAnalysis, limits: TileLimits, blocking: CacheBlockOptions | None) -> Tiled:
        """Each part of the scop in the cheapest order, cut into tiles."""
        scop = analysis.scop
        parts = parts_of(scop, analysis.ordering, self.fusion)
        ways = [self._best_of(analysis, part, limits) for part in parts]
        found: list[Tiled] = []
        for is_open, neighbours in groupby(zip(parts, ways, strict=True), lambda pair: isinstance(pair[1], Weighed)):
            if not is_open:
                found += [way for _, way in neighbours if isinstance(way, Tiled)]
                continue
            phases = [UnitSchedule(part, way) for part, way in neighbours if isinstance(way, Weighed)]
            if self.fusion == "smart" and len(phases) > 1:
                found += cut_in_row_blocks(analysis, phases, limits, blocking)
            else:
                found += [cut(scop, one.chosen, limits, blocking) for one in phases]
        return reduce(Tiled.then, found)

    def _best_of(self, analysis: DependenceAnalysis, part: ScheduleUnit, limits: TileLimits) -> Weighed | Tiled:
        """The cheapest of the text's order of a part, the text's loops distributed, isl's orders and blocks; in tiles where these
        are skewed with time, else to be cut."""
        scop = analysis.scop
        given = with_coincidence(original_schedule(scop, part.statements), part.dependences)
        distributed = with_coincidence(distributed_schedule(part), part.dependences)
        skewed = skewed_loops(part) if self.vectorize else None
        if not self.vectorize:
            return Tiled([distributed, *compute_schedules(part, self.fusion, _remark_on(part))][-1])
        waves = None if skewed is None else self._waves(part, skewed, distributed)
        if waves is not None:
            return Tiled(waves)
        generators: list[Generator[isl.Schedule]] = [
            lambda: [given],
            lambda: blocked_schedules(analysis, part.statements, lanes_of(scop, limits)),
            lambda: [distributed, *(compute_schedules(part, self.fusion, _remark_on(part)) if skewed is None else [])],
            lambda: leveled_schedules(analysis, part.statements),
        ]
        gains = policy().search
        best = search(generators, partial(weigh, scop, limits=limits), gain=gains.order_gain, enough=gains.enough_gain)
        assert best is not None  # the text's order is one
        across_time = None if skewed is None else self._across_time(part, skewed, best.schedule)
        return best if across_time is None else tile_registers(scop, across_time, limits)

    def _waves(self, part: ScheduleUnit, skewed: Skewed, schedule: isl.Schedule) -> isl.Schedule | None:
        """Wavefronts in small tiles, where no loop of `schedule` is free; None where they do not fit."""
        sizes = wavefront_sizes(part, skewed, schedule)
        if sizes is None or self.time_tiles == (0,):
            return None
        chosen = self._given_sizes(part, skewed) or sizes
        return with_wavefronts(schedule, skewed, chosen) if can_be_written_out(part, chosen) else None

    def _across_time(self, part: ScheduleUnit, skewed: Skewed, schedule: isl.Schedule) -> isl.Schedule | None:
        """Tiles across time around `schedule`; None where they do not pay."""
        if self.time_tiles == (0,):
            return None
        sizes = self._given_sizes(part, skewed) or choose_time_tiles(part, skewed, facts_of(part.statements[0].ops[0]))
        return None if sizes is None else with_time_tiles(schedule, skewed, sizes)

    def _given_sizes(self, part: ScheduleUnit, skewed: Skewed) -> tuple[int, ...]:
        """The sizes that the option gives, one for each skewed loop; none where it gives none."""
        count = len(skewed.values)
        if self.time_tiles and (len(self.time_tiles) != count or min(self.time_tiles) < 0 or not any(self.time_tiles)):
            raise PassFailure(part.statements[0].ops[0], f"time-tiles has no sizes for {count} loops", "give a size or 0 for each")
        return self.time_tiles


def _remark_on(part: ScheduleUnit) -> Callable[[str], None]:
    """Says why isl gave no order for a part, and what is left to choose from."""

    def say(reason: str) -> None:
        _remark(
            part.statements[0].location,
            f"isl's scheduler gave no order: {reason}; the loops keep the text's, distributed where that is cheaper",
        )

    return say


def _remark(location: ir.Location, message: str) -> None:
    """A remark on standard error."""
    print(at_location(location, message, "remark").render(), file=sys.stderr)
