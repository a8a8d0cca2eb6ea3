"""Blocks of rows that go through several nests, and buffers in place of arrays, leave results as they were."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from affine_interpreter import check_same
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sweeps import examples

from dlc._mlir import ir
from dlc.lowering.affine.search import row_blocks
from dlc.lowering.policy import Policy, using
from dlc.targets.machine import Machine, facts_of

_ROWS, _COLUMNS = 24, 16
_MATRIX, _VECTOR = f"memref<{_ROWS}x{_COLUMNS}xi64>", f"memref<{_ROWS}xi64>"
_STATEMENTS = {
    "sum of two": (0, 0, "[%i, %j]", ("[%i, %j]", "[%i, %j]")),
    "along rows": (0, 1, "[%i, %j]", ("[%i, %j - 1]", "[%i, %j]")),
    "back along rows": (0, 1, f"[%i, {_COLUMNS - 1} - %j]", (f"[%i, {_COLUMNS} - %j]", f"[%i, {_COLUMNS - 1} - %j]")),
    "along columns": (1, 0, "[%i, %j]", ("[%i - 1, %j]", "[%i, %j]")),
    "back along columns": (1, 0, f"[{_ROWS - 1} - %i, %j]", (f"[{_ROWS} - %i, %j]", f"[{_ROWS - 1} - %i, %j]")),
    "rows turned over": (0, 0, "[%i, %j]", (f"[{_ROWS - 1} - %i, %j]", "[%i, %j]")),
    "turned over": (0, 0, "[%i, %j]", (f"[{_ROWS - 1} - %i, {_COLUMNS - 1} - %j]", "[%i, %j]")),
    "into a vector": (0, 0, "[%i]", ("[%i]", "[%i, %j]")),
    "from a vector": (0, 0, "[%i, %j]", ("[%i, %j]", "[%i]")),
}
"""Where loops over rows and columns begin, and the subscripts of `target = 3 * first - second`."""


def _any_block() -> Policy:
    """Any block fits into the last cache, and two are enough."""
    default = Policy()
    blocks, parallel = replace(default.blocks, eighth_share=1000.0), replace(default.parallel, fewest_row_blocks=2)
    return replace(default, blocks=blocks, parallel=parallel)


@pytest.fixture(autouse=True)
def no_caches(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All arrays are larger than the last cache, and any block fits into it."""

    def facts_without_caches(op: ir.Operation) -> Machine:
        return facts_of(op).override(l2_bytes=64, l3_bytes=512)

    monkeypatch.setattr(row_blocks, "facts_of", facts_without_caches)
    monkeypatch.setattr(row_blocks, "LINE_BYTES", 16)
    with using(_any_block()):
        yield


def _nest(number: int, kind: str, target: str, first: str, second: str, *, by_columns: bool) -> str:
    rows, columns, place, sources = _STATEMENTS[kind]
    loops = [f"affine.for %i = {rows} to {_ROWS} {{", f"affine.for %j = {columns} to {_COLUMNS} {{"]
    names = (target if place != "[%i]" else "%S", first if sources[0] != "[%i]" else "%S", second if sources[1] != "[%i]" else "%S")
    kinds = [_VECTOR if name == "%S" else _MATRIX for name in names]
    return "\n".join(
        [
            *(reversed(loops) if by_columns else loops),
            f"  %a{number} = affine.load {names[1]}{sources[0]} : {kinds[1]}",
            f"  %b{number} = affine.load {names[2]}{sources[1]} : {kinds[2]}",
            f"  %c{number} = arith.muli %a{number}, %three : i64",
            f"  %d{number} = arith.subi %c{number}, %b{number} : i64",
            f"  affine.store %d{number}, {names[0]}{place} : {kinds[0]}",
            "}}",
        ]
    )


def _function(nests: list[str]) -> str:
    arguments = ", ".join(f"%{name}: {_VECTOR if name == 'S' else _MATRIX} {{llvm.noalias}}" for name in "ABCDS")
    return "\n".join([f"func.func @f({arguments}) {{", "%three = arith.constant 3 : i64", *nests, "return", "}"])


