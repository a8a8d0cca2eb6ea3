"""The onnx package's backend tests that dlc is known to pass: a few in every check, all of them among the slow tests."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.conformance.__main__ import PASSED, sample
from bench.conformance.outcomes import Outcome, cause_of
from bench.conformance.suite import Case, load_cases
from bench.conformance.table import tables
from bench.conformance.workers import run_cases
from dlc.errors import UnsupportedError, UnsupportedNode

ROOT = Path(__file__).resolve().parent.parent.parent


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench", "conformance", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_sample_still_passes(tmp_path: Path) -> None:
    """About one in a hundred of the tests that pass."""
    done = _run("--ratchet", "--sample", "100", "--json", str(tmp_path / "found.json"))
    assert done.returncode == 0, done.stderr
    assert "| dlc | node |" in done.stdout
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))["dlc"]
    assert len(found) > 10 and {outcome["status"] for outcome in found} == {"passed"}


@pytest.mark.slow
def test_all_still_pass() -> None:
    done = _run("--ratchet", "--limit", "600")
    assert done.returncode == 0, done.stderr


def test_names_are_sorted_and_few_are_sampled() -> None:
    names = PASSED.read_text(encoding="utf-8").split()
    assert names == sorted(set(names))
    cases = [Case(name, "node", 1e-3, 1e-7, None) for name in names]
    chosen = sample(cases, names[::2], 10)
    assert 0 < len(chosen) < len(names) / 10 and {case.name for case in chosen} <= {*names[::2]}


def test_unknown_names_are_refused() -> None:
    assert _run("--kind", "simple", "--filter", "no such test").returncode == 2
    done = _run("--kind", "simple", "--vs", "abacus")
    assert done.returncode == 2 and "no engine 'abacus'" in done.stderr
    done = _run("--kind", "simple", "--target", "abacus")
    assert done.returncode == 2 and "unknown target 'abacus'" in done.stderr
    done = _run("--kind", "simple", "--target", "gpu", "--update")
    assert done.returncode == 2 and "leave --target out" in done.stderr


def test_target_of_dlc() -> None:
    done = _run("--kind", "simple", "--filter", "^test_sign_model$", "--target", "cpu:x86-64-v2", "-j", "1")
    assert done.returncode == 0 and "| dlc | simple | 1 | 1 |" in done.stdout


@pytest.mark.waits
def test_process_that_dies_is_an_outcome() -> None:
    """A crash and a hang cost their own test alone."""
    good = load_cases(("simple",), "^test_sign_model$")
    die, hang = (Case(f"test_{name}", "simple", 0.0, 0.0, _Fatal(name)) for name in ("die", "hang"))
    found = {outcome.name: outcome.status for outcome in run_cases([die, *good, hang], "onnxruntime", 1, 8.0)}
    assert found == {"test_die": "crash", "test_sign_model": "passed", "test_hang": "timeout"}


class _Fatal:
    """A test that ends its process, or never ends."""

    url = None

    def __init__(self, what: str) -> None:
        self.what = what

    @property
    def model(self) -> object:
        """Never returns."""
        import os
        import time

        if self.what == "die":
            os._exit(3)
        time.sleep(3600)
        return None


def test_causes_have_no_names_and_numbers() -> None:
    node = UnsupportedNode("y", "Pad", "pads (input 1) must be known at compile time")
    assert cause_of(UnsupportedError([node])) == "pads (input N) must be known at compile time"
    assert cause_of(UnsupportedError([UnsupportedNode("y", "If", "the op is not supported")])) == "If: the op is not supported"
    assert cause_of(KeyError("abc")) == "KeyError: '_'"


def test_table_counts_by_group_and_cause() -> None:
    fates = [("a", "passed", ""), ("b", "refused", "no"), ("c", "wrong", "another number")]
    text = tables({"dlc": [Outcome(name, "node", status, cause) for name, status, cause in fates]})
    assert "| dlc | node | 3 | 1 | 1 | 1 | 0 | 0 | 0 | 0 |" in text
    assert text.index("| wrong | 1 | another number | c |") < text.index("| refused | 1 | no | b |")
