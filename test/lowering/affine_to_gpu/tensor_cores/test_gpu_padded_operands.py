"""Contractions on tensor cores read a padded image where it comes from, run lane by lane, and compute what NumPy says."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_contraction_nests import DTYPES
from gpu_interpreter import program

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.policy import policy, using

_PASSES = (
    "affine-split-contractions{tf32=true},convert-contractions-to-mma{tf32=true},affine-map-to-gpu{leave-others=true},"
    "convert-affine-to-gpu,canonicalize,cse,gpu-launch-sink-index-computations,gpu-kernel-outlining"
)
_TEXT = """
func.func @f(%X: memref<7x6x{c}x{t}> {marks}, %W: memref<3x3x{c}x16x{t}> {{llvm.noalias}}, %C: memref<{y}x{x}x16x{r}> {marks}) {{
  %none = arith.constant {fill} : {t}
  %zero = arith.constant {zero} : {r}
  %P = memref.alloc() : memref<9x8x{c}x{t}>
  affine.for %i = 0 to 9 {{ affine.for %j = 0 to 8 {{ affine.for %k = 0 to {c} {{
    affine.store %none, %P[%i, %j, %k] : memref<9x8x{c}x{t}>
  }} {{dlc.parallel}} }} {{dlc.parallel}} }} {{dlc.parallel}}
  %I = memref.subview %P[1, 1, 0] [7, 6, {c}] [1, 1, 1] : memref<9x8x{c}x{t}> to {view}
  affine.for %i = 0 to 7 {{ affine.for %j = 0 to 6 {{ affine.for %k = 0 to {c} {{
    %v = affine.load %X[%i, %j, %k] : memref<7x6x{c}x{t}>
    affine.store %v, %I[%i, %j, %k] : {view}
  }} {{dlc.parallel}} }} {{dlc.parallel}} }} {{dlc.parallel}}
  affine.for %y = 0 to {y} {{ affine.for %x = 0 to {x} {{ affine.for %o = 0 to 16 {{
    %total = affine.for %u = 0 to 3 iter_args(%s = %zero) -> {r} {{
      %part = affine.for %v = 0 to 3 iter_args(%q = %s) -> {r} {{
        %sum = affine.for %k = 0 to {c} iter_args(%h = %q) -> {r} {{
          %a = affine.load %P[{stride} * %y + %u, {stride} * %x + %v, %k] : memref<9x8x{c}x{t}>
          %b = affine.load %W[%u, %v, %k, %o] : memref<3x3x{c}x16x{t}>
          {products}
          %new = arith.add{s} %h, %p : {r}
          affine.yield %new : {r} }}
        affine.yield %sum : {r} }}
      affine.yield %part : {r} }}
    affine.store %total, %C[%y, %x, %o] : memref<{y}x{x}x16x{r}>
  }} {{dlc.parallel}} }} {{dlc.parallel}} }} {{dlc.parallel}}
  memref.dealloc %P : memref<9x8x{c}x{t}>
  return
}}"""


def _text(kind: str, channels: int, stride: int, fill: int = 0, marks: str = "{llvm.noalias}") -> str:
    wide, suffix = ("i32", "i") if kind == "i8" else ("f32", "f")
    widen = "extsi" if kind == "i8" else "extf"
    lines = [f"%w{name} = arith.{widen} %{name} : {kind} to {wide}" for name in "ab"] if kind != "f32" else []
    names = ("%a", "%b") if kind == "f32" else ("%wa", "%wb")
    point = "" if kind == "i8" else ".0"
    view = f"memref<7x6x{channels}x{kind}, strided<[{8 * channels}, {channels}, 1], offset: {9 * channels}>>"
    sizes = {"c": channels, "y": -(-7 // stride), "x": -(-6 // stride), "stride": stride, "t": kind, "r": wide, "s": suffix}
    numbers = {"fill": f"{fill}{point}", "zero": f"0{point}", "view": view, "marks": marks}
    products = "\n".join([*lines, f"%p = arith.mul{suffix} {names[0]}, {names[1]} : {wide}"])
    return _TEXT.format(products=products, **sizes, **numbers)


def _lowered(text: str) -> ir.Module:
    module = ir.Module.parse(text)
    module.operation.attributes["dlc.gpu"] = ir.Attribute.parse("{multiprocessors = 8}")
    with using(policy().override(mma_gain=1e6, mma_held=128, mma_copy_registers=0)):
        Pipeline.parse(_PASSES).run(module)
    return module


def _check(kind: str, channels: int, stride: int, folds: bool, fill: int = 0, marks: str = "{llvm.noalias}") -> None:
    numbers, wide = np.random.default_rng(channels), np.int32 if kind == "i8" else np.float32
    a, b = (numbers.integers(-2, 3, shape).astype(DTYPES[kind]) for shape in ((7, 6, channels), (3, 3, channels, 16)))
    c = np.zeros((-(-7 // stride), -(-6 // stride), 16), wide)
    with make_context(), ir.Location.unknown():
        module = _lowered(_text(kind, channels, stride, fill, marks))
        assert "nvgpu.mma.sync" in str(module)
        assert ("9x8x" not in str(module)) == folds
        program(module, seed=channels).run("f", a, b, c)
    image = np.pad(a.astype(wide), ((1, 1), (1, 1), (0, 0)), constant_values=fill)
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(0, 1))[::stride, ::stride]
    np.testing.assert_array_equal(c, np.einsum("yxcuv,uvco->yxo", windows, b.astype(wide)))


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize(("kind", "channels"), [("f16", 64), ("bf16", 24), ("f16", 3), ("f32", 16), ("i8", 32)])
def test_padded_image(kind: str, channels: int, stride: int) -> None:
    """By `cp.async` of chunks and by single elements; steps of the sum within a tap and across some."""
    _check(kind, channels, stride, folds=True)


def test_other_fills_stay() -> None:
    _check("f16", 16, 1, folds=False, fill=1)


def test_image_that_may_share_memory_with_the_result_stays() -> None:
    """The copy protects what is read from what is written."""
    _check("f16", 16, 1, folds=False, marks="")