@st.composite
def _functions(draw: st.DrawFn) -> str:
    arrays = st.sampled_from(("%A", "%B", "%C", "%D"))
    return _function(
        [
            _nest(at, draw(st.sampled_from(sorted(_STATEMENTS))), *(draw(arrays) for _ in range(3)), by_columns=draw(st.booleans()))
            for at in range(draw(st.integers(2, 5)))
        ]
    )


def _check(text: str) -> str:
    """That results are the same, whatever the order of parallel iterations; the text of the new loops."""
    return check_same(text, "dl-set-target{target=znver4},affine-polyhedral-schedule")


@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(_functions())
def test_results_are_the_same(text: str) -> None:
    _check(text)


def _check_nests(nests: Sequence[tuple[str, str, str, str]]) -> str:
    """As `_check`, for nests in the order of rows."""
    return _check(_function([_nest(at, *nest, by_columns=False) for at, nest in enumerate(nests)]))


def _top_loops(text: str) -> int:
    return text.count("\n    affine.for")


def test_rows_go_through_all_nests_in_blocks() -> None:
    nests = [("along rows", "%B", "%B", "%A"), ("into a vector", "%A", "%A", "%B"), ("from a vector", "%C", "%B", "%S")]
    assert _top_loops(_check_nests(nests)) == 1


def test_blocks_of_rows_do_not_become_strips_of_columns() -> None:
    nests = [("sum of two", "%B", "%A", "%A"), ("sum of two", "%C", "%B", "%B"), ("rows turned over", "%D", "%C", "%C")]
    text = _check_nests(nests)
    assert _top_loops(text) == 2
    assert _top_loops(_check_nests(nests[1:])) == 1


def test_columns_and_rows_do_not_mix() -> None:
    nests = [("along rows", "%B", "%B", "%A"), ("along columns", "%C", "%C", "%B"), ("back along columns", "%B", "%C", "%A")]
    assert _top_loops(_check_nests(nests)) == 2


def test_what_is_written_again_needs_no_memory() -> None:
    nests = [("sum of two", "%B", "%A", "%A"), ("sum of two", "%C", "%B", "%B"), ("turned over", "%B", "%C", "%C")]
    text = _check_nests(nests)
    assert f"memref.alloca() {{alignment = 64 : i64}} : memref<1x{_COLUMNS}xi64>" in text


def test_blocks_of_two_places_have_buffers_of_their_own_for_one_array() -> None:
    nests = [("sum of two", "%B", "%A", "%A"), ("sum of two", "%C", "%B", "%B"), ("turned over", "%B", "%C", "%C")]
    text = _check_nests([*nests, ("along rows", "%D", "%D", "%B"), ("turned over", "%B", "%D", "%D")])
    shapes = re.findall(r"memref.alloca\(\).* : memref<(\d+)x16xi64>", text)
    assert len(set(shapes)) == 2


@pytest.mark.parametrize("reader", ["turned over", "along rows"])
def test_what_others_read_stays_in_memory(reader: str) -> None:
    nests = [("sum of two", "%B", "%A", "%A"), ("sum of two", "%C", "%B", "%B"), (reader, "%D", "%B", "%B")]
    assert "alloc" not in _check_nests(nests)


_BUFFERS = """
from test_row_blocks import *
from test_row_blocks import _any_block, _check_nests
row_blocks.facts_of = lambda op: facts_of(op).override(l2_bytes=64, l3_bytes=512)
row_blocks.LINE_BYTES = 16
nests = [("sum of two", x, y, y) for x, y in (("%B", "%A"), ("%C", "%B"), ("%D", "%C"), ("%A", "%D"))]
nests += [("turned over", x, "%A", "%A") for x in ("%B", "%C", "%D")]
with using(_any_block()):
    print(_check_nests(nests))
"""


def test_buffers_have_the_same_order_each_time() -> None:
    """Names of statements in a set would have another one with each seed."""
    texts = set()
    for seed in ("1", "2", "3"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        texts.add(
            subprocess.run([sys.executable, "-c", _BUFFERS], env=environment, capture_output=True, text=True, check=True).stdout
        )
    (text,) = texts
    assert text.count("memref.alloca") == 3
