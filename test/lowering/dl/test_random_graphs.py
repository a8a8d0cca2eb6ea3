"""Every graph pass, and all of them together, on random graphs: same results, idempotent, deterministic, valid IR.

Passes come from `dl-optimize`, so a new one is tried at once. A failure names the seed; `seeded_graph(seed, context)` makes the
graph again.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_graphs import RandomGraph, difference, random_graph, seeded_graph
from random_runs import elements, faults
from sweeps import examples

import dlc
from dlc.dialects import make_context
from dlc.dialects.dl.interpreter import interpret

pytestmark = pytest.mark.filterwarnings("ignore:Mean of empty slice")

_CHUNK = 50
_IN_CHECK = 100
_IN_CHECK_ALL = 10000
_CONTEXT = make_context()


def _seeds(first: int, last: int, slow: bool = False) -> list[object]:
    marks = [pytest.mark.slow] if slow else []
    return [pytest.param(start, id=f"{start}", marks=marks) for start in range(first, last, _CHUNK)]


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("first", [*_seeds(0, _IN_CHECK), *_seeds(_IN_CHECK, _IN_CHECK_ALL, slow=True)])
def test_passes(first: int) -> None:
    passes = elements()
    for seed in range(first, first + _CHUNK):
        wrong = next(faults(seeded_graph(seed, _CONTEXT), passes, alone=seed % 8 == 0), "")
        assert not wrong, f"seed {seed}: {wrong}"


def _digests(count: int) -> list[str]:
    """What processes with different orders of hashing make of the graphs; each line is one graph."""
    script = str(Path(__file__).with_name("random_runs.py"))
    runs = [
        subprocess.Popen(
            [sys.executable, script, "0", str(count)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
    found = [run.communicate()[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    return found


@pytest.mark.parametrize("count", [pytest.param(50, id="50"), pytest.param(4000, id="4000", marks=pytest.mark.slow)])
def test_deterministic(count: int) -> None:
    one, other = (found.splitlines() for found in _digests(count))
    assert len(one) == count
    assert one == other


@settings(max_examples=examples(20), suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_passes_on_what_hypothesis_finds(choose: object) -> None:
    graph = random_graph(choose, _CONTEXT)  # type: ignore[arg-type]
    wrong = next(faults(graph, elements(), alone=False), "")
    assert not wrong, wrong


@pytest.mark.parametrize("seed", [*range(10), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(10, 400))])
def test_compiled(seed: int) -> None:
    graph = seeded_graph(100_000 + seed, _CONTEXT)
    assert not _compiled_difference(graph), str(graph.module)


def _compiled_difference(graph: RandomGraph) -> str:
    model = dlc.compile(graph.module, params=graph.params)
    return difference([np.asarray(array) for array in model(*graph.inputs)], graph)


def test_graphs_are_what_the_interpreter_computes() -> None:
    for seed in range(50):
        graph = seeded_graph(seed, _CONTEXT)
        assert not difference(interpret(graph.module, graph.inputs, graph.params), graph)


def test_wrong_results_are_found() -> None:
    graph = seeded_graph(3, _CONTEXT)
    outputs = interpret(graph.module, graph.inputs, graph.params)
    broken = [np.where(output == output.flat[0], output + 1, output).astype(output.dtype) for output in outputs]
    assert difference(broken, graph)
