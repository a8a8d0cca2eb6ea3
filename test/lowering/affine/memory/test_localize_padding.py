"""Padding in the loops that read it leaves results as they were, for any window, padding and number of loops."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from affine_interpreter import check_same
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sweeps import examples

from dlc._mlir import ir
from dlc.lowering.affine.memory import localize_padding
from dlc.lowering.policy import policy, using
from dlc.targets.machine import Machine, facts_of


def _set_caches(monkeypatch: pytest.MonkeyPatch, l2_bytes: int) -> None:
    """Let every image be too large for the last cache, and copies of padded parts fit where they take a third of L2."""

    def facts(op: ir.Operation) -> Machine:
        return facts_of(op).override(l2_bytes=l2_bytes, l3_bytes=1)

    monkeypatch.setattr(localize_padding, "facts_of", facts)


@pytest.fixture(autouse=True)
def any_size_pays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    _set_caches(monkeypatch, 1 << 40)
    with using(policy().override(padded_copies=16)):
        yield


def _loops(variables: str, sizes: list[int], body: list[str], mark: str = "") -> list[str]:
    heads = [f"affine.for %{name} = 0 to {size} {{" for name, size in zip(variables, sizes, strict=True)]
    return [*heads, *body, *[f"}} {mark}"] * len(sizes)]


def _function(sizes: list[int], before: list[int], after: list[int], step: int, taps: int, *, batch: int, transposed: bool) -> str:
    """Sums of the first and the last tap of windows over rows of a padded image [batch, row, column]."""
    padded = [batch, *(size + low + high for size, low, high in zip(sizes, before, after, strict=True))]
    shape = "x".join(map(str, padded))
    image = f"memref<{batch}x{sizes[1]}x{sizes[0]}xi64>" if transposed else f"memref<{batch}x{sizes[0]}x{sizes[1]}xi64>"
    buffer, rows = f"memref<{shape}xi64>", (padded[1] - taps) // step + 1
    result = f"memref<{batch}x{rows}x{padded[2]}xi64>"
    place = "%n, %j, %i" if transposed else "%n, %i, %j"
    copying = [
        f"%v = affine.load %x[{place}] : {image}",
        f"affine.store %v, %p[%n, %i + {before[0]}, %j + {before[1]}] : {buffer}",
    ]
    reading = [
        f"%a = affine.load %p[%n, %i * {step}, %j] : {buffer}",
        f"%b = affine.load %p[%n, %i * {step} + {taps - 1}, {padded[2] - 1} - %j] : {buffer}",
        "%s = arith.muli %a, %three : i64",
        "%t = arith.addi %s, %b : i64",
        f"affine.store %t, %y[%n, %i, %j] : {result}",
    ]
    return "\n".join(
        [
            f"func.func @f(%x: {image} {{llvm.noalias}}, %y: {result} {{llvm.noalias}}) {{",
            "%seven = arith.constant 7 : i64",
            "%three = arith.constant 3 : i64",
            f"%p = memref.alloc() : {buffer}",
            *_loops("nij", padded, [f"affine.store %seven, %p[%n, %i, %j] : {buffer}"]),
            *_loops("nij", [batch, *sizes], copying),
            *_loops("nij", [batch, rows, padded[2]], reading, "{dlc.parallel}"),
            f"memref.dealloc %p : {buffer}",
            "return",
            "}",
        ]
    )


def _check(text: str) -> str:
    return check_same(text, "func.func(affine-localize-padding)")


_PADS = st.lists(st.integers(0, 3), min_size=2, max_size=2)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.integers(1, 7), min_size=2, max_size=2),
    _PADS,
    _PADS,
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(1, 2),
    st.booleans(),
)
def test_results_are_the_same(
    sizes: list[int], before: list[int], after: list[int], step: int, taps: int, batch: int, transposed: bool
) -> None:
    taps = min(taps, sizes[0] + before[0] + after[0])
    _check(_function(sizes, before, after, step, taps, batch=batch, transposed=transposed))


def test_batches_and_rows_move_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """An image of 72 numbers is too large, so loops over rows hold the copy: three rows of nine."""
    _set_caches(monkeypatch, 3 * (3 * 9 * 8))
    text = _check(_function([6, 7], [1, 1], [1, 1], 2, 3, batch=2, transposed=True))
    assert "memref.alloc() : memref<1x3x9xi64>" in text and "memref<2x8x9xi64>" not in text
