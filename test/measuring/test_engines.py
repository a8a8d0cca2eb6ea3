"""Which engines there are, and what runs in a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest

from bench import nodes
from bench.networks import mlp
from dlc.errors import DLCError, InvalidInputError
from dlc.measuring import engines
from dlc.measuring.comparison import Arena, Comparison, EngineResult, failure_cell
from dlc.measuring.contenders import Contender, Effort, interleave
from dlc.measuring.engines import KnownEngine, LoadOptions, find_engines
from dlc.measuring.worker import pack_arrays, unpack_arrays

EFFORT = Effort(rounds=3, slot=0.001, seconds=0.0)


@pytest.fixture
def network(tmp_path: Path) -> Path:
    file = tmp_path / "mlp.onnx"
    onnx.save(mlp.build(widths=(16, 24, 8)), file)
    return file


def inputs() -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(0).standard_normal((1, 16), np.float32)}


def test_engines_by_name() -> None:
    assert [engine.name for engine in find_engines(["dlc", "dlc", "openblas"])] == ["dlc", "openblas"]
    with pytest.raises(InvalidInputError, match=r"no engine 'tvm' \(engines: dlc, onnxruntime, openvino, iree, openblas, "):
        find_engines(["dlc", "tvm"])


def test_a_missing_engine_says_what_to_install(network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    absent = KnownEngine("openvino", "no_such.module", "openvino", engines.ENGINES["openvino"].load)
    monkeypatch.setitem(engines.ENGINES, "openvino", absent)
    assert [engine.problem for engine in find_engines(["dlc", "openvino"])] == ["", "not installed; pip install openvino"]
    with Arena(["openvino"], 1) as arena:
        found = arena.compare("mlp", network, inputs(), LoadOptions(), EFFORT)
    assert found.failure("openvino") == "not installed; pip install openvino"
    assert failure_cell(found.failure("openvino")) == "not installed"
    assert found.of("dlc") is not None


def test_arrays_survive_the_way_between_processes() -> None:
    arrays = {
        "x": np.arange(6, dtype=np.float32).reshape(2, 3),
        "flags": np.array([True, False]),
        "half": np.array([1.5, -2.0], ml_dtypes.bfloat16),
        "none": np.zeros((0, 3), np.int64),
        "scalar": np.float64(3.5) * np.ones(()),
    }
    found = unpack_arrays(pack_arrays(arrays))
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name].astype(np.float64), array.astype(np.float64))


def test_another_checkout_takes_its_turns(network: Path, tmp_path: Path) -> None:
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    log = tmp_path / "started"
    python.write_text(f'#!/bin/sh\ntouch {log}\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    with Arena([], 1, baseline=tmp_path) as arena:
        found = arena.compare("mlp", network, inputs(), LoadOptions(), EFFORT)
    assert log.exists()
    assert [result.engine for result in found.results] == ["dlc", "baseline"]
    assert found.results[1].ratio is not None
    assert found.least_ratio is None  # no other engine
    with Arena([], 1, baseline=tmp_path / "nowhere") as arena:
        found = arena.compare("mlp", network, inputs(), LoadOptions(), EFFORT)
    assert "nowhere has no environment; run 'make check'" in found.failure("baseline")


def test_engines_take_turns(network: Path) -> None:
    with Contender("dlc") as ours, Contender("onnxruntime") as theirs:
        for one in (ours, theirs):
            assert one.load(network, inputs(), LoadOptions()) > 0
        (have,), (want,) = ours.run(), theirs.run()
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5)
        times = interleave([ours, theirs], EFFORT)
    assert list(times) == ["dlc", "onnxruntime"]
    for found in times.values():
        assert len(found.rounds) == 3
        assert len(found.calls) >= 3


class Timed:
    """Stands for an engine: a call takes `seconds`, and the turn `fails` is an error."""

    threads = 1

    def __init__(self, engine: str, seconds: float, fails: int = -1) -> None:
        self.engine, self._seconds, self._left = engine, seconds, fails
        self.turns: list[int] = []

    def time(self, calls: int, warm: int = 0) -> list[float]:
        self._left -= 1
        self.turns.append(calls + warm)
        if self._left == -1:
            raise DLCError(f"{self.engine} fails")
        return [self._seconds] * calls


@pytest.mark.parametrize("turn", [0, 2])
def test_an_engine_that_fails_leaves_the_others_alone(turn: int) -> None:
    """In the first turn, or in a round."""
    failures: dict[str, DLCError] = {}
    times = interleave([Timed("a", 1.0), Timed("b", 2.0, turn), Timed("c", 3.0)], EFFORT, failures)
    assert {name: found.rounds for name, found in times.items()} == {"a": [1.0] * 3, "c": [3.0] * 3}
    assert [(name, str(error)) for name, error in failures.items()] == [("b", "b fails")]
    with pytest.raises(DLCError, match="b fails"):
        interleave([Timed("a", 1.0), Timed("b", 2.0, turn)], EFFORT)


@pytest.mark.parametrize(("probes", "before"), [(3, [1, 3]), (1, [1])])
def test_long_calls_are_probed_once(probes: int, before: list[int]) -> None:
    """Others `probes` times after one that warms up; then ten calls and one that warms up fill each slot."""
    short, long = Timed("short", 0.1), Timed("long", 1.0)
    interleave([short, long], Effort(rounds=2, slot=1.0, seconds=0.0, least_rounds=2, probes=probes))
    assert short.turns == [*before, 11, 11]
    assert long.turns == [1, 1, 1]


def test_errors_of_an_engine_are_told(tmp_path: Path) -> None:
    (tmp_path / "broken.onnx").write_bytes(b"no model")
    with Contender("onnxruntime") as theirs:
        with pytest.raises(DLCError, match="onnxruntime cannot load the model"):
            theirs.load(tmp_path / "broken.onnx", {}, LoadOptions())
        with pytest.raises(DLCError, match="onnxruntime cannot run the model: no model is loaded"):
            theirs.run()


def test_an_engine_that_ends_is_told(network: Path) -> None:
    message = "fortune-teller ended while it was asked to load a model: exit status 1: KeyError"
    with Contender("fortune-teller") as theirs, pytest.raises(DLCError, match=message):
        theirs.load(network, inputs(), LoadOptions())


def test_comparison(network: Path) -> None:
    with Arena(["onnxruntime", "openblas"], 1, with_peak=True) as arena:
        found = arena.compare("mlp", network, inputs(), LoadOptions(), EFFORT)
    ours, theirs, blas = found.results
    assert [entry.engine for entry in found.results] == ["dlc", "onnxruntime", "openblas"]
    assert ours.ratio == 1.0
    assert theirs.ratio == found.least_ratio
    assert theirs.error == 0.0
    assert found.correct()
    assert "one MatMul only" in blas.failure
    assert found.peak is not None and found.per_peak is not None
    entry = found.to_json()["engines"]
    assert entry["openblas"] == {"failure": blas.failure}
    assert entry["dlc"]["p50"] <= entry["dlc"]["p90"] <= entry["dlc"]["p99"]


def test_a_comparison_without_the_overhead(tmp_path: Path) -> None:
    for name, model in (("empty", nodes.identity()), ("softmax", nodes.unary("Softmax", (512, 1024)))):
        onnx.save(model, tmp_path / f"{name}.onnx")
    x = np.ones((512, 1024), np.float32)
    with Arena(["onnxruntime"], 1) as arena:
        overheads = arena.measure_overheads(tmp_path / "empty.onnx", {"x": x[0, :1]}, LoadOptions(), EFFORT)
        found = arena.compare("softmax", tmp_path / "softmax.onnx", {"x": x}, LoadOptions(), EFFORT)
    assert set(overheads) == {"dlc", "onnxruntime"}
    assert all(entry.net_ratio is not None for entry in found.results)


@pytest.mark.parametrize(
    ("results", "least", "correct"),
    [
        ([EngineResult("dlc", ratio=1.0, error=1e-6), EngineResult("a", ratio=1.5), EngineResult("b", ratio=0.5)], 0.5, True),
        ([EngineResult("dlc", ratio=1.0, error=1e-2), EngineResult("a", failure="why")], None, False),
        ([EngineResult("dlc", failure="why"), EngineResult("a")], None, False),
        ([EngineResult("dlc", ratio=1.0)], None, True),
    ],
)
def test_verdicts(results: list[EngineResult], least: float | None, correct: bool) -> None:
    found = Comparison("model", 1, 3, tuple(results))
    assert found.least_ratio == least
    assert found.correct() is correct


def test_another_engine_judges_what_onnxruntime_cannot_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "bf16.onnx"
    onnx.save(nodes.product((), 4, 4, 4, is_transposed=False, dtype="bf16"), file)
    inputs = {name: np.eye(4).astype(ml_dtypes.bfloat16) for name in ("x", "w")}
    with Arena(["onnxruntime"], 1) as arena:
        alone = arena.compare("bf16", file, inputs, LoadOptions(), EFFORT)
    assert alone.failure("onnxruntime") and alone.correct()
    assert (ours := alone.of("dlc")) is not None and ours.error is None
    with Arena(["onnxruntime"], 1) as arena:
        monkeypatch.setattr(
            arena, "_outputs", lambda engine, _: [] if engine == "onnxruntime" else [np.eye(4) * (2 - (engine == "dlc"))]
        )
        arena._engines.append("openblas")
        judged = arena.compare("bf16", file, inputs, LoadOptions(), EFFORT)
    assert (ours := judged.of("dlc")) is not None and ours.error == 0.5
