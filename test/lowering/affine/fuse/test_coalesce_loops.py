"""Products whose loops over rows are one give what they gave, for rows before and behind other axes."""

from __future__ import annotations

from affine_interpreter import check_same
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sweeps import examples

_PIPELINE = "func.func(affine-coalesce-loops)"


def _loops(variables: str, sizes: list[int], body: list[str]) -> list[str]:
    heads = [f"affine.for %{name} = 0 to {size} {{" for name, size in zip(variables, sizes, strict=True)]
    return [*heads, *body, *["} {dlc.parallel}"] * len(sizes)]


def _product(groups: int, rows: list[int], columns: int, depth: int, cut: int) -> str:
    """y[g, ..., j] = sum over k of x[g, ..., k] * w[g, k, j], of which the last axis of rows ends `cut` early."""
    names = "hil"[: len(rows)]
    places = ", ".join(f"%{name}" for name in names)
    shape = "x".join(map(str, [groups, *rows]))
    x, w, y = (f"memref<{text}xi64>" for text in (f"{shape}x{depth}", f"{groups}x{depth}x{columns}", f"{shape}x{columns}"))
    body = [
        f"%s = affine.for %k = 0 to {depth} iter_args(%t = %zero) -> (i64) {{",
        f"%a = affine.load %x[%g, {places}, %k] : {x}",
        f"%b = affine.load %w[%g, %k, %j] : {w}",
        "%p = arith.muli %a, %b : i64",
        "%u = arith.addi %t, %p : i64",
        "affine.yield %u : i64",
        "}",
        f"affine.store %s, %y[%g, {places}, %j] : {y}",
    ]
    return "\n".join(
        [
            f"func.func @f(%x: {x} {{llvm.noalias}}, %w: {w} {{llvm.noalias}}, %y: {y} {{llvm.noalias}})",
            "attributes {dl.kernel} {",
            "%zero = arith.constant 0 : i64",
            *_loops(f"g{names}j", [groups, *rows[:-1], rows[-1] - cut, columns], body),
            "return",
            "}",
        ]
    )


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(1, 3), st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(1, 4), st.integers(1, 4), st.booleans())
def test_results_are_the_same(groups: int, rows: list[int], columns: int, depth: int, is_cut: bool) -> None:
    check_same(_product(groups, rows, columns, depth, int(is_cut and rows[-1] > 1)), _PIPELINE)


def test_three_loops_become_one() -> None:
    text = check_same(_product(2, [2, 3, 4], 5, 3, 0), _PIPELINE)
    assert "affine.for %arg4 = 0 to 24" in text and text.count("affine.for") == 4
