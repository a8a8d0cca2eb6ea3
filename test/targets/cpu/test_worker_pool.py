"""Worker processes compile what they are given, and tell when they cannot."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import dlc
from dlc._mlir import ir
from dlc.errors import DLCError, InvalidInputError, PassError
from dlc.lowering.pipeline import Pipeline
from dlc.targets.cpu import worker_pool
from dlc.targets.cpu.compile_unit import compile_unit
from dlc.targets.cpu.worker_pool import Task, WorkerCrash, WorkerPool, WorkersUnavailable

KERNEL = """
func.func @kernel_{number}(%x: memref<{number}xf32>) attributes {{dl.kernel}} {{
  affine.for %i = 0 to {number} {{
    %v = affine.load %x[%i] : memref<{number}xf32>
    %w = math.exp %v : f32
    affine.store %w, %x[%i] : memref<{number}xf32>
  }}
  return
}}"""


def pipeline() -> str:
    return str(Pipeline.parse("affine-to-llvm"))


def task(number: int, text: str = KERNEL) -> Task:
    return Task(f"k{number}", f"kernel_{number}", pipeline(), 2, lambda: text.format(number=number).encode())


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool()
    yield pool
    pool.close()


def test_a_worker_starts_without_isl_and_the_dl_ops() -> None:
    script = "import sys, dlc.targets.cpu.worker as worker; worker._Context(); print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "dlc.lowering.affine.codegen.tile_registers" in modules
    assert not {"islpy", "dlc.dialects.dl.conv", "dlc.lowering.linalg.bufferize_tensors"} & set(modules)
    assert not any(name.startswith("torch_mlir.dialects.linalg") for name in modules)


def test_objects_are_those_of_this_process(pool: WorkerPool) -> None:
    found: dict[int, bytes] = {}
    assert pool.run([task(number) for number in (4, 5, 6)], found.__setitem__) == {}
    for position, number in enumerate((4, 5, 6)):
        with ir.Context(), ir.Location.unknown():
            module = ir.Module.parse(KERNEL.format(number=number))
            assert compile_unit(module, f"kernel_{number}", Pipeline.parse("affine-to-llvm"), 2) == found[position]
    processes = [worker.pid for worker in pool._workers]
    assert pool.run([task(7)], found.__setitem__) == {}
    assert [worker.pid for worker in pool._workers] == processes


def test_errors_come_back_with_their_places(pool: WorkerPool) -> None:
    bad = """
