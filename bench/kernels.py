"""Single kernels alone: their time inside the model, GFLOP/s, GB/s and share of the measured peaks.

python -m bench kernels [name-part ...]      all products, convolutions and ops of the sweeps whose names hold a part
"""

from __future__ import annotations

import sys

from bench import conv, gemm, ops
from bench.cases import Case
from bench.options import read_settings
from bench.profile import profile
from bench.rows import run_rows
from dlc.measuring.contenders import Effort
from dlc.measuring.profiles import PROFILE_SLOT

HEADER = "| model | kernel | us | GFLOP/s | GB/s | of peak |\n|:---|:---|---:|---:|---:|---:|"


def main() -> int:
    """Print a row for each kernel of each model."""
    about = (__doc__ or "").split("\n")[0]
    settings = read_settings("kernels", about, "", Effort(50, PROFILE_SLOT, 1.0), sys.argv[1:])
    chosen = settings.chosen([*gemm.CASES, *conv.cases(), *ops.cases()])
    print(HEADER, flush=True)

    def measure(case: Case) -> None:
        for row in profile(case, settings).kernels:
            rates = [f"{value / row.seconds * 1e-9:.1f}" if value and row.seconds else "" for value in (row.flops, row.bytes)]
            share = "" if row.of_peak is None else f"{row.of_peak:.0%}"
            print(f"| {case.name} | {row.name} | {row.seconds * 1e6:.2f} | {' | '.join(rates)} | {share} |", flush=True)

    return run_rows(chosen, measure, lambda case, error: print(f"| {case.name} | | fails | | | |", flush=True))


if __name__ == "__main__":
    raise SystemExit(main())
