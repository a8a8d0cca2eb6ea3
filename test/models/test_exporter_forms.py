"""Attention, norms, activations and rotary embedding are recognised in what every exporter writes, and mean the same."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import pytest
from exporter_forms import FORMS
from model_sizes import NETWORKS, expected

import dlc
from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.dialects.dl.interpreter import interpret
from dlc.frontends.onnx.importer import ImportedModel, import_model
from dlc.lowering.pipelines import PIPELINES

LEFT_OVER = {"softmax", "erf", "tanh", "sigmoid", "sqrt", "rsqrt", "reciprocal", "reduce_mean", "isnan", "pow"}
_LAST = "dl-recompose-attention"


def recomposed(model: onnx.ModelProto) -> ImportedModel:
    """The model after the passes of dl-optimize up to the last recomposition, and CSE."""
    imported = import_model(model, make_context())
    passes = PIPELINES["dl-optimize"].passes
    wanted = [*passes[: passes.index(_LAST) + 1], "dl-canonicalize", "dl-fold-constants", "cse"]
    dlc.Pipeline.parse(",".join(wanted)).run(imported.module)
    return imported


def op_counts(module: ir.Module) -> Counter[str]:
    counts: Counter[str] = Counter()

    def visit(op: ir.Operation) -> ir.WalkResult:
        counts[op.name.removeprefix("dl.")] += 1
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return counts


def feeds_of(model: onnx.ModelProto, batch: int, length: int, past: int) -> dict[str, np.ndarray]:
    sizes = {"batch": batch, "length": length, "past": past}
    generator = np.random.default_rng(3)
    feeds: dict[str, np.ndarray] = {}
    for entry in model.graph.input:
        shape = [item.dim_value or sizes[item.dim_param] for item in entry.type.tensor_type.shape.dim]
        if entry.name == "mask":
            feeds[entry.name] = np.ones(shape, np.int64)
            feeds[entry.name][0, length - 1] = 0
        elif entry.name == "positions":
            feeds[entry.name] = np.broadcast_to(np.arange(length), shape).copy()
        elif entry.name == "seen":
            feeds[entry.name] = np.broadcast_to(np.tri(length, dtype=np.bool_), shape).copy()
        else:
            feeds[entry.name] = generator.standard_normal(shape).astype(np.float32)
    return feeds


@pytest.mark.parametrize("name", FORMS)
def test_form_is_recognised(name: str) -> None:
    imported = recomposed(FORMS[name].build())
    counts = op_counts(imported.module)
    assert {op: counts[op] for op in FORMS[name].ops} == FORMS[name].ops
    assert not LEFT_OVER & set(counts)


@pytest.mark.parametrize("name", FORMS)
def test_form_means_the_same(name: str) -> None:
    model = FORMS[name].build()
    imported = recomposed(model)
    for batch, length, past in ((1, 5, 3), (3, 7, 1)):
        feeds = feeds_of(model, batch, length, past)
        have = interpret(imported.module, list(feeds.values()), imported.params)
        for found, want in zip(have, expected(model, feeds), strict=True):
            np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", FORMS)
def test_names_of_nodes_survive(name: str) -> None:
    """The locations of what is recognised name the nodes that it stands for."""
    module = recomposed(FORMS[name].build()).module
    text = module.operation.get_asm(enable_debug_info=True, use_local_scope=True)
    lines = [line for line in text.splitlines() if '"dl.attention"' in line]
    assert len(lines) == 1 and "loc(" in lines[0]
    if "transformers" not in name:
        assert "Softmax" in lines[0] and "MatMul" in lines[0]


def test_recognition_changes_nothing_more_on_a_second_run() -> None:
    imported = recomposed(FORMS["llama-torchscript"].build())
    before = str(imported.module)
    passes = [name for name in PIPELINES["dl-optimize"].passes if "recompose" in name]
    dlc.Pipeline.parse(",".join(passes)).run(imported.module)
    assert str(imported.module) == before


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(("name", "norms"), [("bert", 5), ("gpt2", 5), ("vit", 5)])
def test_networks_of_the_benchmarks(name: str, norms: int, dynamic: bool) -> None:
    """Two layers each; BERT and ViT have a norm outside their layers too."""
    counts = op_counts(recomposed(NETWORKS[name](dynamic_batch=dynamic)).module)
    assert (counts["attention"], counts["gelu"], counts["layer_norm"]) == (2, 2, norms)
    assert not (LEFT_OVER - {"tanh"}) & set(counts)