module {{
  func.func @kernel_{number}(%x: tensor<4xf32>) -> tensor<4xf32> attributes {{dl.kernel}} {{
    %y = math.exp %x : tensor<4xf32> loc("a/node")
    %z = linalg.exp ins(%y : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32> loc("model.mlir":7:9)
    return %z : tensor<4xf32>
  }}
}}"""
    errors = pool.run([task(1, bad), task(2)], lambda position, content: None)
    assert list(errors) == [0]
    assert isinstance(errors[0], PassError)
    with ir.Context() as context, ir.Location.unknown(), pytest.raises(PassError) as here:
        context.allow_unregistered_dialects = True
        compile_unit(ir.Module.parse(bad.format(number=1)), "kernel_1", Pipeline.parse("affine-to-llvm"), 2)
    assert errors[0].diagnostics == here.value.diagnostics
    assert "model.mlir:7:9: error:" in str(errors[0])
    assert pool.run([task(3)], lambda position, content: None) == {}


def test_a_crash_is_an_error_of_its_task(pool: WorkerPool) -> None:
    """A worker that dies in the middle of a task, as by a fault of native code."""
    body = "\n".join(f"  %a{n} = math.powf %v, %v : f32\n  affine.store %a{n}, %x[{n}] : memref<900xf32>" for n in range(900))
    slow = (
        "func.func @kernel_{number}(%x: memref<900xf32>) attributes {{dl.kernel}} {{\n"
        f"  %v = affine.load %x[0] : memref<900xf32>\n{body}\n  return\n}}}}"
    )

    def kill() -> None:
        while not (busy := [worker for worker in pool._workers if worker.task is not None]):
            time.sleep(0.001)
        time.sleep(0.05)
        os.kill(busy[0].pid, signal.SIGSEGV)

    thread = threading.Thread(target=kill)
    thread.start()
    errors = pool.run([task(1, slow)], lambda position, content: None)
    thread.join()
    assert isinstance(errors[0], WorkerCrash)
    assert str(errors[0]) == "SIGSEGV"
    assert pool.run([task(3)], lambda position, content: None) == {}


def test_workers_that_have_ended_are_replaced(pool: WorkerPool) -> None:
    found: dict[int, bytes] = {}
    pool.run([task(1)], found.__setitem__)
    for worker in pool._workers:
        os.kill(worker.pid, signal.SIGKILL)
        assert worker.process.wait() == -signal.SIGKILL
    assert pool.run([task(2), task(3)], found.__setitem__) == {}
    assert set(found) == {0, 1}


def parent_of(pid: int) -> int:
    return int((Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])


def test_one_process_loads_the_compiler_for_all(pool: WorkerPool) -> None:
    pool.prepare(3)
    found: dict[int, bytes] = {}
    assert pool.run([task(number) for number in range(1, 9)], found.__setitem__) == {}
    assert set(found) == set(range(8))
    parents = {parent_of(worker.pid) for worker in pool._workers if worker.ready}
    assert len(parents) == 1
    (parent,) = parents
    assert parent_of(parent) == os.getpid()
    threads = [line for line in (Path("/proc") / str(parent) / "status").read_text().splitlines() if line.startswith("Threads")]
    assert threads[0].split()[1] == "1"  # a process with threads does not fork well
    os.kill(parent, signal.SIGKILL)
    assert [worker.process.wait() for worker in pool._workers] == [-signal.SIGKILL] * 3
    assert pool.run([task(9)], found.__setitem__) == {}


def test_a_caller_that_blocks_signals_is_told_of_ends(pool: WorkerPool) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    try:
        pool.run([task(1)], lambda position, content: None)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    (worker,) = pool._workers
    os.kill(worker.pid, signal.SIGKILL)
    end = time.monotonic() + 10
    while worker.process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    assert worker.process.poll() == -signal.SIGKILL


def test_the_last_worker_to_end_leaves_no_process(pool: WorkerPool) -> None:
    pool.run([task(1), task(2)], lambda position, content: None)
    parent = parent_of(pool._workers[0].pid)
    pool.close()
    assert not is_alive(parent)


def test_without_workers_the_caller_is_told(pool: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/nowhere/python")
        with pytest.raises(WorkersUnavailable):
            pool.run([task(1)], lambda position, content: None)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/usr/bin/editor")
        assert not worker_pool.can_start()
    with monkeypatch.context() as patch:
        patch.setattr(worker_pool, "compiler_fingerprint", lambda: "that of another version")
        with pytest.raises(WorkersUnavailable):
            WorkerPool().run([task(1)], lambda position, content: None)


def test_an_interrupt_leaves_no_worker_busy(pool: WorkerPool) -> None:
    def interrupt(position: int, content: bytes) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pool.run([task(1), task(2)], interrupt)
    assert len(pool) == 0
    assert pool.run([task(3)], lambda position, content: None) == {}


def test_the_environment_says_how_many_workers_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLC_COMPILE_WORKERS", "3")
    assert worker_pool.worker_limit() == 3
    monkeypatch.delenv("DLC_COMPILE_WORKERS")
    assert worker_pool.worker_limit() == len(os.sched_getaffinity(0))


@pytest.mark.parametrize("told", ["0", "-1", "1.5", "all"])
def test_a_wrong_number_of_workers_is_refused(told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLC_COMPILE_WORKERS", told)
    with pytest.raises(InvalidInputError, match=rf"DLC_COMPILE_WORKERS is {told}; give a whole number from 1 on"):
        dlc.compile("func.func @main_graph(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }")


SCRIPT = """
import os, sys, time
import dlc
from bench.networks.bert import build
from dlc.targets.cpu import build as builder
import dlc.targets.cpu.worker_pool as pools
pools.worker_limit = builder.worker_limit = lambda: 2
model = dlc.compile(build(layers=1))
print(model.build_report.compiled, *[worker.pid for worker in builder._POOL._workers], flush=True)
if sys.argv[1] == "fork":
    child = os.fork()
    if child == 0:
        dlc.compile(build(layers=1), opt_level=1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert all(worker.process.poll() is None for worker in builder._POOL._workers)
    dlc.compile(build(layers=1), opt_level=3)
if sys.argv[1] == "wait":
    time.sleep(100)
"""


def is_alive(pid: int) -> bool:
    try:
        return "zombie" not in (Path("/proc") / str(pid) / "status").read_text()
    except OSError:
        return False


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("way", ["end", "wait", "fork"])
def test_workers_end_with_the_process(way: str, tmp_path: Path) -> None:
    """A script without a guard around its main part, which may be killed and may fork."""
    (tmp_path / "script.py").write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[3])}
    command = [sys.executable, "script.py", way]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as process:
        compiled, *workers = map(int, process.stdout.readline().split())
        assert compiled > 4
        assert workers
        if way == "wait":
            assert all(map(is_alive, workers))
            workers.append(parent_of(workers[0]))
            process.kill()
        assert process.wait() == (-signal.SIGKILL if way == "wait" else 0)
    end = time.monotonic() + 10
    while any(map(is_alive, workers)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not any(map(is_alive, workers))


def test_errors_survive_the_journey() -> None:
    from dlc.diagnostics import Diagnostic
    from dlc.errors import TargetError, UnsupportedError, UnsupportedNode
    from dlc.targets.cpu.protocol import error_of, error_record

    note = Diagnostic("note", "here", "f", 1, 2)
    error = error_of(error_record(TargetError("what", [Diagnostic("error", "why", "f", 3, 4, (note,))])))
    assert isinstance(error, TargetError)
    assert error.diagnostics == (Diagnostic("error", "why", "f", 3, 4, (note,)),)
    other = error_of(error_record(UnsupportedError([UnsupportedNode("n", "Op", "why")])))
    assert type(other) is DLCError
