"""python -m bench polybench: rows, what fails, and what is asked for wrongly."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from bench.polybench import measuring
from bench.polybench.__main__ import main
from bench.polybench.compiled import AS_THEY_ARE
from bench.polybench.limits import KINDS, compile_limit
from bench.polybench.suite import Kernel
from dlc.measuring.comparison import OURS
from dlc.runtime.library import load_library
from dlc.targets.machine import host_facts

QUICK = ["--size", "MINI", "--vs", "", "--rounds", "1", "--slot", "0.001", "--pipeline", AS_THEY_ARE]


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["polybench", *arguments])
    return main()


def test_rows_and_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    assert run(monkeypatch, "mvt", "dl-soft", *QUICK, "--dtype", "f32", "--json", str(file)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("|")[1].strip() for line in lines if line.startswith("| ")] == ["kernel", "mvt", "dl-softmax"]
    document = json.loads(file.read_text())
    assert document["size"] == "MINI" and document["dtype"] == "f32"
    assert [row["model"] for row in document["rows"]] == ["mvt", "dl-softmax"]
    assert all(row["engines"][OURS]["error"] < document["tolerance"] for row in document["rows"])


def test_another_checkout_takes_its_turns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Here it is this one, whose environment is found by a link."""
    checkout, file = tmp_path / "other", tmp_path / "figures.json"
    checkout.mkdir()
    (checkout / ".venv").symlink_to(sys.prefix)
    assert run(monkeypatch, "mvt", *QUICK, "--baseline", str(checkout), "--json", str(file)) == 0
    row = json.loads(file.read_text())["rows"][0]["engines"]
    assert row["baseline"]["ratio"] and row["baseline"]["error"] == row[OURS]["error"]


def test_a_checkout_that_cannot_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="2"):
        run(monkeypatch, "mvt", *QUICK, "--baseline", str(tmp_path))
    assert "has no environment; run 'make demo' there first" in capsys.readouterr().err
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to("/bin/false")
    assert run(monkeypatch, "mvt", *QUICK, "--baseline", str(tmp_path)) == 0
    assert "compiles no 'kernel_mvt': it ended without a word" in capsys.readouterr().err


def test_a_whole_name_chooses_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "lu", "jacobi", "--source", "--size", "MINI") == 0
    names = [line.split("(")[0] for line in capsys.readouterr().out.splitlines() if line.startswith("void")]
    assert names == ["void kernel_lu", "void kernel_jacobi_1d", "void kernel_jacobi_2d"]


def test_wrong_results_end_with_status_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(Kernel, "error", lambda *_: 1e-3)
    assert run(monkeypatch, "mvt", *QUICK) == 1
    captured = capsys.readouterr()
    assert "**1.0e-03**" in captured.out
    assert "mvt: the results of dlc differ from the meaning's by 1.0e-03 relative" in captured.err


def test_a_row_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(kernel: Kernel, *_: object) -> None:
        raise RuntimeError(kernel.name)

    monkeypatch.setattr(measuring, "compile_kernel", broken)
    assert run(monkeypatch, "mvt", "lu", *QUICK) == 1
    assert [line for line in capsys.readouterr().out.splitlines() if "fails" in line] == [
        "| mvt | fails | fails | fails |",
        "| lu | fails | fails | fails |",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--vs", "icc"], "no compiler is called 'icc'"), (["--pipeline", "no-such-pass"], "no pass is called 'no-such-pass'")],
)
def test_bad_arguments(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run(monkeypatch, "mvt", *arguments) == 2
    assert message in capsys.readouterr().err


def test_two_threads_are_timed_beside_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "figures.json"
    assert run(monkeypatch, "mvt", *QUICK, "--threads", "2", "--json", str(file)) == 0
    titles, _, row = capsys.readouterr().out.splitlines()[:3]
    cells = dict(zip(titles.split(" | "), row.split(" | "), strict=True))
    assert float(cells["1 thread / 2"].strip("*")) > 0
    limits = json.loads(file.read_text())["rows"][0]["limits"]
    assert list(limits) == ["products", "reads", "updates", "exchanges"]
    assert all(gain > 0 for gain in limits.values())
    assert cells["limits: products, reads, updates, exchanges"] == ", ".join(f"{gain:.2f}" for gain in limits.values())


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_loops_of_limits_touch_all_of_their_memory(kind: str, threads: int) -> None:
    """Updates add 1 to each number in each of the passes; reads and products leave the zeros."""
    count = host_facts().lanes(64) * 16
    values = np.zeros((threads, count))
    load_library().set_num_threads(threads)
    compile_limit(kind, threads, count).bind([values])()
    load_library().set_num_threads(0)
    least, most = values.min(), values.max()
    assert least == most
    assert (least > 1) == (kind in ("updates", "exchanges"))


def test_one_thread_has_no_limits(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    assert run(monkeypatch, "mvt", *QUICK, "--json", str(file)) == 0
    assert "limits" not in capsys.readouterr().out
    assert json.loads(file.read_text())["rows"][0]["limits"] == {}


def test_other_bits_on_two_threads_are_a_failure(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(measuring, "_has_same_bits", lambda *_: False)
    assert run(monkeypatch, "mvt", *QUICK, "--threads", "2") == 1
    assert "mvt: results on 2 threads have other bits than those on one" in capsys.readouterr().err


def test_threads_are_woken_after_arrays_are_set_and_before_the_call() -> None:
    events: list[str] = []
    work, initial = [np.zeros(2)], [np.ones(2)]

    def note(event: str) -> None:
        events.append(f"{event} {work[0].sum():.0f}")
        work[0][:] = 5

    contender = measuring._Contender(
        "dlc", 1, lambda: note("call"), work, initial, lambda: events.append(f"wake {work[0].sum():.0f}")
    )
    library = load_library()
    before = library.set_num_threads(1)
    try:
        contender.time(1, warm=1)
    finally:
        library.set_num_threads(before)
    assert events == ["wake 2", "call 2"] * 2


def test_all_engines_of_several_threads_wake_them(monkeypatch: pytest.MonkeyPatch) -> None:
    woken: list[str] = []

    def times(contenders: list[measuring._Contender], effort: object) -> dict[str, object]:
        woken.extend(one.engine for one in contenders if one.wake is not None)
        return {}

    monkeypatch.setattr(measuring, "interleave", times)
    run(monkeypatch, "mvt", *QUICK, "--threads", "2")
    assert woken == [OURS, measuring.ONE_THREAD]
