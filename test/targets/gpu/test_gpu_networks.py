"""Small networks, from the model to kernels that run thread by thread, give what onnxruntime does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import onnx
import pytest
from gpu_interpreter import program
from reference_session import reference_session

import dlc
from bench.networks import bert, gpt2_decode, lstm, mlp
from bench.networks.builder import GraphBuilder
from bench.networks.vision import batch_norm, conv
from dlc._mlir import ir
from dlc.accuracy import with_accuracy
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import tensor_products
from dlc.lowering.gpu_to_llvm.affine_keep_checks import REASON
from dlc.lowering.policy import policy, using
from dlc.sources import read_source
from dlc.targets.gpu.known_gpus import KNOWN_GPUS

pytest.importorskip("onnxruntime")


def _residual_block(inner: int = 4, out: int = 8) -> onnx.ModelProto:
    """Two convolutions beside one with stride 2, as ResNet's blocks between stages."""
    g = GraphBuilder("block", 0)
    x = g.input("x", (1, inner, 8, 8))
    main = g.op("Relu", batch_norm(g, conv(g, x, inner, out, 3, stride=2), out))
    main = batch_norm(g, conv(g, main, out, out, 3), out)
    g.output("y", g.op("Relu", g.op("Add", main, batch_norm(g, conv(g, x, inner, out, 1, stride=2), out))), (1, out, 4, 4))
    return g.model()


def _depthwise_block() -> onnx.ModelProto:
    """A depthwise convolution between two of single pixels, as MobileNet's blocks."""
    g = GraphBuilder("depthwise", 0)
    x = g.input("x", (1, 4, 6, 6))
    wide = g.op("Relu", batch_norm(g, conv(g, x, 4, 8, 1), 8))
    wide = g.op("Relu", batch_norm(g, conv(g, wide, 8, 8, 3, groups=8), 8))
    g.output("y", g.op("Add", batch_norm(g, conv(g, wide, 8, 4, 1), 4), x), (1, 4, 6, 6))
    return g.model()


NETWORKS: Mapping[str, Callable[[], onnx.ModelProto]] = {
    "bert-tiny": partial(bert.build, seq=4, layers=1, hidden=16, heads=2, vocab=11),
    "residual block": _residual_block,
    "depthwise block": _depthwise_block,
    "lstm": partial(lstm.build, unrolled=False, seq=3, layers=1, inputs=4, hidden=6, classes=3),
    "lstm in a loop": partial(lstm.build, unrolled=False, seq=40, layers=1, inputs=4, hidden=6, classes=3),
    "gpt2 decode": partial(gpt2_decode.build, length=6, layers=1, hidden=16, heads=2, vocab=11, context=6),
    "gpt2 decode, growing": partial(gpt2_decode.build, layers=1, hidden=16, heads=2, vocab=11, context=6, form="growing"),
    "mlp": partial(mlp.build, batch=2, widths=(6, 8, 3)),
}
_LENGTH = 3
"""What a dim counts that is known at run time only."""

_MOST = {"position": 3}
"""Values of integer inputs stay below; 2 where nothing is said."""


