"""Lowering from a script: `dlc.lower`, pipelines as objects, passes as classes."""

from __future__ import annotations

import numpy as np
import pytest

import dlc
from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.lowering.dl.weights.bind_params import BindParams
from dlc.lowering.pipelines import STAGES
from dlc.lowering.registry import passes
from dlc.lowering.stages import stage_of


@pytest.fixture(scope="module")
def graph() -> Graph:
    with Graph() as graph:
        x = graph.input("x", (2, 8))
        graph.output("y", dl.relu(dl.add(x, graph.param("w", np.arange(8, dtype=np.float32)))))
    return graph


_X = np.random.default_rng(0).standard_normal((2, 8)).astype(np.float32)
_WANT = np.maximum(_X + np.arange(8, dtype=np.float32), 0)


def test_level_by_level(graph: Graph) -> None:
    module, before = graph.module, str(graph.module)
    for level in STAGES:
        module = dlc.lower(module, to=level)
        assert stage_of(module) == level
        np.testing.assert_allclose(dlc.compile(module, params=graph.params)(_X)[0], _WANT, rtol=1e-6)
    assert str(graph.module) == before


def test_every_kind_of_model_can_be_lowered(graph: Graph) -> None:
    source = dlc.compile(graph.module, params=graph.params)._source
    texts = {str(dlc.lower(model, to="linalg")) for model in (graph.module, str(graph.module), source)}
    assert len(texts) == 1


def test_since_overrides_what_the_ops_tell(graph: Graph) -> None:
    seen: list[str] = []
    affine = dlc.lower(graph.module, to="affine")
    dlc.lower(affine, to="llvm", since="affine", progress=seen.append)
    assert "convert-affine-to-llvm" in seen
    assert "convert-linalg-to-affine" not in seen
    assert str(dlc.lower(affine, to="affine", since="affine")) == str(affine)
    with pytest.raises(dlc.PassError, match="no stage is called 'gpu'"):
        dlc.lower(graph.module, to="llvm", since="gpu")  # type: ignore[arg-type]


def test_a_pipeline_by_hand(graph: Graph) -> None:
    module = dlc.parse_module(str(graph.module).encode(), "graph")
    pipeline = dlc.Pipeline([BindParams(), "convert-dl-to-linalg", "cse"])
    pipeline.insert_after("convert-dl-to-linalg", "canonicalize{max-iterations=3}")
    pipeline.remove("cse")
    assert str(pipeline) == "builtin.module(dl-bind-params,convert-dl-to-linalg,canonicalize{max-iterations=3})"
    assert dlc.Pipeline.parse(str(pipeline)) == pipeline
    pipeline.run(module, stop_after="dl-bind-params")
    assert stage_of(module) == "dl"
    assert "dl.signature" in module.operation.attributes
    pipeline.run(module)
    assert stage_of(module) == "linalg"
    np.testing.assert_allclose(dlc.compile(module, params=graph.params)(_X)[0], _WANT, rtol=1e-6)


def test_a_refusal_is_located() -> None:
    text = "module {\n  func.func @f() {\n    return\n  }\n  func.func @g() {\n    return\n  }\n}\n"
    with pytest.raises(dlc.PassError, match=r"several entry functions \(@f, @g\); make all but one private"):
        dlc.lower(text, to="linalg", since="dl")


def test_unknown_passes_are_refused_at_once() -> None:
    with pytest.raises(dlc.PassError, match=r"cannonicalize.*did you mean 'canonicalize'"):
        dlc.Pipeline(["cannonicalize"])


def test_every_pass_is_a_class() -> None:
    for name, entry in passes().items():
        found = entry.load()
        assert issubclass(found, dlc.Pass)
        assert found.name() == name
        assert dlc.Pipeline([found()]).names() == [name]


def test_count_ops(graph: Graph) -> None:
    functions, counts = dlc.count_ops(graph.module)
    assert functions == 1
    assert (counts["dl.add"], counts["dl.relu"], counts["dl.param"]) == (1, 1, 1)


def test_contexts_stay_apart(graph: Graph) -> None:
    with ir.Context() as context:
        assert dlc.lower(graph.module, to="linalg").context != context
        assert ir.Context.current == context
