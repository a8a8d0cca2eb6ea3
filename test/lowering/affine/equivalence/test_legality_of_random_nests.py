"""Illegal orders of random nests are rejected, each with a true witness, and legal ones accepted; brute force is the judge."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

import islpy as isl
import pytest
from random_nests import nest, new_order
from symbolic_interpreter import Run, run, visible

from dlc._mlir import ir
from dlc.lowering.affine.dependences.dependences import memory_dependences
from dlc.lowering.affine.dependences.legality import violations
from dlc.lowering.affine.dependences.witness import Witness, coordinates
from dlc.lowering.affine.equivalence.equivalence import Assumptions, Refusal, compare
from dlc.lowering.affine.ir.op_names import name_ops, origins
from dlc.lowering.affine.loop_generation.emit import replace_loops
from dlc.lowering.affine.polyhedral.extract import extract
from dlc.lowering.affine.polyhedral.model import Scop
from dlc.lowering.affine.polyhedral.schedule_tree import original_schedule

_IN_CHECK = 40
"""Orders of each kind, legal and illegal, in `make check`."""

_IN_CHECK_ALL = 500


@dataclass
class Case:
    """A nest, its model, a new order, and for each access of a run when it happens in that order."""

    seed: int
    module: ir.Module
    scop: Scop
    schedule: isl.Schedule
    run: Run
    times: list[tuple[int, ...]]

    @property
    def function(self) -> ir.Operation:
        return self.module.body.operations[0].operation


def _cases(first: int) -> Iterator[Case]:
    """Endless random cases; orders that run two accesses at one time, which code leaves open, are left out."""
    for seed in itertools.count(first):
        generator = random.Random(seed)
        module = ir.Module.parse(nest(generator))
        function = module.body.operations[0].operation
        scop = extract(function, assume_no_alias=True)
        if any(len(statement.loops) != 2 for statement in scop.statements):
            continue
        schedule = new_order(generator, [statement.domain for statement in scop.statements])
        if generator.random() < 0.1:
            schedule = original_schedule(scop)
        found = run(function)
        yield Case(seed, module, scop, schedule, found, _times(scop, schedule, found))


def _times(scop: Scop, schedule: isl.Schedule, found: Run) -> list[tuple[int, ...]]:
    """When each access of the trace happens: its instance's time, then its place in the statement."""
    owner = {op: (statement.name, at) for statement in scop.statements for at, op in enumerate(statement.ops)}
    maps: dict[str, isl.Map] = {}
    schedule.get_map().foreach_map(lambda one: maps.__setitem__(one.get_tuple_name(isl.dim_type.in_), one))
    known: dict[tuple[str, tuple[int, ...]], tuple[int, ...]] = {}
    times = []
    for op, values, _, _ in found.trace:
        name, at = owner[op]
        if (name, values) not in known:
            point = isl.Set(f"{{ {name}[{', '.join(map(str, values))}] }}")
            known[name, values] = coordinates(maps[name].intersect_domain(point).range())
        times.append((*known[name, values], at))
    return times


def _broken_pairs(case: Case) -> set[tuple[int, int]]:
    """Indices in the trace of accesses to one place, one of them a write, that the new order does not keep."""
    by_place: dict[object, list[int]] = {}
    for index, (_, _, place, _) in enumerate(case.run.trace):
        by_place.setdefault(place, []).append(index)
    found = set()
    for indices in by_place.values():
        for one, other in itertools.combinations(indices, 2):
            writes = case.run.trace[one][3] or case.run.trace[other][3]
            if writes and case.times[other] <= case.times[one]:
                found.add((one, other))
    return found


def _is_true(case: Case, witness: Witness, broken: set[tuple[int, int]]) -> bool:
    """Whether the pair of iterations that `witness` names is one that the new order breaks, at the element that it names."""
    for one, other in broken:
        ends = case.run.trace[one], case.run.trace[other]
        values = tuple(value for _, value in witness.source.values), tuple(value for _, value in witness.sink.values)
        places = str(list(ends[0][2][1])), str(list(ends[1][2][1]))
        kind = {(True, False): "flow", (False, True): "anti", (True, True): "output"}[ends[0][3], ends[1][3]]
        if (ends[0][1], ends[1][1]) == values and kind == witness.kind and all(witness.element.endswith(place) for place in places):
            return True
    return False


def _is_justified(case: Case, function: ir.Operation, refusal: Refusal) -> bool:
    """Whether the dependence that a refusal names is broken, or the element that it names comes out otherwise."""
    if refusal.witness is not None:
        return _is_true(case, refusal.witness, _broken_pairs(case))
    runs = visible(case.run), visible(run(function))
    name, place = refusal.element.split("[")
    where = (str(("argument", int(name.removeprefix("%arg")))), tuple(int(index) for index in place.removesuffix("]").split(",")))
    return runs[0].get(where) != runs[1].get(where)


def _check_schedules(count: int) -> None:
    illegal = legal = 0
    with ir.Context(), ir.Location.unknown():
        for case in _cases(0):
            broken = _broken_pairs(case)
            found = violations(memory_dependences(case.scop), case.schedule)
            assert bool(found) == bool(broken), f"seed {case.seed}:\n{case.module}\n{case.schedule}"
            for violation in found:
                assert _is_true(case, violation.witness, broken), f"seed {case.seed}: {violation.witness.text('it')}"
            illegal, legal = illegal + bool(broken), legal + (not broken)
            if min(illegal, legal) >= count:
                return


def _check_functions(count: int) -> None:
    """The loops of the new order are compared with those of the old one; equal terms in memory are what makes them equal."""
    illegal = legal = 0
    with ir.Context(), ir.Location.unknown():
        for case in _cases(1_000_000):
            changed = ir.Module.parse(str(case.module))
            function = changed.body.operations[0].operation
            name_ops(function)
            scop = extract(function, assume_no_alias=True)
            replace_loops(scop, case.schedule)
            is_equal = visible(case.run) == visible(run(function))
            if (legal if is_equal else illegal) >= count:
                continue
            found = compare(case.function, function, origins(function, case.function), "it", Assumptions(no_alias=True))
            where = f"seed {case.seed}:\n{case.module}\n{changed}"
            assert (found.refusal is None) == is_equal, f"{found.refusal and found.refusal.message}\n{where}"
            if found.refusal is not None:
                assert _is_justified(case, function, found.refusal), f"{found.refusal.message}\n{where}"
            illegal, legal = illegal + (not is_equal), legal + is_equal
            if min(illegal, legal) >= count:
                return


def test_schedules() -> None:
    _check_schedules(_IN_CHECK)


def test_functions() -> None:
    _check_functions(_IN_CHECK)


@pytest.mark.slow
def test_many_schedules() -> None:
    _check_schedules(_IN_CHECK_ALL)


@pytest.mark.slow
def test_many_functions() -> None:
    _check_functions(_IN_CHECK_ALL)
