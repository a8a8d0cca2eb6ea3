"""`dlc serve` as a process: what it imports, and how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import tritonclient.grpc as triton_grpc
import tritonclient.http as triton_http

import dlc
from bench.networks import mlp
from dlc.runtime.library import find_library

RECORD = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 12], "data": [0.5] * 12}]}
ROOT = Path(__file__).resolve().parents[2]
DLC = Path(sys.executable).parent / "dlc"


class Process:
    """A server in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.line = process.stdout.readline()  # type: ignore[union-attr]
        self.http, self.grpc = re.search(r"http://(\S+) and grpc://(\S+)", self.line).groups()  # type: ignore[union-attr]

    def infer(self, name: str, record: object, timeout: float = 60) -> dict:
        request = urllib.request.Request(f"http://{self.http}/v2/models/{name}/infer", json.dumps(record).encode())
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return json.loads(answer.read())

    def waiting(self, name: str) -> float:
        """How many requests to the model wait for others to end."""
        with urllib.request.urlopen(f"http://{self.http}/metrics", timeout=60) as answer:
            found = re.search(rf'^dlc_waiting_requests{{model="{name}"}} (\S+)', answer.read().decode(), re.MULTILINE)
        return float(found.group(1)) if found else 0

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Exit status and messages."""
        self.process.send_signal(number)
        _, messages = self.process.communicate(timeout=60)
        return self.process.returncode, messages


@contextlib.contextmanager
def serving(
    *arguments: object, command: Sequence[object] = (DLC, "serve"), environment: Mapping[str, str] | None = None
) -> Iterator[Process]:
    given = [*map(str, command), "--http-port=0", "--grpc-port=0", *map(str, arguments)]
    process = subprocess.Popen(given, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield Process(process)
    finally:
        process.kill()
        process.communicate()


def test_it_serves_until_it_is_told_to_stop(small_file: Path) -> None:
    with serving(small_file, "--max-batch=8", "--max-delay=1") as server:
        assert server.line.startswith("serving small on http://127.0.0.1:")
        found = server.infer("small", RECORD)["outputs"][0]
        np.testing.assert_allclose(found["data"], dlc.load(small_file)(np.full((1, 12), 0.5, np.float32))[0][0], rtol=1e-5)
        status, messages = server.end()
        assert status == 0 and "Traceback" not in messages and "stopped after" in messages


@pytest.fixture(scope="module")
def large_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("serving") / "large.dlce"
    dlc.compile(mlp.build(widths=(2048, 2048, 2048, 8), dynamic_batch=True), num_threads=1).save(file)
    return file


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_requests_that_run_are_answered_before_it_ends(large_file: Path, number: signal.Signals) -> None:
    """Calls of some tenths of a second are under way, and wait, when the signal comes."""
    x = np.random.default_rng(0).standard_normal((1500, 2048)).astype(np.float32)
    (expected,) = dlc.load(large_file, num_threads=1)(x)
    results: list[object] = []

    def ask(module, address: str) -> None:
        tensor = module.InferInput("x", list(x.shape), "FP32")
        tensor.set_data_from_numpy(x)
        with module.InferenceServerClient(address) as client:
            try:
                results.append(client.infer("large", [tensor]).as_numpy("logits"))
            except Exception as error:
                results.append(error)

    with serving(large_file, "--num-threads=1") as server:
        clients = [(triton_grpc, server.grpc), (triton_http, server.http)] * 2
        threads = [threading.Thread(target=ask, args=arguments) for arguments in clients]
        for thread in threads:
            thread.start()
        while (waiting := server.waiting("large")) < 1 or waiting + len(results) < 3:  # all four have come, and one runs
            assert server.process.poll() is None and len(results) < 3, results
            time.sleep(0.01)
        status, messages = server.end(number)
        for thread in threads:
            thread.join(60)
    assert status == 0, messages
    assert len(results) == 4
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_a_process_that_serves_has_no_compiler_in_it(small_file: Path) -> None:
    program = f"""
import asyncio, sys
from dlc.tools.dlc import cli
from dlc.tools.commands import serve_command
from dlc.serving.server import Server
from dlc.serving.options import ServeOptions

async def main():
    server = Server([{str(small_file)!r}], ServeOptions(http_port=0, grpc_port=0))
    await server.start()
    await server.stop()

asyncio.run(main())
found = {{name.split(".")[0] for name in sys.modules}} & {{"mlir", "torch_mlir", "onnx", "llvmlite", "islpy", "elftools"}}
parts = {{name.split(".")[1] for name in sys.modules if name.startswith("dlc.")}}
assert not found and not parts & {{"lowering", "dialects", "frontends", "targets", "compiler", "_mlir"}}, (found, parts)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_the_runtime_alone_serves(small_file: Path, tmp_path: Path) -> None:
    """The layout of the wheel dlc-runtime, by links."""
    package = tmp_path / "dlc_runtime"
    package.mkdir()
    (package / "__init__.py").symlink_to(ROOT / "packaging" / "dlc-runtime" / "dlc_runtime" / "__init__.py")
    for leaf in ("errors", "dtypes", "memory_limit"):
        (package / f"{leaf}.py").symlink_to(ROOT / "dlc" / f"{leaf}.py")
    for folder in ("runtime", "serving"):
        (package / folder).symlink_to(ROOT / folder)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "DLC_RUNTIME_LIBRARY": str(find_library())}
    command = [sys.executable, "-m", "dlc_runtime.serving"]
    with serving(small_file, command=command, environment=environment) as server:
        assert len(server.infer("small", RECORD)["outputs"][0]["data"]) == 5
        assert server.end()[0] == 0
    done = subprocess.run([*command, "none.dlce"], capture_output=True, text=True, timeout=60, env=environment, check=False)
    assert (done.returncode, done.stderr) == (1, "none.dlce: error: no such file\n")


def test_errors_are_one_message(tmp_path: Path, small_file: Path) -> None:
    (tmp_path / "bad.dlce").write_bytes(small_file.read_bytes()[:500])
    for arguments, reason in (
        ([tmp_path / "none.dlce"], "none.dlce: error: no such file"),
        ([tmp_path], "bad.dlce"),
        ([small_file, "--http-port=99999"], "99999 is not in the range"),
        ([small_file, "--timeout=nan"], "nan is no number"),
        ([small_file, "--max-request=4000"], "4000 is not in the range"),
        ([small_file, "--host=256.1.1.1"], "cannot listen on 256.1.1.1"),
    ):
        command = [DLC, "serve", "--grpc-port=0", *map(str, arguments)]
        if not any("http-port" in str(each) for each in arguments):
            command.append("--http-port=0")
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and reason in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_missing_libraries_are_named(small_file: Path, tmp_path: Path) -> None:
    program = "import sys; sys.modules['httptools'] = None; from dlc.tools.dlc import main; main()"
    command = [sys.executable, "-c", program, "serve", str(small_file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ}, check=False)
    assert (done.returncode, done.stderr) == (1, "error: dlc serve needs httptools; pip install 'dlc[serve]'\n")
