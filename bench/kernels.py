"""Speed of single kernels on one thread: prints GFLOP/s and the share of this core's measured FMA peak.

python bench/kernels.py [name-part ...]
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dlc._mlir import execution_engine, ir, runtime
from dlc.lowering.native import run_native
from dlc.lowering.registry import find_pass

PASSES = (
    "linalg-collapse-dims",
    "convert-linalg-to-affine",
    "affine-tile-registers",
    "affine-vectorize-loops",
    "canonicalize",
    "cse",
)


@dataclass(frozen=True)
class Kernel:
    """One `func.func @kernel` on static f32 memrefs, and the floating-point operations of a call."""

    name: str
    text: str
    shapes: tuple[tuple[int, ...], ...]
    flops: float


def matmul(m: int, n: int, k: int, transposed: bool = False) -> Kernel:
    """f32 matrix product, the right-hand side given as [k, n] or [n, k]."""
    rhs = (n, k) if transposed else (k, n)
    maps = "(m, n, k) -> (m, k)", f"(m, n, k) -> ({'n, k' if transposed else 'k, n'})", "(m, n, k) -> (m, n)"
    text = _contraction(maps, "parallel parallel reduction", [(m, k), rhs, (m, n)])
    return Kernel(f"matmul{'-t' if transposed else ''} {m}x{n}x{k}", text, ((m, k), rhs, (m, n)), 2.0 * m * n * k)


def conv(channels: int, filters: int, size: int, kernel: int, stride: int = 1, groups: int = 1) -> Kernel:
    """f32 NCHW convolution of an already padded input to `size` by `size` outputs."""
    padded = (size - 1) * stride + kernel
    taps = f"oh * {stride} + kh, ow * {stride} + kw"
    shapes: list[tuple[int, ...]]
    if groups > 1:
        per, out = channels // groups, filters // groups
        dims, ends = "(n, g, oc, oh, ow, ic, kh, kw)", "parallel parallel parallel parallel parallel"
        maps = f"{dims} -> (n, g, ic, {taps})", f"{dims} -> (g, oc, ic, kh, kw)", f"{dims} -> (n, g, oc, oh, ow)"
        shapes = [(1, groups, per, padded, padded), (groups, out, per, kernel, kernel), (1, groups, out, size, size)]
    else:
        dims, ends, per = "(n, oc, oh, ow, ic, kh, kw)", "parallel parallel parallel parallel", channels
        maps = f"{dims} -> (n, ic, {taps})", f"{dims} -> (oc, ic, kh, kw)", f"{dims} -> (n, oc, oh, ow)"
        shapes = [(1, channels, padded, padded), (filters, channels, kernel, kernel), (1, filters, size, size)]
    text = _contraction(maps, f"{ends} reduction reduction reduction", shapes)
    name = f"conv {kernel}x{kernel}/{stride} {channels}->{filters} @{size}" + (f" g{groups}" if groups > 1 else "")
    return Kernel(name, text, tuple(shapes), 2.0 * filters * size * size * per * kernel * kernel)


def _contraction(maps: Sequence[str], iterators: str, shapes: Sequence[tuple[int, ...]]) -> str:
    x, w, out = (_memref(shape) for shape in shapes)
    indexing = ", ".join(f"affine_map<{text}>" for text in maps)
    kinds = ", ".join(f'"{kind}"' for kind in iterators.split())
    return f"""func.func @kernel(%x: {x}, %w: {w}, %out: {out}) {{
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%out : {out})
      linalg.generic {{indexing_maps = [{indexing}], iterator_types = [{kinds}]}} ins(%x, %w : {x}, {w}) outs(%out : {out}) {{
      ^bb0(%a: f32, %b: f32, %c: f32):
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %c, %p : f32
        linalg.yield %s : f32
      }}
      return
    }}"""


def elementwise(shape: tuple[int, ...]) -> Kernel:
    """max(x + y, 0) over a whole buffer."""
    kind = _memref(shape)
    dims = ", ".join(f"d{axis}" for axis in range(len(shape)))
    same = f"affine_map<({dims}) -> ({dims})>"
    kinds = ", ".join(['"parallel"'] * len(shape))
    text = f"""func.func @kernel(%x: {kind}, %y: {kind}, %out: {kind}) {{
      %zero = arith.constant 0.0 : f32
      linalg.generic {{indexing_maps = [{same}, {same}, {same}], iterator_types = [{kinds}]}}
          ins(%x, %y : {kind}, {kind}) outs(%out : {kind}) {{
      ^bb0(%a: f32, %b: f32, %c: f32):
        %s = arith.addf %a, %b : f32
        %m = arith.maximumf %s, %zero : f32
        linalg.yield %m : f32
      }}
      return
    }}"""
    return Kernel(f"add+relu {'x'.join(map(str, shape))}", text, (shape,) * 3, 2.0 * np.prod(shape))


def reduce_rows(rows: int, columns: int, axis: int) -> Kernel:
    """Sum over one axis of a matrix."""
    x, out = (rows, columns), (columns,) if axis == 0 else (rows,)
    text = f"""func.func @kernel(%x: {_memref(x)}, %out: {_memref(out)}) {{
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%out : {_memref(out)})
      linalg.reduce ins(%x : {_memref(x)}) outs(%out : {_memref(out)}) dimensions = [{axis}] (%a: f32, %c: f32) {{
        %s = arith.addf %a, %c : f32
        linalg.yield %s : f32
      }}
      return
    }}"""
    return Kernel(f"sum axis {axis} of {rows}x{columns}", text, (x, out), float(rows * columns))


def _memref(shape: Sequence[int]) -> str:
    return f"memref<{'x'.join(map(str, shape))}xf32>"


KERNELS = (
    matmul(512, 512, 512),
    matmul(128, 768, 768),
    matmul(128, 768, 768, transposed=True),
    matmul(1, 1000, 2048, transposed=True),
    matmul(1, 1000, 2048),
    matmul(49, 512, 2048),
    conv(64, 64, 56, 3),
    conv(128, 128, 28, 3),
    conv(256, 256, 14, 3),
    conv(512, 512, 7, 3),
    conv(64, 256, 56, 1),
    conv(1024, 256, 14, 1),
    conv(512, 2048, 7, 1),
    conv(3, 64, 112, 7, stride=2),
    conv(128, 128, 28, 3, stride=2),
    conv(256, 512, 28, 1, stride=2),
    conv(144, 144, 56, 3, groups=144),
    conv(96, 96, 56, 3, stride=2, groups=96),
    elementwise((64, 56, 56)),
    elementwise((512, 7, 7)),
    reduce_rows(1536, 128, 1),
    reduce_rows(1536, 128, 0),
)


def compile_kernel(text: str, passes: Sequence[str] = PASSES) -> tuple[Callable[..., Callable[[], None]], float]:
    """The compiled `@kernel`, to be bound to arrays and then called, and the seconds that took."""
    start = time.perf_counter()
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for name in (*passes, "convert-affine-to-llvm"):
            run_pass(name, module)
        engine = execution_engine.ExecutionEngine(module, opt_level=2)
        entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.raw_lookup("_mlir_ciface_kernel"))

    def bind(*arrays: np.ndarray) -> Callable[[], None]:
        descriptors = [runtime.get_ranked_memref_descriptor(array) for array in arrays]
        pointers = (ctypes.c_void_p * len(arrays))(*[ctypes.addressof(descriptor) for descriptor in descriptors])
        places = [ctypes.addressof(pointers) + 8 * index for index in range(len(arrays))]
        arguments = (ctypes.c_void_p * len(arrays))(*places)
        kept = engine, descriptors, pointers, arguments
        return lambda: entry(ctypes.addressof(kept[-1]))

    return bind, time.perf_counter() - start


def run_pass(name: str, module: ir.Module) -> None:
    """Run the pass `name`, ours or upstream's, with its default options."""
    kind = find_pass(name)
    if kind is None:
        run_native(module.operation, name)
    elif kind.anchor == "builtin.module":
        kind().run(module.operation)
    else:
        for op in list(module.body.operations):
            kind().run(op.operation)


