"""Random small dl graphs: what every graph pass is tried on.

    graph = random_graph(random.Random(7), context)
    interpret(graph.module, graph.inputs, graph.params)   # about graph.outputs

A graph has 5 to 30 ops of all families, some in the forms that exporters write (`random_ops`), several outputs, values that
are used several times, params and constants, and now and then symbolic dims. Each value is computed while the graph grows,
twice: the twin is disturbed by a few roundings per op, and an op whose twin comes out far off is left out. So a pass that
rounds elsewhere stays within `tolerance`, and one that is wrong does not.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from graph_maker import EPSILON, GraphMaker, Item, Unfit
from hypothesis import strategies as st
from random_ops import MAKERS

from dlc._mlir import ir
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.types import type_of_array


@dataclass(frozen=True)
class RandomGraph:
    """A module with arrays for its inputs and params, and what it gives for them with and without disturbance."""

    module: ir.Module
    inputs: list[np.ndarray]
    params: dict[str, np.ndarray]
    outputs: list[np.ndarray]
    twins: list[np.ndarray]


def tolerance(want: np.ndarray, twin: np.ndarray) -> float:
    """Largest absolute difference from `want` that roundings explain; 0 for integers."""
    epsilon = EPSILON.get(type_of_array(want).dtype)
    if epsilon is None:
        return 0.0
    wide = want.astype(np.float64)
    spread = np.abs(wide - twin.astype(np.float64)).max(initial=0)
    return float(20 * spread + 20 * epsilon * (1 + np.abs(wide).max(initial=0)))


def difference(found: Sequence[np.ndarray], graph: RandomGraph) -> str:
    """How results differ from the graph's outputs, beyond roundings; empty where they do not."""
    for index, (have, want, twin) in enumerate(zip(found, graph.outputs, graph.twins, strict=True)):
        if have.shape != want.shape or have.dtype != want.dtype:
            return f"output {index} is {have.dtype}{list(have.shape)} but must be {want.dtype}{list(want.shape)}"
        off = np.abs(have.astype(np.float64) - want.astype(np.float64)).max(initial=0)
        if not off <= tolerance(want, twin):
            return f"output {index} is off by {off}, allowed is {tolerance(want, twin)}\nhave {have}\nwant {want}"
    return ""


def random_graph(choose: random.Random, context: ir.Context) -> RandomGraph:
    """A graph by the choices of `choose`, in `context`."""
    graph = Graph(context=context)
    maker = GraphMaker(choose, graph, np.random.default_rng(choose.randrange(2**32)))
    with graph:
        _add_inputs(maker)
        count = choose.randint(5, 30)
        for _ in range(4 * count):
            if len(graph.block.operations) >= count:
                break
            try:
                choose.choices(*MAKERS)[0](maker)
            except Unfit:
                continue
        outputs = _outputs(maker)
        for index, item in enumerate(outputs):
            graph.output(f"y{index}", item.value)
    arrays, twins = [item.array for item in outputs], [item.twin for item in outputs]
    return RandomGraph(graph.module, maker.inputs, dict(graph.params), arrays, twins)


def _add_inputs(maker: GraphMaker) -> None:
    choose = maker.choose
    dynamic = choose.random() < 0.35
    sizes = {"n": choose.randint(1, 3), "m": choose.randint(2, 5)}
    for index in range(choose.randint(1, 3)):
        rank = choose.choice((2, 3, 4, 4)) if index == 0 else choose.randint(0, 4)
        shape: list[int | str] = [choose.choice((1, 2, 3, 4, 4)) for _ in range(rank)]
        for axis in range(rank):
            if dynamic and choose.random() < 0.4:
                shape[axis] = "n" if axis == 0 else "m"
        dtype = choose.choice(("f32", "f32", "f32", "f32", "f16", "bf16", "i64", "i32", "i1", "f64")) if index else "f32"
        maker.add_input(shape, sizes, dtype)


def _outputs(maker: GraphMaker) -> list[Item]:
    """Some of what nothing uses yet, the last value among it, and now and then any other value, too."""
    unused = [item for item in maker.items if item.number not in maker.used]
    found = unused[-maker.choose.randint(1, 4) :] or maker.items[-1:]
    if maker.choose.random() < 0.3:
        found = [*found, maker.choose.choice(maker.items)]
    return found


def seeded_graph(seed: int, context: ir.Context) -> RandomGraph:
    """The graph with number `seed`, the same on every machine."""
    return random_graph(random.Random(seed), context)


def random_graphs(context: ir.Context) -> st.SearchStrategy[RandomGraph]:
    """A hypothesis strategy, which shrinks what it finds."""
    return st.builds(lambda choose: random_graph(choose, context), st.randoms(use_true_random=False))
