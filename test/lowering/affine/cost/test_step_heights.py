"""Steps of unrolled and jammed loops of unknown extent: they cover it, and none is much lower than it has to be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dlc.analysis.dim_bounds import DimBounds
from dlc.lowering.affine.cost.step_heights import balanced, most_left, open_heights, open_steps

_EXTENTS, _FACTORS = st.integers(0, 500), st.integers(1, 16)


@given(_EXTENTS, _FACTORS)
def test_steps_cover_the_extent(extent: int, factor: int) -> None:
    steps = open_steps(extent, factor)
    assert sum(trips * height for trips, height in steps) == extent
    assert all(0 < height <= factor and trips > 0 for trips, height in steps)


@given(_EXTENTS, st.integers(1, most_left(16)))
def test_steps_are_as_few_as_can_be(extent: int, factor: int) -> None:
    steps = open_steps(extent, factor)
    assert sum(trips for trips, _ in steps) == sum(trips for trips, _ in balanced(extent, factor))
    assert extent <= factor or all(height >= (factor + 1) // 2 for _, height in steps)


@given(st.integers(1, 60), st.integers(1, 12), _FACTORS, st.integers(0, 200))
def test_heights_are_all_that_may_come(least: int, multiple: int, factor: int, more: int) -> None:
    known = DimBounds(least * multiple, None, multiple)
    used = {height for _, height in open_steps((least + more) * multiple, factor)}
    assert used <= set(open_heights(factor, known))


def test_whole_steps_alone_where_nothing_is_left_over() -> None:
    assert open_heights(8, DimBounds(8, 512, 8)) == [8]
    assert open_heights(6, DimBounds(multiple=4)) == [6, 5, 4]
