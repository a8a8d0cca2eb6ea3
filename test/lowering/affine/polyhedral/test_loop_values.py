"""The least and the largest value of a loop."""

from __future__ import annotations

import islpy as isl
import pytest

from dlc.lowering.affine.polyhedral.loop_values import ends_of


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ("{ S[i] -> [(2 * i)] : 3 <= i <= 7; T[i] -> [(i)] : i = 20 }", ("6", "20")),
        ("{ S[i, j] -> [((-2 + 2i)/3)] : 3j = -2 + 2i and 4 <= i <= 7 }", ("2", "4")),
        ("{ S[i] -> [(i)] : 3 <= i }", ("3", "infty")),
        ("[n] -> { S[i] -> [(i)] : 0 <= i < n }", ("0", "infty")),
        ("{ S[i] -> [(i)] : false }", ("NaN", "NaN")),
    ],
)
def test_ends_of_quotients_too(values: str, ends: tuple[str, str]) -> None:
    """The quotient is a whole number wherever the other dim is."""
    assert tuple(map(str, ends_of(isl.UnionPwAff(values)))) == ends
