"""Where the time of models goes: whether the rows of their profiles add up, and the kernels that take most of it.

python -m bench profile [name-part ...] [--json FILE] [--plot FILE]      the plot is a roofline of all kernels
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

from bench.cases import Case
from bench.models import CASES
from bench.options import Settings, read_settings
from bench.rows import run_rows, write_json
from dlc.measuring.contenders import Effort
from dlc.measuring.profiles import PROFILE_SLOT, Profile, profile_of

TOP = 5
"""Kernels of a model that are shown."""
HEADER = "| model, kernel | calls | ms | share | GFLOP/s | GB/s | of peak |\n|:---|---:|---:|---:|---:|---:|---:|"


def profile(case: Case, settings: Settings) -> Profile:
    """The profile of a case, in this process."""
    with case.files() as (file, inputs):
        return profile_of(file, inputs, settings.threads, settings.effort, donate=case.donate)


def rows(case: Case, found: Profile) -> Iterator[str]:
    """The rows of the Markdown table of one model."""
    yield f"| **{case.name}** | | {found.total * 1e3:.4g} | sum {found.bias:+.1%} | | | {found.peak_share:.0%} |"
    for row in found.rows[:TOP]:
        rates = [f"{value / row.seconds * 1e-9:.1f}" if value and row.seconds else "" for value in (row.flops, row.bytes)]
        share = "" if row.of_peak is None else f"{row.of_peak:.0%}"
        yield f"| {row.name} | {row.calls} | {row.seconds * 1e3:.4g} | {row.share:.1%} | {rates[0]} | {rates[1]} | {share} |"


def main() -> int:
    """Print the table."""
    settings = read_settings("profile", (__doc__ or "").split("\n")[0], "", Effort(100, PROFILE_SLOT, 5.0), sys.argv[1:])
    chosen, found = settings.chosen(CASES), dict[str, Profile]()
    print(HEADER, flush=True)

    def measure(case: Case) -> None:
        found[case.name] = profile(case, settings)
        print("\n".join(rows(case, found[case.name])), flush=True)
        write_json(settings.json, [{"model": name, "profile": entry.to_json()} for name, entry in found.items()])
        gc.collect()

    status = run_rows(chosen, measure, lambda case, error: print(f"| **{case.name}** | | fails | | | | |", flush=True))
    apart = {name: abs(entry.bias) for name, entry in found.items()}
    within = sum(value <= 0.05 for value in apart.values())
    print(f"\nthe rows sum to the time of a call within 5 % on {within} of {len(apart)}")
    if settings.plot:
        from bench.plots import plot_roofline

        plot_roofline(list(found.values()), settings.plot)
    return status


if __name__ == "__main__":
    raise SystemExit(main())
