"""Suites of `run_all.py` end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
import run_all
from run_all import Counts, Suite


def test_a_group_adds_up_its_suites(capsys: pytest.CaptureFixture[str]) -> None:
    group = [Suite("good", [sys.executable, "-c", ""]), Suite("bad", [sys.executable, "-c", "exit('no')"])]
    assert run_all.run_group(group) == Counts(passed=1, failed=1)
    assert "no\n\nbad: 0 passed, 1 failed" in capsys.readouterr().out


@pytest.mark.parametrize(("slow", "rest"), [(False, " and not slow"), (True, "")])
def test_tests_that_wait_run_beside_the_others_and_once(slow: bool, rest: str) -> None:
    one, many = run_all.suites(slow)[1]
    assert [f"waits{rest}" in one.command, f"not waits{rest}" in many.command] == [True, True]
    assert {file.name for file in run_all.waiting_files()} >= {"test_interrupts.py", "test_fuzzer.py"}


def test_an_interrupt_while_a_suite_starts_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interrupt comes when the process is there, and the list of what runs has no place of it yet."""
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def interrupted(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
        started.append(popen(*arguments, **options))  # type: ignore[call-overload]
        os.kill(os.getpid(), signal.SIGINT)
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_all.run_group([Suite("endless", [sys.executable, "-c", "import time; time.sleep(600)"])])
    (process,) = started
    try:
        assert process.wait(timeout=60) == -signal.SIGKILL
    finally:
        process.kill()  # nothing, if it has ended


def test_processes_started_while_interrupts_are_held_take_them() -> None:
    with run_all.interrupts_held():
        code = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"
        assert subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL, check=False).returncode == -signal.SIGINT
