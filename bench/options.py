"""Options that the tables share."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.rows import AnyRow
from dlc.errors import InvalidInputError
from dlc.measuring.contenders import Effort, python_of
from dlc.measuring.engines import Precision, find_engines
from dlc.option_values import DEFAULT_TARGET


@dataclass(frozen=True)
class Settings:
    """What was asked for of a table."""

    table: str
    parts: tuple[str, ...]
    engines: tuple[str, ...]
    threads: int
    precision: Precision
    effort: Effort
    json: Path | None
    plot: Path | None
    baseline: Path | None = None
    target: str = DEFAULT_TARGET

    def chosen(self, cases: Sequence[AnyRow]) -> list[AnyRow]:
        """The cases whose names hold one of the parts; all without any. `UnknownRow` for a part that no name holds."""
        for part in self.parts:
            if not any(part in case.name for case in cases):
                raise UnknownRow(self.table, part, [case.name for case in cases])
        return [case for case in cases if not self.parts or any(part in case.name for part in self.parts)]


class UnknownRow(SystemExit):
    """Ends the program: no row's name holds what was asked for."""

    def __init__(self, table: str, part: str, names: Sequence[str]) -> None:
        near = difflib.get_close_matches(part, names, n=3, cutoff=0.4) or list(names)[:3]
        rows = ", ".join(f"'{name}'" for name in near)
        super().__init__(f"python -m bench {table}: error: no row's name holds '{part}' (rows are {rows}, ...)")


def read_settings(table: str, about: str, vs: str, effort: Effort, arguments: Sequence[str]) -> Settings:
    """Parse the arguments of a table; `vs` are the engines that are compared by default."""
    parser = shared_options(table, about, vs, effort)
    parser.add_argument("--precision", choices=("f32", "bf16"), default="f32", help="bf16 lets engines compute in bf16")
    add_baseline(parser)
    given = parser.parse_args(arguments)
    try:
        engines = [engine.name for engine in find_engines([name for name in given.vs.split(",") if name])]
    except InvalidInputError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    asked = effort_of(given, effort)
    check_baseline(parser, given.baseline)
    return Settings(
        table,
        tuple(given.parts),
        tuple(engines),
        given.threads,
        given.precision,
        asked,
        given.json,
        given.plot,
        given.baseline,
    )


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


def add_baseline(parser: argparse.ArgumentParser) -> None:
    """The option of tables in which another dlc can take its turns."""
    about = "another checkout of dlc, with its environment, that takes its turns, too"
    parser.add_argument("--baseline", type=Path, metavar="FOLDER", help=about)


def check_baseline(parser: argparse.ArgumentParser, folder: Path | None) -> None:
    """End the program with status 2 for a checkout that cannot run."""
    if folder and not python_of(folder).is_file():
        parser.exit(2, f"{parser.prog}: error: {folder} has no environment; run 'make demo' there first\n")


def effort_of(given: argparse.Namespace, default: Effort) -> Effort:
    """What `shared_options` were given of it, and the rest of the default."""
    return replace(default, rounds=given.rounds, slot=given.slot, seconds=given.seconds)


def _positive(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"expects 1 or more, not '{text}'")
    return int(text)
