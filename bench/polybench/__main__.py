"""Times the kernels of PolyBench and nests of deep learning, compiled by dlc from affine loops, beside the same loops in C.

    python -m bench polybench [name-part ...] [--size LARGE] [--dtype f64] [--threads 1] [--vs clang,polly] [--pipeline "..."]

Arrays get PolyBench's initial values before each call, which is not timed. `python -m bench polybench --source gemm` prints the C.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bench.comparing import processor, ratio_text, summary
from bench.options import effort_of, shared_options
from bench.polybench.compiled import DEFAULT_PIPELINE
from bench.polybench.measuring import TOLERANCE, Job, compare
from bench.polybench.native import find_compilers, kernel_source
from bench.polybench.sizes import CLASSES
from bench.polybench.suite import DTYPES, Kernel, suite
from dlc.errors import DLCError
from dlc.lowering.pipeline import Pipeline
from dlc.measuring.comparison import OURS, Comparison
from dlc.measuring.contenders import Effort

_DEFAULT = Effort(rounds=9, slot=0.02, seconds=3.0, least_rounds=2, probes=1)
"""A call of a LARGE kernel takes a fraction of a second to half a minute."""


def main() -> int:
    """Print the table; status 1 when dlc fails on a kernel or gives a wrong result."""
    given = _parser().parse_args()
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
    job = Job(given.size, given.dtype, given.threads, given.pipeline, compilers, effort_of(given, _DEFAULT), not given.no_check)
    names = list(dict.fromkeys([*names, *(each.name for each in compilers)]))
    heads = [*_describe(job), *missing]
    print("\n".join(heads), file=sys.stderr, flush=True)
    results = _run(kernels, job, names)
    _print_summaries(results, names)
    if given.json:
        given.json.write_text(json.dumps(_document(job, heads, results), indent=2) + "\n", encoding="utf-8")
    if given.plot:
        from bench.plots import plot_ratios

        plot_ratios(results, names, given.plot)
    return int(not all(result.correct(TOLERANCE[job.dtype]) for result in results))


def _chosen(parts: Sequence[str]) -> list[Kernel]:
    """The kernels whose names hold one of the parts, all without any; a whole name (`lu`) chooses that kernel alone."""

    def fits(name: str) -> bool:
        return any(part == name or (part in name and part not in suite()) for part in parts)

    return [kernel for name, kernel in suite().items() if not parts or fits(name)]


def _parser() -> argparse.ArgumentParser:
    parser = shared_options("polybench", (__doc__ or "").split("\n")[0], "clang,polly", _DEFAULT)
    parser.add_argument("--size", choices=CLASSES, default="LARGE", help="class of sizes (default: LARGE)")
    parser.add_argument("--dtype", choices=tuple(DTYPES), default="f64", help="element type (default: f64)")
    parser.add_argument("--pipeline", default=DEFAULT_PIPELINE, help=f"dlc's passes (default: {DEFAULT_PIPELINE})")
    parser.add_argument("--no-check", action="store_true", help="do not compare results with NumPy's")
    parser.add_argument("--source", action="store_true", help="print the kernels as C and end")
    return parser


def _describe(job: Job) -> list[str]:
    """What is compared, a line each."""
    count = f"{job.threads} thread{'s' if job.threads > 1 else ''}"
    one = ", one thread" if job.threads > 1 else ""
    return [f"{OURS}: {job.pipeline}, {count}", *(each.describe() + one * (each.name != "polly") for each in job.compilers)]


def _run(kernels: Sequence[Kernel], job: Job, others: Sequence[str]) -> list[Comparison]:
    """A row of the table as soon as it is measured."""
    columns = _columns(others, TOLERANCE[job.dtype])
    print(f"| {' | '.join(columns)} |\n|:---|{'---:|' * (len(columns) - 1)}", flush=True)
    results = []
    for kernel in kernels:
        result = compare(kernel, job)
        results.append(result)
        print(f"| {' | '.join(show(result) for show in columns.values())} |", flush=True)
        for note in _notes(result, TOLERANCE[job.dtype]):
            print(note, file=sys.stderr, flush=True)
    return results


def _columns(others: Sequence[str], tolerance: float) -> dict[str, Callable[[Comparison], str]]:
    """What shows each column, by its title."""
    columns: dict[str, Callable[[Comparison], str]] = {"kernel": lambda result: result.model}
    for name in (OURS, *others):
        columns[f"{name}, ms"] = lambda result, name=name: _cell(result, name, lambda entry: f"{entry.median * 1e3:.4g}")
    for name in others:
        columns[f"{name} / {OURS}"] = lambda result, name=name: _cell(result, name, lambda entry: ratio_text(entry.ratio))
    columns["compile, s"] = lambda result: _cell(result, OURS, lambda entry: f"{entry.load_seconds:.2f}")
    columns["relative error"] = lambda result: _cell(result, OURS, lambda entry: _error(entry.error, tolerance))
    return columns


def _cell(result: Comparison, name: str, show: Callable[[Any], str]) -> str:
    entry = result.of(name)
    return show(entry) if entry else "fails" if name == OURS else "-"


def _error(error: float | None, tolerance: float) -> str:
    if error is None:
        return ""
    return f"{error:.1e}" if error <= tolerance else f"**{error:.1e}**"


def _notes(result: Comparison, tolerance: float) -> Iterator[str]:
    """Why a side has no time, and whose results are wrong."""
    for entry in result.results:
        if entry.failure:
            yield f"{result.model}: {entry.failure}"
        elif entry.error is not None and entry.error > tolerance:
            yield f"{result.model}: the results of {entry.engine} differ from the meaning's by {entry.error:.1e} relative"


def _print_summaries(results: Sequence[Comparison], others: Sequence[str]) -> None:
    """Means over PolyBench's kernels and over the nests of deep learning."""
    for title, is_ours in (("PolyBench/C 4.2.1", False), ("nests of deep learning", True)):
        part = [result for result in results if result.model.startswith("dl-") == is_ours]
        if part:
            print("\n".join([f"\n{title}:", *list(summary(part, others, {}))[1:]]))


def _document(job: Job, heads: Sequence[str], results: Sequence[Comparison]) -> dict[str, Any]:
    head = {"processor": processor(), "threads": job.threads, "size": job.size, "dtype": job.dtype, "sides": list(heads)}
    return head | {"tolerance": TOLERANCE[job.dtype], "rows": [result.to_json() for result in results]}


if __name__ == "__main__":
    raise SystemExit(main())
