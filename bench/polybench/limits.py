"""What several threads can gain here at most: loops that only multiply, read, update or hand data over, beside each kernel.

The two processors of a shared machine are two cores, or less; their caches may be far from each other, and all share one way to
memory. What loops of these four kinds gain by the same threads in the same rounds is what a kernel can hope for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from bench.polybench.compiled import NativeFunction, compile_text
from bench.polybench.suite import copied
from dlc.measuring.contenders import Times
from dlc.measuring.peaks import PRODUCT_SUMS
from dlc.measuring.samples import median_ratio
from dlc.targets.machine import host_facts

PRODUCTS = "products"
"""The kind of loops that touch no memory."""
_PIPELINE = "affine-outline-parallel{min-work=1},convert-affine-to-llvm"
_TRIPS = 1_000_000
"""Steps of the loops of products, of all threads together: some milliseconds."""
_READ_SUMS = 16
_LEAST_MOVED = 16 << 20
"""A call moves so many bytes at least, beside which asking the pool is nothing."""
_MOST_BYTES = 64 << 20
_PASSES = 2
"""Times that a call goes over the memory at least: in the second one each thread may find what another has left."""


@dataclass(frozen=True)
class Limit:
    """A loop that `threads` threads share evenly, by its kind; `call` runs it on as many threads as are set."""

    kind: str
    threads: int
    call: Callable[[], None]

    def engine(self, threads: int) -> str:
        """What it is called among those that take turns, on so many threads."""
        return f"{self.kind} on {threads}"


def limits_of(threads: int, size: int) -> list[Limit]:
    """The loops for a kernel whose arrays have `size` bytes together.

    `products`: vector multiply-adds in registers. `reads` and `updates` (a load and a store in the same place): of so many bytes,
    each thread its own part, again and again. `exchanges`: updates of a part that another thread had in the step before.
    """
    step = host_facts().lanes(64) * _READ_SUMS
    count = max(1, min(size, _MOST_BYTES) // (8 * step * threads)) * step
    return [Limit(kind, threads, _bound(compile_limit(kind, threads, count), threads, count)) for kind in _BODIES]


def gains(limits: list[Limit], times: Mapping[str, Times]) -> dict[str, float]:
    """The time of each loop on one thread over that on its threads: the median over rounds."""
    return {limit.kind: median_ratio(times[limit.engine(1)].rounds, times[limit.engine(limit.threads)].rounds) for limit in limits}


def _bound(code: NativeFunction, threads: int, count: int) -> Callable[[], None]:
    return code.bind(copied([np.zeros((threads, count))]))


@functools.lru_cache(maxsize=16)
def compile_limit(kind: str, threads: int, count: int) -> NativeFunction:
    """The loop of that kind over `threads` parts of `count` numbers, a multiple of sixteen vectors; its argument is all of them."""
    symbol = f"limit_{kind}"
    passes = 1 if kind == PRODUCTS else max(_PASSES, _LEAST_MOVED // (8 * count * threads))
    body = "\n".join(_BODIES[kind](threads, count))
    text = f"""func.func @{symbol}(%m: {_memref(threads, count)} {{llvm.noalias}}) {{
      affine.for %pass = 0 to {passes} {{
        affine.for %t = 0 to {threads} {{
          {body}
        }} {{dlc.parallel}}
      }}
      return
    }}"""
    return compile_text(text, symbol, _PIPELINE)


def _products(threads: int, count: int) -> Iterator[str]:
    steps = [f"%b{at} = math.fma %x, %x, %a{at} : {_vector()}" for at in range(PRODUCT_SUMS)]
    if not host_facts().has_fma:
        steps = [f"%p{at} = arith.mulf %x, %x : {_vector()}" for at in range(PRODUCT_SUMS)]
        steps += [f"%b{at} = arith.addf %p{at}, %a{at} : {_vector()}" for at in range(PRODUCT_SUMS)]
    yield from _sums(threads, count, PRODUCT_SUMS, f"0 to {_TRIPS // threads}", steps)


def _reads(threads: int, count: int) -> Iterator[str]:
    lanes = host_facts().lanes(64)
    steps = [
        f"%v{at} = affine.vector_load %m[%t, %i + {at * lanes}] : {_memref(threads, count)}, {_vector()}\n"
        f"%b{at} = arith.addf %v{at}, %a{at} : {_vector()}"
        for at in range(_READ_SUMS)
    ]
    yield from _sums(threads, count, _READ_SUMS, f"0 to {count} step {lanes * _READ_SUMS}", steps)


def _sums(threads: int, count: int, sums: int, bounds: str, steps: list[str]) -> Iterator[str]:
    """A loop that carries vectors `%a<n>` to `%b<n>`, of which one stays in memory, so that all are needed."""
    kinds = ", ".join([_vector()] * sums)
    yield f"%x = affine.vector_load %m[%t, 0] : {_memref(threads, count)}, {_vector()}"
    first = ", ".join(f"%a{at} = %x" for at in range(sums))
    yield f"%r:{sums} = affine.for %i = {bounds} iter_args({first}) -> ({kinds}) {{"
    yield from steps
    yield f"affine.yield {', '.join(f'%b{at}' for at in range(sums))} : {kinds}\n}}"
    for at in range(sums):
        yield f"%s{at} = arith.addf {'%x' if at == 0 else f'%s{at - 1}'}, %r#{at} : {_vector()}"
    yield f"affine.vector_store %s{sums - 1}, %m[%t, 0] : {_memref(threads, count)}, {_vector()}"


def _updates(threads: int, count: int, part: str = "%t") -> Iterator[str]:
    lanes = host_facts().lanes(64)
    yield f"%x = arith.constant dense<1.0> : {_vector()}"
    yield f"affine.for %i = 0 to {count} step {lanes * _READ_SUMS} {{"
    for at in range(_READ_SUMS):
        place = f"%m[{part}, %i + {at * lanes}] : {_memref(threads, count)}, {_vector()}"
        yield f"%v{at} = affine.vector_load {place}\n%w{at} = arith.addf %v{at}, %x : {_vector()}"
        yield f"affine.vector_store %w{at}, {place}"
    yield "}"


def _exchanges(threads: int, count: int) -> Iterator[str]:
    yield from _updates(threads, count, f"(%t + %pass) mod {threads}")


def _vector() -> str:
    return f"vector<{host_facts().lanes(64)}xf64>"


def _memref(threads: int, count: int) -> str:
    return f"memref<{threads}x{count}xf64>"


_BODIES: Mapping[str, Callable[[int, int], Iterator[str]]] = {
    PRODUCTS: _products,
    "reads": _reads,
    "updates": _updates,
    "exchanges": _exchanges,
}
KINDS = tuple(_BODIES)
"""The kinds of loops, in the order of `limits_of`."""
