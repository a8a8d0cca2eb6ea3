"""What this machine can do at most, measured: fused multiply-adds, and reading from each level of memory.

Loops of vector instructions alone, written at level affine and compiled by dlc's own passes. Numbers are for the threads that
ask at the same time; they are measured once a process, since that takes a quarter of a second.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline
from dlc.runtime.session import Session
from dlc.runtime.signature import Signature, TensorSpec
from dlc.targets.cpu.jit import build_session
from dlc.targets.machine import GpuMachine, host_facts

_ENTRY = "peak"
PRODUCT_SUMS = 12
"""Independent sums of products: two units with a latency of four or five cycles need eight to ten, and where there are sixteen
registers one is left for the factor (with sixteen sums AVX2 code spilled and reached 56 of 100 GFLOP/s)."""
_READ_SUMS = 16
"""Independent sums of what is read."""
_TRIPS = 100_000
_ROUNDS, _SECONDS = 7, 0.004
_BEYOND_CACHES = 4
"""Memory is read in a buffer of so many times the last cache."""
_MOST_BYTES = 256 << 20
_ENOUGH = 32 << 20
"""A part of a large shared cache says as much as half of it, which other programs use, too."""
_LEAST_READ = 64 << 20
"""A call reads so many bytes at least: 0.3 ms from L1, beside which what calling it from Python takes is nothing."""


@dataclass(frozen=True)
class MemoryLevel:
    """A level of memory: how much it holds, and bytes per second that are read from it."""

    name: str
    size: int
    rate: float


@dataclass(frozen=True)
class Peaks:
    """`flops` (f32 operations per second), and the levels of memory from the nearest on; the last one holds everything."""

    threads: int
    flops: float
    levels: tuple[MemoryLevel, ...]

    def level_of(self, size: float) -> MemoryLevel:
        """The nearest level that holds `size` bytes."""
        return next((level for level in self.levels[:-1] if size <= level.size), self.levels[-1])

    def least_seconds(self, flops: float, moved: float) -> float:
        """The roofline: no code that computes `flops` and touches `moved` bytes takes less.

        What fits a cache is read from there, as if it were there already.
        """
        return max(flops / self.flops, moved / self.level_of(moved).rate)


@functools.lru_cache
def measure_peaks(threads: int = 1) -> Peaks:
    """The peaks of `threads` threads."""
    facts = host_facts()
    flops = _together(fma_loop, threads) * fma_operations()
    sizes = [("L1", facts.l1_bytes), ("L2", facts.l2_bytes), ("L3", facts.l3_bytes // threads)]
    levels = [MemoryLevel(name, size, _read_rate(min(size // 2, _ENOUGH), threads)) for name, size in sizes]
    beyond = min(_BEYOND_CACHES * facts.l3_bytes, _MOST_BYTES)
    return Peaks(threads, flops, (*levels, MemoryLevel("memory", beyond, _read_rate(beyond, threads))))


def peaks_of(facts: GpuMachine) -> Peaks:
    """The peaks of a GPU by its figures: f32 without tensor cores, and its memory."""
    rate = facts.clock_mhz * 1e6
    memory = MemoryLevel("memory", _MOST_BYTES, facts.memory_bytes_per_cycle * rate)
    return Peaks(1, 2.0 * facts.fma_per_cycle * facts.multiprocessors * rate, (memory,))


def fma_operations() -> float:
    """Floating-point operations of a call of `fma_loop()`."""
    return 2.0 * host_facts().lanes(32) * PRODUCT_SUMS * _TRIPS


def fma_loop() -> Callable[[], None]:
    """A function that runs independent multiply-adds of vectors, and nothing else."""
    lanes = host_facts().lanes(32)
    kind = f"vector<{lanes}xf32>"
    fused = host_facts().has_fma
    body = [f"%b{i} = vector.fma %x, %x, %a{i} : {kind}" for i in range(PRODUCT_SUMS)]
    if not fused:  # a multiplication and an addition each
        body = [f"%p{i} = arith.mulf %x, %x : {kind}\n%b{i} = arith.addf %p{i}, %a{i} : {kind}" for i in range(PRODUCT_SUMS)]
    return _compiled(_loop(PRODUCT_SUMS, lanes, lanes, f"0 to {_TRIPS}", body), np.zeros(lanes, np.float32))


def _read_rate(size: int, threads: int) -> float:
    """Bytes per second of all threads that read `size` bytes each, again and again."""
    lanes = host_facts().lanes(32)
    step = lanes * _READ_SUMS
    count = max(1, size // (4 * step)) * step
    passes = max(1, _LEAST_READ // (4 * count))
    return _together(lambda: _read_loop(count, passes, lanes, step), threads) * 4 * count * passes


def _read_loop(count: int, passes: int, lanes: int, step: int) -> Callable[[], None]:
    kind, buffer = f"vector<{lanes}xf32>", f"memref<{count}xf32>"
    body = []
    for i in range(_READ_SUMS):
        body.append(f"%v{i} = affine.vector_load %m[%i + {i * lanes}] : {buffer}, {kind}")
        body.append(f"%b{i} = arith.addf %v{i}, %a{i} : {kind}")
    return _compiled(_loop(_READ_SUMS, count, lanes, f"0 to {count} step {step}", body, passes), np.zeros(count, np.float32))


def _loop(sums: int, count: int, lanes: int, bounds: str, body: list[str], passes: int = 1) -> str:
    """A function with a loop, run `passes` times, that carries vectors `%a<i>` to `%b<i>`; their sum is stored, so it is needed."""
    kind, buffer = f"vector<{lanes}xf32>", f"memref<{count}xf32>"
    outer = ", ".join(f"%o{i} = %x" for i in range(sums))
    inner = ", ".join(f"%a{i} = %o{i}" for i in range(sums))
    kinds = ", ".join([kind] * sums)
    total = "\n".join(f"%s{i + 1} = arith.addf %s{i}, %r#{i} : {kind}" for i in range(sums))
    lines = "\n".join(body)
    return f"""func.func @{_ENTRY}(%m: {buffer}) -> memref<{lanes}xf32> {{
      %x = affine.vector_load %m[0] : {buffer}, {kind}
      %r:{sums} = affine.for %pass = 0 to {passes} iter_args({outer}) -> ({kinds}) {{
        %q:{sums} = affine.for %i = {bounds} iter_args({inner}) -> ({kinds}) {{
          {lines}
          affine.yield {", ".join(f"%b{i}" for i in range(sums))} : {kinds}
        }}
        affine.yield {", ".join(f"%q#{i}" for i in range(sums))} : {kinds}
      }}
      %s0 = arith.constant dense<0.0> : {kind}
      {total}
      %out = memref.alloc() : memref<{lanes}xf32>
      affine.vector_store %s{sums}, %out[0] : memref<{lanes}xf32>, {kind}
      return %out : memref<{lanes}xf32>
    }}"""


def _compiled(text: str, values: np.ndarray) -> Callable[[], None]:
    lanes = host_facts().lanes(32)
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        Pipeline(["convert-affine-to-llvm"]).run(module)
        signature = Signature(_ENTRY, (TensorSpec("m", values.shape, "f32"),), (TensorSpec("out", (lanes,), "f32"),))
        session: Session = build_session(module, signature, {}, num_threads=1)

    def call() -> None:
        session(values)

    return call


def _together(make: Callable[[], Callable[[], None]], threads: int) -> float:
    """Calls per second of `threads` functions that run at the same time: the best round, since others only slow them."""
    calls = [make() for _ in range(threads)]
    begin = time.perf_counter()
    calls[0]()
    calls[0]()
    count = max(1, round(2 * _SECONDS / (time.perf_counter() - begin)))

    def repeat(call: Callable[[], None]) -> None:
        for _ in range(count):
            call()

    rates = []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(_ROUNDS):
            begin = time.perf_counter()
            list(pool.map(repeat, calls))
            rates.append(threads * count / (time.perf_counter() - begin))
    return max(rates)
