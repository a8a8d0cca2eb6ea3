"""Matrix products and convolutions by the generic affine path alone, the share of the measured peak of one core.

python -m bench generic [name-part ...] [--pipeline "..."] [--seconds 2]

Sums keep the order of the text. The peak is measured in turns with each nest, both in the time of the processor: by the clock, a
program beside them halves the share of a nest of 30 ms and leaves the peak's half a millisecond alone.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from bench.polybench.compiled import DEFAULT_PIPELINE, compile_text
from bench.polybench.suite import DTYPES, copied
from dlc.measuring.peaks import fma_loop, fma_operations
from dlc.runtime.library import load_library

_SYMBOL = "nest"


@dataclass(frozen=True)
class Array:
    """An argument: its shape, and how the nest's loops make its subscripts."""

    shape: tuple[int, ...]
    subscripts: str


@dataclass(frozen=True)
class Nest:
    """`out[..] += left[..] * right[..]` in loops of these extents, the outermost first, for each of a type."""

    name: str
    dtype: str
    loops: tuple[tuple[str, int], ...]
    left: Array
    right: Array
    out: Array

    @property
    def operations(self) -> int:
        """Multiplications and additions."""
        return 2 * prod(extent for _, extent in self.loops)

    def text(self) -> str:
        """The module of level affine."""
        arrays = (self.left, self.right, self.out)
        kinds = [f"memref<{'x'.join(map(str, array.shape))}x{self.dtype}>" for array in arrays]
        places = [f"%m{at}[{array.subscripts}] : {kind}" for at, (array, kind) in enumerate(zip(arrays, kinds, strict=True))]
        arguments = ", ".join(f"%m{at}: {kind} {{llvm.noalias}}" for at, kind in enumerate(kinds))
        heads = "\n".join(f"affine.for %{name} = 0 to {extent} {{" for name, extent in self.loops)
        return f"""func.func @{_SYMBOL}({arguments}) {{
          {heads}
          %one = affine.load {places[0]}
          %other = affine.load {places[1]}
          %sum = affine.load {places[2]}
          %product = arith.mulf %one, %other : {self.dtype}
          %new = arith.addf %sum, %product : {self.dtype}
          affine.store %new, {places[2]}
          {"}" * len(self.loops)}
          return
        }}"""

    def arguments(self) -> list[np.ndarray]:
        """Numbers between 0 and 1, and zeros for the result."""
        numbers = np.random.default_rng(0)
        left, right = (numbers.random(array.shape).astype(DTYPES[self.dtype]) for array in (self.left, self.right))
        return [left, right, np.zeros(self.out.shape, DTYPES[self.dtype])]


def product(m: int, n: int, k: int, dtype: str, *, left: str = "n", right: str = "n") -> Nest:
    """A product of matrices; `t` for one that is stored transposed."""
    first = Array((m, k), "%i, %k") if left == "n" else Array((k, m), "%k, %i")
    second = Array((k, n), "%k, %j") if right == "n" else Array((n, k), "%j, %k")
    loops = (("i", m), ("j", n), ("k", k))
    return Nest(f"matmul-{left}{right} {m}x{n}x{k}", dtype, loops, first, second, Array((m, n), "%i, %j"))


def channels_last(size: int, inner: int, outer: int, dtype: str = "f32") -> Nest:
    """A 3x3 convolution of an image that is padded already, channels innermost."""
    loops = (("h", size), ("w", size), ("f", outer), ("r", 3), ("s", 3), ("c", inner))
    image = Array((size + 2, size + 2, inner), "%h + %r, %w + %s, %c")
    kernel = Array((3, 3, inner, outer), "%r, %s, %c, %f")
    out = Array((size, size, outer), "%h, %w, %f")
    return Nest(f"conv3x3-nhwc {size}x{size} {inner}->{outer}", dtype, loops, image, kernel, out)


def channels_first(size: int, inner: int, outer: int, dtype: str = "f32") -> Nest:
    """The same, channels outermost."""
    loops = (("f", outer), ("h", size), ("w", size), ("c", inner), ("r", 3), ("s", 3))
    image = Array((inner, size + 2, size + 2), "%c, %h + %r, %w + %s")
    kernel = Array((outer, inner, 3, 3), "%f, %c, %r, %s")
    out = Array((outer, size, size), "%f, %h, %w")
    return Nest(f"conv3x3-nchw {size}x{size} {inner}->{outer}", dtype, loops, image, kernel, out)


NESTS = (
    product(1024, 1024, 1024, "f32"),
    product(1024, 1024, 1024, "f64"),
    product(1000, 1100, 1200, "f32"),
    product(1024, 1024, 1024, "f32", right="t"),
    product(1024, 1024, 1024, "f32", left="t"),
    channels_last(56, 64, 64),
    channels_last(28, 128, 128),
    channels_first(56, 64, 64),
    channels_first(28, 128, 128),
)


def bound(nest: Nest, pipeline: str, arguments: Sequence[np.ndarray]) -> Callable[[], None]:
    """The compiled nest with its arguments."""
    return compile_text(nest.text(), _SYMBOL, pipeline).bind(list(arguments))


def main() -> int:
    """Print the table."""
    given = _parser().parse_args()
    load_library().set_num_threads(1)
    peak = fma_loop()
    print(f"{given.pipeline}, 1 thread\n| nest | type | ms | GFLOP/s | of peak |\n|:---|:---|---:|---:|---:|")
    for nest in NESTS:
        if given.parts and not any(part in nest.name for part in given.parts):
            continue
        call = bound(nest, given.pipeline, copied(nest.arguments()))
        own, best = _by_turns(call, peak, given.seconds)
        rate, most = nest.operations / own, fma_operations() / best / (2 if nest.dtype == "f64" else 1)
        print(f"| {nest.name} | {nest.dtype} | {own * 1e3:.3g} | {rate * 1e-9:.1f} | {rate / most:.0%} |", flush=True)
    return 0


def _by_turns(one: Callable[[], None], other: Callable[[], None], seconds: float) -> tuple[float, float]:
    """The median seconds of the processor that each of two calls takes."""
    times: tuple[list[float], list[float]] = ([], [])
    one()
    other()
    end = time.thread_time() + seconds
    while time.thread_time() < end or len(times[0]) < 3:
        for call, found in zip((one, other), times, strict=True):
            begin = time.thread_time()
            call()
            found.append(time.thread_time() - begin)
    return statistics.median(times[0]), statistics.median(times[1])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench generic", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="name-part", help="nests whose names hold one of these (default: all)")
    parser.add_argument("--pipeline", default=DEFAULT_PIPELINE, help=f"dlc's passes (default: {DEFAULT_PIPELINE})")
    parser.add_argument("--seconds", type=float, default=2.0, help="time for each nest (default: 2)")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
