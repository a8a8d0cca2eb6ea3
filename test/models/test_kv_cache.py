"""A decoding step of GPT-2: the cache is written in place, or copied once where it grows, and numbers are onnxruntime's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from model_sizes import TOLERANCE, expected

import dlc
from bench.networks import gpt2_decode
from bench.networks.gpt2_decode import Form
from dlc._mlir import ir
from dlc.analysis.buffers import written_values
from dlc.donation import donating
from dlc.runtime.library import load_library
from dlc.sources import read_source
from dlc.tools.commands.checks import difference

_SIZES = {"layers": 2, "hidden": 128, "heads": 4, "vocab": 101, "context": 512}
_LENGTH = 512
_CACHE = 4 * _LENGTH * 32
"""Elements of one cache."""
_CACHES = ["key0", "value0", "key1", "value1"]


def _model(form: Form, batch: int) -> gpt2_decode.onnx.ModelProto:
    return gpt2_decode.build(batch=batch, length=_LENGTH, form=form, **_SIZES)


def _ops(root: ir.Module | ir.OpView) -> Iterator[ir.Operation]:
    found: list[ir.Operation] = []
    root.operation.walk(lambda op: (found.append(op), ir.WalkResult.ADVANCE)[1])
    yield from found


def _ops_of_a_call(module: ir.Module) -> Iterator[ir.Operation]:
    """The ops that run at each call: those of the entry and of what it calls, but none that compute weights."""
    functions = {ir.StringAttr(op.attributes["sym_name"]).value: op for op in module.body.operations}
    called = [op for op in _ops(functions["main_graph"]) if op.name == "func.call"]
    for name in ("main_graph", *dict.fromkeys(ir.FlatSymbolRefAttr(op.attributes["callee"]).value for op in called)):
        yield from _ops(functions[name])


def _elements(value: ir.Value) -> int:
    kind = ir.MemRefType(value.type)
    return int(np.prod(kind.shape)) if kind.has_static_shape else 0


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("form", ["static", "growing"])
def test_numbers(form: Form, batch: int) -> None:
    model = _model(form, batch)
    compiled = dlc.compile(model, donate=_CACHES if form == "static" else ())
    inputs = dlc.random_inputs(compiled.inputs, sizes={"past": 7})
    inputs["position"][:] = np.arange(5, 5 + len(inputs["position"]))
    want = expected(model, {name: array.copy() for name, array in inputs.items()})
    results = compiled(inputs)
    for spec, have, array in zip(compiled.outputs, results, want, strict=True):
        assert difference(have, array).within(TOLERANCE), spec.name
    if form == "static":
        assert all(np.shares_memory(result, inputs[name]) for result, name in zip(results[1:], _CACHES, strict=True))


@pytest.mark.parametrize("batch", [1, 2])
def test_no_copy_of_a_cache(batch: int) -> None:
    module = dlc.lower(donating(read_source(_model("static", batch)), _CACHES), to="affine")
    for op in _ops_of_a_call(module):
        if op.name == "memref.copy":
            assert _elements(op.operands[0]) < _CACHE
        if op.name == "memref.alloc":
            assert _elements(op.results[0]) < _CACHE
        if op.name not in ("func.call", "builtin.module", "func.func"):  # what is written is a window, or no cache
            assert not [value for value in written_values(op) if _elements(value) >= _CACHE], op


def test_memory_of_a_step_is_less_than_a_cache() -> None:
    compiled, library = dlc.compile(_model("static", 1), donate=_CACHES), load_library()
    inputs = dlc.random_inputs(compiled.inputs)
    before = library.memory_live()
    library.memory_reset_peak()
    compiled(inputs)
    assert library.memory_peak() - before < 4 * _CACHE


def test_growing_cache_is_copied_once() -> None:
    module = dlc.lower(_model("growing", 1), to="affine")
    entry = next(op for op in module.body.operations if op.operation.name == "func.func" and "sym_visibility" not in op.attributes)
    names = [ir.DictAttr(attributes) for attributes in entry.arg_attrs]
    for argument, attributes in zip(entry.regions[0].blocks[0].arguments, names, strict=True):
        if "dl.name" in attributes and attributes["dl.name"].value in _CACHES:
            users = [use.owner.operation.name for use in argument.uses]
            assert [name for name in users if name != "memref.dim"] == ["func.call"]
