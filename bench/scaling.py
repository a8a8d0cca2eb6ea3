"""What dlc's threads gain: each model on one and on several threads by turns, and whether the results have the same bits.

python -m bench scaling [name-part ...] [--threads 2] [--json FILE]
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass

import numpy as np

from bench.cases import Case
from bench.models import CASES
from bench.options import Settings, read_settings
from bench.rows import run_rows, write_json
from dlc.measuring.contenders import Contender, Effort, interleave
from dlc.measuring.engines import LoadOptions
from dlc.measuring.samples import median_ratio

LEAST_THREADS = 2


@dataclass(frozen=True)
class Scaling:
    """Seconds of a call on one thread and on `threads`, their ratio (the median over rounds), and whether all outputs are equal."""

    model: str
    threads: int
    one: float
    several: float
    speedup: float
    equal: bool

    def row(self) -> str:
        """The row of the Markdown table."""
        bits = "yes" if self.equal else "**no**"
        return f"| {self.model} | {self.one * 1e3:.4g} | {self.several * 1e3:.4g} | {self.speedup:.2f} | {bits} |"


def scaling(case: Case, settings: Settings) -> Scaling:
    """Measure a case on one thread and on those asked for, two at least."""
    threads = max(LEAST_THREADS, settings.threads)
    with case.files() as (file, inputs), Contender("dlc", 1, "one") as one, Contender("dlc", threads, "several") as several:
        for contender in (one, several):
            contender.load(file, inputs, LoadOptions(contender.threads, settings.precision, donate=case.donate))
        equal = all(np.array_equal(left, right, equal_nan=True) for left, right in zip(one.run(), several.run(), strict=True))
        times = interleave([one, several], settings.effort)
    speedup = median_ratio(times["one"].rounds, times["several"].rounds)
    return Scaling(case.name, threads, times["one"].median, times["several"].median, speedup, equal)


def main() -> int:
    """Print the table; status 1 where results differ."""
    settings = read_settings("scaling", (__doc__ or "").split("\n")[0], "", Effort(), sys.argv[1:])
    chosen, found = settings.chosen(CASES), list[Scaling]()
    print(f"| model | 1 thread, ms | {max(LEAST_THREADS, settings.threads)} threads, ms | speed-up | same bits |", flush=True)
    print("|:---|---:|---:|---:|:---|", flush=True)

    def measure(case: Case) -> None:
        found.append(scaling(case, settings))
        print(found[-1].row(), flush=True)
        write_json(settings.json, [asdict(entry) for entry in found])

    status = run_rows(chosen, measure, lambda case, error: print(f"| {case.name} | fails | | | |", flush=True))
    return status or int(not all(entry.equal for entry in found))


if __name__ == "__main__":
    raise SystemExit(main())
