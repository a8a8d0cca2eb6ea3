"""An interrupt at any moment of any command ends it: status 130 within a second, no words, no process and no file left behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save

import dlc

pytestmark = pytest.mark.waits

_TOOLS = Path(sys.executable).parent
_SECONDS = 5.0
"""What a command may take to end on a machine that does much else; alone it takes less than one."""
_STARTING = 0.15
"""Seconds in which a command comes from its launcher through the start of Python to code of ours."""


@dataclass(frozen=True)
class Command:
    """A command line; `{model}`, `{text}` and `{out}` stand for files."""

    words: Sequence[str]
    lasts: float


COMMANDS = [
    Command(["dlc", "run", "{model}"], 3.0),
    Command(["dlc", "run", "{model}", "--check=reference"], 3.0),
    Command(["dlc", "compile", "{model}", "-o", "{out}/m.o"], 3.0),
    Command(["dlc", "compile", "{model}", "--emit=llvm", "-o", "{out}/m.mlir"], 2.0),
    Command(["dlc", "explain", "{model}"], 1.5),
    Command(["dlc", "import", "{model}", "-o", "{out}/m.mlir"], 1.0),
    Command(["dlc", "cache", "info"], 0.5),
    Command(["dlc", "--help"], 0.4),
    Command(["dlc", "bench", "{model}", "--seconds=2"], 4.0),
    Command(["dlc-opt", "{text}", "--compile-to=llvm", "-o", "{out}/m.mlir"], 2.0),
    Command(["dlc-opt", "--help"], 0.4),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A model of some kernels, as ONNX and as text."""
    folder = tmp_path_factory.mktemp("models")
    generator = np.random.default_rng(0)
    kernels = {f"w{index}": generator.standard_normal((8, 8, 3, 3)).astype(np.float32) for index in range(6)}
    weights = [numpy_helper.from_array(array, name) for name, array in kernels.items()]
    nodes = []
    value = "x"
    for index in range(6):
        nodes.append(helper.make_node("Conv", [value, f"w{index}"], [f"c{index}"], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Softmax", [f"c{index}"], [f"s{index}"], axis=index % 3 + 1))
        value = f"s{index}"
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8, 32, 32])]
    outputs = [helper.make_tensor_value_info(value, TensorProto.FLOAT, None)]
    model = helper.make_model(
        helper.make_graph(nodes, "g", inputs, outputs, weights), opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    save(model, folder / "model.onnx")
    (folder / "model.mlir").write_text(str(dlc.import_onnx(model).module), "utf-8")
    return {"model": str(folder / "model.onnx"), "text": str(folder / "model.mlir")}


def _interrupt(command: Command, moment: float, to_group: bool, files: dict[str, str], folder: Path) -> str:
    """What is wrong with the end of a command that is interrupted `moment` seconds after its start; empty if nothing is."""
    out, cache = folder / "out", folder / "cache"
    out.mkdir(exist_ok=True)
    words = [word.format(out=out, **files) for word in command.words]
    environment = {**os.environ, "DLC_CACHE_DIR": str(cache)}
    process = subprocess.Popen(
        [str(_TOOLS / words[0]), *words[1:]],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    time.sleep(moment)
    begin = time.monotonic()
    good = {0, 130, -signal.SIGINT} if _is_launcher(process.pid, words[0]) else {0, 130}
    if process.poll() is None:
        (os.killpg if to_group else os.kill)(process.pid, signal.SIGINT)
    try:
        _, errors = process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return "hangs"
    seconds = time.monotonic() - begin
    faults = [f"status {process.returncode}"] if process.returncode not in good else []
    faults += [f"took {seconds:.1f} s"] if process.returncode == 130 and seconds > _SECONDS else []
    faults += [f"said {errors.decode()[-300:]!r}"] if errors and errors.strip() != b"dlc: interrupted" else []
    faults += [f"left {left}" for left in _processes_of(process.pid)]
    faults += [f"left {left.name}" for left in (*out.glob(".*"), *cache.glob("tmp-*"))]
    return ", ".join(faults)


def _is_launcher(process: int, tool: str) -> bool:
    """Whether the launcher runs, and not Python yet. Until it holds interrupts back, which takes the system less than a millisecond
    of loading, one ends it by the signal itself: without words, and with a status that shells show as 130."""
    try:
        return Path(f"/proc/{process}/exe").readlink().name == tool
    except OSError:  # it is gone
        return False


def _processes_of(session: int) -> list[str]:
    """Processes of a session that still run; those that were ended have a moment to go."""
    deadline = time.monotonic() + 1
    while (found := _running_in(session)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def _running_in(session: int) -> list[str]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = status.read_text().rpartition(")")
        except OSError:
            continue
        fields = rest.split()
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(name)
    return found


def _faults(count: int, seed: int, files: dict[str, str], folder: Path, latest: float = 10.0) -> list[str]:
    """What is wrong after interrupts at random moments, none later than `latest` seconds after the start."""
    generator = random.Random(seed)
    found = []
    for index in range(count):
        command = COMMANDS[index % len(COMMANDS)]
        moment = generator.uniform(0, min(command.lasts, latest))
        to_group = generator.random() < 0.5
        fault = _interrupt(command, moment, to_group, files, folder)
        if fault:
            found.append(f"{' '.join(command.words)} at {moment:.3f} s: {fault}")
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_interrupts(files: dict[str, str], tmp_path: Path) -> None:
    assert _faults(len(COMMANDS), 0, files, tmp_path) == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_interrupts_while_python_starts(files: dict[str, str], tmp_path: Path) -> None:
    assert _faults(60, 2, files, tmp_path, _STARTING) == []


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_thousand_interrupts(files: dict[str, str], tmp_path: Path) -> None:
    assert _faults(1000, 1, files, tmp_path) == []


def test_a_second_signal_and_terminate(files: dict[str, str], tmp_path: Path) -> None:
    for number, status in ((signal.SIGTERM, 143), (signal.SIGHUP, 129)):
        process = subprocess.Popen(
            [str(_TOOLS / "dlc"), "bench", files["model"]],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        time.sleep(0.8)
        process.send_signal(number)
        assert process.wait(5) == status
        assert _processes_of(process.pid) == []


def test_nothing_outlives_a_killed_command(files: dict[str, str]) -> None:
    process = subprocess.Popen(
        [str(_TOOLS / "dlc"), "bench", files["model"]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    time.sleep(0.8)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 5
    while _processes_of(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _processes_of(process.pid) == []
