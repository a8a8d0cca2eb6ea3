"""Options that the tables share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.cases import Case
from dlc.measuring.contenders import Effort
from dlc.measuring.engines import Precision, find_engines


@dataclass(frozen=True)
class Settings:
    """What was asked for."""

    parts: tuple[str, ...]
    engines: tuple[str, ...]
    threads: int
    precision: Precision
    effort: Effort
    json: Path | None
    plot: Path | None

    def chosen(self, cases: Sequence[Case]) -> list[Case]:
        """The cases whose names hold one of the parts; all without any."""
        return [case for case in cases if not self.parts or any(part in case.name for part in self.parts)]


def read_settings(table: str, about: str, vs: str, effort: Effort, arguments: Sequence[str]) -> Settings:
    """Parse the arguments of a table; `vs` are the engines that are compared by default."""
    parser = shared_options(table, about, vs, effort)
    parser.add_argument("--precision", choices=("f32", "bf16"), default="f32", help="bf16 lets engines compute in bf16")
    given = parser.parse_args(arguments)
    engines = [engine.name for engine in find_engines([name for name in given.vs.split(",") if name])]
    asked = effort_of(given, effort)
    return Settings(tuple(given.parts), tuple(engines), given.threads, given.precision, asked, given.json, given.plot)


def shared_options(table: str, about: str, vs: str, effort: Effort) -> argparse.ArgumentParser:
    """A parser of the options that all tables have."""
    parser = argparse.ArgumentParser(prog=f"python -m bench {table}", description=about)
    parser.add_argument("parts", nargs="*", metavar="name-part", help="only rows whose names hold one of these")
    parser.add_argument("--vs", default=vs, metavar="A,B", help=f"engines to compare with (default: {vs})")
    parser.add_argument("--threads", type=_positive, default=1, help="threads of a call, in all engines (default: 1)")
    parser.add_argument("--rounds", type=_positive, default=effort.rounds, help=f"turns of each engine (default: {effort.rounds})")
    parser.add_argument(
        "--seconds", type=float, default=effort.seconds, help=f"time for a row's rounds (default: {effort.seconds:g})"
    )
    parser.add_argument("--slot", type=float, default=effort.slot, help=f"seconds of a turn (default: {effort.slot:g})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file, too")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw them, too: a .svg, .png or .pdf file")
    return parser


def effort_of(given: argparse.Namespace, default: Effort) -> Effort:
    """What `shared_options` were given of it, and the rest of the default."""
    return replace(default, rounds=given.rounds, slot=given.slot, seconds=given.seconds)


def _positive(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"expects 1 or more, not '{text}'")
    return int(text)
