"""ONNX attention against onnxruntime and against the onnx package's node tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_check import build_model, check, check_backend_cases, compare, node

import dlc

_GENERATOR = np.random.default_rng(15)


def _random(*shape: int) -> np.ndarray:
    return _GENERATOR.standard_normal(shape).astype(np.float32)


def _heads(q_heads: int = 4, kv_heads: int = 2) -> dict[str, np.ndarray]:
    return {"q": _random(2, q_heads, 5, 8), "k": _random(2, kv_heads, 6, 8), "v": _random(2, kv_heads, 6, 4)}


@pytest.mark.parametrize("attributes", [{}, {"is_causal": 1}, {"scale": 0.3}, {"softcap": 2.0}], ids=str)
def test_attention_of_heads(attributes: dict[str, Any]) -> None:
    check([node("Attention", ["q", "k", "v"], **attributes)], _heads(4, 4), opset=23, dynamic=False)


def test_shared_heads() -> None:
    check([node("Attention", ["q", "k", "v"])], _heads(), opset=23, dynamic=False)


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("rank", [2, 4])
def test_masks(rank: int) -> None:
    shape = (2, 1, 5, 6)[-rank:]
    added, chosen = _random(*shape), _GENERATOR.random(shape) < 0.7
    chosen[..., 0] = True
    for mask in (added, chosen):
        check([node("Attention", ["q", "k", "v", "m"])], _heads(4, 4) | {"m": mask}, opset=23)


def test_attention_of_rank_3() -> None:
    feeds = {"q": _random(2, 5, 32), "k": _random(2, 6, 32), "v": _random(2, 6, 16)}
    nodes = [node("Attention", ["q", "k", "v"], q_num_heads=4, kv_num_heads=4, is_causal=1)]
    check(nodes, feeds, opset=23, dynamic=False)


@pytest.mark.parametrize("dynamic", [False, True])
def test_causality_follows_the_past(dynamic: bool) -> None:
    new = {"q": _random(1, 2, 3, 8), "k": _random(1, 2, 3, 8), "v": _random(1, 2, 3, 8)}
    past = {"pk": _random(1, 2, 4, 8), "pv": _random(1, 2, 4, 8)}
    inputs, outputs = ["q", "k", "v", "", "pk", "pv"], ["y", "present_k", "present_v"]
    model = build_model([node("Attention", inputs, outputs, is_causal=1)], new | past, opset=24, dynamic=dynamic)
    y, present_k, _ = dlc.compile(model)(new | past)
    k, v = (np.concatenate([past[f"p{name}"], new[name]], axis=2) for name in "kv")
    compare(present_k, k, "present_k")
    scores = new["q"] @ k.transpose(0, 1, 3, 2) / np.sqrt(8)
    weights = np.exp(scores) * np.tri(3, 7, 4)
    compare(y, (weights / weights.sum(axis=-1, keepdims=True) @ v).astype(np.float32), "y")


def _open_attention(causal: bool) -> onnx.ModelProto:
    """Causal attention has as many keys as queries."""
    shapes = {"q": ["b", 2, "r", 8], "k": ["b", 2, "r" if causal else "n", 8], "v": ["b", 2, "r" if causal else "n", 16]}
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["b", 2, "r", 16])]
    graph = helper.make_graph([node("Attention", ["q", "k", "v"], ["y"], is_causal=int(causal))], "g", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)


@pytest.mark.parametrize("causal", [False, True])
def test_open_numbers_of_queries_and_keys(causal: bool) -> None:
    """Fewer queries than a block has, whole blocks, and some beyond the last one."""
    compiled = dlc.compile(_open_attention(causal))
    for batch, rows, keys in ((1, 1, 1), (1, 1, 40), (2, 15, 16), (1, 16, 7), (1, 17, 33), (2, 48, 47), (1, 100, 130)):
        keys = rows if causal else keys
        q, k, v = _random(batch, 2, rows, 8), _random(batch, 2, keys, 8), _random(batch, 2, keys, 16)
        weights = np.exp(q @ k.transpose(0, 1, 3, 2) / np.sqrt(8)) * (np.tri(rows, keys) if causal else 1)
        (y,) = compiled(q, k, v)
        compare(y, (weights / weights.sum(axis=-1, keepdims=True) @ v).astype(np.float32), f"{rows} of {keys}")


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("turned", [0, 4])
def test_rotary_embedding(interleaved: int, turned: int) -> None:
    caches = {"cos": _random(10, (turned or 8) // 2), "sin": _random(10, (turned or 8) // 2)}
    attributes: dict[str, Any] = {"interleaved": interleaved, "num_heads": 3, "rotary_embedding_dim": turned}
    places = np.array([[0, 1, 2, 3, 4], [5, 4, 3, 2, 9]], np.int64)
    nodes = [node("RotaryEmbedding", ["x", "cos", "sin", "ids"], **attributes)]
    check(nodes, {"x": _random(2, 3, 5, 8), "ids": places}, caches, opset=23, dynamic=False)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"q_num_heads": 4, "kv_num_heads": 0}, "q_num_heads is 4 and kv_num_heads is 0; give 1 or more"),
        ({"q_num_heads": 4, "kv_num_heads": 4, "qk_matmul_output_mode": -1}, "qk_matmul_output_mode is -1; it may be 0 to 3"),
    ],
    ids=["heads", "mode"],
)
def test_wrong_attributes_are_refused(attributes: dict[str, int], message: str) -> None:
    feeds = {"q": _random(2, 5, 32), "k": _random(2, 6, 32), "v": _random(2, 6, 16)}
    model = build_model([node("Attention", ["q", "k", "v"], ["y", "", "", "scores"], **attributes)], feeds, opset=23)
    with pytest.raises(dlc.UnsupportedError, match=message):
        dlc.compile(model)


def test_heads_must_be_known() -> None:
    feeds = {name: _random(2, 5, 32) for name in "qkv"}
    with pytest.raises(dlc.UnsupportedError, match="inputs of rank 3 need q_num_heads and kv_num_heads"):
        dlc.compile(build_model([node("Attention", [*"qkv"])], feeds, opset=23))


@pytest.mark.slow
@pytest.mark.parametrize("op", ["Attention", "RotaryEmbedding"])
def test_node_tests_of_onnx(op: str) -> None:
    assert check_backend_cases(op)
