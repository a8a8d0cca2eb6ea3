"""Contractions whose extents run time knows: one kernel, run thread by thread for several sizes, computes what NumPy says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from gpu_contraction_nests import DTYPES
from gpu_interpreter import program

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.policy import policy, using

_SIMT = "convert-contractions-to-simt,affine-map-to-gpu,convert-affine-to-gpu"
_MMA = "convert-contractions-to-mma{tf32=true},affine-map-to-gpu,convert-affine-to-gpu"
_OUTLINE = "canonicalize,cse,gpu-launch-sink-index-computations,gpu-kernel-outlining"
_TILES: dict[str, dict[str, Any]] = {
    _SIMT: {"simt_block_sides": (32,), "simt_thread_sides": (4,), "simt_depths": (8,), "simt_stages": (3,)},
    _MMA: {"mma_block_sides": (32,), "mma_warp_sides": (16,), "mma_stages": (3,), "mma_gain": 1e6, "mma_held": 128},
}
"""Small tiles: 32 rows and columns of a block, some of which run time leaves empty."""


def _text(einsum: str, sizes: Mapping[str, int], kind: str, bias: bool) -> str:
    """The nest of a sum of products; letters without a size have one at run time."""
    operands, out = einsum.split("->")
    left, right = operands.split(",")
    sums, wide = [letter for letter in dict.fromkeys(left + right) if letter not in out], "f32"
    kinds = {
        name: f"memref<{''.join(f'{sizes.get(letter, chr(63))}x' for letter in letters)}{dtype}>"
        for name, letters, dtype in (("A", left, kind), ("B", right, kind), ("C", out, wide), ("D", out[-1], wide))
    }
    lines = [f"func.func @f({', '.join(f'%{name}: {each} {{llvm.noalias}}' for name, each in kinds.items())}) {{"]
    lines += ["%zero = arith.constant 0.0 : f32"]
    for letter in [letter for letter in dict.fromkeys(out + left) if letter not in sizes]:
        name, place = next((name, letters.index(letter)) for name, letters in (("A", left), ("B", right)) if letter in letters)
        lines += [f"%at{letter} = arith.constant {place} : index"]
        lines += [f"%size{letter} = memref.dim %{name}, %at{letter} : {kinds[name]}"]
    ends = {letter: str(sizes[letter]) if letter in sizes else f"%size{letter}" for letter in (*out, *sums)}
    lines += [f"affine.for %{letter} = 0 to {ends[letter]} {{" for letter in out]
    lines += [f"%t = affine.for %{letter} = 0 to {ends[letter]} iter_args(%s = %zero) -> f32 {{" for letter in sums]
    for name, letters in (("A", left), ("B", right)):
        lines += [f"%l{name} = affine.load %{name}[{', '.join('%' + letter for letter in letters)}] : {kinds[name]}"]
    widen = [f"%w{name} = arith.extf %l{name} : {kind} to f32" for name in "AB"] if kind != wide else []
    lines += [
        *widen,
        "%product = arith.mulf %{0}A, %{0}B : f32".format("w" if widen else "l"),
        "%sum = arith.addf %s, %product : f32",
    ]
    lines += ["affine.yield %sum : f32 }"]
    value = "%t"
    if bias:
        lines += [f"%d = affine.load %D[%{out[-1]}] : {kinds['D']}", "%v = arith.addf %t, %d : f32"]
        value = "%v"
    lines += [f"affine.store {value}, %C[{', '.join('%' + letter for letter in out)}] : {kinds['C']}"]
    return "\n".join([*lines, *["} {dlc.parallel}"] * len(out), "return }"])


def _lowered(text: str, passes: str, gpu: str = "{multiprocessors = 4}") -> ir.Module:
    module = ir.Module.parse(text)
    module.operation.attributes["dlc.gpu"] = ir.Attribute.parse(gpu)
    with using(policy().override(**_TILES[passes])):
        Pipeline.parse(f"{passes},{_OUTLINE}").run(module)
    return module


def _check(einsum: str, known: Mapping[str, int], given: Sequence[Mapping[str, int]], passes: str, kind: str) -> None:
    """Compile once, run for all sizes that are given, in a different order of threads each."""
    left, right = einsum.split("->")[0].split(",")
    out = einsum.split("->")[1]
    with make_context(), ir.Location.unknown():
        module = _lowered(_text(einsum, known, kind, bias=True), passes)
        assert ("math.fma" if passes == _SIMT else "nvgpu.mma.sync") in str(module)
        assert str(module).count("gpu.func") == 1
        for seed, others in enumerate(given):
            sizes, numbers = {**known, **others}, np.random.default_rng(seed)
            shapes = [[sizes[letter] for letter in letters] for letters in (left, right, out, out[-1])]
            a, b = (numbers.integers(-3, 4, shape).astype(DTYPES[kind]) for shape in shapes[:2])
            c, d = (numbers.integers(-3, 4, shape).astype(np.float32) for shape in shapes[2:])
            program(module, seed=seed).run("f", a, b, c, d)
            np.testing.assert_array_equal(c, np.einsum(einsum, a.astype(np.float32), b.astype(np.float32)) + d, str(sizes))


_ROWS = [{"m": m} for m in (1, 31, 32, 33, 70)]
_ALL = [{"m": m, "n": n, "k": k} for m, n, k in ((1, 1, 1), (31, 33, 7), (32, 32, 8), (33, 70, 9), (5, 64, 40))]
_CASES: dict[str, tuple[str, dict[str, int], list[dict[str, int]]]] = {
    "rows": ("mk,kn->mn", {"n": 40, "k": 48}, _ROWS),
    "rows, weights by rows": ("mk,nk->mn", {"n": 48, "k": 40}, _ROWS),
    "pixels of images": ("byk,kn->byn", {"y": 5, "n": 40, "k": 16}, [{"b": b} for b in (1, 6, 7)]),
    "batch": ("bmk,bkn->bmn", {"m": 33, "n": 36, "k": 24}, [{"b": b} for b in (1, 2, 5)]),
    "scores of heads": ("bmhk,bnhk->bhmn", {"h": 2, "k": 16}, [{"b": 1, "m": 1, "n": 65}, {"b": 2, "m": 33, "n": 31}]),
    "values of heads": ("bhmn,bnhk->bmhk", {"h": 2, "k": 16}, [{"b": 1, "m": 1, "n": 65}, {"b": 2, "m": 33, "n": 31}]),
    "columns": ("mk,kn->mn", {"m": 40, "k": 24}, [{"n": n} for n in (1, 31, 32, 33)]),
    "sums": ("mk,kn->mn", {"m": 40, "n": 36}, [{"k": k} for k in (1, 7, 8, 9, 40)]),
    "all": ("mk,kn->mn", {}, _ALL),
    "all, transposed": ("km,nk->mn", {}, _ALL),
}


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("name", list(_CASES))
def test_register_tiles(name: str) -> None:
    _check(*_CASES[name], _SIMT, "f32")


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize("name", list(_CASES))
def test_tensor_cores(name: str, kind: str) -> None:
    _check(*_CASES[name], _MMA, kind)
