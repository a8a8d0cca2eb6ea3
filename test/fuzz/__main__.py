"""The command: `python -m fuzz [--minutes N | --count onnx=2000 ...] [--seed N]`, or `--replay FILE`.

The exit status is 1 when something was found.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1"))  # before NumPy starts threads: they do not fork
os.environ["DLC_CACHE_DIR"] = ""

import argparse
import gc
import sys
import time
from pathlib import Path

from fuzz.cases import FINDINGS
from fuzz.families import NAMES, families, family_of
from fuzz.judging import ROOT
from fuzz.runner import Plan, Runner
from fuzz.workers import Limits, run_all


def main() -> int:
    arguments = _arguments()
    if arguments.replay:
        return _replay(arguments.replay)
    counts = {name: int(count) for name, _, count in (text.partition("=") for text in arguments.count)}
    known = families(arguments.small)
    chosen = [family for family in known if family.name in (counts or arguments.family or NAMES)]
    plan = Plan(arguments.seed, arguments.folder, counts, None if counts else arguments.minutes * 60)
    for family in chosen:
        family.prepare()
    gc.freeze()  # forked processes share it
    begin = time.monotonic()
    tally = Runner(chosen, plan).run()
    print(tally.report(time.monotonic() - begin))
    return 1 if tally.findings else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fuzz", description="feed dlc with mutated inputs")
    parser.add_argument("--minutes", type=float, default=30.0, help="how long to run (default: 30)")
    parser.add_argument("--count", action="append", default=[], metavar="FAMILY=N", help="run so many cases instead; repeatable")
    parser.add_argument("--family", action="append", choices=NAMES, help="only these families")
    parser.add_argument("--seed", type=int, default=0, help="seed of all choices (default: 0)")
    parser.add_argument("--small", action="store_true", help="take only the ONNX models that are built at once")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "fuzz", help="where findings are saved")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run one saved case and print how it ends")
    return parser.parse_args()


def _replay(file: Path) -> int:
    family = family_of(file)
    family.prepare()
    (verdict,) = run_all(family, [file.read_bytes()], Limits())
    print(f"{verdict.kind}\n{verdict.key}\n\n{verdict.detail}")
    return 1 if verdict.kind in FINDINGS else 0


if __name__ == "__main__":
    sys.exit(main())
