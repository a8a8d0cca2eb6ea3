"""Where the time of a model goes: by kernel, measured while it runs, beside what each kernel computes and moves.

    found = profile_of(file, inputs, threads=1, effort=Effort())
    found.rows[0].share                    # of the time of a call

The rows are the kernels, the entry's own time between them (allocation, slices, checks), starting and awaiting threads, and
what calling the model from Python takes around that. All are measured in the same calls, and freed of what charging takes, whose
cost for one row is measured in every round (`charges.py`). The time of a call of the model without a profile is measured by
turns in the same rounds; `bias` is by how much the sum of the rows differs from it. Times are means over the faster half of the
rounds: medians of rows would not add up, and means over all rounds hold what other programs did. The bias is the median over
rounds of the ratio of both.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import dlc
from dlc._mlir import ir
from dlc.accuracy import Precision, with_accuracy
from dlc.analysis.call_costs import call_costs
from dlc.analysis.kernel_costs import Amount, KernelCost
from dlc.donation import donating
from dlc.lowering.linalg.relayout import original_name
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.stages import stage_of
from dlc.measuring.charges import Charges
from dlc.measuring.contenders import Effort
from dlc.measuring.engines import Arrays
from dlc.measuring.peaks import Peaks, fma_loop, fma_operations, measure_peaks, peaks_of
from dlc.measuring.samples import median_ratio
from dlc.option_values import DEFAULT_TARGET
from dlc.runtime.library import load_library
from dlc.runtime.signature import TensorSpec
from dlc.sources import InputValues, ShapeOverrides, Source, copy_module, read_source
from dlc.targets.machine import GpuMachine
from dlc.targets.registry import find_target
from dlc.weights import WeightRecipe, params_of

ENTRY = "entry"
THREADS = "threads: start and wait"
CALL = "call from Python"
OTHERS = (ENTRY, THREADS, CALL)
"""Rows that are no kernels; they end the table."""
_PAIRS, _TRIES = 100, 3
"""Charges that are timed in each round; the least of the tries, since others only slow them."""
PROFILE_SLOT = 0.004
"""Seconds of a turn that suit profiles: shorter than what another program takes of a processor at once, so many are undisturbed."""


@dataclass(frozen=True)
class ProfileRow:
    """One kernel, or one of `OTHERS`, in one call of the model.

    `calls` of the kernel take `seconds` together, and compute `flops` and move `bytes`;
    None where sizes are not known. `of_peak` is the least time that the machine's peaks allow, over the time taken.
    """

    name: str
    calls: int
    seconds: float
    share: float
    flops: int | None = None
    bytes: int | None = None
    of_peak: float | None = None


@dataclass(frozen=True)
class Profile:
    """Rows by time, the slowest first. `total` is the seconds of a call of the model without a profile.

    `charges` is how often a clock is read in a call with a profile, and `charge_seconds` what one reading takes; no row has it.
    """

    rows: tuple[ProfileRow, ...]
    total: float
    rounds: int
    peaks: Peaks
    charges: int = 0
    charge_seconds: float = 0.0

    @property
    def sum(self) -> float:
        """Seconds of all rows."""
        return sum(row.seconds for row in self.rows)

    @property
    def bias(self) -> float:
        """The sum of the rows over the time of a call without a profile, less 1."""
        return self.sum / self.total - 1 if self.total else 0.0

    @property
    def kernels(self) -> tuple[ProfileRow, ...]:
        """The rows that are kernels."""
        return tuple(row for row in self.rows if row.name not in OTHERS)

    @property
    def peak_share(self) -> float:
        """The least time that the peaks allow all kernels with known costs, over the time that these take."""
        known = [row for row in self.rows if row.of_peak is not None]
        taken = sum(row.seconds for row in known)
        return sum(row.seconds * (row.of_peak or 0.0) for row in known) / taken if taken else 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain data with the keys that docs/benchmarks.md documents; times in seconds."""
        levels = [vars(level) for level in self.peaks.levels]
        return {
            "total": self.total,
            "sum": self.sum,
            "bias": self.bias,
            "charges": self.charges,
            "charge_seconds": self.charge_seconds,
            "rounds": self.rounds,
            "peaks": {"threads": self.peaks.threads, "flops": self.peaks.flops, "levels": levels},
            "rows": [vars(row) for row in self.rows],
        }


