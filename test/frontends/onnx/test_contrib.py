"""The fused ops that onnxruntime's optimiser writes, against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_check import OPSET, build_model, check, compare, node
from reference_session import reference_session

import dlc

_CONTRIB = "com.microsoft"
_GENERATOR = np.random.default_rng(11)
B, S, H, N, D = 2, 4, 16, 2, 8


def _floats(*shape: int) -> np.ndarray:
    return _GENERATOR.standard_normal(shape).astype(np.float32)


def contrib(op: str, *inputs: str, outputs: list[str] | None = None, **attributes: Any) -> Any:
    return node(op, list(inputs), outputs, domain=_CONTRIB, **attributes)


def test_fused_matmul() -> None:
    nodes = [
        contrib("FusedMatMul", "a", "b"),
        contrib("FusedMatMul", "a", "b", alpha=0.5),
        contrib("FusedMatMul", "a", "c", transB=1, alpha=2.0),
        contrib("FusedMatMul", "d", "b", transA=1),
    ]
    check(nodes, {"a": _floats(2, 3, 4), "b": _floats(4, 5), "c": _floats(2, 5, 4), "d": _floats(2, 4, 3)}, dynamic=False)


def test_fused_gemm() -> None:
    nodes = [
        contrib("FusedGemm", "a", "b", "c", activation="Relu"),
        contrib("FusedGemm", "a", "b", activation="LeakyRelu", activation_alpha=0.3, alpha=0.5),
    ]
    check(nodes, {"a": _floats(3, 4), "b": _floats(4, 5), "c": _floats(5)}, dynamic=False)


def test_fused_convolution() -> None:
    nodes = [
        contrib("FusedConv", "x", "w", "b", activation="Relu", kernel_shape=[3, 3], pads=[1] * 4),
        contrib("FusedConv", "x", "w", "b", "z", activation="Relu", kernel_shape=[3, 3], pads=[1] * 4),
        contrib("FusedConv", "x", "w", activation="Clip", activation_params=[-0.5, 0.5], kernel_shape=[3, 3], pads=[1] * 4),
        contrib("FusedConv", "x", "w", activation="HardSigmoid", activation_params=[0.3, 0.4], kernel_shape=[3, 3], pads=[1] * 4),
    ]
    check(nodes, {"x": _floats(1, 3, 6, 6), "w": _floats(4, 3, 3, 3), "b": _floats(4), "z": _floats(1, 4, 6, 6)}, dynamic=False)


def test_skip_layer_norm() -> None:
    nodes = [
        contrib("SkipLayerNormalization", "x", "skip", "scale", "shift", epsilon=1e-5),
        contrib("SkipLayerNormalization", "x", "skip", "scale", "", "bias", epsilon=1e-5),
        contrib("SkipLayerNormalization", "x", "skip", "scale", "shift", "bias", outputs=["y", "", "", "sum"], epsilon=1e-3),
        contrib("SkipSimplifiedLayerNormalization", "x", "skip", "scale", outputs=["z", "", "", "total"], epsilon=1e-5),
        contrib("SkipSimplifiedLayerNormalization", "x", "skip", "scale", "bias", epsilon=1e-5),
    ]
    feeds = {"x": _floats(B, S, H), "skip": _floats(B, S, H)}
    check(nodes, feeds | {name: _floats(H) for name in ("scale", "shift", "bias")}, dynamic=False)


def test_simplified_layer_norm() -> None:
    check(
        [node("SimplifiedLayerNormalization", ["x", "scale"], epsilon=1e-6)],
        {"x": _floats(B, S, H), "scale": _floats(H)},
        dynamic=False,
    )


def test_embed_layer_norm() -> None:
    """The counts of the mask are i32, so the outputs' types are written here."""
    ids = _GENERATOR.integers(0, 7, (B, S)).astype(np.int32)
    kinds, mask = (_GENERATOR.integers(0, 2, (B, S)).astype(np.int32) for _ in range(2))
    tables = {"words": _floats(7, H), "places": _floats(9, H), "segments": _floats(2, H), "scale": _floats(H), "shift": _floats(H)}
    names = ["ids", "kinds", "words", "places", "segments", "scale", "shift", "mask"]
    graph = helper.make_graph(
        [contrib("EmbedLayerNormalization", *names, outputs=["y", "counts"], epsilon=1e-5)],
        "test",
        [helper.make_tensor_value_info(name, TensorProto.INT32, [B, S]) for name in ("ids", "kinds", "mask")],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT, [B, S, H]),
            helper.make_tensor_value_info("counts", TensorProto.INT32, [B]),
        ],
        [numpy_helper.from_array(array, name) for name, array in tables.items()],
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(_CONTRIB, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    feeds = {"ids": ids, "kinds": kinds, "mask": mask}
    want = reference_session(model).run(None, feeds)
    for have, expected in zip(dlc.compile(model)(feeds), want, strict=True):
        np.testing.assert_allclose(have, expected, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("mask", ["", "keys", "lengths", "square"])
@pytest.mark.parametrize("unidirectional", [0, 1])
def test_attention(mask: str, unidirectional: int) -> None:
    feeds = {"x": _floats(B, S, H), "w": _floats(H, 3 * H), "b": _floats(3 * H)}
    if mask == "keys":
        feeds[mask] = np.array([[1, 1, 1, 0], [1, 1, 1, 1]], np.int32)
    if mask == "lengths":
        feeds[mask] = np.array([3, 4], np.int32)
    if mask == "square":
        feeds[mask] = np.tril(np.ones((B, S, S), np.int32))
    check([contrib("Attention", "x", "w", "b", mask, num_heads=N, unidirectional=unidirectional)], feeds, dynamic=False)


def test_attention_with_a_past() -> None:
    feeds = {"x": _floats(B, S, H), "w": _floats(H, 3 * H), "b": _floats(3 * H), "past": _floats(2, B, N, 3, D)}
    nodes = [contrib("Attention", "x", "w", "b", "", "past", outputs=["y", "present"], num_heads=N, unidirectional=1)]
    check(nodes, feeds, dynamic=False)


def test_multi_head_attention() -> None:
    feeds = {"q": _floats(B, S, H), "k": _floats(B, 6, H), "v": _floats(B, 6, H), "bias": _floats(3 * H)}
    feeds |= {"mask": np.array([[1, 1, 1, 1, 1, 0], [1] * 6], np.int32), "added": _floats(1, N, S, 6)}
    nodes = [
        contrib("MultiHeadAttention", "q", "k", "v", num_heads=N),
        contrib("MultiHeadAttention", "q", "k", "v", "bias", num_heads=N, scale=0.25),
        contrib("MultiHeadAttention", "q", "k", "v", "bias", "mask", num_heads=N),
        contrib("MultiHeadAttention", "q", "k", "v", "", "", "added", num_heads=N),
    ]
    check(nodes, feeds, dynamic=False)


def test_packed_queries_keys_and_values() -> None:
    """onnxruntime has no such form on a CPU; the same numbers apart give the same result."""
    q, k, v = (_floats(B, S, N, D) for _ in range(3))
    apart = {name: array.reshape(B, S, N * D) for name, array in zip("qkv", (q, k, v), strict=True)}
    want = dlc.compile(build_model([contrib("MultiHeadAttention", *apart, num_heads=N)], apart))(apart)[0]
    for names, feeds in ((["p"], {"p": np.stack([q, k, v], 3)}), (["q", "p"], {"q": apart["q"], "p": np.stack([k, v], 3)})):
        model = build_model([contrib("MultiHeadAttention", *names, outputs=["y"], num_heads=N)], feeds)
        compare(dlc.compile(model)(feeds)[0], want, "y")


@pytest.mark.parametrize("axes", [(1,), (0, 1)])
def test_lengths_of_dynamic_keys(axes: tuple[int, ...]) -> None:
    feeds = {name: _floats(B, S, N * D) for name in "qkv"} | {"lengths": np.array([2, 4], np.int32)}
    model = build_model([contrib("MultiHeadAttention", "q", "k", "v", "", "lengths", outputs=["y"], num_heads=N)], feeds)
    for entry in model.graph.input:
        for axis, dim in enumerate(entry.type.tensor_type.shape.dim):
            if axis in axes:
                dim.dim_param = ("batch", "positions")[axis]
    session = reference_session(model)
    compare(dlc.compile(model)(feeds)[0], session.run(None, feeds)[0], "y")


def test_multi_head_attention_with_a_past() -> None:
    feeds = {name: _floats(B, S, H) for name in "qkv"} | {name: _floats(B, N, 3, D) for name in ("past_k", "past_v")}
    inputs = ["q", "k", "v", "", "", "", "past_k", "past_v"]
    check([contrib("MultiHeadAttention", *inputs, outputs=["y", "present_k", "present_v"], num_heads=N)], feeds, dynamic=False)


@pytest.mark.parametrize("interleaved", [0, 1])
def test_rotary_embedding(interleaved: int) -> None:
    angles = _GENERATOR.standard_normal((9, D // 2))
    feeds = {"x": _floats(B, S, N * D), "z": _floats(B, N, S, D)}
    feeds |= {"cos": np.cos(angles).astype(np.float32), "sin": np.sin(angles).astype(np.float32)}
    feeds |= {"places": _GENERATOR.integers(0, 9, (B, S)), "start": np.array([2])}
    nodes = [
        contrib("RotaryEmbedding", "x", "places", "cos", "sin", interleaved=interleaved),
        contrib("RotaryEmbedding", "x", "start", "cos", "sin", interleaved=interleaved),
        contrib("RotaryEmbedding", "z", "places", "cos", "sin", interleaved=interleaved),
    ]
    check(nodes, feeds, dynamic=False)
