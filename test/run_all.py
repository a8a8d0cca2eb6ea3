"""Runs every suite (ruff, mypy, lit, pytest) and adds up what passed; the last line is `N passed, N failed, N skipped`.

    python test/run_all.py [--slow]

Each suite prints one line, and its whole output only when something failed. Reports lie in `build/test/`. Suites of one process
run beside those of many, so that no core waits.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sweeps import ALL

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "build" / "test"
TOOLS = Path(sys.executable).parent
JOBS = str(min(os.cpu_count() or 1, 8))


@dataclass(frozen=True)
class Counts:
    """How many tests passed, failed and were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


@dataclass(frozen=True)
class Suite:
    """One command. `report` is the JUnit file that it writes; a suite without one counts as a single test."""

    name: str
    command: Sequence[str | Path]
    report: Path | None = None


@dataclass(frozen=True)
class Run:
    """A suite that has been started, when (seconds of the monotonic clock), and the file that takes its output."""

    suite: Suite
    process: subprocess.Popen[bytes]
    began: float
    output: IO[bytes]


def suites(slow: bool) -> list[list[Suite]]:
    """All suites, in groups that run one after another; those of a group run beside each other."""
    lit_report, pytest_report, waits_report = (REPORTS / f"{name}.xml" for name in ("lit", "pytest", "waits"))
    lit: list[str | Path] = [TOOLS / "lit", "-v", "-j", JOBS, "--xunit-xml-output", lit_report]
    lit += ["--param", "slow=1"] if slow else []
    chosen = "" if slow else " and not slow"
    pytest: list[str | Path] = [sys.executable, "-m", "pytest", "-q", "--tb=short"]
    many = ["-n", JOBS, "--dist", "worksteal", "--junitxml", pytest_report, "-m", f"not waits{chosen}"]
    one = ["--junitxml", waits_report, "-m", f"waits{chosen}", *waiting_files()]
    return [
        [
            Suite("ruff", [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format", "concise", ROOT]),
            Suite("mypy", [sys.executable, ROOT / "test" / "typecheck.py"]),
            Suite("lit", [*lit, ROOT / "test"], lit_report),
        ],
        [Suite("pytest of tests that wait", [*pytest, *one], waits_report), Suite("pytest", [*pytest, *many], pytest_report)],
    ]


def waiting_files() -> list[Path]:
    """Files with tests that wait more than they compute, by the mark `waits`."""
    return [file for file in sorted((ROOT / "test").rglob("test_*.py")) if "pytest.mark.waits" in file.read_text("utf-8")]


def counts_of(report: Path) -> Counts:
    """Counts of a JUnit file; none at all when it is missing."""
    if not report.is_file():
        return Counts()
    total = Counts()
    for suite in ET.parse(report).getroot().iter("testsuite"):
        tests, failures, errors, skipped = (int(suite.get(key, "0")) for key in ("tests", "failures", "errors", "skipped"))
        failed = failures + errors
        total += Counts(tests - failed - skipped, failed, skipped)
    return total


def environment() -> dict[str, str]:
    """What suites run under. Bytecode is kept: tests start some thousand processes, and each would compile every module again."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def start(suite: Suite) -> Run:
    """Start one suite, without an old report of it."""
    if suite.report:
        suite.report.unlink(missing_ok=True)
    output = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the run
    process = subprocess.Popen(
        [str(part) for part in suite.command],
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
    )
    return Run(suite, process, time.monotonic(), output)


def finish(run: Run) -> Counts:
    """Wait for one suite and print its line; a suite that fails without a failed test counts as one."""
    status = run.process.wait()
    report = run.suite.report
    counts = counts_of(report) if report else Counts(passed=int(status == 0))
    if status != 0 and counts.failed == 0:
        counts += Counts(failed=1)
    if counts.failed:
        run.output.seek(0)
        print(run.output.read().decode(errors="replace"), flush=True)
    print(f"{run.suite.name}: {counts} ({time.monotonic() - run.began:.0f} s)", flush=True)
    return counts


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Raise `KeyboardInterrupt` after the block for an interrupt that comes inside. Processes that it starts take interrupts."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as shells leave it for what runs in the background
        yield
        return
    held: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if held:
        raise KeyboardInterrupt


def run_group(group: Sequence[Suite]) -> Counts:
    """Run suites beside each other; lines come in their order. Those that were started end with this one."""
    runs: list[Run] = []
    try:
        for suite in group:
            with interrupts_held():  # one between a process and its place in the list would leave the process running
                runs.append(start(suite))
        return sum(map(finish, runs), Counts())
    finally:
        for run in runs:
            run.process.kill()  # nothing, if it has ended
            run.output.close()


def main() -> int:
    parser = argparse.ArgumentParser(description="run every suite and add up what passed")
    parser.add_argument("--slow", action="store_true", help="run the slow tests too")
    arguments = parser.parse_args()
    if arguments.slow:
        os.environ[ALL] = "1"
    REPORTS.mkdir(parents=True, exist_ok=True)
    total = Counts()
    for group in suites(arguments.slow):
        total += run_group(group)
    (REPORTS / "summary.txt").write_text(f"{total}\n", encoding="utf-8")
    print(total, flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
