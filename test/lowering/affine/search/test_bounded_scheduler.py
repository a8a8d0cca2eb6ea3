"""isl's scheduler comes to an end: on what takes it half a minute (`adi` of PolyBench), and on too many operations."""

from __future__ import annotations

import time
from collections.abc import Iterator

import islpy as isl
import pytest

from bench.polybench.suite import suite
from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.affine.dependences.analysis import DependenceAnalysis
from dlc.lowering.affine.polyhedral.extract import extract
from dlc.lowering.affine.search import scheduler
from dlc.lowering.affine.search.bounded_scheduler import OutOfBoundsError, within_bounds
from dlc.lowering.affine.search.scheduler import ScheduleUnit, compute_schedules, parts_of
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.policy import policy, using


@pytest.fixture
def parts(request: pytest.FixtureRequest) -> Iterator[list[ScheduleUnit]]:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(suite()[request.param].text("MINI", "f64"))
        Pipeline.parse("affine-expand-buffers").run(module)
        scop = extract(module.body.operations[0].operation)
        yield parts_of(scop, DependenceAnalysis(scop).ordering, "min")


@pytest.mark.parametrize("parts", ["adi"], indirect=True)
def test_many_statements_are_not_asked_for(parts: list[ScheduleUnit]) -> None:
    reasons: list[str] = []
    assert [list(compute_schedules(part, "min", reasons.append)) for part in parts] == [[]]
    assert reasons == ["14 statements in one loop are more than 10"]


@pytest.mark.parametrize("parts", ["adi"], indirect=True)
def test_the_child_is_ended(parts: list[ScheduleUnit]) -> None:
    domain, dependences = parts[0].domain, parts[0].dependences
    begin = time.monotonic()
    with pytest.raises(OutOfBoundsError, match=r"more than 0\.5 s"):
        within_bounds(domain.get_ctx(), 1000, lambda: [scheduler._isl_schedule(domain, dependences)], seconds=0.5)
    assert time.monotonic() - begin < 15  # isl alone takes 33 s


@pytest.mark.parametrize("parts", ["doitgen"], indirect=True)
def test_bounds_of_loops_are_left_out_of_large_problems(parts: list[ScheduleUnit], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[isl.UnionMap] = []
    solve = scheduler._isl_schedule
    monkeypatch.setattr(scheduler, "within_bounds", lambda context, size, solve: solve())
    monkeypatch.setattr(scheduler, "_isl_schedule", lambda domain, pairs: asked.append(pairs) or solve(domain, pairs))
    (part,) = parts
    assert len(list(compute_schedules(part, "min"))) == 2
    assert all(part.dependences.is_strict_subset(pairs) for pairs in asked)


@pytest.mark.parametrize("parts", ["ludcmp"], indirect=True)
def test_bounds_of_loops_are_kept_where_there_is_no_order_without(
    parts: list[ScheduleUnit], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "within_bounds", lambda context, size, solve: solve())
    part = parts[2]  # a substitution from the end
    simple = part.dependences.gist_domain(part.domain).gist_range(part.domain)
    with pytest.raises(isl.Error, match="unable to carry dependences"):
        scheduler._isl_schedule(part.domain, simple)
    with using(policy().override(scheduler_quick_size=0)):
        assert list(compute_schedules(part, "min"))


@pytest.mark.parametrize("parts", ["jacobi-2d"], indirect=True)
def test_the_child_finds_the_same(parts: list[ScheduleUnit]) -> None:
    with using(policy().override(scheduler_quick_size=0)):
        from_child = list(compute_schedules(parts[0], "min"))
    with using(policy().override(scheduler_quick_size=10_000)):
        here = list(compute_schedules(parts[0], "min"))
    assert len(here) == 2
    assert all(one.plain_is_equal(other) for one, other in zip(from_child, here, strict=True))


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("parts", ["jacobi-2d"], indirect=True)
def test_operations_are_counted(parts: list[ScheduleUnit], size: int) -> None:
    context = parts[0].domain.get_ctx()
    limited = using(policy().override(scheduler_operations=100))
    with limited, pytest.raises(OutOfBoundsError, match="more than 100 operations"):
        within_bounds(context, size, lambda: [scheduler._isl_schedule(parts[0].domain, parts[0].dependences)])
    assert not parts[0].domain.is_empty()  # the bound is gone


@pytest.mark.parametrize("parts", ["jacobi-2d"], indirect=True)
def test_other_errors_are_told(parts: list[ScheduleUnit]) -> None:
    def fail() -> list[object]:
        raise ValueError("no such thing")

    with pytest.raises(OutOfBoundsError, match="no such thing"):
        within_bounds(parts[0].domain.get_ctx(), 1000, fail)  # type: ignore[arg-type]


def test_the_pass_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(suite()["adi"].text("MINI", "f64"))
        Pipeline.parse("affine-expand-buffers,affine-polyhedral-schedule").run(module)
    said = capsys.readouterr().err
    assert "remark: isl's scheduler gave no order: 14 statements in one loop are more than 10; the loops keep the text's" in said


def test_dependences_come_to_an_end(capsys: pytest.CaptureFixture[str]) -> None:
    """A nest of 24 loops takes isl minutes: the function stays as it is, and `affine-privatize-buffers` leaves it, too."""
    with make_context(), ir.Location.unknown(), using(policy().override(dependence_operations=100)):
        module = ir.Module.parse(suite()["doitgen"].text("MINI", "f64"))
        Pipeline.parse("affine-expand-buffers").run(module)
        before = str(module)
        Pipeline.parse("affine-privatize-buffers,affine-polyhedral-schedule{leave-others=true}").run(module)
        assert str(module) == before
    reason = "isl gives up: it does not finish within 100 operations; put some of the loops into another function"
    assert f"remark: @kernel_doitgen is left as it is: {reason}" in capsys.readouterr().err
