"""Tables keep the rows that are finished, whatever happens to the others, and say what they do not know."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx
import pytest

from bench import comparing
from bench.cases import Case
from bench.comparing import run_table
from bench.options import Settings, read_settings
from bench.rows import INTERRUPTED, write_json
from dlc.measuring.comparison import Comparison, EngineResult
from dlc.measuring.contenders import Effort
from dlc.measuring.engines import LoadOptions
from dlc.measuring.samples import summarize

NAMES = ("first", "second", "third")


class FakeArena:
    """Every engine takes a second for a call, but for what happens in the rows of `events`."""

    events: dict[str, BaseException]

    def __init__(self, engines: list[str], threads: int, with_peak: bool = False, baseline: Path | None = None) -> None:
        self._engines = ["dlc", *engines]

    def compare(self, name: str, file: Path, inputs: dict[str, np.ndarray], options: LoadOptions, effort: Effort) -> Comparison:
        if name in self.events:
            raise self.events[name]
        calls = summarize([1.0])
        ran = [EngineResult(engine, 0.0, 1.0, calls, 1.0, None, 0.0) for engine in self._engines]
        absent = EngineResult("openvino", failure="not installed; pip install openvino")
        return Comparison(name, 1, 3, tuple(absent if entry.engine == "openvino" else entry for entry in ran))

    def __enter__(self) -> FakeArena:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class FakeCase(Case):
    """A case without a file."""

    @contextmanager
    def files(self) -> Iterator[tuple[Path, dict[str, np.ndarray]]]:
        self.build()
        yield Path(), {}


def build() -> onnx.ModelProto:
    return onnx.ModelProto()


def broken() -> onnx.ModelProto:
    raise ValueError("no such weights")


def settings(file: Path, vs: str = "onnxruntime,openvino", *parts: str) -> Settings:
    return read_settings("models", "", vs, Effort(), [*parts, f"--json={file}"])


@pytest.fixture
def arena(monkeypatch: pytest.MonkeyPatch) -> type[FakeArena]:
    monkeypatch.setattr(FakeArena, "events", {}, raising=False)
    monkeypatch.setattr(comparing, "Arena", FakeArena)
    return FakeArena


def models(file: Path) -> list[str]:
    return [row["model"] for row in json.loads(file.read_text())["rows"]]


def test_an_absent_engine_is_a_cell(arena: type[FakeArena], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.json"
    assert run_table([FakeCase("first", build)], settings(file)) == 0
    out, err = capsys.readouterr()
    assert "| first | 1000 | 1000 | not installed |" in out
    assert "first: not installed; pip install openvino" in err
    assert json.loads(file.read_text())["rows"][0]["engines"]["openvino"] == {"failure": "not installed; pip install openvino"}


def test_a_row_that_fails_leaves_the_others_alone(
    arena: type[FakeArena], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rows.json"
    cases = [FakeCase("first", build), FakeCase("second", broken), FakeCase("third", build)]
    assert run_table(cases, settings(file)) == 1
    out, err = capsys.readouterr()
    assert "| second | fails | fails | fails |" in out
    assert "| third | 1000 |" in out
    assert err.count("second: ") == 1
    assert "second: ValueError: no such weights" in err
    assert models(file) == list(NAMES)


def test_an_interrupt_keeps_the_rows_before(arena: type[FakeArena], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arena.events["second"] = KeyboardInterrupt()
    file = tmp_path / "rows.json"
    assert run_table([FakeCase(name, build) for name in NAMES], settings(file)) == INTERRUPTED
    out, err = capsys.readouterr()
    assert "against onnxruntime: geometric mean 1.000, at least 1.0 on 1 of 1" in out
    assert "interrupted in second; 1 of 3 rows are finished" in err
    assert models(file) == ["first"]


def test_rows_and_engines_that_are_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = settings(tmp_path / "rows.json", "onnxruntime", "secnd")
    with pytest.raises(SystemExit, match=r"python -m bench models: error: no row's name holds 'secnd' \(rows are 'second', "):
        asked.chosen([FakeCase(name, build) for name in NAMES])
    with pytest.raises(SystemExit) as raised:
        settings(tmp_path / "rows.json", "onnxruntime", "--vs=tvm")
    assert raised.value.code == 2
    (line,) = capsys.readouterr().err.strip().split("\n")
    assert line.startswith("python -m bench models: error: there is no engine 'tvm' (engines: dlc, ")


def test_a_case_with_a_tolerance_of_its_own(arena: type[FakeArena], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def compare(self: FakeArena, name: str, *_: object) -> Comparison:
        return Comparison(name, 1, 3, (EngineResult("dlc", 0.0, 1.0, summarize([1.0]), 1.0, None, 0.05),))

    monkeypatch.setattr(FakeArena, "compare", compare)
    asked = settings(tmp_path / "rows.json", "onnxruntime")
    assert run_table([FakeCase("first", build)], asked) == 1
    assert run_table([FakeCase("first", build, tolerance=0.1)], asked) == 0


def test_documents_are_written_whole(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    write_json(file, {"rows": [1]})
    with pytest.raises(TypeError):
        write_json(file, {"rows": [object()]})
    assert json.loads(file.read_text()) == {"rows": [1]}
    write_json(None, {})
