"""`dlc.explain` has a verdict on every edge of every model, and says what docs/explain.md promises."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import pytest

import dlc
from bench.networks import bert, gpt2, light, mobilenet_v2, resnet50, vit
from dlc._mlir import ir
from dlc.analysis import fusion, transposes
from dlc.dialects import dl
from dlc.dialects.dl import op_class
from dlc.dialects.dl.graph import Graph
from dlc.explanation import Explanation
from dlc.lowering.dl.matching import dl_ops, erase_unused
from dlc.lowering.dl.weights import winograd_choice
from dlc.lowering.pipeline import Pipeline
from dlc.sources import Model, copy_module, read_source

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "explain.md").read_text(encoding="utf-8")
_TEXT = {"seq": 32, "layers": 2, "hidden": 128, "heads": 4, "vocab": 101}
MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "bert dynamic": partial(bert.build, dynamic_batch=True, **_TEXT),
    "bert": partial(bert.build, **_TEXT),
    "gpt2": partial(gpt2.build, context=48, **_TEXT),
    "mobilenet_v2": partial(mobilenet_v2.build, image=32, classes=21),
    "resnet50": resnet50.build,
    "resnet50 dynamic": partial(resnet50.build, dynamic_batch=True),
    "vit": partial(vit.build, image=32, patch=8, layers=2, hidden=64, heads=4, classes=21),
    **{name: partial(light.load, name) for name in light.names()},
}
_SLOW = set(light.names()) - {"shufflenet", "squeezenet"}
_NAMES = [pytest.param(name, marks=[pytest.mark.slow] if name in _SLOW else []) for name in MODELS]
_VIEWS = {"view", "weight"}


def edges_of(model: Model) -> set[tuple[str, str]]:
    """Pairs of ops with work where one takes what the other gives, found without the planner."""
    module = copy_module(read_source(model))
    elements = list(Pipeline(["dl-optimize"]))
    names = [str(element) for element in elements]
    before = Pipeline(elements[: next(index for index, name in enumerate(names) if "dl-fuse-kernels" in name)])
    with module.context, ir.Location.unknown():
        before.run(module)
        found: set[tuple[str, str]] = set()
        for view in module.body.operations:
            function = view.operation
            if "dl.precompute" in function.attributes or "sym_visibility" in function.attributes:
                continue
            erase_unused(dl_ops(function))
            sources: dict[ir.Value, set[str]] = {}
            number = 0
            for op in function.regions[0].blocks[0].operations:
                kind = op_class(op.operation.name)
                taken = set().union(*(sources.get(value, set()) for value in op.operands))
                if op.operation.name == "func.return":
                    continue
                if kind is None or kind.fusion_class not in _VIEWS:
                    name = f"{op.operation.name.removeprefix('dl.')}.{number}"
                    number += 1
                    found |= {(producer, name) for producer in taken}
                    taken = {name}
                sources.update((result, taken) for result in op.results)
    return found


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("name", _NAMES)
def test_every_edge_has_a_verdict(name: str) -> None:
    source = dlc.import_onnx(MODELS[name]())
    found = dlc.explain(source)
    wanted = edges_of(source)
    assert {(edge.producer, edge.consumer) for edge in found.edges} == wanted
    assert len(found.edges) == len(wanted)
    assert all(edge.reason in fusion.REASONS and (edge.reason == "fused") == edge.fused for edge in found.edges)
    assert all(edge.onnx_nodes for edge in found.edges)
    assert all(entry.reason in transposes.REASONS for entry in found.transposes)
    assert all(entry.reason in winograd_choice.REASONS for entry in found.convolutions)
    assert found.entry_calls == sum(kernel.calls for kernel in found.kernels) == len(found.graph.calls)
    assert found.memory.lower_bound <= found.memory.peak <= 1.05 * found.memory.lower_bound + 4096
    check_json(found)
    check_dot(found)


def check_json(found: Explanation) -> None:
    """The JSON has the documented keys and no others."""
    data = json.loads(json.dumps(found.to_json()))
    keys: set[str] = set()

    def visit(prefix: str, value: object) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                keys.add(f"{prefix}{key}")
                if key == "schedule":  # its fields are those of `Schedule`
                    continue
                visit(f"{prefix}{key}.", inner)
        elif isinstance(value, list):
            for inner in value:
                visit(f"{prefix.removesuffix('.')}[].", inner)

    visit("", data)
    rows = [line.split("|")[1] for line in DOCUMENT.split("## Reasons")[0].splitlines() if line.startswith("| `")]
    documented = {key for row in rows for key in re.findall(r"`([^`]+)`", row)} | {"memory"}
    lists = {
        "convolutions": data["convolutions"],
        "transposes": data["transposes"],
        "edges": data["edges"],
        "memory.holders": data["memory"]["holders"],
        "generic": data["generic"],
    }
    empty = tuple(f"{key}[]." for key, items in lists.items() if not items)
    assert keys == {key for key in documented if not key.startswith(empty)} if empty else keys == documented


def check_dot(found: Explanation) -> None:
    lines = found.to_dot().splitlines()
    assert lines[0].startswith("digraph ")
    assert lines[-1] == "}"
    nodes = {match[1] for line in lines if (match := re.match(r"  (\w+) \[.*label=", line)) and match[1] != "node"}
    flows = [match.groups() for line in lines if (match := re.match(r"  (\w+) -> (\w+) \[label=", line))]
    assert {end for flow in flows for end in flow} <= nodes
    assert sum(node.startswith("call") for node in nodes) == found.entry_calls
    assert all(any(node in flow for flow in flows) for node in nodes if node.startswith("call"))


def test_reasons_are_documented() -> None:
    for reasons in (fusion.REASONS, transposes.REASONS, winograd_choice.REASONS):
        for reason, text in reasons.items():
            assert f"| `{reason}` | {text} |" in DOCUMENT


def small() -> Graph:
    with Graph() as graph:
        x = graph.input("x", ("n", 64), "f32")
        hidden = dl.relu(dl.matmul(x, graph.param("w", np.ones((64, 128), np.float32))))
        graph.output("y", dl.softmax(dl.matmul(hidden, graph.param("v", np.ones((128, 16), np.float32))), axis=1))
    return graph


def test_numbers_of_a_small_model() -> None:
    found = dlc.explain(small().module, nominal=10)
    (first, *_) = found.kernels
    assert first.ops[-1] == "relu"
    assert first.kind == "contraction"
    assert first.flops == 2 * 10 * 64 * 128 + 10 * 128
    assert first.bytes == 4 * (10 * 64 + 64 * 128 + 10 * 128)
    assert found.memory.constants == 4 * (64 * 128 + 128 * 16)
    assert found.passes[0].name == "dl-name-result-dims"
    assert all(entry.seconds >= 0 for entry in found.passes)


def test_calls_in_branches_are_calls() -> None:
    """A convolution with code of its own for small images is two kernels, each called in one place."""
    text = """func.func @main_graph(%x: tensor<1x512x?x?xf32>) -> tensor<1x512x?x?xf32> {
      %w = "dl.param"() {key = "w", shape = array<i64: 512, 512, 3, 3>, dtype = f32} : () -> tensor<512x512x3x3xf32>
      %0 = "dl.conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>}
        : (tensor<1x512x?x?xf32>, tensor<512x512x3x3xf32>) -> tensor<1x512x?x?xf32>
      return %0 : tensor<1x512x?x?xf32>
    }"""
    found = dlc.explain(text, target="cpu:sapphirerapids")
    (convolution,) = found.convolutions
    assert (convolution.tile, convolution.taps_up_to) == (2, 6)
    calls = {name: kernel.calls for kernel in found.kernels for name in kernel.ops}
    assert (calls["conv"], calls["winograd_conv"]) == (1, 1)
    assert found.entry_calls == sum(kernel.calls for kernel in found.kernels)
    check_json(found)
    check_dot(found)


def test_calls_in_loops_are_calls() -> None:
    """The steps of a loop are kernels; numbers that count them are none."""
    text = """func.func @main_graph(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %n: tensor<i64>) -> tensor<8x8xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %m = tensor.extract %n[] : tensor<i64>
      %e = arith.index_cast %m : i64 to index
      %0 = scf.for %i = %c0 to %e step %c1 iter_args(%a = %x) -> (tensor<8x8xf32>) {
        %1 = "dl.matmul"(%a, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
        scf.yield %1 : tensor<8x8xf32>
      }
      %2 = "dl.softmax"(%0) {axis = 1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
      return %2 : tensor<8x8xf32>
    }"""
    found = dlc.explain(text)
    assert [kernel.ops[0] for kernel in found.kernels if kernel.kind == "contraction"] == ["matmul"]
    assert found.entry_calls == sum(kernel.calls for kernel in found.kernels) == len(found.graph.calls) == 2
    assert ("call0", "call1") in {(flow.source, flow.target) for flow in found.graph.flows}
    check_json(found)


def test_other_levels_are_refused() -> None:
    module = dlc.lower(small().module, to="linalg")
    with pytest.raises(dlc.InvalidInputError, match="is at level 'linalg'"):
        dlc.explain(module)


def test_names_are_quoted_for_graphviz() -> None:
    text = """
func.func @main(%x: tensor<4xf32> {dl.name = "a \\22b\\22"}) -> (tensor<4xf32> {dl.name = "c\\5Cd"}) {
  %0 = "dl.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
    dot = dlc.explain(text).to_dot()
    assert 'input0 [shape=ellipse, label="a \\"b\\""];' in dot
    assert 'output0 [shape=ellipse, label="c\\\\d"];' in dot
    assert 'call0 -> output0 [label="f32[4]"];' in dot
