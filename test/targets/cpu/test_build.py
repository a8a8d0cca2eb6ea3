"""Building a model from its units."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import dlc
from bench.networks.bert import build as bert
from bench.networks.mlp import build as mlp
from dlc.errors import DLCError, TargetError
from dlc.lowering.pipelines import passes_between
from dlc.targets import object_store
from dlc.targets.cpu import build
from dlc.targets.cpu.worker_pool import VARIABLE, Task, WorkerCrash, WorkerPool, WorkersUnavailable
from dlc.tools.commands.checks import difference


def small() -> dlc.sources.Source:
    return dlc.import_onnx(bert(layers=1, hidden=32, heads=2, vocab=50, seq=8))


@pytest.fixture(autouse=True)
def empty_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_store, "_MEMORY", object_store._Memory(1 << 20))
    monkeypatch.setattr(build, "worker_limit", lambda: 2)


def test_workers_and_this_process_make_the_same_code(monkeypatch: pytest.MonkeyPatch) -> None:
    source = small()
    here = dlc.compile(source)
    assert here.build_report.compiled > build._WORTH_WORKERS
    monkeypatch.setattr(object_store, "_MEMORY", object_store._Memory(1 << 20))

    def unavailable(tasks: Sequence[Task], done: Callable[[int, bytes], None], deadline: object) -> dict[int, DLCError]:
        raise WorkersUnavailable

    monkeypatch.setattr(build._POOL, "run", unavailable)
    alone = dlc.compile(source)
    assert alone.build_report == here.build_report
    inputs = dlc.random_inputs(here.inputs)
    for left, right in zip(here(inputs), alone(inputs), strict=True):
        np.testing.assert_array_equal(left, right)
        assert difference(left, right).relative == 0


def test_no_worker_is_started_for_a_few_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "_POOL", WorkerPool())
    report = dlc.compile(mlp()).build_report
    assert build._WORTH_WORKERS <= report.compiled < build._WORTH_STARTING
    assert len(build._POOL) == 0


def test_a_crash_names_the_kernel_and_leaves_a_reproducer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build._POOL, "run", lambda tasks, done, deadline: {1: WorkerCrash(1, -11, "LLVM ERROR: nothing works")})
    with pytest.raises(TargetError) as caught:
        dlc.compile(small())
    message = str(caught.value)
    assert "the compiler crashed on kernel 'kernel_" in message
    assert "(SIGSEGV)" in message
    assert "native code said: LLVM ERROR: nothing works" in message
    file = Path(message.split("--run-reproducer ")[1].split()[0])
    command = [Path(sys.executable).with_name("dlc-opt"), "--run-reproducer", file]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "llvm.func @kernel_" in done.stdout
    file.unlink()


def test_foreign_passes_are_compiled_here_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert build.is_own(passes_between("dl", "llvm"))
    monkeypatch.setattr(build, "plugin_passes", lambda: frozenset({"affine-schedule-generic"}))
    assert build.is_own(passes_between("dl", "linalg"))
    assert not build.is_own(["affine-schedule-generic"])
    assert not build.is_own(passes_between("affine", "llvm"))


def test_passes_that_workers_run_are_not_imported_here() -> None:
    code = """
import sys
import dlc
from bench.networks.bert import build
dlc.compile(dlc.import_onnx(build(layers=1, hidden=32, heads=2, vocab=50, seq=8)))
assert "dlc.lowering.linalg.plan_memory" in sys.modules
assert "dlc.lowering.affine.codegen.tile_registers" not in sys.modules
"""
    environment = os.environ | {VARIABLE: "2", "DLC_CACHE_DIR": ""}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, cwd=Path(dlc.__file__).parents[1])
