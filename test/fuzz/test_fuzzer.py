"""The fuzzer finds, reduces and reports defects that are planted, and finds none in dlc with fixed seeds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from dlc.errors import ParseError
from fuzz.byte_edits import edited
from fuzz.cases import ACCEPTED, CLEAN, EXCEPTION, HANG, INTERNAL, SIGNAL, Case, Phase, Verdict
from fuzz.families import families
from fuzz.judging import judge
from fuzz.reducing import without_parts
from fuzz.runner import Plan, Runner, Tally
from fuzz.workers import Limits, run_all

ROOT = Path(__file__).resolve().parent.parent.parent

pytestmark = pytest.mark.waits


class Planted:
    """A program that dies of an `x`, raises at a `y`, loops at a `z`, says "internal error" at a `w` and refuses a `v`."""

    name, suffix, batch, weight = "planted", ".txt", 20, 1

    def prepare(self) -> None:
        return

    def make(self, random: Random) -> bytes:
        return (
            edited(random, b"a" * 40, b"bc" * 10)
            + random.choice((b"", b"vvvv", *(bytes([letter]) for letter in b"wxyz")))
            + b"a" * 9
        )

    def execute(self, payload: bytes, phase: Phase) -> Verdict:
        phase("reading")
        if b"x" in payload:
            os.kill(os.getpid(), signal.SIGSEGV)
        while b"z" in payload:
            time.sleep(0.01)
        if b"y" in payload:
            raise KeyError("planted")
        try:
            if b"w" in payload or b"v" in payload:
                raise ParseError("internal error in a pass" if b"w" in payload else "this is no model")
        except ParseError as error:
            return judge(error)
        return Verdict(ACCEPTED)

    def smaller(self, payload: bytes) -> Iterator[bytes]:
        yield from (bytes(part) for part in without_parts(payload))


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tally, list[str]]:
    said: list[str] = []
    plan = Plan(7, tmp_path_factory.mktemp("findings"), {"planted": 60}, workers=2, limits=Limits(processor=5.0, clock=1.0))
    return Runner([Planted()], plan, said.append).run(), said


def test_every_case_is_counted(planted: tuple[Tally, list[str]]) -> None:
    counts = planted[0].counts["planted"]
    assert sum(counts.values()) == 60
    assert {SIGNAL, HANG, EXCEPTION, INTERNAL, CLEAN, ACCEPTED} <= set(counts)


@pytest.mark.parametrize(("kind", "letter"), [(SIGNAL, b"x"), (EXCEPTION, b"y"), (INTERNAL, b"w")])
def test_a_planted_defect_is_found_reduced_and_saved(planted: tuple[Tally, list[str]], kind: str, letter: bytes) -> None:
    (found,) = [item for item in planted[0].findings if item.verdict.kind == kind]
    assert found.payload == found.file.read_bytes() == letter
    assert f"--replay {found.file}" in planted[0].report(0)
    assert any(kind in line for line in planted[1])


def test_what_a_crash_is_called(planted: tuple[Tally, list[str]]) -> None:
    assert {item.verdict.key.split(" @")[0] for item in planted[0].findings if item.verdict.kind == SIGNAL} == {
        "SIGSEGV in reading"
    }


def test_cases_depend_on_seed_and_number_alone() -> None:
    for family in families(small=True):
        family.prepare()
        for index in range(20):
            case = Case(family.name, 3, index)
            assert family.make(case.random()) == family.make(case.random())
        assert family.make(Case(family.name, 3, 0).random()) != family.make(Case(family.name, 4, 0).random())


def test_verdicts_keep_the_order_of_cases() -> None:
    verdicts = run_all(Planted(), [b"v", b"x", b"y", b"a"], Limits())
    assert [verdict.kind for verdict in verdicts] == [CLEAN, SIGNAL, EXCEPTION, ACCEPTED]


def _fuzz(tmp_path: Path, seed: int, *arguments: str) -> None:
    command = [sys.executable, "-m", "fuzz", "--seed", str(seed), "--folder", str(tmp_path), *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "test")}
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_nothing_is_found_in_a_few_cases(tmp_path: Path) -> None:
    _fuzz(
        tmp_path, 1, "--small", *(word for count in ("onnx=40", "mlir=60", "command=10", "call=60") for word in ("--count", count))
    )


@pytest.mark.slow
def test_nothing_is_found(tmp_path: Path) -> None:
    _fuzz(tmp_path, 2, *(word for count in ("onnx=2000", "mlir=2000", "command=500", "call=500") for word in ("--count", count)))
