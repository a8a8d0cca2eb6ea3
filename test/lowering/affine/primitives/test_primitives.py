"""Whatever sequence of primitives is legal, the loops compute the same bytes as before."""

from __future__ import annotations

import contextlib

import numpy as np
from affine_interpreter import arguments_for, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_loops import functions
from sweeps import examples

import dlc
from dlc._mlir import ir

_STEPS = (
    "tile",
    "split",
    "strip_mine",
    "interchange",
    "fuse",
    "distribute",
    "skew",
    "peel",
    "split_index_set",
    "unroll",
    "unroll_and_jam",
    "vectorize",
    "parallelize",
    "pack",
    "reverse",
    "shift",
    "compute_at",
)


def results_of(text: str, module: ir.Module) -> list[np.ndarray]:
    """The arrays after the module's function ran on those that belong to `text`."""
    with module.context, ir.Location.unknown():
        function = module.body.operations[0].operation
        arrays = arguments_for(function, seed=len(text))
        with np.errstate(over="ignore"):
            run(function, *arrays)
    return arrays


def siblings(schedule: dlc.Schedule) -> list[tuple[str, str, str]]:
    """Loops of one block, one right behind the other, with the first statement inside the first."""
    found: list[tuple[str, str, str]] = []
    open_loops: dict[int, tuple[str, str]] = {}
    for line in str(schedule).splitlines()[1:]:
        depth, words = len(line) - len(line.lstrip()), line.split()
        before = open_loops.get(depth)
        open_loops = {outer: loop for outer, loop in open_loops.items() if outer < depth}
        if words[-2] == "for":
            if before is not None and before[1]:
                found.append((before[0], words[-1], before[1]))
            open_loops[depth] = (words[-1], "")
        elif words[0].endswith(":"):
            open_loops = {outer: (name, inside or words[0][:-1]) for outer, (name, inside) in open_loops.items()}
    return found


def some_step(draw: st.DrawFn, schedule: dlc.Schedule, kinds: tuple[str, ...]) -> None:
    """Try one primitive on loops, statements and arrays that there are."""
    loops, statements = schedule.loops(), schedule.statements()
    place = draw(st.integers(0, len(loops) - 1))
    loop, other = loops[place], loops[(place + draw(st.sampled_from([1, 1, 1, 2]))) % len(loops)]
    number, statement = draw(st.integers(1, 4)), draw(st.sampled_from(statements))
    array = draw(st.sampled_from(["arg0", "arg1", "arg2", "A0", "A1"]))
    pairs = siblings(schedule)
    kind = draw(st.sampled_from(kinds))
    if kind in ("fuse", "compute_at") and pairs:
        loop, other, statement = draw(st.sampled_from(pairs))
        loop, other = (other, loop) if kind == "compute_at" else (loop, other)
    calls = {
        "tile": lambda: schedule.tile([loop, other] if loop != other else [loop], [number, 3] if loop != other else [number]),
        "split": lambda: schedule.split(loop, number + 1),
        "strip_mine": lambda: schedule.strip_mine(loop, number + 1),
        "interchange": lambda: schedule.interchange([loop, other]),
        "fuse": lambda: schedule.fuse(loop, other),
        "distribute": lambda: schedule.distribute(loop),
        "skew": lambda: schedule.skew(loop, other, number - 2),
        "peel": lambda: schedule.peel(loop, number, last=number % 2 == 0),
        "split_index_set": lambda: schedule.split_index_set(loop, number),
        "unroll": lambda: schedule.unroll(loop, number - 1),
        "unroll_and_jam": lambda: schedule.unroll_and_jam(loop, number),
        "vectorize": lambda: schedule.vectorize(loop, number),
        "parallelize": lambda: schedule.parallelize(loop),
        "pack": lambda: schedule.pack(array, loop if number > 1 else ""),
        "reverse": lambda: schedule.reverse(loop),
        "shift": lambda: schedule.shift(statement, loop, number - 2),
        "compute_at": lambda: schedule.compute_at(statement, loop),
    }
    calls[kind]()


@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck))
@given(st.data())
def test_legal_sequences_keep_the_results(data: st.DataObject) -> None:
    text = data.draw(functions())
    schedule = dlc.Schedule(text)
    expected = results_of(text, schedule.module)
    for _ in range(data.draw(st.integers(1, 5))):
        with contextlib.suppress(dlc.ScheduleError):
            some_step(data.draw, schedule, _STEPS)
    steps = schedule.to_python()
    schedule.apply()
    schedule.module.operation.verify()
    for before, after in zip(expected, results_of(text, schedule.module), strict=True):
        np.testing.assert_array_equal(after, before, err_msg=f"{text}\n{steps}\n{schedule.module}")


@settings(max_examples=examples(15), suppress_health_check=list(HealthCheck))
@given(st.data())
def test_passes_one_after_the_other_keep_the_results(data: st.DataObject) -> None:
    """Each pass reads the loops that the one before wrote, vectors and buffers among them."""
    text = data.draw(functions())
    schedule = dlc.Schedule(text)
    for _ in range(data.draw(st.integers(1, 4))):
        with contextlib.suppress(dlc.ScheduleError):
            some_step(data.draw, schedule, _STEPS)
    with schedule.module.context, ir.Location.unknown():
        module = ir.Module.parse(text)
        for step in schedule.trace:
            with contextlib.suppress(dlc.PassError):  # loops without names may be called otherwise by then
                dlc.Pipeline([step.change]).run(module)
    expected = results_of(text, schedule.module)
    for before, after in zip(expected, results_of(text, module), strict=True):
        np.testing.assert_array_equal(after, before, err_msg=f"{text}\n{schedule.to_python()}\n{module}")