def costs_of(source: Source) -> dict[str, KernelCost]:
    """What each kernel of a model at level dl costs, by name, in sizes of the inputs; nothing is known at other levels."""
    if stage_of(source.module) != "dl":
        return {}
    module = copy_module(source)
    known = tuple(spec.name for spec in params_of(module))
    with module.context, ir.Location.unknown():
        Pipeline(["dl-optimize"]).run(module)
    WeightRecipe.take(module, known)
    return call_costs(module.operation)


def profile_of(
    model: Path,
    inputs: Arrays,
    threads: int,
    effort: Effort,
    shapes: ShapeOverrides | None = None,
    donate: Sequence[str] = (),
    precision: Precision | None = None,
    lenient: bool = False,
    timeout: float | None = None,
    schedule: str | None = None,
    values: InputValues | None = None,
    target: str = DEFAULT_TARGET,
) -> Profile:
    """Compile a model in this process and measure; raises what `dlc.compile` raises."""
    source = with_accuracy(read_source(model, shapes=shapes, lenient=lenient, values=values), precision=precision)
    plain = dlc.compile(source, target, threads, donate=donate, timeout=timeout, schedule=schedule)
    inputs = {spec.name: inputs[spec.name] for spec in plain.inputs}
    return measure_profile(plain, inputs, costs_of(donating(source, donate) if donate else source), effort)


