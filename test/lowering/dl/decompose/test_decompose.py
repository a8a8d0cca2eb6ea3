"""A composite op that is decomposed means the same, and recomposition gives it back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from equality import apply_passes, assert_close, random_array

from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.interpreter import interpret

RECOMPOSE = (
    "dl-recompose-norms",
    "dl-recompose-activations",
    "dl-recompose-rotary-embedding",
    "dl-recompose-attention",
)

CASES: Sequence[tuple[str, tuple[tuple[int, ...], ...], dict[str, Any]]] = (
    ("softmax", ((2, 3, 4),), {"axis": -2}),
    ("log_softmax", ((2, 3, 4),), {}),
    ("layer_norm", ((2, 3, 4), (4,), (4,)), {"epsilon": 1e-12}),
    ("layer_norm", ((2, 3, 4),), {"axis": -2}),
    ("layer_norm", ((2, 3, 4), (3, 4), (3, 4)), {"axis": -2}),
    ("rms_norm", ((2, 3, 4), (4,)), {"epsilon": 1e-6}),
    ("rms_norm", ((2, 3, 4),), {"axis": -3}),
    ("batch_norm", ((2, 3, 4, 4), (3,), (3,), (3,), (3,)), {}),
    ("batch_norm", ((2, 3), (3,), (3,), (3,), (3,)), {}),
    ("instance_norm", ((2, 3, 4, 4), (3,), (3,)), {}),
    ("group_norm", ((2, 6, 4, 4), (6,), (6,)), {"num_groups": 2}),
    ("group_norm", ((2, 6), (6,), (6,)), {"num_groups": 3}),
    ("gelu", ((2, 3),), {}),
    ("gelu", ((2, 3),), {"approximate": "tanh"}),
    ("silu", ((2, 3),), {}),
    ("silu", ((2, 3),), {"alpha": 1.75}),
    ("sigmoid", ((2, 3),), {}),
    ("sigmoid", ((),), {}),
    ("hard_sigmoid", ((2, 3),), {}),
    ("hard_swish", ((2, 3),), {}),
    ("softplus", ((2, 3),), {}),
    ("mish", ((2, 3),), {}),
    ("leaky_relu", ((2, 3),), {"alpha": 0.25}),
    ("prelu", ((2, 3, 4), (3, 1)), {}),
    ("attention", ((2, 4, 5, 16), (2, 4, 6, 16), (2, 4, 6, 8)), {}),
    ("attention", ((2, 4, 5, 16), (2, 2, 6, 16), (2, 2, 6, 8), (1, 1, 1, 6)), {"scale": 0.125}),
    ("attention", ((2, 4, 5, 16), (2, 1, 5, 16), (2, 1, 5, 8)), {"is_causal": True}),
    ("attention", ((2, 4, 7, 16), (2, 4, 5, 16), (2, 4, 5, 8)), {"is_causal": True}),
    ("rotary_embedding", ((2, 3, 5, 8), (1, 5, 4), (1, 5, 4)), {}),
    ("rotary_embedding", ((2, 3, 5, 8), (2, 5, 4), (2, 5, 4)), {"interleaved": True}),
)


def graph_of(name: str, shapes: Sequence[Sequence[Any]], attributes: dict[str, Any], dtype: str) -> Graph:
    with Graph() as graph:
        inputs = [graph.input(f"x{index}", shape, dtype) for index, shape in enumerate(shapes)]
        graph.output("y", getattr(dl, name)(*inputs, **attributes))
    return graph


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "f64"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{len(case[1])}-{case[2]}")
def test_there_and_back(case: tuple[str, tuple[tuple[int, ...], ...], dict[str, Any]], dtype: str) -> None:
    name, shapes, attributes = case
    graph = graph_of(name, shapes, attributes, dtype)
    inputs = [random_array(shape, dtype, seed=index, positive=name == "batch_norm") for index, shape in enumerate(shapes)]
    before, want = str(graph.module), interpret(graph.module, inputs, {})
    apply_passes(graph.module, f"dl-decompose-{name.replace('_', '-')}")
    assert f'"dl.{name}"' not in str(graph.module)
    assert_close(interpret(graph.module, inputs, {}), want)
    apply_passes(graph.module, *RECOMPOSE)
    assert str(graph.module) == before


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{len(case[1])}-{case[2]}")
def test_with_dynamic_dims(case: tuple[str, tuple[tuple[int, ...], ...], dict[str, Any]]) -> None:
    """The batch is dynamic; so is every dim of an op without weights."""
    name, shapes, attributes = case
    dynamic: list[list[str | int]]
    if len(shapes) == 1:
        dynamic = [[f"d{axis}" for axis in range(len(shapes[0]))]]
    else:
        dynamic = [list(shape) for shape in shapes]
        for shape in dynamic:  # weights have a lower rank, angles one less
            if len(shape) >= len(shapes[0]) - 1 and shape[0] == shapes[0][0]:
                shape[0] = "batch"
    graph = graph_of(name, dynamic, attributes, "f32")
    inputs = [random_array(shape, "f32", seed=index, positive=name == "batch_norm") for index, shape in enumerate(shapes)]
    before, want = str(graph.module), interpret(graph.module, inputs, {})
    apply_passes(graph.module, f"dl-decompose-{name.replace('_', '-')}")
    assert_close(interpret(graph.module, inputs, {}), want)
    apply_passes(graph.module, *RECOMPOSE)
    assert str(graph.module) == before