def seconds_of(call: Callable[[], None], budget: float = 0.2) -> float:
    """The shortest of the calls that fit into `budget` seconds."""
    best, spent = float("inf"), 0.0
    while spent < budget:
        start = time.perf_counter()
        call()
        took = time.perf_counter() - start
        best, spent = min(best, took), spent + took
    return best


def measured_peak() -> float:
    """FLOP/s of a loop of independent f32 vector FMAs."""
    count, trips = 16, 200_000
    carried = ", ".join(f"%a{i} = %start" for i in range(count))
    kinds = ", ".join(["vector<16xf32>"] * count)
    body = "\n".join(f"%b{i} = vector.fma %x, %x, %a{i} : vector<16xf32>" for i in range(count))
    sums = "\n".join(f"%s{i + 1} = arith.addf %s{i}, %r#{i} : vector<16xf32>" for i in range(count))
    text = f"""func.func @kernel(%m: memref<16xf32>) {{
      %c0 = arith.constant 0 : index
      %start = arith.constant dense<0.0> : vector<16xf32>
      %x = vector.load %m[%c0] : memref<16xf32>, vector<16xf32>
      %r:{count} = affine.for %i = 0 to {trips} iter_args({carried}) -> ({kinds}) {{
        {body}
        affine.yield {", ".join(f"%b{i}" for i in range(count))} : {kinds}
      }}
      %s0 = arith.constant dense<0.0> : vector<16xf32>
      {sums}
      vector.store %s{count}, %m[%c0] : memref<16xf32>, vector<16xf32>
      return
    }}"""
    bind, _ = compile_kernel(text, passes=())
    return 2.0 * 16 * count * trips / seconds_of(bind(np.zeros(16, np.float32)))


def measure(kernels: Sequence[Kernel]) -> Iterator[tuple[Kernel, float, float]]:
    """(kernel, seconds of a call, seconds of compiling) for each kernel."""
    random = np.random.default_rng(0)
    for kernel in kernels:
        bind, compiling = compile_kernel(kernel.text)
        arrays = [random.standard_normal(shape, np.float32) for shape in kernel.shapes]
        yield kernel, seconds_of(bind(*arrays)), compiling


def main() -> None:
    """Print one line a kernel."""
    wanted = [kernel for kernel in KERNELS if all(part in kernel.name for part in sys.argv[1:])]
    peak = measured_peak()
    print(f"{'f32 FMA peak':32} {peak / 1e9:8.1f} GFLOP/s")
    for kernel, seconds, compiling in measure(wanted):
        rate, moved = kernel.flops / seconds, sum(4 * np.prod(shape) for shape in kernel.shapes) / seconds
        figures = f"{rate / 1e9:8.1f} GFLOP/s {100 * rate / peak:5.1f}% of peak {moved / 1e9:7.1f} GB/s"
        print(f"{kernel.name:32} {figures} {1e6 * seconds:9.1f} us, compiled in {1e3 * compiling:.0f} ms", flush=True)


if __name__ == "__main__":
    main()
