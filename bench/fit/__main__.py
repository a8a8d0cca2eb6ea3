"""What each number of the policy is worth: times with others beside those with its default, over rows of the tables.

python -m bench fit [--fields a,b] [--tables gemm,conv,ops] [--rows 8] [--seconds 0.5] [--step 1.5] [--write FILE]
python -m bench fit --list

Each field is tried at less, more and its neutral end. A number is the geometric mean of times to those of the default: below 1 is
faster. `--write` keeps the best values as a file for `DLC_POLICY`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean

from bench import conv, gemm, ops
from bench.cases import Case
from bench.fit.inventory import module_numbers, policy_numbers
from bench.fit.timing import ratios_of
from bench.fit.variants import NEUTRAL, Variant, variants_of
from bench.rows import run_rows, write_json
from dlc.lowering.policy import Policy
from dlc.lowering.policy.record import settings
from dlc.measuring.contenders import Effort

_TABLES = {"gemm": lambda: list(gemm.CASES), "conv": lambda: list(conv.cases()), "ops": lambda: list(ops.cases())}
_WORTH = 1.01
"""A value whose absence costs less than this is not needed."""


@dataclass
class Fit:
    """What was measured of one field: ratios of each variant by table."""

    name: str
    ratios: dict[Variant, dict[str, list[float]]] = field(default_factory=dict)

    def add(self, table: str, found: Mapping[Variant, float]) -> None:
        """Add the ratios of one row of a table."""
        for variant, ratio in found.items():
            self.ratios.setdefault(variant, {}).setdefault(table, []).append(ratio)

    def mean(self, variant: Variant, table: str = "") -> float:
        """The geometric mean of a variant over one table, or all."""
        kept = [ratio for name, ratios in self.ratios.get(variant, {}).items() if not table or name == table for ratio in ratios]
        return geometric_mean(kept) if kept else 1.0

    @property
    def best(self) -> Variant | None:
        """The variant that is fastest; None where that is the default by less than what a number is worth."""
        found = min(self.ratios, key=self.mean, default=None)
        return found if found is not None and self.mean(found) < 1 / _WORTH else None

    @property
    def is_removable(self) -> bool:
        """Whether the neutral value, or else none of those tried, costs what a number is worth."""
        neutral = [one for one in self.ratios if one.label == NEUTRAL]
        return bool(self.ratios) and all(self.mean(one) < _WORTH for one in neutral or self.ratios)

    @property
    def decides(self) -> bool:
        """Whether some code differed."""
        return any(ratio != 1.0 for tables in self.ratios.values() for ratios in tables.values() for ratio in ratios)

    def lines(self, tables: Sequence[str]) -> list[str]:
        """Rows of the Markdown table."""
        found = []
        for one in self.ratios:
            means = " | ".join(f"{self.mean(one, table):.3f}" for table in tables)
            start = f"| {self.name} | {Policy().value_of(self.name):g} | {one.value:g} ({one.label})"
            found.append(f"{start} | {means} | {self.mean(one):.3f} |")
        return found


def main() -> int:
    """Print the table, the fields that may go, and the best values; status 1 where a row failed."""
    given = _options().parse_args(sys.argv[1:])
    if given.list:
        print("\n".join(map(str, sorted([*module_numbers(), *policy_numbers()], key=lambda one: (one.kind, one.file)))))
        return 0
    tables, fields = given.tables.split(","), given.fields.split(",") if given.fields else list(settings())
    unknown = [*(set(tables) - set(_TABLES)), *(set(fields) - set(settings()))]
    if unknown:
        sys.exit(f"python -m bench fit: error: no field or table is called '{unknown[0]}'; --list lists the fields")
    print(f"| field | default | value | {' | '.join(tables)} | all |\n|---|---|---|{'---|' * (len(tables) + 1)}", flush=True)
    fits, status = [], 0
    for name in fields:
        fit, failed = _measure(name, tables, given)
        fits.append(fit)
        status |= failed
        print("\n".join(fit.lines(tables)), flush=True)
    _summary(fits, given.write)
    return status


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bench fit", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--fields", default="", metavar="A,B", help="fields of the policy; all by default")
    parser.add_argument("--tables", default="gemm,conv,ops", metavar="A,B", help="tables whose rows are measured")
    parser.add_argument("--rows", type=int, default=8, help="rows of each table, spread evenly")
    parser.add_argument("--seconds", type=float, default=0.5, help="seconds of a row at most")
    parser.add_argument("--step", type=float, default=1.5, help="factor to the neighbours of a value")
    parser.add_argument("--threads", type=int, default=1, help="threads of a call")
    parser.add_argument("--write", type=Path, metavar="FILE", help="keep the best values as JSON")
    parser.add_argument("--list", action="store_true", help="list all numbers of lowering/ and their kinds, and measure nothing")
    return parser


def _measure(name: str, tables: Sequence[str], given: argparse.Namespace) -> tuple[Fit, int]:
    fit, status = Fit(name), 0
    variants = variants_of(name, given.step)
    effort = Effort(rounds=10, slot=0.01, seconds=given.seconds)
    for table in tables:

        def measure(case: Case, table: str = table) -> None:
            fit.add(table, ratios_of(case, variants, effort, given.threads))

        status |= run_rows(_spread(_TABLES[table](), given.rows), measure, lambda case, error: None)
    return fit, status


def _spread(cases: Sequence[Case], count: int) -> list[Case]:
    """So many of the cases, spread evenly."""
    count = max(1, min(count, len(cases)))
    return [cases[at * len(cases) // count] for at in range(count)]


def _summary(fits: Sequence[Fit], file: Path | None) -> None:
    best = {fit.name: fit.best.value for fit in fits if fit.best is not None}
    removable = [fit.name for fit in fits if fit.is_removable and fit.decides]
    idle = [fit.name for fit in fits if not fit.decides]
    print(f"\nfaster than the default: {json.dumps(best) if best else 'none'}")
    print(f"removable (less than 1 % is lost): {', '.join(removable) or 'none'}")
    print(f"without effect on these rows: {', '.join(idle) or 'none'}")
    write_json(file, best)


if __name__ == "__main__":
    raise SystemExit(main())
