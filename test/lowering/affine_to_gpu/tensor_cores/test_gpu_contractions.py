"""Contractions of random sizes on tensor cores, run lane by lane, compute what NumPy says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from gpu_interpreter import program
from gpu_warps import AsyncCopies
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.policy import policy, using

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8, "f32": np.float32, "i32": np.int32}


@dataclass(frozen=True)
class Nest:
    """A contraction as text: extents of parallel loops and of sums, and shapes and subscripts by their names."""

    parallel: dict[str, int]
    sums: dict[str, int]
    lhs: tuple[Sequence[int], str]
    rhs: tuple[Sequence[int], str]
    out: tuple[Sequence[int], str]

    def text(self, kind: str, result: str, epilogue: str) -> str:
        wide, suffix = ("i32", "i") if kind == "i8" else ("f32", "f")
        widen = "extsi" if kind == "i8" else "extf"
        zero = "0" if kind == "i8" else "0.0"
        a, b, c = (f"memref<{'x'.join(map(str, shape))}x{dtype}>" for (shape, _), dtype in self.memrefs(kind, result))
        lines = [
            f"func.func @f(%A: {a} {{llvm.noalias}}, %B: {b} {{llvm.noalias}}, %C: {c} {{llvm.noalias}}) {{",
            f"%zero = arith.constant {zero} : {wide}",
        ]
        lines += [f"affine.for %{name} = 0 to {extent} {{" for name, extent in self.parallel.items()]
        for place, (name, extent) in enumerate(self.sums.items()):
            start = "zero" if place == 0 else f"s{place - 1}"
            lines.append(f"%t{place} = affine.for %{name} = 0 to {extent} iter_args(%s{place} = %{start}) -> {wide} {{")
        lines += [f"%lhs = affine.load %A[{self.lhs[1]}] : {a}", f"%rhs = affine.load %B[{self.rhs[1]}] : {b}"]
        names = ["lhs", "rhs"]
        if kind != wide:
            lines += [f"%w{name} = arith.{widen} %{name} : {kind} to {wide}" for name in names]
            names = ["wlhs", "wrhs"]
        last = len(self.sums) - 1
        lines += [
            f"%product = arith.mul{suffix} %{names[0]}, %{names[1]} : {wide}",
            f"%sum = arith.add{suffix} %s{last}, %product : {wide}",
        ]
        lines += [f"affine.yield %sum : {wide} }}", *(f"affine.yield %t{place} : {wide} }}" for place in range(last, 0, -1))]
        lines += [epilogue.format(c=c, at=self.out[1])]
        return "\n".join([*lines, *["} {dlc.parallel}"] * len(self.parallel), "return }"])

    def memrefs(self, kind: str, result: str) -> list[tuple[tuple[Sequence[int], str], str]]:
        """Shape and subscripts of both operands and the result, with their element types."""
        return [(self.lhs, kind), (self.rhs, kind), (self.out, result)]


def _matmul(m: int, n: int, k: int) -> Nest:
    return Nest({"m": m, "n": n}, {"k": k}, ((m, k), "%m, %k"), ((k, n), "%k, %n"), ((m, n), "%m, %n"))


def _transposed(m: int, n: int, k: int) -> Nest:
    """Columns of the left operand, rows of the right one, and the result by columns."""
    return Nest({"m": m, "n": n}, {"k": k}, ((k, m), "%k, %m"), ((n, k), "%n, %k"), ((n, m), "%n, %m"))


def _batched(m: int, n: int, k: int) -> Nest:
    return Nest({"b": 3, "m": m, "n": n}, {"k": k}, ((3, m, k), "%b, %m, %k"), ((3, k, n), "%b, %k, %n"), ((m, 3, n), "%m, %b, %n"))


def _conv(m: int, n: int, k: int) -> Nest:
    """Channels first, stride 2 along one axis."""
    c, x = 1 + k % 5, 1 + n // 4
    return Nest(
        {"b": 2, "o": m, "y": 3, "x": x},
        {"c": c, "u": 3, "v": 2},
        ((2, c, 5, 2 * x + 1), "%b, %c, %y + %u, 2 * %x + %v"),
        ((m, c, 3, 2), "%o, %c, %u, %v"),
        ((2, m, 3, x), "%b, %o, %y, %x"),
    )


def _conv_last(m: int, n: int, k: int) -> Nest:
    """Channels last."""
    c = 8 * (1 + k % 3)
    return Nest(
        {"y": 4, "x": 1 + m // 4, "o": n},
        {"u": 3, "v": 3, "c": c},
        ((6, 3 + m // 4, c), "%y + %u, %x + %v, %c"),
        ((n, 3, 3, c), "%o, %u, %v, %c"),
        ((4, 1 + m // 4, n), "%y, %x, %o"),
    )


NESTS: dict[str, tuple[Callable[[int, int, int], Nest], str]] = {
    "matmul": (_matmul, "mk,kn->mn"),
    "transposed": (_transposed, "km,nk->nm"),
    "batched": (_batched, "bmk,bkn->mbn"),
    "conv": (_conv, ""),
    "conv_last": (_conv_last, ""),
}
_PLAIN = "affine.store %t0, %C[{at}] : {c}"
_HALVES = """%h = arith.truncf %t0 : f32 to f16
%old = affine.load %C[{at}] : {c}
%new = arith.addf %h, %old : f16
affine.store %new, %C[{at}] : {c}"""
FORMS = {"f16": ("f16", _HALVES), "bf16": ("f32", _PLAIN), "i8": ("i32", _PLAIN), "f32": ("f32", _PLAIN)}


def meaning(name: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    einsum = NESTS[name][1]
    wide = np.int32 if a.dtype == np.int8 else np.float32
    a, b = a.astype(wide), b.astype(wide)
    if einsum:
        return np.einsum(einsum, a, b)
    if name == "conv":
        windows = np.lib.stride_tricks.sliding_window_view(a, (3, 2), axis=(2, 3))[:, :, :, ::2]
        return np.einsum("bcyxuv,ocuv->boyx", windows, b)
    windows = np.lib.stride_tricks.sliding_window_view(a, (3, 3), axis=(0, 1))
    return np.einsum("yxcuv,ouvc->yxo", windows, b)


_TILES: tuple[dict[str, Any], ...] = (
    {},
    {"mma_block_sides": (64,), "mma_warp_sides": (32,), "mma_stages": (2,)},
    {"mma_block_sides": (32, 64), "mma_warp_sides": (16,), "mma_depths": (32,)},
)
"""Choices of tiles: all of them, and some with several warps."""


def lowered(text: str, gpu: str, tiles: Mapping[str, Any]) -> ir.Module:
    module = ir.Module.parse(text)
    module.operation.attributes["dlc.gpu"] = ir.Attribute.parse(gpu)
    passes = ("convert-contractions-to-mma{tf32=true}", "convert-affine-to-gpu", "canonicalize", "cse")
    with using(policy().override(mma_gain=1e6, mma_held=128, mma_copy_registers=0, **tiles)):
        Pipeline.parse(",".join(passes)).run(module)
    return module


@pytest.mark.parametrize("name", list(NESTS))
@pytest.mark.parametrize("kind", list(FORMS))
def test_random_sizes(name: str, kind: str) -> None:
    """Each contraction goes to tensor cores, whatever it costs; the number of multiprocessors decides on tiles."""
    _check(name, kind, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(NESTS))
@pytest.mark.parametrize("kind", list(FORMS))
def test_three_hundred_kernels(name: str, kind: str) -> None:
    """Fifteen of each form and type."""
    _check(name, kind, 15)


def _check(name: str, kind: str, examples: int) -> None:
    sizes = st.integers(1, 80)

    @settings(
        max_examples=examples, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck), database=None
    )
    @given(sizes, sizes, sizes, st.sampled_from((1, 8, 100)), st.sampled_from(_TILES))
    @example(48, 64, 96, 2, _TILES[1])  # whole chunks of 16 bytes
    def check(m: int, n: int, k: int, multiprocessors: int, tiles: dict[str, Any]) -> None:
        nest, (result, epilogue) = NESTS[name][0](m, n, k), FORMS[kind]
        numbers = np.random.default_rng(m + n + k)
        a, b, c = (numbers.integers(-3, 4, shape).astype(DTYPES[dtype]) for (shape, _), dtype in nest.memrefs(kind, result))
        want = meaning(name, a, b).astype(c.dtype) + (c if kind == "f16" else 0)
        with make_context(), ir.Location.unknown():
            module = lowered(nest.text(kind, result, epilogue), f"{{multiprocessors = {multiprocessors}}}", tiles)
            assert "nvgpu.mma.sync" in str(module)
            run = program(module, seed=m)
        run.run("f", a, b, c)
        np.testing.assert_array_equal(c, want)

    check()


def test_part_of_each_row() -> None:
    """An operand is a view with gaps, from some column of a buffer on."""
    part = "memref<40x32xf16, strided<[96, 1], offset: 64>>"
    alone = "{llvm.noalias}"
    text = f"""func.func @f(%A: memref<40x96xf16> {alone}, %B: memref<32x24xf16> {alone}, %C: memref<40x24xf32> {alone}) {{
      %zero = arith.constant 0.0 : f32
      %P = memref.subview %A[0, 64] [40, 32] [1, 1] : memref<40x96xf16> to {part}
      affine.for %m = 0 to 40 {{ affine.for %n = 0 to 24 {{
        %t = affine.for %k = 0 to 32 iter_args(%s = %zero) -> f32 {{
          %a = affine.load %P[%m, %k] : {part}
          %b = affine.load %B[%k, %n] : memref<32x24xf16>
          %x = arith.extf %a : f16 to f32
          %y = arith.extf %b : f16 to f32
          %p = arith.mulf %x, %y : f32
          %sum = arith.addf %s, %p : f32
          affine.yield %sum : f32 }}
        affine.store %t, %C[%m, %n] : memref<40x24xf32>
      }} {{dlc.parallel}} }} {{dlc.parallel}}
      return }}"""
    numbers = np.random.default_rng(0)
    a, b = (numbers.integers(-3, 4, shape).astype(np.float16) for shape in ((40, 96), (32, 24)))
    c = np.zeros((40, 24), np.float32)
    with make_context(), ir.Location.unknown():
        module = lowered(text, "{}", {})
        assert "nvgpu.mma.sync" in str(module)
        program(module).run("f", a, b, c)
    np.testing.assert_array_equal(c, a[:, 64:].astype(np.float32) @ b.astype(np.float32))


def _broken(pattern: str, replacement: str) -> np.ndarray:
    """The difference from the right result of a kernel that lacks something."""
    nest = _matmul(64, 128, 512)
    numbers = np.random.default_rng(0)
    a, b = (numbers.integers(-3, 4, shape).astype(np.float16) for shape in ((64, 512), (512, 128)))
    c = np.zeros((64, 128), np.float32)
    with make_context(), ir.Location.unknown():
        module = lowered(nest.text("f16", "f32", _PLAIN), "{multiprocessors = 1}", _TILES[1])
        text, count = re.subn(pattern, replacement, str(module))
        assert count
        program(ir.Module.parse(text)).run("f", a, b, c)
    return c - a.astype(np.float32) @ b.astype(np.float32)


def test_interpreter_finds_a_missing_wait() -> None:
    assert not _broken("gpu.barrier", "gpu.barrier").any()
    assert _broken("nvvm.cp.async.wait.group .*", "").any()


def test_interpreter_finds_a_wait_for_too_little() -> None:
    assert _broken("nvvm.cp.async.wait.group .*", "nvvm.cp.async.wait.group 9").any()


def test_interpreter_finds_a_missing_barrier_between_stages() -> None:
    assert _broken("gpu.barrier.*", "").any()


def test_copies_are_checked() -> None:
    copies, source, target = AsyncCopies(np.random), np.zeros(64, np.float16), np.ones((2, 16), np.float16)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="16 bytes at byte 8"):
        copies.start(target, (0, 0), source, (4,), 8, 8)
    with pytest.raises(IndexError):
        copies.start(target, (1, 16), source, (0,), 8, 8)
    copies.start(target, (1, 8), source, (0,), 8, 0)
    copies.close()
    copies.wait(0)
    assert target.sum() == 24
