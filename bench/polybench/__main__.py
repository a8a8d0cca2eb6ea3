"""Times the kernels of PolyBench and nests of deep learning, compiled by dlc from affine loops, beside the same loops in C.

    python -m bench polybench [name-part ...] [--size LARGE] [--dtype f64] [--threads 1] [--vs clang,polly] [--pipeline "..."]
        [--baseline FOLDER]

Arrays get PolyBench's initial values before each call, which is not timed. With several threads, dlc's code on one takes its
turn, too: the table has the speed-up, and results must have the same bits. `python -m bench polybench --source gemm` prints the C.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from bench.options import add_baseline, check_baseline, effort_of, shared_options
from bench.polybench.compiled import DEFAULT_PIPELINE
from bench.polybench.measuring import Job
from bench.polybench.native import find_compilers, kernel_source
from bench.polybench.sizes import CLASSES
from bench.polybench.suite import DTYPES, Kernel, suite
from bench.polybench.table import Table
from bench.rows import run_rows
from dlc.errors import DLCError
from dlc.lowering.pipeline import Pipeline
from dlc.measuring.contenders import Effort
from dlc.measuring.engines import BASELINE

_DEFAULT = Effort(rounds=9, slot=0.02, seconds=3.0, least_rounds=2, probes=1)
"""A call of a LARGE kernel takes a fraction of a second to half a minute."""


def main() -> int:
    """Print the table; status 1 when dlc fails on a kernel or gives a wrong result."""
    parser = _parser()
    given = parser.parse_args()
    check_baseline(parser, given.baseline)
    kernels = _chosen(given.parts)
    if given.source:
        for kernel in kernels:
            print(kernel_source(kernel, given.size, given.dtype))
        return 0
    names = [name for name in given.vs.split(",") if name]
    try:
        Pipeline.parse(given.pipeline, "--pipeline")
        compilers, missing = find_compilers(names, given.threads)
    except DLCError as error:
        print(error, file=sys.stderr)
        return 2
    effort = effort_of(given, _DEFAULT)
    job = Job(given.size, given.dtype, given.threads, given.pipeline, compilers, effort, not given.no_check, given.baseline)
    names = list(dict.fromkeys([*([BASELINE] if given.baseline else []), *names, *(each.name for each in compilers)]))
    table = Table(job, names, given.json, missing)
    table.print_head()
    status = run_rows(kernels, table.measure, table.fail)
    return table.finish(given.plot) or status


def _chosen(parts: Sequence[str]) -> list[Kernel]:
    """The kernels whose names hold one of the parts, all without any; a whole name (`lu`) chooses that kernel alone."""

    def fits(name: str) -> bool:
        return any(part == name or (part in name and part not in suite()) for part in parts)

    return [kernel for name, kernel in suite().items() if not parts or fits(name)]


def _parser() -> argparse.ArgumentParser:
    parser = shared_options("polybench", (__doc__ or "").split("\n")[0], "clang,polly", _DEFAULT)
    add_baseline(parser)
    parser.add_argument("--size", choices=CLASSES, default="LARGE", help="class of sizes (default: LARGE)")
    parser.add_argument("--dtype", choices=tuple(DTYPES), default="f64", help="element type (default: f64)")
    parser.add_argument("--pipeline", default=DEFAULT_PIPELINE, help=f"dlc's passes (default: {DEFAULT_PIPELINE})")
    parser.add_argument("--no-check", action="store_true", help="do not compare results with NumPy's")
    parser.add_argument("--source", action="store_true", help="print the kernels as C and end")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
