"""The parts of the repository's lit tests, each with the flags that its RUN lines give dlc-opt."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzz.judging import ROOT

_RUN = re.compile(r"//\s*RUN:\s*(?:not )?dlc-opt (.*)")
_COMMENT = re.compile(r"^\s*//.*$|(?<=\s)//[^\"\n]*$", re.MULTILINE)
_PART = re.compile(r"^// -----.*$", re.MULTILINE)
_LARGEST = 5000
_DROPPED = ("--verify-diagnostics", "--split-input-file", "-split-input-file", "-verify-diagnostics")
_REFUSED = (
    "-o",
    "--load-pass-plugin",
    "--mlir-print-ir-tree-dir",
    "--mlir-pass-pipeline-crash-reproducer",
    "--run-reproducer",
    "--help",
)


@dataclass(frozen=True)
class Seed:
    """A module's text and the flags that a test runs on it."""

    text: str
    flags: Sequence[tuple[str, ...]]
    is_dl: bool


@functools.cache
def seeds() -> list[Seed]:
    """All parts of all tests, in the order of their paths."""
    return [seed for file in sorted((ROOT / "test").rglob("*.mlir")) if "Inputs" not in file.parts for seed in _seeds_of(file)]


def _seeds_of(file: Path) -> Iterator[Seed]:
    text = file.read_text(encoding="utf-8")
    flags = [found for line in _RUN.findall(text) if (found := _flags(line)) is not None]
    for part in _PART.split(text):
        bare = re.sub(r"\n\s*\n+", "\n", _COMMENT.sub("", part)).strip() + "\n"
        if 1 < len(bare) <= _LARGEST:
            yield Seed(bare, flags or [()], '"dl.' in bare)


def _flags(line: str) -> tuple[str, ...] | None:
    """The flags before the first pipe; None where they name files."""
    try:
        words = shlex.split(re.split(r"\s\||2>|>|<", line, maxsplit=1)[0])
    except ValueError:
        return None
    kept = tuple(word for word in words if word not in ("%s", *_DROPPED))
    if any("%" in word or word.split("=")[0] in _REFUSED for word in kept):
        return None
    return kept
