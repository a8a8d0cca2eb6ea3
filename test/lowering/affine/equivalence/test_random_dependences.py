"""Dependences of random nests are those that running them shows, and regenerated loops compute the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import islpy as isl
import pytest
from hypothesis import HealthCheck, Phase, assume, given, reject, settings
from random_affine_functions import SIZE, nests
from symbolic_interpreter import Run, TooLong, run, visible

from dlc._mlir import ir
from dlc.lowering.affine.dependences.dependences import Dependence, Race, memory_dependences, races
from dlc.lowering.affine.dependences.last_writers import LiveIn, live_in_reads, value_dependences
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.loop_generation.emit import replace_loops
from dlc.lowering.affine.polyhedral.ast_expressions import EmissionError
from dlc.lowering.affine.polyhedral.extract import extract
from dlc.lowering.affine.polyhedral.model import Scop
from dlc.lowering.affine.polyhedral.schedule_tree import original_schedule

_IN_CHECK = 40
_IN_CHECK_ALL = 2000
_MOST_EVENTS = 160
_MOST_OPERATIONS = 300_000
"""Of isl, for one nest: about 0.7 s."""

_KINDS = {(True, False): "flow", (False, True): "anti", (True, True): "output"}

End = tuple[ir.Operation, bool, tuple[int, ...]]
"""One access in one instance: its op, whether it writes, and the values of the loops around."""

Pairs = set[tuple[str, End, End]]


@dataclass(frozen=True)
class Event:
    """An element read or written: how, where, and in which iterations of which loops."""

    end: End
    place: tuple[str, tuple[int, ...]]
    loops: tuple[ir.Operation, ...]

    @property
    def writes(self) -> bool:
        return self.end[1]


def _events(found: Run) -> list[Event]:
    steps = zip(found.trace, found.loops, strict=True)
    return [Event((op, writes, variables), place, loops) for (op, variables, place, writes), loops in steps]


def _by_element(trace: Iterable[Event]) -> Iterator[list[Event]]:
    elements: dict[object, list[Event]] = defaultdict(list)
    for event in trace:
        elements[event.place].append(event)
    yield from elements.values()


def _are_unordered(one: Event, other: Event) -> bool:
    """Whether the first loop whose variable differs is parallel."""
    for at, (loop, other_loop) in enumerate(zip(one.loops, other.loops, strict=False)):
        if loop != other_loop:
            return False
        if one.end[2][at] != other.end[2][at]:
            return loop.name == "affine.parallel"
    return False


def _all_pairs(trace: list[Event]) -> tuple[Pairs, Pairs]:
    """The ordered pairs, and the races."""
    ordered: Pairs = set()
    apart: Pairs = set()
    for events in _by_element(trace):
        for at, later in enumerate(events):
            for earlier in events[:at]:
                if earlier.writes or later.writes:
                    found = apart if _are_unordered(earlier, later) else ordered
                    found.add((_KINDS[earlier.writes, later.writes], earlier.end, later.end))
    return ordered, apart


def _nearest_pairs(trace: list[Event]) -> tuple[Pairs, set[End]]:
    """The nearest pairs, and the reads that no write comes before."""
    pairs: Pairs = set()
    live: set[End] = set()
    for events in _by_element(trace):
        last: Event | None = None
        reads: list[Event] = []
        for event in events:
            if last is not None:
                pairs.add((_KINDS[True, event.writes], last.end, event.end))
            elif not event.writes:
                live.add(event.end)
            if event.writes:
                pairs.update(("anti", read.end, event.end) for read in reads)
                last, reads = event, []
            else:
                reads.append(event)
    return pairs, live


def _points(relation: isl.Map | isl.Set) -> list[tuple[int, ...]]:
    """The numbers of all points, those of both sides of a relation in a row, for `%n` = SIZE."""
    if relation.dim(isl.dim_type.param):
        relation = relation.fix_val(isl.dim_type.param, 0, isl.Val(SIZE)).project_out(isl.dim_type.param, 0, 1)
    flat = relation.wrap().flatten() if isinstance(relation, isl.Map) else relation
    found: list[tuple[int, ...]] = []
    count = flat.dim(isl.dim_type.set)

    def note(point: isl.Point) -> None:
        found.append(tuple(point.get_coordinate_val(isl.dim_type.set, at).to_python() for at in range(count)))

    flat.foreach_point(note)
    return found


def _pairs_of(scop: Scop, dependences: Iterable[Dependence]) -> Pairs:
    found: Pairs = set()
    for dependence in dependences:
        found.update((dependence.kind, *ends) for ends in _ends(scop, dependence.source, dependence.sink, dependence.relation))
    return found


def _ends(scop: Scop, source: MemRefAccess, sink: MemRefAccess, relation: isl.Map) -> Iterator[tuple[End, End]]:
    depth = len(scop.by_name[source.statement_name].loops)
    for point in _points(relation):
        yield (source.op, source.writes, point[:depth]), (sink.op, sink.writes, point[depth:])


def _run(function: ir.Operation) -> Run:
    return run(function, {0: SIZE}, _MOST_EVENTS)


@contextmanager
def _bounded() -> Iterator[None]:
    """Leaves out the few nests for which isl takes very long: divisions in strides, bounds and subscripts at once."""
    context = isl.DEFAULT_CONTEXT
    context.set_max_operations(_MOST_OPERATIONS)
    try:
        yield
    except isl.Error:
        reject()
    finally:
        context.set_max_operations(0)
        context.reset_operations()


def _check(text: str) -> None:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        function = module.body.operations[0].operation
        try:
            found_by_running = _run(function)
        except TooLong:
            reject()
        assume(found_by_running.trace)
        with _bounded():
            scop = extract(function)
            found = memory_dependences(scop), races(scop), value_dependences(scop), live_in_reads(scop)
        _compare(scop, _events(found_by_running), *found)
        with _bounded():
            _regenerate(module, scop)
        assert visible(_run(function)) == visible(found_by_running), text


def _compare(
    scop: Scop, trace: list[Event], memory: list[Dependence], racing: list[Race], value: list[Dependence], live_in: list[LiveIn]
) -> None:
    ordered, apart = _all_pairs(trace)
    assert _pairs_of(scop, memory) == ordered
    found = {frozenset(ends) for race in racing for ends in _ends(scop, race.one, race.other, race.relation)}
    assert found == {frozenset((one, other)) for _, one, other in apart}
    nearest, live = _nearest_pairs(trace)
    assert _pairs_of(scop, value) == nearest
    assert {(one.access.op, False, point) for one in live_in for point in _points(one.relation.domain())} == live


def _regenerate(module: ir.Module, scop: Scop) -> None:
    """Replace the loops by those of the order that they have; where that is refused, they stay as they are."""
    before = str(module)
    try:
        replace_loops(scop, original_schedule(scop))
    except EmissionError:
        assert str(module) == before
    assert module.operation.verify()


def _property(examples: int) -> None:
    @settings(max_examples=examples, phases=[Phase.generate], suppress_health_check=list(HealthCheck), database=None)
    @given(nests())
    def check(text: str) -> None:
        _check(text)

    check()


def test_nests() -> None:
    _property(_IN_CHECK)


@pytest.mark.slow
def test_many_nests() -> None:
    _property(_IN_CHECK_ALL)
