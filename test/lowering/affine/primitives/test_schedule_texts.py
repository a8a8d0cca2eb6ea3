"""Schedules as Python and as transform-dialect text, and back."""

from __future__ import annotations

import pytest
from nests import MATMUL

import dlc
from dlc._mlir import ir


def scheduled() -> dlc.Schedule:
    """A schedule that uses most of what there is to print."""
    schedule = dlc.Schedule(MATMUL)
    outer, inner = schedule.split("i", 8)
    schedule.interchange(["j", inner])
    schedule.pack("arg1", outer)
    schedule.parallelize(outer)
    schedule.vectorize("j", 8)
    schedule.peel("S0:3", 2, last=True)
    return schedule


def test_replay_gives_the_same_bytes_from_either_text() -> None:
    schedule = scheduled()
    python, transform = schedule.to_python(), schedule.to_transform()
    expected = str(schedule.apply())
    for text in (python, transform):
        again = dlc.Schedule.replay(text, MATMUL)
        assert str(again.module) == expected
        assert again.to_python() == python
        assert again.to_transform() == transform


def test_texts_name_every_step() -> None:
    schedule = scheduled()
    assert [step.change.name() for step in schedule.trace] == [
        "affine-split-loop",
        "affine-interchange-band",
        "affine-pack-buffer",
        "affine-parallelize-loop",
        "affine-vectorize-loop",
        "affine-peel-loop",
    ]
    assert 'schedule.split(loop="i", factor=8)  # i.outer, i.inner\n' in schedule.to_python()
    options = '{ "loop" = "S0:3", "count" = 2, "last" = true, "function" = "matmul" }'
    assert f'transform.apply_registered_pass "affine-peel-loop" with options = {options}' in schedule.to_transform()
    with ir.Context(), ir.Location.unknown():
        assert ir.Module.parse(schedule.to_transform()).operation.verify()


def test_python_text_may_use_variables() -> None:
    text = """
import dlc
s = dlc.Schedule(module, "matmul")
outer, inner = s.split("i", 8)
s.interchange(["j", inner])
s.parallelize(outer)
s.apply()
"""
    replayed = dlc.Schedule.replay(text, MATMUL)
    assert [step.loops for step in replayed.trace] == [("i.outer", "i.inner"), ("j", "i.inner"), ("i.outer",)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the text makes no dlc.Schedule first"),
        ("for", "line 1: neither MLIR nor Python"),
        ("x = 3", "line 1: a schedule consists of calls alone"),
        ("s = dlc.Schedule(module)\ns.explode()", "line 2: a schedule has no step 'explode'"),
        ("s = dlc.Schedule(module)\ns.split('i', size=3)", "line 2: 'split' has no argument 'size'"),
        ("s = dlc.Schedule(module)\ns.split('i', open('x'))", "line 2: an argument is no literal"),
        ("s = dlc.Schedule(module)\ns.split(x, 3)", "line 2: nothing is called 'x'"),
        ("module { transform.named_sequence }", "expected"),
    ],
)
def test_texts_that_are_no_schedules_are_refused(text: str, message: str) -> None:
    with pytest.raises(dlc.ScheduleError, match=message):
        dlc.Schedule.replay(text, MATMUL)
