"""Models whose sizes run time knows, compiled once: for every size they give what onnxruntime does, by kernels that are tiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import onnx
import onnx.parser
import pytest
from fake_cuda import FakeGpu, fake_gpu
from open_size_checks import check_sizes

import dlc
from bench.networks import bert, gpt2_decode, mlp


@pytest.fixture(scope="module")
def gpu() -> Iterator[FakeGpu]:
    with fake_gpu() as found:
        yield found


def _check(model: onnx.ModelProto, sizes: list[Mapping[str, int]], most: int) -> dlc.CompiledModel:
    """Compile for `gpu`, and compare for all sizes; integers stay below `most`."""
    return check_sizes(model, sizes, lambda random, _sizes, _name, shape: random.integers(0, most, shape), 1e-4)


def _bert_of_any_sequence(seq: int = 16) -> onnx.ModelProto:
    """BERT in which all that was `seq` is a size of the inputs, of which one has the places of the words."""
    model = bert.build(seq=seq, layers=1, hidden=32, heads=2, vocab=11, dynamic_batch=True)
    graph, places = model.graph, "embeddings/integers"
    for weight in graph.initializer:
        values = onnx.numpy_helper.to_array(weight)
        if values.dtype == np.int64 and values.ndim == 1 and len(values) > 2 and values[1] == seq:
            weight.CopyFrom(onnx.numpy_helper.from_array(np.where(np.arange(len(values)) == 1, 0, values), weight.name))
    for entry in (*graph.input, *graph.output):
        for dim in [dim for dim in entry.type.tensor_type.shape.dim if dim.dim_value == seq]:
            dim.dim_param = "seq"
    graph.initializer.remove(next(weight for weight in graph.initializer if weight.name == places))
    graph.input.append(onnx.helper.make_tensor_value_info(places, onnx.TensorProto.INT64, ["seq"]))
    return model


def _on_host(model: onnx.ModelProto) -> dict[str, str]:
    report = dlc.explain(model, target="gpu:sm_80").device
    assert report is not None
    return {name: reason for name, reason in report.on_host.items() if "_checks" not in name}


def test_an_mlp_of_any_batch(gpu: FakeGpu) -> None:
    model = mlp.build(widths=(24, 40, 20), dynamic_batch=True)
    _check(model, [{"batch": batch} for batch in (1, 15, 16, 17, 33)], 2)
    assert not _on_host(model)


@pytest.mark.slow
def test_bert_of_any_batch(gpu: FakeGpu) -> None:
    """Its attention is products of open batches: it was a loop of the host around images."""
    model = bert.build(seq=12, layers=1, hidden=32, heads=2, vocab=11, dynamic_batch=True)
    _check(model, [{"batch": batch} for batch in (1, 3)], 2)
    assert not _on_host(model)


@pytest.mark.slow
def test_bert_of_any_batch_and_sequence(gpu: FakeGpu) -> None:
    model = _bert_of_any_sequence()
    _check(model, [{"batch": batch, "seq": seq} for batch, seq in ((1, 1), (2, 15), (1, 33))], 2)
    assert not _on_host(model)


@pytest.mark.parametrize("op", ["LayerNormalization", "Softmax"])
def test_rows_of_two_open_dims(gpu: FakeGpu, op: str) -> None:
    """Batch and sequence are one dim of rows, whose number is their product."""
    kind, dims = onnx.TensorProto.FLOAT, ["batch", "seq", 40]
    scale = [onnx.numpy_helper.from_array(np.linspace(-1, 1, 40, dtype=np.float32), "scale")] * (op == "LayerNormalization")
    nodes = [onnx.helper.make_node("Add", ["x", "r"], ["sum"]), onnx.helper.make_node(op, ["sum", *(w.name for w in scale)], ["y"])]
    inputs, outputs = (
        [onnx.helper.make_tensor_value_info(name, kind, dims) for name in names] for names in (("x", "r"), ("y", "sum"))
    )
    graph = onnx.helper.make_graph(nodes, "g", inputs, outputs, scale)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    _check(model, [{"batch": batch, "seq": seq} for batch, seq in ((1, 1), (2, 5), (3, 0), (1, 33))], 2)
    assert not _on_host(model)


@pytest.mark.parametrize("dynamic_batch", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_growing_cache(gpu: FakeGpu, dynamic_batch: bool) -> None:
    model = gpt2_decode.build(layers=1, hidden=32, heads=2, vocab=11, context=40, form="growing", dynamic_batch=dynamic_batch)
    _check(model, [{"batch": 1, "past": past} for past in (0, 1, 7, 31, 32)], 2)
    assert not _on_host(model)


def test_attention_that_is_partly_on_the_host(gpu: FakeGpu) -> None:
    """Scores by kernels and rows of them by the host work on the same memory: copies stand between the two."""
    text = """<ir_version: 9, opset_import: ["" : 17]>
    attention (float[batch, length, 8] x, float[8, 8] w) => (float[batch, length, 8] out) <float c = {0.35}> {
      q = MatMul(x, w)
      k = Transpose<perm = [0, 2, 1]>(x)
      s = MatMul(q, k)
      t = Mul(s, c)
      p = Softmax<axis = -1>(t)
      o = MatMul(p, x)
      out = Add(o, x)
    }"""
    _check(onnx.parser.parse_model(text), [{"batch": batch, "length": length} for batch, length in ((1, 1), (2, 3), (1, 33))], 2)
