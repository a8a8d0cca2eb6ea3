"""The `dlc` command as a whole: help, errors, tracebacks, pipes, terminals."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import dlc
from dlc.tools.commands import demo_command

DLC = Path(sys.executable).with_name("dlc")


def test_help_lists_the_commands(dlc_command) -> None:
    done = dlc_command("--help")
    assert done.code == 0
    for name in ("cache", "compile", "coverage", "demo", "explain", "import", "run"):
        assert f"\n  {name} " in done.out


@pytest.mark.parametrize("name", ["cache", "compile", "coverage", "demo", "explain", "import", "run"])
def test_help_of_each_command(dlc_command, name: str) -> None:
    long, short = dlc_command(name, "--help"), dlc_command(name, "-h")
    assert (long.code, long.err) == (short.code, short.err) == (0, "")
    assert long.out.startswith(f"Usage: dlc {name} ")
    assert long.out == short.out


def test_version(dlc_command) -> None:
    assert dlc_command("--version").out == f"dlc, version {dlc.__version__}\n"


def test_no_model_given(dlc_command) -> None:
    done = dlc_command("run")
    assert (done.code, done.out) == (1, "")
    assert "Missing argument 'MODEL'" in done.err


def test_a_traceback_only_with_debug(network: Path, dlc_command) -> None:
    done = dlc_command("compile", network.with_name("missing.onnx"))
    assert done.code == 1
    assert done.err == f"{network.with_name('missing.onnx')}: error: no such file\n"
    with pytest.raises(dlc.ParseError, match="no such file"):
        dlc_command("compile", network.with_name("missing.onnx"), "--debug")


def test_a_bug_is_one_message(network: Path, dlc_command, monkeypatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("something odd")

    monkeypatch.setattr(dlc, "compile", fail)
    done = dlc_command("run", network)
    assert done.code == 1
    assert done.err == "error: internal error: RuntimeError: something odd; rerun with --debug for the traceback\n"


def test_a_closed_pipe_is_quiet(network: Path) -> None:
    script = f"{DLC} compile {network} --emit=llvm | head -1"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1


def test_progress_on_a_terminal_only(network: Path) -> None:
    leader, follower = pty.openpty()
    command = [DLC, "compile", network, "--emit=linalg"]
    shown = subprocess.run(command, stdout=subprocess.PIPE, stderr=follower, check=True).stdout
    os.close(follower)
    seen = os.read(leader, 1 << 16)
    os.close(leader)
    assert b"compile" in seen
    assert shown.startswith((b"#", b"module"))


def test_demo(dlc_command) -> None:
    done = dlc_command("demo", "light_squeezenet")
    assert done.code == 0, done.err
    for part in ("linalg", "affine", "llvm", "compiled in", "top-5", "largest error", "ok"):
        assert part in done.out
    assert "DIFFERS" not in done.out


def test_demo_of_an_unknown_network(dlc_command) -> None:
    done = dlc_command("demo", "nosuch")
    assert done.code == 1
    assert f"networks: {', '.join(demo_command.networks())}" in done.err
