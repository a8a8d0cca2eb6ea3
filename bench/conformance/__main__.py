"""Runs the onnx package's backend tests through dlc, and prints how many pass and why the others do not.

    python -m bench conformance [--kind node ...] [--filter REGEX] [--vs onnxruntime] [--target gpu] [--json FILE] [-j N]

`bench/conformance_passed.txt` names the tests that dlc passes: `--ratchet` makes the status 1 where one of them no longer does,
`--sample N` runs about one in N of them, and `--update` writes the file after a run.
"""

from __future__ import annotations

import argparse
import os
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path

from bench.conformance.outcomes import ENGINES, Outcome
from bench.conformance.suite import KINDS, Case, load_cases
from bench.conformance.table import passed_names, tables, write_json
from bench.conformance.workers import run_cases
from dlc.errors import TargetError
from dlc.option_values import DEFAULT_TARGET
from dlc.targets.registry import find_target

PASSED = Path(__file__).resolve().parent.parent / "conformance_passed.txt"


def main() -> int:
    """Print the tables; with `--ratchet`, status 1 when a test fails that passed before."""
    given = _parser().parse_args()
    if given.update and given.target != DEFAULT_TARGET:
        print(
            f"python -m bench conformance: error: --update writes what passes on '{DEFAULT_TARGET}'; leave --target out",
            file=sys.stderr,
        )
        return 2
    known = PASSED.read_text(encoding="utf-8").split() if PASSED.exists() else []
    cases = load_cases(given.kind or KINDS, given.filter)
    if given.sample:
        cases = sample(cases, known, given.sample)
    if not cases:
        print(f"python -m bench conformance: error: no test's name matches '{given.filter}'", file=sys.stderr)
        return 2
    engines = ["dlc", *(name for name in given.vs.split(",") if name and name != "dlc")]
    unknown = [name for name in engines if name not in ENGINES]
    if unknown:
        print(f"python -m bench conformance: error: no engine '{unknown[0]}' (engines: {', '.join(ENGINES)})", file=sys.stderr)
        return 2
    try:
        find_target(given.target)
    except TargetError as error:
        print(f"python -m bench conformance: error: {error}", file=sys.stderr)
        return 2
    results = {engine: _run(cases, engine, given) for engine in engines}
    print(tables(results))
    if given.json:
        write_json(given.json, results)
    passed = passed_names(results["dlc"])
    if given.update:
        tested = {case.name for case in cases}
        kept = [name for name in known if name not in tested]
        PASSED.write_text("".join(f"{name}\n" for name in sorted({*passed, *kept})), encoding="utf-8")
    lost = sorted({*known} & {case.name for case in cases} - {*passed}) if given.ratchet else []
    for outcome in results["dlc"]:
        if outcome.name in lost:
            print(f"no longer passes: {outcome.name}: {outcome.status}: {outcome.cause}", file=sys.stderr)
    return int(bool(lost))


def sample(cases: Sequence[Case], known: Sequence[str], share: int) -> list[Case]:
    """About one in `share` of the tests that pass, the same ones in every run."""
    names = {name for name in known if zlib.crc32(name.encode()) % share == 0}
    return [case for case in cases if case.name in names]


def _run(cases: Sequence[Case], engine: str, given: argparse.Namespace) -> list[Outcome]:
    found = []
    for outcome in run_cases(cases, engine, given.j, given.limit, given.target):
        found.append(outcome)
        if sys.stderr.isatty():
            print(f"\r{engine}: {len(found)} of {len(cases)}", end="", file=sys.stderr, flush=True)
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench conformance", description="The onnx package's backend tests.")
    parser.add_argument("--kind", action="append", choices=KINDS, help="only this group of tests; may be given again")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only tests whose names hold a match")
    parser.add_argument("--vs", default="", metavar="A,B", help=f"other engines to run, too ({', '.join(ENGINES[1:])})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every outcome to a file, too")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, metavar="N", help="processes (default: one a processor)")
    parser.add_argument("--limit", type=float, default=120.0, metavar="SECONDS", help="time for a test (default: 120)")
    parser.add_argument("--target", default=DEFAULT_TARGET, metavar="NAME", help="what dlc compiles for: cpu, gpu (default: cpu)")
    parser.add_argument("--sample", type=int, metavar="N", help="only about one in N of the tests that are known to pass")
    parser.add_argument("--ratchet", action="store_true", help="status 1 when a test that is known to pass does not")
    parser.add_argument("--update", action="store_true", help="write the names of the tests that pass")
    return parser


if __name__ == "__main__":
    sys.exit(main())
