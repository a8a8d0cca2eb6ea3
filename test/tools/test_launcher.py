"""The launcher of the commands: which Python it finds, what it hands on, what it does where interrupts are blocked or ignored."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

_TOOLS = Path(sys.executable).parent


def _run(program: Path, *arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *arguments], capture_output=True, text=True, cwd=folder, timeout=60, check=False)


def test_a_link_anywhere_is_the_command(tmp_path: Path) -> None:
    direct, indirect = tmp_path / "direct", tmp_path / "bin" / "another-name"
    direct.symlink_to(_TOOLS / "dlc")
    indirect.parent.mkdir()
    indirect.symlink_to("../direct")
    other = indirect.with_name("dlc-entry")  # of another installation
    other.write_text("#!/bin/sh\nexit 77\n", "utf-8")
    other.chmod(0o755)
    for link in (direct, indirect):
        assert _run(link, "--version").stdout.startswith("dlc, version")


def test_a_link_to_a_store_of_files(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "store").mkdir()
    shutil.copy(_TOOLS / "dlc", tmp_path / "store")
    shutil.copy(_TOOLS / "dlc-entry", tmp_path / "bin")
    (tmp_path / "bin" / "dlc").symlink_to("../store/dlc")
    assert _run(tmp_path / "bin" / "dlc", "--version").stdout.startswith("dlc, version")


def test_no_entry_and_no_python(tmp_path: Path) -> None:
    lonely = Path(shutil.copy(_TOOLS / "dlc-opt", tmp_path))
    message = f"dlc-opt: error: cannot start the dlc-entry beside {lonely}, or the Python in its first line: "
    done = _run(lonely)
    assert (done.returncode, done.stderr) == (1, f"{message}no such file or directory; install dlc again\n")
    entry = tmp_path / "dlc-entry"
    entry.write_text("#!/nowhere/python\n", "utf-8")
    entry.chmod(0o755)
    done = _run(lonely)
    assert (done.returncode, done.stderr) == (1, f"{message}no such file or directory; install dlc again\n")


def test_arguments_and_the_working_folder(tmp_path: Path) -> None:
    for name in ("click", "dlc", "os", "re"):
        (tmp_path / f"{name}.py").write_text("print('of the working folder')", "utf-8")
    done = _run(_TOOLS / "dlc-opt", "two words", "", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "there is an input already: 'two words'" in done.stderr


def test_the_entry_alone() -> None:
    for arguments in ([], ["dlc"], ["nosuch", "held", "dlc"]):
        done = _run(_TOOLS / "dlc-entry", *arguments)
        assert done.returncode == 1
        assert done.stderr.startswith("dlc-entry: error: ")


def _ignore() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _block() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


@pytest.mark.parametrize("tool", ["dlc", "dlc-opt", "dlc-check-proof"])
@pytest.mark.parametrize(("before", "status"), [(None, 130), (_ignore, 0), (_block, 0)])
def test_an_interrupt_before_code_of_ours(tool: str, before: Callable[[], None] | None, status: int, tmp_path: Path) -> None:
    """What the caller ignores or blocks stays so; else an interrupt waits until it is handled, and ends the command."""
    (tmp_path / "sitecustomize.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n", "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [_TOOLS / tool, "--help"], env=environment, preexec_fn=before, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr, bool(done.stdout)) == (status, "", status == 0)
