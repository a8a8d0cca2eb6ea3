"""Lints the lit tests: every line that looks like a check is one, and every pass has its cases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dlc.lowering.registry import PassEntry, passes

TEST = Path(__file__).resolve().parent
LIT_WORDS = {"RUN", "REQUIRES", "UNSUPPORTED", "XFAIL", "DEFINE", "REDEFINE", "END", "ALLOW_RETRIES", "NOTE"}
SUFFIX = r"(?:-(?:NEXT|SAME|LABEL|NOT|DAG|EMPTY|COUNT-\d+))?"
_RUN = re.compile(r"//\s*RUN:(.*)")
_PREFIXES = re.compile(r"--?check-prefix(?:es)?[= ]([\w,-]+)")
_WORD = re.compile(r"\s*//\s*([A-Z][A-Z0-9_]*(?:-[A-Z0-9]+)*)\s*([:\uff1a]?)")
_NEAR_CHECK = re.compile(r"\s*//\s*(check(?:-\w+)?|Check(?:-\w+)?)\s*[:\uff1a]|\s*//\s*(?:CHECK|CHEKC|CEHCK|CHCEK)\b")


def run_lines(text: str) -> list[str]:
    """The commands of a test, continuation lines joined."""
    return "\n".join(_RUN.findall(text)).replace("\\\n", " ").splitlines()


def prefixes_of(runs: list[str]) -> set[str]:
    """The check prefixes that the commands name; `CHECK` for a filecheck that names none."""
    found: set[str] = set()
    for command in (part for run in runs for part in run.split("|") if "filecheck" in part):
        named = _PREFIXES.findall(command)
        found |= {prefix for group in named for prefix in group.split(",")} or {"CHECK"}
    return found


def line_fault(line: str, prefixes: set[str]) -> str:
    """Why `line` looks like a check and is none, or nothing."""
    match = _WORD.match(line)
    if match is None:
        return "has a check in lower case" if _NEAR_CHECK.match(line) else ""
    word, colon = match.groups()
    if word in LIT_WORDS:
        return f"has a full-width colon after {word}" if colon == "\uff1a" else ""
    is_check = any(re.fullmatch(re.escape(prefix) + SUFFIX, word) for prefix in prefixes)
    if colon == "\uff1a":
        return f"has a full-width colon after {word}"
    if is_check or _NEAR_CHECK.match(line):
        return "" if is_check and colon else f"has '{word}', which is no check"
    return f"has '{word}:', which no RUN line reads" if colon else ""


def faults(text: str) -> Iterator[str]:
    """Everything that is wrong with the checks of a lit test."""
    runs = run_lines(text)
    if not text.startswith("// RUN:"):
        yield "line 1: a test starts with its RUN line"
    prefixes = prefixes_of(runs)
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        fault = line_fault(line, prefixes)
        if fault:
            yield f"line {number}: {fault}"
    for prefix in sorted(prefixes):
        if not any(re.match(rf"\s*//\s*{re.escape(prefix)}{SUFFIX}:", line) for line in lines):
            yield f"prefix {prefix} is named in a RUN line, and no line uses it"
    if re.search(r"//\s*expected-(error|warning|remark|note)", text) and "verify-diagnostics" not in " ".join(runs):
        yield "has expected diagnostics, and no RUN line has --verify-diagnostics"


def lit_tests() -> list[str]:
    found = (file.relative_to(TEST) for file in TEST.rglob("*.mlir"))
    return sorted(str(file) for file in found if "Inputs" not in file.parts)


def missing_cases(entry: PassEntry, folder: Path) -> list[str]:
    """Which cases the lit tests of a pass lack; they are its twin file, `<stem>_*.mlir` and `<stem>/*.mlir`."""
    stem = entry.file.stem
    tests = [*folder.glob(f"{stem}.mlir"), *folder.glob(f"{stem}_*.mlir"), *folder.glob(f"{stem}/*.mlir")]
    if not tests:
        return [f"a lit test {stem}.mlir"]
    text = "\n".join(test.read_text("utf-8") for test in tests)
    cases = {
        "a positive case (a CHECK line)": r"//\s*[A-Z][A-Z0-9_]*(-\w+)*:",
        "a negative case (expected-error, or the words 'refuses nothing')": r"expected-error|not dlc-opt|refuses nothing",
        "a no-match case": r"no[-_ ]match",
    }
    return [case for case, pattern in cases.items() if not re.search(pattern, text)]


@pytest.mark.parametrize("name", lit_tests())
def test_checks_are_checks(name: str) -> None:
    found = list(faults((TEST / name).read_text("utf-8")))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", sorted(passes()))
def test_pass_has_its_cases(name: str) -> None:
    entry = passes()[name]
    folder = TEST / "lowering" / entry.folder
    missing = missing_cases(entry, folder)
    assert not missing, f"pass {name} lacks {', '.join(missing)} in {folder.relative_to(TEST.parent)}"


GOOD = """// RUN: dlc-opt %s --a | filecheck %s
// RUN: dlc-opt %s --b --verify-diagnostics \\
// RUN:   | filecheck %s --check-prefixes=B,C-D
// One sentence on IR: it is a note.
// CHECK-LABEL: f
// B-NEXT: x
// C-D: y
// expected-error @+1 {{no}}
"""


def test_good_checks_pass() -> None:
    assert list(faults(GOOD)) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("CHECK-LABEL:", "CHECK-LABEL\uff1a", "full-width colon"),
        ("CHECK-LABEL:", "CHEKC-LABEL:", "which is no check"),
        ("CHECK-LABEL:", "CHECK-LABLE:", "which is no check"),
        ("CHECK-LABEL:", "CHECK-LABEL", "which is no check"),
        ("CHECK-LABEL:", "check-label:", "lower case"),
        ("// B-NEXT:", "// A-NEXT:", "which no RUN line reads"),
        ("// C-D: y\n", "", "no line uses it"),
        ("// RUN: dlc-opt %s --a", "// dlc-opt %s --a", "starts with its RUN line"),
        ("--verify-diagnostics", "", "--verify-diagnostics"),
    ],
)
def test_bad_check_is_found(old: str, new: str, fault: str) -> None:
    assert any(fault in found for found in faults(GOOD.replace(old, new)))


def test_pass_without_cases_is_found(tmp_path: Path) -> None:
    entry = PassEntry("dl-x", "dl", "dlc.lowering.dl.x", tmp_path / "x.py", "X")
    assert missing_cases(entry, tmp_path) == ["a lit test x.mlir"]
    (tmp_path / "x.mlir").write_text("// RUN: dlc-opt %s | filecheck %s\n// CHECK: a\n")
    assert [case.split(" (")[0] for case in missing_cases(entry, tmp_path)] == ["a negative case", "a no-match case"]
    (tmp_path / "x_errors.mlir").write_text("// expected-error @+1 {{no}}\n// no-match: b\n")
    assert missing_cases(entry, tmp_path) == []