def measure_profile(plain: dlc.CompiledModel, inputs: Arrays, costs: Mapping[str, KernelCost], effort: Effort) -> Profile:
    """Run a model and its twin with a profile by turns of some calls; `costs` are those of its kernels.

    Both read the same weights: copies lie elsewhere in the caches, which made differences of 5 % for weights as large as L2.
    """
    profiled, given = plain.with_profile(), dict(inputs)
    for model in (profiled, plain):
        model(given)
    count = max(1, round(effort.slot / max(_sample(plain, given, 1).seconds, 1e-7)))
    threads = load_library().num_threads() if plain.options.num_threads is None else plain.options.num_threads
    machine = find_target(plain.options.target).machine(plain.options.target)
    on_gpu = isinstance(machine, GpuMachine)
    peaks, loop = (peaks_of(machine), _nothing) if isinstance(machine, GpuMachine) else (measure_peaks(threads), fma_loop())
    rounds: list[ProfileRound] = []
    end = time.perf_counter() + effort.seconds
    while len(rounds) < effort.least_rounds or (time.perf_counter() < end and len(rounds) < effort.rounds):
        rounds.append(_round(plain, profiled, given, count, loop, swap=bool(len(rounds) % 2)))
    rounds.sort(key=lambda each: each.plain.seconds + each.profiled.seconds)
    loops = [each.loop for each in rounds[: (len(rounds) + 1) // 2]]
    now = peaks if on_gpu else Peaks(threads, fma_operations() * threads / statistics.fmean(loops), peaks.levels)
    return summarize_rounds(profiled.profiled, rounds, costs, _sizes(profiled.inputs, given), now)


def _nothing() -> None:
    """Stands for a loop that tells the mood of a CPU."""


def summarize_rounds(
    names: Sequence[str], rounds: Sequence[ProfileRound], costs: Mapping[str, KernelCost], sizes: Mapping[str, int], peaks: Peaks
) -> Profile:
    """The profile that rounds, the fastest first, tell; `names` are those of the rows from row 1 on."""
    kept = [each.profiled for each in rounds[: (len(rounds) + 1) // 2]]
    rows = _rows(names, [sample.without_cost() for sample in kept], costs, sizes, peaks)
    slower = median_ratio([each.profiled.without_cost().seconds for each in rounds], [each.plain.seconds for each in rounds])
    total = sum(row.seconds for row in rows) / slower
    return Profile(rows, total, len(rounds), peaks, round(kept[0].count), statistics.median(each.cost for each in kept))


def _seconds_of(call: Callable[[], None]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


@dataclass(frozen=True)
class ProfileRound:
    """Calls without and with a profile, and seconds of a loop of multiply-adds."""

    plain: Charges
    profiled: Charges
    loop: float


def _sample(model: dlc.CompiledModel, inputs: dict[str, np.ndarray], count: int) -> Charges:
    """The mean over `count` calls; where they are several, a call before brings code and data back into the caches."""
    library = load_library()
    if count > 1:
        model(inputs)
    library.profile_reset()
    begin = time.perf_counter()
    for _ in range(count):
        model(inputs)
    seconds = (time.perf_counter() - begin) / count
    if not model.profiled:
        return Charges(seconds)
    rows = [_of_one(charged, count) for charged in library.profile_rows()]
    threads = _of_one(library.profile_threads(), count)
    return Charges(seconds, rows, threads, min(library.profile_cost(_PAIRS) for _ in range(_TRIES)) * 1e-9)


def _of_one(charged: tuple[int, int], count: int) -> tuple[float, float]:
    """Times and seconds for one of `count` calls."""
    return charged[0] / count, charged[1] * 1e-9 / count


def _round(
    plain: dlc.CompiledModel,
    profiled: dlc.CompiledModel,
    inputs: dict[str, np.ndarray],
    count: int,
    loop: Callable[[], None],
    swap: bool,
) -> ProfileRound:
    """One turn of each; `swap` lets the profile begin."""
    order = (profiled, plain) if swap else (plain, profiled)
    first, second = (_sample(model, inputs, count) for model in order)
    return ProfileRound(*((second, first) if swap else (first, second)), _seconds_of(loop))


def _sizes(specs: Sequence[TensorSpec], inputs: Arrays) -> dict[str, int]:
    """The sizes of named dims."""
    dims = (pair for spec in specs for pair in zip(spec.shape, inputs[spec.name].shape, strict=True))
    return {name: size for name, size in dims if isinstance(name, str)}


def _rows(
    names: Sequence[str], samples: Sequence[Charges], costs: Mapping[str, KernelCost], sizes: Mapping[str, int], peaks: Peaks
) -> tuple[ProfileRow, ...]:
    def mean(row: int) -> float:
        return statistics.fmean(sample.row(row)[1] for sample in samples)

    times = [round(samples[-1].row(row)[0]) for row in range(len(names) + 1)]
    waited = statistics.fmean(sample.threads[1] for sample in samples)
    others = [ProfileRow(ENTRY, 1, mean(0), 0.0), ProfileRow(CALL, 1, statistics.fmean(sample.around for sample in samples), 0.0)]
    if samples[-1].threads[0]:
        others.insert(1, ProfileRow(THREADS, round(samples[-1].threads[0]), waited, 0.0))
    found = [
        _kernel(name, times[row], mean(row), costs.get(original_name(name)), sizes, peaks) for row, name in enumerate(names, 1)
    ]
    total = sum(row.seconds for row in (*found, *others))
    ordered = [*sorted(found, key=lambda row: -row.seconds), *others]
    return tuple(_shared(row, total) for row in ordered)


def _shared(row: ProfileRow, total: float) -> ProfileRow:
    return replace(row, share=row.seconds / total if total else 0.0)


def _kernel(name: str, calls: int, seconds: float, cost: KernelCost | None, sizes: Mapping[str, int], peaks: Peaks) -> ProfileRow:
    flops = _known(cost.flops, sizes) if cost else None
    moved = _known(Amount.sum([cost.bytes_read, cost.bytes_written]), sizes) if cost else None
    if flops is None or moved is None or not seconds:
        return ProfileRow(name, calls, seconds, 0.0, flops and flops * calls, moved and moved * calls)
    least = calls * peaks.least_seconds(flops, moved)
    return ProfileRow(name, calls, seconds, 0.0, calls * flops, calls * moved, least / seconds)


def _known(amount: Amount, sizes: Mapping[str, int]) -> int | None:
    """The number, if all sizes in it are known."""
    symbols = {symbol for term, _ in amount.terms for symbol in term}
    return amount.at(sizes) if symbols <= sizes.keys() else None
