"""Contractions as nests of affine loops: what the tests of tensor cores and of register tiles lower and run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from dlc._mlir import ir
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
    """What NumPy says that the nest of a name computes, in the type of its sums."""
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


def lowered(text: str, gpu: str, tiles: Mapping[str, Any]) -> ir.Module:
    """A module with its contractions on tensor cores, whatever that costs, for a GPU of such facts and a policy of such tiles."""
    module = ir.Module.parse(text)
    module.operation.attributes["dlc.gpu"] = ir.Attribute.parse(gpu)
    passes = ("convert-contractions-to-mma{tf32=true}", "convert-affine-to-gpu", "canonicalize", "cse")
    with using(policy().override(mma_gain=1e6, mma_held=128, mma_copy_registers=0, **tiles)):
        Pipeline.parse(",".join(passes)).run(module)
    return module
