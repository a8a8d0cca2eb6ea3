"""Squares that are transposed in registers give what columns gave, whatever the bounds are."""

from __future__ import annotations

import numpy as np
import pytest
from affine_interpreter import arguments_for, run

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline

_TWO_SUMS = """
func.func @f(%m: index, %n: index, %A: memref<24x20xi64>, %x: memref<20xi64>, %y: memref<24xi64>) {{
  %first = affine.vector_load %y[0] : memref<24xi64>, vector<4xi64>
  %s:2 = affine.for %j = {lower} to {upper} iter_args(%b = %first, %c = %first) -> (vector<4xi64>, vector<4xi64>) {{
    %e = affine.load %x[%j] : memref<20xi64>
    %v = vector.broadcast %e : i64 to vector<4xi64>
    {columns}
    %k = arith.index_cast %j : index to i64
    %w = vector.broadcast %k : i64 to vector<4xi64>
    %o = arith.muli %p, %v : vector<4xi64>
    %t = arith.addi %b, %o : vector<4xi64>
    %q = arith.muli %g, %w : vector<4xi64>
    %u = arith.subi %q, %c : vector<4xi64>
    %h = arith.addi %u, %b : vector<4xi64>
    affine.yield %t, %h : vector<4xi64>, vector<4xi64>
  }}
  affine.vector_store %s#0, %y[4] : memref<24xi64>, vector<4xi64>
  affine.vector_store %s#1, %y[8] : memref<24xi64>, vector<4xi64>
  return
}}
"""


def _column(result: str, row: int, offset: int) -> str:
    names = [f"%{result[1:]}{lane}" for lane in range(4)]
    loads = [f"{name} = affine.load %A[{row + 2 * lane}, %j + {offset}] : memref<24x20xi64>" for lane, name in enumerate(names)]
    return "\n    ".join([*loads, f"{result} = vector.from_elements {', '.join(names)} : vector<4xi64>"])


@pytest.mark.parametrize(("lower", "upper"), [("0", "16"), ("3", "18"), ("5", "7"), ("%m", "%n"), ("2", "%n")])
@pytest.mark.parametrize("sizes", [(0, 0), (1, 18), (6, 3), (2, 10), (17, 18)])
def test_sums_are_the_same(lower: str, upper: str, sizes: tuple[int, int]) -> None:
    text = _TWO_SUMS.format(lower=lower, upper=upper, columns=_column("%p", 1, 0) + "\n    " + _column("%g", 9, 2))
    with make_context(), ir.Location.unknown():
        before, after = ir.Module.parse(text), ir.Module.parse(text)
        Pipeline.parse("affine-transpose-loads").run(after)
        assert "vector.shuffle" in str(after)
        found = []
        for module in (before, after):
            function = module.body.operations[0].operation
            found.append(arguments_for(function, 3, sizes))
            run(function, *found[-1])
    np.testing.assert_array_equal(found[1][4], found[0][4])
