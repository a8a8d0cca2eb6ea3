"""isl's index expressions as values under constraints."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import islpy as isl
import pytest

from dlc._mlir import ir
from dlc.lowering.affine.polyhedral.ast_expressions import EmissionError, Guarded, cases

_POINTS = list(product(range(-3, 8), range(-3, 8)))


def _value(expression: ir.AffineExpr, point: tuple[int, int]) -> int:
    constants = [ir.AffineConstantExpr.get(value) for value in point]
    found = expression.compose(ir.AffineMap.get(0, 0, constants)).maybe_downcast()
    assert isinstance(found, ir.AffineConstantExpr)
    return found.value


def _chosen(choices: list[Guarded], point: tuple[int, int]) -> int:
    for guard, value in choices:
        numbers = [(_value(one, point), is_equality) for one, is_equality in guard]
        if all(number == 0 if is_equality else number >= 0 for number, is_equality in numbers):
            return _value(value, point)
    raise AssertionError("no case holds")


def _cases(text: str) -> list[Guarded]:
    build = isl.AstBuild.from_context(isl.Set("[i, j] -> { : }"))
    return cases(build.expr_from_pw_aff(isl.PwAff(text)), {"i": ir.AffineExpr.get_dim(0), "j": ir.AffineExpr.get_dim(1)})


@pytest.mark.parametrize(
    ("pieces", "wanted"),
    [
        ("[(i + 2j)]", lambda i, j: i + 2 * j),
        ("[(i)] : i <= j; [(j)] : i > j", min),
        ("[(2i + 1)] : i >= j; [(2j + 1)] : i < j", lambda i, j: 2 * max(i, j) + 1),
        ("[(i)] : i < j and j > 3; [(j - 5)] : i >= j or j <= 3", lambda i, j: i if i < j and j > 3 else j - 5),
        (
            "[(floor(i/3))] : i <= 0; [(1)] : i > 0 and j = 2; [(7)] : i > 0 and j != 2",
            lambda i, j: i // 3 if i <= 0 else 1 if j == 2 else 7,
        ),
    ],
)
def test_the_first_case_that_holds_is_the_value(pieces: str, wanted: Callable[[int, int], int]) -> None:
    with ir.Context(), ir.Location.unknown():
        found = _cases(f"[i, j] -> {{ {pieces} }}")
        assert all(_chosen(found, point) == wanted(*point) for point in _POINTS)


def test_many_cases_are_refused() -> None:
    pieces = "; ".join(f"[({3 * at * at})] : i = {at}" for at in range(10))
    with ir.Context(), ir.Location.unknown(), pytest.raises(EmissionError, match="more than 8 cases"):
        _cases(f"[i, j] -> {{ {pieces} }}")
