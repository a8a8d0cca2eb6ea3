"""Affine loops to the polyhedral model and back."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl
import pytest

from dlc._mlir import ir
from dlc.lowering.affine.dependences.dependences import joined, memory_dependences
from dlc.lowering.affine.dependences.legality import violations
from dlc.lowering.affine.loop_generation.emit import replace_loops
from dlc.lowering.affine.polyhedral.extract import extract
from dlc.lowering.affine.polyhedral.model import Scop
from dlc.lowering.affine.polyhedral.schedule_tree import original_schedule

_STENCIL = """
func.func @f(%n: index, %A: memref<100x64xf32>, %B: memref<100x64xf32>, %C: memref<100x64xf32>) {
  %two = arith.constant 2.0 : f32
  affine.for %i = 0 to 100 {
    affine.for %j = 0 to %n {
      %a = affine.load %A[%i, %j] : memref<100x64xf32>
      %b = arith.mulf %a, %two : f32
      affine.store %b, %B[%i, %j] : memref<100x64xf32>
    }
  }
  affine.for %i = 1 to 99 {
    affine.for %j = 0 to 64 step 3 {
      %x = affine.load %B[%i - 1, %j] : memref<100x64xf32>
      %y = affine.load %B[%i + 1, %j] : memref<100x64xf32>
      %z = arith.addf %x, %y : f32
      affine.store %z, %C[%i, %j] : memref<100x64xf32>
    }
  }
  return
}
"""


@pytest.fixture
def module() -> Iterator[ir.Module]:
    with ir.Context(), ir.Location.unknown():
        yield ir.Module.parse(_STENCIL)


def _scop(module: ir.Module) -> Scop:
    return extract(module.body.operations[0].operation, assume_no_alias=True)


def test_statements_have_exact_domains(module: ir.Module) -> None:
    first, second = _scop(module).statements
    assert first.domain.is_equal(isl.Set("[p0] -> { S0[i, j] : 0 <= i < 100 and 0 <= j < p0 }"))
    assert second.domain.is_equal(isl.Set("[p0] -> { S1[i, j] : 1 <= i < 99 and 0 <= j < 64 and j mod 3 = 0 }"))


def test_dependences_are_exact(module: ir.Module) -> None:
    scop = _scop(module)
    expected = isl.UnionMap(
        "[p0] -> { S0[i, j] -> S1[k, j] : (k = i - 1 or k = i + 1) and 0 <= i < 100 and 1 <= k < 99"
        " and 0 <= j < 64 and j < p0 and j mod 3 = 0 }"
    )
    assert joined(scop.context, memory_dependences(scop)).is_equal(expected)


def test_the_original_schedule_gives_the_loops_back(module: ir.Module) -> None:
    before = str(module)
    scop = _scop(module)
    replace_loops(scop, original_schedule(scop))
    assert str(module) == before


def test_reversed_statements_break_the_flow(module: ir.Module) -> None:
    scop = _scop(module)
    dependences = memory_dependences(scop)
    assert not violations(dependences, original_schedule(scop))
    first, second = (isl.Schedule.from_domain(isl.UnionSet.from_set(one.domain)) for one in scop.statements)
    assert len(violations(dependences, second.sequence(first))) == 2
