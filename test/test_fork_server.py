"""The fork server of lit tests: commands behave as if they had been started, and nothing outlives its owner."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fork_server import write_clients
from sweeps import ALL

ROOT = Path(__file__).parent
TOOLS = Path(sys.executable).parent


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)


Server = tuple[subprocess.Popen[bytes], dict[str, str]]
"""The server, which ends when its standard input is closed, and the environment of its clients."""


@contextlib.contextmanager
def _serving(folder: Path) -> Iterator[Server]:
    address = folder / "s"
    running = subprocess.Popen([sys.executable, ROOT / "fork_server.py", address], stdin=subprocess.PIPE)
    _wait_for(address.exists)
    yield running, {**os.environ, **write_clients(folder / "tools", address, os.environ), ALL: "1"}  # as `make check-all` has it
    if running.poll() is None:
        running.communicate()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with _serving(tmp_path_factory.mktemp("server")) as found:
        yield found


def _client(server: Server, *arguments: str, name: str = "dlc-opt", **more: str) -> list[object]:
    tool = Path(server[1]["DLC_TEST_SOCKET"]).parent / "tools" / name
    return _run([str(tool), *arguments], server[1] | more)


def _run(command: list[str], environment: dict[str, str]) -> list[object]:
    text = "func.func @f() {\n  return\n}\n"
    done = subprocess.run(command, input=text, env=environment, capture_output=True, text=True, check=False, timeout=60)
    return [done.returncode, done.stdout, done.stderr]


@pytest.mark.parametrize(
    "arguments", [["--cse"], ["--no-such-pass"], ["no/such/file.mlir"], ["--cse", "--mlir-print-ir-after-all"]]
)
def test_commands_are_as_if_started(server, arguments: list[str]) -> None:
    assert _client(server, *arguments) == _run([str(TOOLS / "dlc-opt"), *arguments], dict(os.environ))


@pytest.mark.parametrize("text", ["// CHECK: func.func @f", "// CHECK: func.func @g", "no directive"])
def test_filecheck_is_as_if_started(server, text: str, tmp_path: Path) -> None:
    file = tmp_path / "checks.mlir"
    file.write_text(text)
    assert _client(server, str(file), name="filecheck") == _run([str(TOOLS / "filecheck"), str(file)], dict(os.environ))


def test_the_tool_itself_is_started_without_a_server_and_with_other_variables(server) -> None:
    for more in ({"DLC_TEST_SOCKET": "/none"}, {"DLC_CACHE_SIZE": "1M"}):
        command = [str(TOOLS / "dlc-opt"), "--cse"]
        assert _client(server, "--cse", **more) == _run(command, {**os.environ, **more})


def test_all_ends_with_the_owner(tmp_path: Path) -> None:
    with _serving(tmp_path) as (running, environment):
        tool = Path(environment["DLC_TEST_SOCKET"]).parent / "tools" / "dlc-opt"
        waiting = subprocess.Popen([tool], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
        _wait_for(lambda: bool(children.read_text()))  # the server has taken the command
        assert running.stdin is not None
        running.stdin.close()
        assert running.wait(timeout=60) == -signal.SIGKILL
        assert waiting.wait(timeout=60) == 1
        waiting.communicate()
