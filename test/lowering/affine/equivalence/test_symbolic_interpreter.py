"""The symbolic interpreter judges long chains of shared values at once."""

from __future__ import annotations

import pytest
from symbolic_interpreter import run, visible

from dlc._mlir import ir

_CHAIN = """
func.func @f(%A: memref<?xf32>) {{
  %i = arith.constant 0 : index
  %x = affine.load %A[%i] : memref<?xf32>
  %r = affine.for %j = 0 to {length} iter_args(%v = %x) -> (f32) {{
    %w = {op} %v, %v : f32
    affine.yield %w : f32
  }}
  affine.store %r, %A[%i] : memref<?xf32>
  return
}}
"""


def _left(length: int, op: str) -> dict[object, object]:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(_CHAIN.format(length=length, op=op))
        return visible(run(module.body.operations[0].operation))


def test_chains_of_shared_values() -> None:
    assert _left(64, "arith.mulf") == _left(64, "arith.mulf")


@pytest.mark.parametrize(("length", "op"), [(63, "arith.mulf"), (64, "arith.addf")])
def test_other_chains_differ(length: int, op: str) -> None:
    assert _left(64, "arith.mulf") != _left(length, op)
