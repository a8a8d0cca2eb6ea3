"""Kernels whose loops LLVM's optimiser would not make faster are spared it; all others are not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dlc._mlir import ir
from dlc.lowering.affine_to_llvm.rotate_loops import OPTIMIZED
from dlc.lowering.pipeline import Pipeline
from dlc.targets.cpu.emit import emit_unit

KERNEL = """
func.func @f(%x: memref<64x16xf32>, %n: index) attributes {{llvm.emit_c_interface}} {{
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %row = arith.constant 0 : index
  %sum = affine.for %i = 0 to {bound} iter_args(%v0 = %zero) -> (vector<16xf32>) {{
    %a = vector.load %x[%i, %row] : memref<64x16xf32>, vector<16xf32>
    {body}
    affine.yield %v{count} : vector<16xf32>
  }}
  vector.store %sum, %x[%row, %row] : memref<64x16xf32>, vector<16xf32>
  return
}}"""
COPY = """
func.func @f(%x: memref<64x16xf32>, %n: index) attributes {{llvm.emit_c_interface}} {{
  %row = arith.constant 0 : index
  affine.for %i = 0 to {bound} {{
    %v0 = vector.load %x[%i, %row] : memref<64x16xf32>, vector<16xf32>
    %a = arith.negf %v0 : vector<16xf32>
    {body}
    vector.store %v{count}, %x[%i, %row] : memref<64x16xf32>, vector<16xf32>
  }}
  return
}}"""
SCALARS = """
func.func @f(%x: memref<64x16xf32>, %n: index) attributes {{llvm.emit_c_interface}} {{
  affine.for %i = 0 to {bound} {{
    %v0 = affine.load %x[%i, 0] : memref<64x16xf32>
    %a = arith.negf %v0 : f32
    {body}
    affine.store %v{count}, %x[%i, 0] : memref<64x16xf32>
  }}
  return
}}"""


def lowered(text: str, bound: str, count: int) -> ir.Module:
    kind = "f32" if text is SCALARS else "vector<16xf32>"
    body = "\n".join(f"%v{number + 1} = math.fma %v{number}, %a, %a : {kind}" for number in range(count))
    module = ir.Module.parse(text.format(bound=bound, body=body, count=count))
    Pipeline.parse("convert-affine-to-llvm").run(module)
    return module


@pytest.fixture(autouse=True)
def context() -> Iterator[None]:
    with ir.Context(), ir.Location.unknown():
        yield


@pytest.mark.parametrize(
    ("text", "bound", "count", "spared"),
    [
        (KERNEL, "64", 60, True),
        (KERNEL, "64", 4, False),  # LLVM unrolls it
        (KERNEL, "%n", 60, False),  # what it carries is copied at its begin
        (COPY, "%n", 60, True),
        (COPY, "64", 4, False),
        (SCALARS, "64", 60, False),  # LLVM vectorises it
    ],
)
def test_large_loops_of_vectors_are_spared(text: str, bound: str, count: int, spared: bool) -> None:
    assert (OPTIMIZED in lowered(text, bound, count).operation.attributes) == spared


def test_the_default_level_spares_them_and_a_higher_one_does_not() -> None:
    module = lowered(KERNEL, "64", 60)
    levels = [emit_unit(module, "_mlir_ciface_f", level) for level in (0, 2, 3)]
    del module.operation.attributes[OPTIMIZED]
    unmarked = [emit_unit(module, "_mlir_ciface_f", level) for level in (0, 2, 3)]
    assert levels[1] == unmarked[0]
    assert levels[2] == unmarked[2]
    assert unmarked[1] != unmarked[0]
