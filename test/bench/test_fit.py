"""`python -m bench fit` measures fields of the policy on few rows, and says what it found."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

import pytest

from bench import nodes
from bench.cases import Case
from bench.fit import __main__ as fit
from bench.fit.timing import ratios_of
from bench.fit.variants import Variant, variants_of
from dlc.lowering.policy import Policy
from dlc.lowering.policy.record import settings
from dlc.measuring.contenders import Effort

_CASES = [Case("8x32x16", partial(nodes.matmul, 8, 32, 16)), Case("exp", partial(nodes.unary, "Exp", (4, 16)))]


@pytest.mark.parametrize("field", list(settings()))
def test_every_field_has_others_in_its_range(field: str) -> None:
    found = variants_of(field, 1.5)
    assert found
    assert all(one.policy().value_of(field) == one.value != Policy().value_of(field) for one in found)


def test_the_same_code_is_not_timed() -> None:
    idle = Variant("near_pages", "less", 8)
    assert ratios_of(_CASES[1], [idle], Effort(rounds=1, slot=0.0), 1) == {idle: 1.0}


def test_the_table_and_the_file(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    monkeypatch.setattr(fit, "_TABLES", {"tiny": lambda: _CASES})
    arguments = ["--fields", "most_jam,near_pages", "--tables", "tiny", "--rows", "2", "--seconds", "0"]
    monkeypatch.setattr(sys, "argv", ["fit", *arguments, "--write", str(tmp_path / "policy.json")])
    assert fit.main() == 0
    said = capsys.readouterr().out
    assert "| most_jam | 8 | 1 (neutral) |" in said
    assert "without effect on these rows: near_pages" in said
    assert set(json.loads((tmp_path / "policy.json").read_text())) <= {"most_jam"}


def test_unknown_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["fit", "--fields", "no_such_field"])
    with pytest.raises(SystemExit, match="no field or table is called 'no_such_field'"):
        fit.main()


def test_what_is_found() -> None:
    found = fit.Fit("most_jam")
    neutral, less = variants_of("most_jam", 1.5)[-1], variants_of("most_jam", 1.5)[0]
    found.add("gemm", {neutral: 1.002, less: 0.9})
    assert found.is_removable and found.decides and found.best == less
    found.add("gemm", {neutral: 1.1, less: 1.1})
    assert not found.is_removable