def _inputs(model: onnx.ModelProto, random: np.random.Generator) -> dict[str, np.ndarray]:
    found = {}
    for entry in model.graph.input:
        kind = entry.type.tensor_type
        shape = [dim.dim_value or _LENGTH for dim in kind.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        is_float = np.issubdtype(dtype, np.floating)
        values = random.standard_normal(shape) if is_float else random.integers(0, _MOST.get(entry.name, 2), shape)
        found[entry.name] = np.asarray(values, dtype)
    return found


def _run(source: dlc.Source, inputs: Mapping[str, np.ndarray], target: str) -> list[np.ndarray]:
    """The results of the entry, all of whose kernels are for the GPU, by the interpreter."""
    optimized = dlc.optimize(source, target=target)
    module = dlc.lower(optimized, "gpu", target=target)
    assert set(_reasons(module)) <= {REASON}
    (entry,) = [op.operation for op in module.body.operations if _is_entry(op.operation)]
    marks = [{one.name: one.attr for one in ir.DictAttr(mark)} for mark in ir.ArrayAttr(entry.attributes["arg_attrs"])]
    known = {**optimized.params, **inputs}
    keys = [ir.StringAttr(mark.get("dl.param", mark.get("dl.name"))).value for mark in marks]
    with module.context, ir.Location.unknown():
        run = program(module)
    return [
        np.array(value)
        for value in run.run(ir.StringAttr(entry.attributes["sym_name"]).value, *(known[key].copy() for key in keys))
    ]


def _lowered(source: dlc.Source) -> ir.Module:
    return dlc.lower(dlc.optimize(source, target="gpu:sm_80"), "gpu", target="gpu:sm_80")


def _reasons(module: ir.Module) -> list[str]:
    """Why functions stay on the CPU."""
    marked = [op.attributes["dlc.on_cpu"] for op in module.body.operations if "dlc.on_cpu" in op.attributes]
    return [ir.StringAttr(mark).value for mark in marked]


def _is_entry(op: ir.Operation) -> bool:
    return op.name == "func.func" and "sym_visibility" not in op.attributes and "dl.precompute" not in op.attributes


def _expected(model: onnx.ModelProto, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """What onnxruntime gives."""
    session = reference_session(model)
    return list(session.run(None, dict(inputs)))


def _require_close(found: Sequence[np.ndarray], expected: Sequence[np.ndarray], tolerance: float) -> None:
    for mine, theirs in zip(found, expected, strict=True):
        mine = mine.astype(np.float32).reshape(theirs.shape)
        np.testing.assert_allclose(mine, theirs.astype(np.float32), rtol=tolerance, atol=tolerance)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_gives_what_onnxruntime_does(name: str) -> None:
    model = NETWORKS[name]()
    inputs = _inputs(model, np.random.default_rng(0))
    _require_close(_run(read_source(model), inputs, "gpu:sm_80"), _expected(model, inputs), 1e-4)


def _in_halves(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with f16 in place of f32."""
    for weight in [weight for weight in model.graph.initializer if weight.data_type == onnx.TensorProto.FLOAT]:
        weight.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(weight).astype(np.float16), weight.name))
    for entry in (*model.graph.input, *model.graph.output):
        kind = entry.type.tensor_type
        kind.elem_type = onnx.TensorProto.FLOAT16 if kind.elem_type == onnx.TensorProto.FLOAT else kind.elem_type
    for attribute in [one for node in model.graph.node if node.op_type == "Cast" for one in node.attribute]:
        attribute.i = onnx.TensorProto.FLOAT16 if attribute.i == onnx.TensorProto.FLOAT else attribute.i
    return model


def test_attention_of_a_network_is_one_kernel() -> None:
    """Its heads are parts of the rows of one projection, and a padding mask hides keys."""
    model = _in_halves(bert.build(seq=20, layers=1, hidden=32, heads=2, vocab=11))
    inputs = _inputs(model, np.random.default_rng(0))
    inputs["attention_mask"][:, :13] = 1
    with using(policy().override(mma_gain=1e6)):
        module = _lowered(read_source(model))
        kernels = [str(op) for op in module.body.operations if op.operation.name == "gpu.module"]
        assert [("nvgpu.mma.sync" in kernel) for kernel in kernels if "nvvm.ex2" in kernel] == [True]
        found = _run(read_source(model), inputs, "gpu:sm_80")
    _require_close(found, _expected(model, inputs), 1e-2)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("name", ["bert-tiny", "residual block", "gpt2 decode"])
def test_a_network_gives_the_same_in_vectors(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU of few threads is full with little work, so that each thread takes neighbours where memory allows."""
    small = KNOWN_GPUS["sm_80"].override(multiprocessors=1, threads_per_multiprocessor=32)
    monkeypatch.setitem(KNOWN_GPUS, "sm_80", small)  # type: ignore[arg-type]
    model = NETWORKS[name]()
    inputs = _inputs(model, np.random.default_rng(0))
    _require_close(_run(read_source(model), inputs, "gpu:sm_80"), _expected(model, inputs), 1e-4)
    assert "vector_store" in str(_lowered(read_source(model)))


def _halves() -> onnx.ModelProto:
    """A padded convolution with stride 2, and a product with bias: f16 throughout."""
    random = np.random.default_rng(1)
    weights = {"w": (24, 16, 3, 3), "b": (24,), "m": (24, 40), "c": (40,)}
    arrays = {name: (random.standard_normal(shape) / 8).astype(np.float16) for name, shape in weights.items()}
    made = [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()]
    nodes = [
        onnx.helper.make_node("Conv", ["x", "w", "b"], ["y"], pads=[1, 1, 1, 1], strides=[2, 2]),
        onnx.helper.make_node("Relu", ["y"], ["r"]),
        onnx.helper.make_node("Transpose", ["r"], ["t"], perm=[0, 2, 3, 1]),
        onnx.helper.make_node("MatMul", ["t", "m"], ["p"]),
        onnx.helper.make_node("Add", ["p", "c"], ["out"]),
    ]
    shapes = {"x": (2, 16, 9, 9), "out": (2, 5, 5, 40)}
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT16, shape) for name, shape in shapes.items()]
    graph = onnx.helper.make_graph(nodes, "halves", ends[:1], ends[1:], made)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 19)], ir_version=9)


def test_products_of_halves_run_on_tensor_cores() -> None:
    """What lies around a convolution, such as its padding, has kernels of its own."""
    model = _halves()
    inputs = _inputs(model, np.random.default_rng(0))
    with using(policy().override(mma_gain=1e6)):
        module = _lowered(read_source(model))
        kernels = [op.operation for op in module.body.operations if op.operation.name == "gpu.module"]
        assert [tensor_products(kernel) for kernel in kernels].count("m16n8k16.f16") == 2
        found = _run(read_source(model), inputs, "gpu:sm_80")
    _require_close(found, _expected(model, inputs), 1e-2)


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("precision", ["bf16", "tf32"])
def test_convolutions_of_f32_run_on_tensor_cores_where_they_may_be_rounded(precision: str) -> None:
    """All products of a residual block with weights, those of convolutions with channels last."""
    model = _residual_block(32, 40)
    inputs = _inputs(model, np.random.default_rng(0))
    source = with_accuracy(read_source(model), None, precision)
    with using(policy().override(mma_gain=1e6)):
        module = _lowered(source)
        kernels = [op.operation for op in module.body.operations if op.operation.name == "gpu.module"]
        assert sum(precision in tensor_products(kernel) for kernel in kernels) == 3
        found = _run(source, inputs, "gpu:sm_80")
    expected = _expected(model, inputs)
    _require_close(found, expected, 3e-2)
    assert any(np.abs(mine - theirs).max() > 0 for mine, theirs in zip(found, expected, strict=True))
