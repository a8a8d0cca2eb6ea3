"""How networks come out of the graph passes: calls of kernels, distinct kernels, and what each holds."""

from __future__ import annotations

from collections import Counter

import pytest
from model_sizes import NETWORKS

import dlc
from bench.networks import bert, resnet50
from dlc._mlir import ir
from dlc.dialects.dl import op_class
from dlc.lowering.pipeline import Pipeline
from dlc.sources import Model, copy_module, read_source

_STANDALONE = {"relu", "add", "mul", "transpose", "batch_norm"}


def optimized(model: Model) -> ir.Module:
    """The module after the graph passes."""
    module = copy_module(read_source(model))
    with module.context, ir.Location.unknown():
        Pipeline(["dl-optimize"]).run(module)
    return module


def kernels(module: ir.Module) -> tuple[Counter[str], dict[str, list[str]]]:
    """How often the entry calls each kernel, and the ops of each."""
    functions = {op.operation.attributes["sym_name"].value: op.operation for op in module.body.operations}
    entry = next(f for f in functions.values() if "sym_visibility" not in f.attributes and "dl.precompute" not in f.attributes)
    ops = [op.operation for op in entry.regions[0].blocks[0].operations]
    calls = [ir.FlatSymbolRefAttr(op.attributes["callee"]).value for op in ops if op.name == "func.call"]
    others = [op.name for op in ops if (found := op_class(op.name)) and found.fusion_class not in ("view", "weight")]
    assert not others, "work outside of kernels"
    held = {
        name: [op.operation.name.removeprefix("dl.") for op in functions[name].regions[0].blocks[0].operations] for name in calls
    }
    return Counter(calls), held


def works(names: list[str]) -> list[str]:
    """The ops with work among `names`."""
    return [name for name in names if (found := op_class(name)) and found.fusion_class not in ("view", "weight")]


def test_resnet50() -> None:
    calls, held = kernels(optimized(resnet50.build(image=224)))
    assert calls.total() <= 60
    assert len(calls) <= 27
    assert not any(set(works(names)) <= _STANDALONE for names in held.values())


def test_bert_layer() -> None:
    counts = [kernels(optimized(bert.build(layers=layers, hidden=96, vocab=50)))[0] for layers in (2, 4)]
    assert (counts[1].total() - counts[0].total()) / 2 <= 8
    assert len(counts[0]) == len(counts[1]), "layers share their kernels"


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", NETWORKS)
def test_everything_is_in_kernels(name: str, dynamic: bool) -> None:
    calls, _held = kernels(optimized(NETWORKS[name](dynamic_batch=dynamic)))
    assert calls


def test_kernels_are_named_for_their_nodes() -> None:
    module = optimized(dlc.import_onnx(NETWORKS["bert"]()))
    functions = [op.operation for op in module.body.operations if "dl.kernel" in op.operation.attributes]
    assert any("attention/output" in str(function.location) for function in functions)
