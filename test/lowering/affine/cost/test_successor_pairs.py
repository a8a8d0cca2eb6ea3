"""Steps from linear systems are those of relations."""

from __future__ import annotations

import islpy as isl
import pytest

from dlc.lowering.affine.cost.successor_pairs import StatementSchedule, SuccessorPairs, only_point

_SQUARE = "{ S[i, j] : 0 <= i < 24 and 0 <= j < 24 }"
_BAND = "{ S[i, j] : 0 <= i < 24 and i <= j <= i + 2 }"
_ONE_ROW = "{ S[i, j] : 0 <= j < 24 and i = 3 }"
_TILES = ("floor(i / 8)", "floor(j / 4)", "i - 8 * floor(i / 8)", "j - 4 * floor(j / 4)")


@pytest.mark.parametrize("domain", [_SQUARE, _BAND, _ONE_ROW])
@pytest.mark.parametrize(
    "values", [("i", "j"), ("j", "i"), ("i + j", "j"), ("2 * i", "j"), ("i", "i + 2 * j"), _TILES, (*_TILES[:2], "i", "j")]
)
def test_steps(domain: str, values: tuple[str, ...]) -> None:
    time = StatementSchedule(isl.Set(domain), [isl.PwAff(f"{{ S[i, j] -> [({value})] }}") for value in values])
    for dim in range(len(values)):
        pairs = SuccessorPairs(time, dim).pairs
        moves = time.along(dim)
        assert (moves is None) == pairs.is_empty()
        assert moves is None or moves.step == only_point(pairs.deltas())


def test_several_steps_are_none() -> None:
    moves = StatementSchedule(isl.Set(_SQUARE), [isl.PwAff("{ S[i, j] -> [(i)] }")]).along(0)
    assert moves is not None
    assert moves.step is None
