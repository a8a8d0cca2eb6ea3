"""Producers computed inside their consumers' loops, over all ways that these read what they produce."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from affine_interpreter import arguments_for, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sweeps import examples

import dlc
from dlc._mlir import ir

_KIND = "memref<40x40xi64>"


@st.composite
def chains(draw: st.DrawFn) -> str:
    """Three nests: rows of A to L, of L to M, of M to C; L and M are local. Later ones read with offsets, strides, and across."""
    lines = []
    for number, (source, target) in enumerate([("%A", "%L"), ("%L", "%M"), ("%M", "%C")]):
        # Each nest covers what the next one may read: 2 * extent + 3 elements.
        extent = (19, 8, 3)[number]
        stride = draw(st.sampled_from([1, 1, 2])) if number else 1
        rows, columns = ("%j", "%i") if draw(st.integers(0, 4)) == 0 else ("%i", "%j")
        reads = [(draw(st.integers(0, 2)), draw(st.integers(0, 2))) for _ in range(draw(st.integers(1, 2)))]
        lines += [f"affine.for %i = 0 to {extent} {{", f"affine.for %j = 0 to {extent} {{"]
        lines.append(f"%sum{number} = arith.constant {number} : i64")
        total = f"%sum{number}"
        for place, (row, column) in enumerate(reads):
            subscripts = f"{rows} * {stride} + {row}, {columns} * {stride} + {column}"
            lines.append(f"%x{number}{place} = affine.load {source}[{subscripts}] : {_KIND}")
            lines.append(f"%y{number}{place} = arith.muli {total}, %three : i64")
            lines.append(f"%z{number}{place} = arith.addi %y{number}{place}, %x{number}{place} : i64")
            total = f"%z{number}{place}"
        lines += [f"affine.store {total}, {target}[%i, %j] : {_KIND}", "}", f'}} {{dlc.name = "n{number}"}}']
    body = "\n".join(lines)
    return f"""func.func @f(%A: {_KIND} {{llvm.noalias}}, %C: {_KIND} {{llvm.noalias}}) {{
%three = arith.constant 3 : i64
%L = memref.alloc() : {_KIND}
%M = memref.alloc() : {_KIND}
{body}
memref.dealloc %L : {_KIND}
memref.dealloc %M : {_KIND}
return
}}"""


def results_of(text: str, module: ir.Module) -> list[np.ndarray]:
    with module.context, ir.Location.unknown():
        function = module.body.operations[0].operation
        arrays = arguments_for(function, seed=len(text))
        with np.errstate(over="ignore"):
            run(function, *arrays)
    return arrays


@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck))
@given(st.data())
def test_results_stay(data: st.DataObject) -> None:
    text = data.draw(chains())
    schedule = dlc.Schedule(text)
    expected = results_of(text, schedule.module)
    before = {
        "none": lambda: None,
        "tile": lambda: schedule.tile(["n2", "S2:1"], [2, 2]),
        "strip": lambda: schedule.strip_mine("n2", 2),
        "split": lambda: schedule.split("n1", 3),
        "reverse": lambda: schedule.reverse("n2"),
    }
    before[data.draw(st.sampled_from(sorted(before)))]()
    moved = 0
    for _ in range(2):
        producer = data.draw(st.sampled_from(["S0", "S1"]))
        with contextlib.suppress(dlc.ScheduleError):
            schedule.compute_at(producer, data.draw(st.sampled_from(schedule.loops())))
            moved += 1
    steps = schedule.to_python()
    schedule.apply()
    schedule.module.operation.verify()
    for one, other in zip(expected, results_of(text, schedule.module), strict=True):
        np.testing.assert_array_equal(other, one, err_msg=f"{text}\n{steps}\n{schedule.module}")


_STENCIL = """
func.func @f(%A: memref<20x8xi64> {llvm.noalias}, %C: memref<20x8xi64> {llvm.noalias}) {
  %L = memref.alloc() : memref<20x8xi64>
  affine.for %i = 0 to 20 {
    affine.for %j = 0 to 8 {
      %a = affine.load %A[%i, %j] : memref<20x8xi64>
      affine.store %a, %L[%i, %j] : memref<20x8xi64>
    }
  }
  affine.for %i = 0 to 20 step STEP {
    affine.for %j = 0 to 8 {
      %a = affine.load %L[%i, %j] : memref<20x8xi64>
      %b = affine.load %L[FAR, %j] : memref<20x8xi64>
      %c = arith.addi %a, %b : i64
      affine.store %c, %C[%i, %j] : memref<20x8xi64>
    }
  } {dlc.name = "rows"}
  memref.dealloc %L : memref<20x8xi64>
  return
}
"""


@pytest.mark.parametrize(
    ("step", "far", "loop", "buffer"),
    [
        (1, "%i", "rows", "memref<1x8xi64>"),
        (1, "%i", "S1:1", "memref<1x1xi64>"),
        (1, "(%i floordiv 4) * 4", "rows", "memref<4x8xi64>"),
        (2, "%i + 1", "rows", "memref<2x8xi64>"),
        (1, "0", "rows", "memref<20x8xi64>"),
    ],
)
def test_local_arrays_shrink_to_what_is_needed(step: int, far: str, loop: str, buffer: str) -> None:
    text = _STENCIL.replace("STEP", str(step)).replace("FAR", far)
    schedule = dlc.Schedule(text)
    expected = results_of(text, schedule.module)
    schedule.compute_at("S0", loop)
    schedule.apply()
    np.testing.assert_array_equal(results_of(text, schedule.module)[1], expected[1])
    allocated = [line.split(" : ")[-1] for line in str(schedule.module).splitlines() if "memref.alloc" in line]
    assert allocated == [buffer], schedule.module


_PRODUCT = """
func.func @f(%A: memref<16x8xi64> {llvm.noalias}, %B: memref<8x12xi64> {llvm.noalias}, %R: memref<16x12xi64> {llvm.noalias}) {
  %z = arith.constant 0 : i64
  %C = memref.alloc() : memref<16x12xi64>
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 12 {
      affine.store %z, %C[%i, %j] : memref<16x12xi64>
      affine.for %k = 0 to 8 {
        %a = affine.load %A[%i, %k] : memref<16x8xi64>
        %b = affine.load %B[%k, %j] : memref<8x12xi64>
        %c = affine.load %C[%i, %j] : memref<16x12xi64>
        %x = arith.muli %a, %b : i64
        %y = arith.addi %c, %x : i64
        affine.store %y, %C[%i, %j] : memref<16x12xi64>
      }
    }
  }
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 12 {
      %c = affine.load %C[%i, %j] : memref<16x12xi64>
      %d = arith.maxsi %c, %z : i64
      affine.store %d, %R[%i, %j] : memref<16x12xi64>
    } {dlc.name = "j"}
  } {dlc.name = "i"}
  memref.dealloc %C : memref<16x12xi64>
  return
}
"""


@pytest.mark.parametrize(
    ("tiles", "loop", "buffer"),
    [(False, "i", "memref<1x12xi64>"), (False, "j", "memref<1x1xi64>"), (True, "j.tile", "memref<4x6xi64>")],
)
def test_statements_move_together(tiles: bool, loop: str, buffer: str) -> None:
    """A sum and its start go into the loops of what is done with it."""
    schedule = dlc.Schedule(_PRODUCT)
    expected = results_of(_PRODUCT, schedule.module)
    if tiles:
        schedule.tile(["i", "j"], [4, 6])
    schedule.compute_at(["S0", "S1"], loop)
    schedule.apply()
    np.testing.assert_array_equal(results_of(_PRODUCT, schedule.module)[2], expected[2])
    allocated = [line.split(" : ")[-1] for line in str(schedule.module).splitlines() if "memref.alloc" in line]
    assert allocated == [buffer], schedule.module


def test_a_sum_without_its_start_is_refused() -> None:
    with pytest.raises(dlc.ScheduleError, match=r"would run S1\[.* before S0\[.*, which writes the %alloc\[0, 0\] that it reads"):
        dlc.Schedule(_PRODUCT).compute_at("S0", "i")
