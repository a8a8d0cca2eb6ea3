"""Measures all figures of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from dlc.runtime.library import load_library
from dlc.targets.cpu.calibration import instructions, memory
from dlc.targets.cpu.calibration.loops import Code, aligned
from dlc.targets.cpu.calibration.sampling import Clock, Figure, Sampler, Steps
from dlc.targets.machine import Machine

Progress = Callable[[str], None]
DEFAULT_SECONDS = 0.16
"""Seconds of a figure. There are about 40."""
_PASSES = 2
_AGREE = 0.1
"""Two measurements of a figure agree if they differ by no more than this."""
_RATE, _FORK = "bytes_per_cycle", "fork_cycles"
_MEETING_BYTES = 64
_NEAR_PORTS = 0.2
"""Multiply-adds a cycle are a number of ports if they are as near to it."""


@dataclass(frozen=True)
class Measured:
    """Figures by their path in `Machine`, in cycles or bytes a cycle, and the clock and cores that they were measured with."""

    figures: Mapping[str, Figure]
    clock_ghz: float
    cores: int = 1


def measure(machine: Machine, seconds: float = DEFAULT_SECONDS, progress: Progress | None = None) -> Measured:
    """All figures of this machine, which has the features, sizes and cores of `machine`; about `seconds` each.

    Each is measured twice, some seconds apart, and a third time where that differs.
    """
    bench = _Bench(machine, seconds / _PASSES, progress or _silent)
    passes = [dict(bench.figures(_all)) for _ in range(_PASSES)]
    differing = {path for path in passes[0] if not _agreed([each[path] for each in passes]).spread <= _AGREE}
    passes.append(dict(bench.figures(differing.__contains__)) if differing else {})
    found = {path: _agreed([each[path] for each in passes if path in each]) for path in passes[0]}
    rates = {path: _inverse(figure) if path.endswith(_RATE) else figure for path, figure in found.items()}
    return Measured(rates | _ports(rates), 1e-9 / bench.sampler.cycle_seconds, machine.cores)


def _agreed(figures: Sequence[Figure]) -> Figure:
    """The lowest of several, since others only slow things; its spread is how far the next one is from it, if that is more."""
    best, second, *_ = sorted(figures, key=lambda figure: figure.value)
    return Figure(best.value, max(best.spread, second.value / best.value - 1))


class _Bench:
    """The loops, compiled, and what they run on."""

    def __init__(self, machine: Machine, seconds: float, progress: Progress) -> None:
        self._machine, self._progress = machine, progress
        self._loops = instructions.loops(machine)
        self._read, self._chase, clock = memory.read_loop(machine), memory.chase_loop(), instructions.clock_loop()
        every = [clock, *self._loops.values(), self._read, self._chase]
        names = [*(loop.name for loop in every), memory.FORK]
        self._code = Code([*(loop.text() for loop in every), memory.fork_text()], names)
        self._operands = instructions.buffer()
        self.sampler = Sampler(Clock(self._steps(clock.name, self._operands), clock.count), seconds)

    def figures(self, wanted: Callable[[str], bool]) -> Iterator[tuple[str, Figure]]:
        """Those that are wanted, in cycles; rates in cycles a byte."""
        for path, loop in self._loops.items():
            if wanted(path):
                self._progress(path)
                yield path, self.sampler.measure(self._steps(loop.name, self._operands, instructions.mask()), loop.count)
        for place in memory.places(self._machine):
            yield from self._level(place, wanted)
        if wanted(_FORK) and self._machine.cores > 1:
            self._progress(_FORK)
            with _threads_of_calls(self._machine.cores):
                yield _FORK, self.sampler.measure(self._steps(memory.FORK, aligned(_MEETING_BYTES), self._machine.cores), 1)

    def _level(self, place: memory.Place, wanted: Callable[[str], bool]) -> Iterator[tuple[str, Figure]]:
        """Latency and bandwidth of a level; of memory, that of all cores, too."""
        latency, rate, total = f"{place.level}.latency", f"{place.level}.{_RATE}", f"{place.level}.total_{_RATE}"
        if not any(wanted(path) for path in (latency, rate, total)):
            return
        lines = memory.linked(place.size, self._machine.line_bytes)
        if wanted(latency):
            self._progress(latency)
            yield latency, self.sampler.measure(self._steps(self._chase.name, lines), self._chase.count)
        if wanted(rate):
            self._progress(rate)
            steps = self._steps(self._read.name, lines, place.size - self._read.count)
            yield rate, self.sampler.measure(steps, self._read.count)
        if wanted(total) and place.level == "memory" and self._machine.cores > 1:
            self._progress(total)
            yield total, self._together(max(memory.LEAST_OF_CORE, 1 << ((place.size // self._machine.cores).bit_length() - 1)))

    def _together(self, size: int) -> Figure:
        """Cycles a byte of all cores that read at the same time, each `size` bytes of its own."""
        cores, read = self._machine.cores, self._code.run(self._read.name)
        data = aligned(cores * size)
        starts, mask = [data.ctypes.data + core * size for core in range(cores)], size - self._read.count
        with ThreadPoolExecutor(cores) as pool:

            def steps(count: int) -> None:
                list(pool.map(lambda start: read(start, count, mask), starts))

            return self.sampler.measure(steps, self._read.count * cores)

    def _steps(self, name: str, data: np.ndarray, mask: int = 0) -> Steps:
        run = self._code.run(name)

        def steps(count: int) -> None:
            run(data.ctypes.data, count, mask)

        return steps


@contextmanager
def _threads_of_calls(count: int) -> Iterator[None]:
    """Lets calls from this thread use so many threads meanwhile."""
    before = load_library().set_num_threads(count)
    try:
        yield
    finally:
        load_library().set_num_threads(before)


def _all(path: str) -> bool:
    return True


def _silent(what: str) -> None:
    return


def _inverse(figure: Figure) -> Figure:
    return Figure(1.0 / figure.value, figure.spread)


def _ports(found: Mapping[str, Figure]) -> dict[str, Figure]:
    """How many multiply-adds start in a cycle, where that is about a whole number."""
    fma = found.get("instructions.fma_f32.cycles")
    if fma is None:
        return {}
    starts = 1.0 / fma.value
    is_whole = round(starts) >= 1 and abs(starts - round(starts)) <= _NEAR_PORTS * round(starts)
    return {"fma_ports": Figure(float(round(starts)), fma.spread)} if is_whole else {}
