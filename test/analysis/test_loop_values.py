"""Pairs of instances by the values of a loop at both ends."""

from __future__ import annotations

import islpy as isl
import pytest

from dlc.analysis.polyhedral.loop_values import LoopValues

_STEPS = isl.Map("{ S[i] -> T[j] : 0 <= i < 32 and i < j <= i + 4 and j < 32 }")


def _values(s: str, t: str) -> LoopValues:
    return LoopValues(isl.UnionPwAff(f"{{ S[i] -> [{s}]; T[j] -> [{t}] }}"))


@pytest.mark.parametrize(
    ("s", "t"), [("i", "j"), ("floor(i / 8)", "floor(j / 8)"), ("i - 8 * floor(i / 8)", "j - 8 * floor(j / 8)")]
)
def test_each_pair_is_in_one_of_three(s: str, t: str) -> None:
    values = _values(s, t)
    equal, falling, rising = values.equal(_STEPS), values.falling(_STEPS), values.rising(_STEPS)
    assert equal.union(falling).union(rising).is_equal(_STEPS)
    assert equal.is_equal(_STEPS.intersect(isl.Map(f"{{ S[i] -> T[j] : {s} = {t} }}")))
    assert falling.is_equal(_STEPS.intersect(isl.Map(f"{{ S[i] -> T[j] : {s} > {t} }}")))
    assert values.different(_STEPS).is_equal(_STEPS.subtract(equal))


def test_the_same_at_both_ends() -> None:
    within = isl.Map("{ S[i] -> T[j] : 8 <= i < j < 16 }")
    assert _values("floor(i / 8)", "floor(j / 8)").is_same(within)
    assert not _values("floor(i / 4)", "floor(j / 4)").is_same(within)


def test_statements_without_a_value_have_no_pairs() -> None:
    only_one = LoopValues(isl.UnionPwAff("{ S[i] -> [i] }"))
    assert only_one.equal(_STEPS).is_empty()
    assert only_one.rising(_STEPS).is_empty()
