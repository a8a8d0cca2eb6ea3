"""Vectors that are put together from others hold what was loaded, whatever the bounds and the distances are."""

from __future__ import annotations

import numpy as np
import pytest
from affine_interpreter import arguments_for, run
from hypothesis import given
from hypothesis import strategies as st

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline

_SUM = """
func.func @f(%m: index, %n: index, %x: memref<3x120xi64> {{llvm.noalias}}, %y: memref<120xi64> {{llvm.noalias}}) {{
  affine.for %j = {lower} to {upper} step {step} {{
    %start = affine.vector_load %y[%j * {scale}] : memref<120xi64>, vector<4xi64>
    {loads}
    affine.vector_store %s{count}, %y[%j * {scale}] : memref<120xi64>, vector<4xi64>
  }}
  return
}}
"""
_ADD = """%a{at} = affine.vector_load %x[{row}, %j * {scale} + {offset}] : memref<3x120xi64>, vector<4xi64>
    %f{at} = arith.constant dense<{factor}> : vector<4xi64>
    %p{at} = arith.muli %a{at}, %f{at} : vector<4xi64>
    %s{next} = arith.addi {sum}, %p{at} : vector<4xi64>"""


def _text(places: list[tuple[int, int]], lower: str, upper: str, step: int) -> str:
    scale = 4 // step
    loads = [
        _ADD.format(at=at, next=at + 1, row=row, offset=offset, scale=scale, factor=2 * at + 3, sum=f"%s{at}" if at else "%start")
        for at, (row, offset) in enumerate(places)
    ]
    return _SUM.format(lower=lower, upper=upper, step=step, scale=scale, loads="\n    ".join(loads), count=len(places))


def _assert_same(text: str, sizes: tuple[int, int], copies: int) -> str:
    """Run the loop before and after the pass; the module after it."""
    with make_context(), ir.Location.unknown():
        before, after = ir.Module.parse(text), ir.Module.parse(text)
        Pipeline.parse(f"affine-share-vector-loads{{line-bytes=32 copies={copies}}}").run(after)
        found = []
        for module in (before, after):
            function = module.body.operations[0].operation
            found.append(arguments_for(function, 3, sizes))
            run(function, *found[-1])
        np.testing.assert_array_equal(found[1][3], found[0][3])
        return str(after)


@pytest.mark.parametrize(
    ("lower", "upper", "step"), [("0", "24", 1), ("1", "24", 1), ("%m", "%n", 1), ("0", "%n", 4), ("5", "62", 4), ("0", "61", 4)]
)
@pytest.mark.parametrize("sizes", [(0, 0), (1, 18), (6, 3), (2, 10), (17, 18)])
def test_stencils_are_the_same(lower: str, upper: str, step: int, sizes: tuple[int, int]) -> None:
    text = _text([(1, 0), (1, 1), (0, 3), (1, 2), (0, 7)], lower, upper, step)
    assert "vector.shuffle" in _assert_same(text, sizes, 4)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12)), min_size=1, max_size=6),
    st.integers(0, 6),
    st.integers(0, 24),
    st.integers(2, 5),
)
def test_random_places_are_the_same(places: list[tuple[int, int]], lower: int, upper: int, copies: int) -> None:
    _assert_same(_text(places, str(lower), str(upper), 1), (0, 0), copies)
