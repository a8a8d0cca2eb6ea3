"""Transformer layers as exporters write them: torch's two exporters, tf2onnx, and onnxruntime's optimiser.

Each form is a small graph of one layer, with dynamic batch and length, node for node like what the exporter writes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper

from bench.networks.builder import GraphBuilder

HIDDEN, HEADS, SIZE, INNER, KV_HEADS = 32, 4, 8, 64, 2
LOWEST = float(np.finfo(np.float32).min)
_CONTRIB = "com.microsoft"
_END = 2**63 - 1
Step = Callable[["FormBuilder", str], str]


class FormBuilder(GraphBuilder):
    """A graph builder whose models may hold onnxruntime's ops, which onnx can't check."""

    def contrib(self, kind: str, *inputs: str, **attributes: object) -> str:
        """A node of onnxruntime's own domain."""
        return self.op(kind, *inputs, domain=_CONTRIB, **attributes)

    def model(self) -> onnx.ModelProto:
        """The finished model."""
        graph = helper.make_graph(self._nodes, self._name, self._inputs, self._outputs, self._weights)
        opsets = [helper.make_opsetid("", self._opset), helper.make_opsetid(_CONTRIB, 1)]
        return helper.make_model(graph, ir_version=9, opset_imports=opsets)

    def dense(self, x: str, inputs: int, outputs: int, bias: bool = True) -> str:
        """A linear layer; torch adds the product to the bias."""
        product = self.op("MatMul", x, self.matrix("weight", (inputs, outputs), inputs))
        return self.op("Add", self.normal("bias", (outputs,), 0.1), product) if bias else product

    def weights(self, size: int = HIDDEN) -> tuple[str, str]:
        """Scale and bias of a norm."""
        return self.normal("gamma", (size,), 0.1, mean=1.0), self.normal("beta", (size,), 0.1)


# Sizes


def dim(g: FormBuilder, x: str, axis: int) -> str:
    """The size of one dim as a vector, as the TorchScript exporter reads it."""
    return g.op("Unsqueeze", g.op("Gather", g.op("Shape", x), g.constant(axis, np.int64), axis=0), g.integers(0))


def sized(g: FormBuilder, x: str, value: str, *rest: int) -> str:
    """`value` reshaped to [dim 0 of x, dim 1 of x, rest...]."""
    return g.op("Reshape", value, g.op("Concat", dim(g, x, 0), dim(g, x, 1), *(g.integers(item) for item in rest), axis=0))


def split(g: FormBuilder, x: str, value: str, heads: int = HEADS) -> str:
    return g.op("Transpose", sized(g, x, value, heads, SIZE), perm=[0, 2, 1, 3])


def merge(g: FormBuilder, x: str, value: str) -> str:
    return sized(g, x, g.op("Transpose", value, perm=[0, 2, 1, 3]), HIDDEN)


# Norms


def torch_norm(g: FormBuilder, x: str, epsilon: float = 1e-12) -> str:
    """Before opset 17."""
    centred = g.op("Sub", x, g.op("ReduceMean", x, axes=[-1]))
    variance = g.op("ReduceMean", g.op("Pow", centred, g.constant(2.0)), axes=[-1])
    normal = g.op("Div", centred, g.op("Sqrt", g.op("Add", variance, g.constant(epsilon))))
    scale, bias = g.weights()
    return g.op("Add", g.op("Mul", normal, scale), bias)


def onnx_norm(g: FormBuilder, x: str) -> str:
    return g.op("LayerNormalization", x, *g.weights(), axis=-1, epsilon=1e-12)


def tensorflow_norm(g: FormBuilder, x: str) -> str:
    """tf.nn.moments and tf.nn.batch_normalization."""
    mean = g.op("ReduceMean", x, axes=[-1], keepdims=1)
    distance = g.op("Sub", x, mean)
    variance = g.op("ReduceMean", g.op("Mul", distance, distance), axes=[-1], keepdims=1)
    root = g.op("Sqrt", g.op("Add", variance, g.constant(1e-12)))
    scale, bias = g.weights()
    factor = g.op("Mul", g.op("Reciprocal", root), scale)
    return g.op("Add", g.op("Mul", x, factor), g.op("Sub", bias, g.op("Mul", mean, factor)))


def torch_rms(g: FormBuilder, x: str) -> str:
    """In f32, between casts, as the TorchScript exporter writes it."""
    wide = g.op("Cast", x, to=TensorProto.FLOAT)
    mean = g.op("ReduceMean", g.op("Pow", wide, g.constant(2.0)), axes=[-1], keepdims=1)
    inverse = g.op("Div", g.constant(1.0), g.op("Sqrt", g.op("Add", mean, g.constant(1e-6))))
    normal = g.op("Cast", g.op("Mul", wide, inverse), to=TensorProto.FLOAT)
    return g.op("Mul", g.normal("scale", (HIDDEN,), 0.1, mean=1.0), normal)


def dynamo_rms(g: FormBuilder, x: str) -> str:
    mean = g.op("ReduceMean", g.op("Pow", x, g.constant(2.0)), g.integers(-1), keepdims=1)
    inverse = g.op("Reciprocal", g.op("Sqrt", g.op("Add", mean, g.constant(1e-6))))
    return g.op("Mul", g.normal("scale", (HIDDEN,), 0.1, mean=1.0), g.op("Mul", x, inverse))


def onnxruntime_rms(g: FormBuilder, x: str) -> str:
    return g.op("SimplifiedLayerNormalization", x, g.normal("scale", (HIDDEN,), 0.1, mean=1.0), axis=-1, epsilon=1e-6)


# Activations


def erf(g: FormBuilder, x: str) -> str:
    return g.op("Add", g.op("Erf", g.op("Div", x, g.constant(math.sqrt(2)))), g.constant(1.0))


def torch_gelu(g: FormBuilder, x: str) -> str:
    return g.op("Mul", g.op("Mul", x, erf(g, x)), g.constant(0.5))


def dynamo_gelu(g: FormBuilder, x: str) -> str:
    return g.op("Mul", x, g.op("Mul", g.constant(0.5), erf(g, x)))


def tensorflow_gelu(g: FormBuilder, x: str) -> str:
    return g.op("Mul", g.op("Mul", g.constant(0.5), x), erf(g, x))


def tanh_gate(g: FormBuilder, x: str) -> str:
    cube = g.op("Mul", g.constant(0.044715), g.op("Pow", x, g.constant(3.0)))
    bent = g.op("Tanh", g.op("Mul", g.constant(math.sqrt(2 / math.pi)), g.op("Add", x, cube)))
    return g.op("Add", bent, g.constant(1.0))


def tanh_gelu(g: FormBuilder, x: str) -> str:
    return g.op("Mul", x, g.op("Mul", g.constant(0.5), tanh_gate(g, x)))


# Attention: queries, keys and values [batch, heads, positions, size], and a mask that may be absent


@dataclass(frozen=True)
class Parts:
    """What attention takes; `seen` is i1."""

    q: str
    k: str
    v: str
    added: str = ""
    seen: str = ""


def eager(g: FormBuilder, parts: Parts) -> str:
    """Scores divided by the root of the size; a mask by i1 fills in the lowest number."""
    scores = g.op("MatMul", parts.q, g.op("Transpose", parts.k, perm=[0, 1, 3, 2]))
    scores = g.op("Div", scores, g.constant(math.sqrt(SIZE)))
    return masked(g, parts, scores)


def masked(g: FormBuilder, parts: Parts, scores: str) -> str:
    if parts.added:
        scores = g.op("Add", scores, parts.added)
    if parts.seen:
        scores = g.op("Where", parts.seen, scores, g.constant(LOWEST))
    return g.op("MatMul", g.op("Softmax", scores, axis=-1), parts.v)


def scripted(g: FormBuilder, parts: Parts) -> str:
    """scaled_dot_product_attention by the TorchScript exporter: the scale is computed from a shape."""
    size = g.op("Slice", g.op("Shape", parts.q), g.integers(-1), g.integers(_END))
    scale = g.op("Div", g.constant([1.0]), g.op("Sqrt", g.op("Cast", size, to=TensorProto.FLOAT)))
    q = g.op("Mul", parts.q, g.op("Sqrt", scale))
    k = g.op("Mul", g.op("Transpose", parts.k, perm=[0, 1, 3, 2]), g.op("Sqrt", scale))
    return guarded(g, parts, g.op("MatMul", q, k))


def dynamo(g: FormBuilder, parts: Parts) -> str:
    """scaled_dot_product_attention by the dynamo exporter: keys are transposed between reshapes."""
    shape = g.op("Shape", parts.k, start=0)
    last = g.op("Slice", shape, g.integers(-1), g.integers(_END))
    positions = g.op("Slice", shape, g.integers(-2), g.integers(-1))
    outer = g.op("Slice", shape, g.integers(-(2**63)), g.integers(-2))
    flat = g.op("Reshape", parts.k, g.op("Concat", g.integers(-1), positions, last, axis=0))
    turned = g.op("Transpose", flat, perm=[0, 2, 1])
    k = g.op("Reshape", turned, g.op("Concat", outer, last, positions, axis=0))
    root = g.constant([SIZE**-0.25])
    return guarded(g, parts, g.op("MatMul", g.op("Mul", parts.q, root), g.op("Mul", k, root)))


def guarded(g: FormBuilder, parts: Parts, scores: str) -> str:
    """A mask by i1 is added as 0 and a lowest number; NaN of rows that are hidden as a whole becomes 0."""
    zero = g.constant(0.0)
    if parts.added:
        scores = g.op("Add", scores, parts.added)
    if parts.seen:
        scores = g.op("Add", scores, g.op("Where", parts.seen, zero, g.constant(LOWEST)))
    weights = g.op("Softmax", scores, axis=-1)
    if parts.seen:
        weights = g.op("Where", g.op("IsNaN", weights), zero, weights)
    return g.op("MatMul", weights, parts.v)


def fused(g: FormBuilder, parts: Parts) -> str:
    """onnxruntime's product, which transposes and scales."""
    scores = g.contrib("FusedMatMul", parts.q, parts.k, transA=0, transB=1, alpha=1 / math.sqrt(SIZE))
    return masked(g, parts, scores)


Attend = Callable[[FormBuilder, Parts], str]


# BERT


def bert_inputs(g: FormBuilder) -> tuple[str, str]:
    """x [batch, length, hidden], and the mask to add, from an i64 input of 1 and 0."""
    x = g.input("x", ("batch", "length", HIDDEN))
    keep = g.input("mask", ("batch", "length"), TensorProto.INT64)
    wide = g.op("Cast", g.op("Unsqueeze", keep, g.integers(1, 2)), to=TensorProto.FLOAT)
    return x, g.op("Mul", g.op("Sub", g.constant(1.0), wide), g.constant(LOWEST))


def bert(opset: int, attend: Attend, norm: Step, gelu: Step) -> onnx.ModelProto:
    g = FormBuilder("bert", 0, opset)
    x, mask = bert_inputs(g)
    q, k, v = (split(g, x, g.dense(x, HIDDEN, HIDDEN)) for _ in range(3))
    attended = g.dense(merge(g, x, attend(g, Parts(q, k, v, added=mask))), HIDDEN, HIDDEN)
    x = norm(g, g.op("Add", attended, x))
    inner = g.dense(gelu(g, g.dense(x, HIDDEN, INNER)), INNER, HIDDEN)
    g.output("y", norm(g, g.op("Add", inner, x)), ("batch", "length", HIDDEN))
    return g.model()


def bert_onnxruntime(attend: Attend | None) -> onnx.ModelProto:
    """By the session's optimiser, or with `attend` None by the one for transformers, which finds attention."""
    g = FormBuilder("bert", 0, 14)
    if attend is not None:
        x, mask = bert_inputs(g)
        q, k, v = (split(g, x, g.dense(x, HIDDEN, HIDDEN)) for _ in range(3))
        context = merge(g, x, attend(g, Parts(q, k, v, added=mask)))
    else:
        x = g.input("x", ("batch", "length", HIDDEN))
        keep = g.op("Cast", g.input("mask", ("batch", "length"), TensorProto.INT64), to=TensorProto.INT32)
        weight, bias = g.matrix("qkv", (HIDDEN, 3 * HIDDEN), HIDDEN), g.normal("bias", (3 * HIDDEN,), 0.1)
        context = g.contrib("Attention", x, weight, bias, keep, num_heads=HEADS)
    product = g.op("MatMul", context, g.matrix("weight", (HIDDEN, HIDDEN), HIDDEN))
    x = skip_norm(g, product, x)
    up = g.op("MatMul", x, g.matrix("weight", (HIDDEN, INNER), HIDDEN))
    inner = g.contrib("BiasGelu", up, g.normal("bias", (INNER,), 0.1))
    down = g.op("MatMul", inner, g.matrix("weight", (INNER, HIDDEN), INNER))
    g.output("y", skip_norm(g, down, x), ("batch", "length", HIDDEN))
    return g.model()


def skip_norm(g: FormBuilder, x: str, skip: str) -> str:
    bias = g.normal("bias", (HIDDEN,), 0.1)
    return g.contrib("SkipLayerNormalization", x, skip, *g.weights(), bias, epsilon=1e-12)


# GPT-2


def gpt2(opset: int, attend: Attend, norm: Step, cache: bool) -> onnx.ModelProto:
    """Without a cache the triangle is cut to the length; with one, to the last row of past and new keys."""
    g = FormBuilder("gpt2", 0, opset)
    x = g.input("x", ("batch", 1 if cache else "length", HIDDEN))
    projected = g.dense(norm(g, x), HIDDEN, 3 * HIDDEN)
    parts = g.ops("Split", projected, g.integers(HIDDEN, HIDDEN, HIDDEN), outputs=3, axis=2)
    q, k, v = (split(g, x, part) for part in parts)
    if cache:
        k, v = (
            g.op("Concat", g.input(f"past_{n}", ("batch", HEADS, "past", SIZE)), new, axis=2)
            for n, new in zip("kv", (k, v), strict=True)
        )
    seen = causal(g, q, k)
    x = g.op("Add", x, g.dense(merge(g, x, attend(g, Parts(q, k, v, seen=seen))), HIDDEN, HIDDEN))
    inner = tanh_gelu(g, g.dense(norm(g, x), HIDDEN, INNER))
    length = 1 if cache else "length"
    g.output("y", g.op("Add", x, g.dense(inner, INNER, HIDDEN)), ("batch", length, HIDDEN))
    if cache:
        g.output("present_k", k, ("batch", HEADS, "present", SIZE))
        g.output("present_v", v, ("batch", HEADS, "present", SIZE))
    return g.model()


def causal(g: FormBuilder, q: str, k: str) -> str:
    """triangle[:, :, keys - queries : keys, :keys]"""
    queries, keys = dim(g, q, 2), dim(g, k, 2)
    triangle = g.constant(np.tril(np.ones((1, 1, 16, 16))), np.bool_)
    rows = g.op("Slice", triangle, g.op("Sub", keys, queries), keys, g.integers(2), g.integers(1))
    return g.op("Slice", rows, g.integers(0), keys, g.integers(3), g.integers(1))


def gpt2_onnxruntime() -> onnx.ModelProto:
    """The factor 1 / 2 of GELU has moved into the next product."""
    g = FormBuilder("gpt2", 0, 17)
    x = g.input("x", ("batch", "length", HIDDEN))
    q, k, v = (split(g, x, g.dense(x, HIDDEN, HIDDEN)) for _ in range(3))
    x = onnx_norm(g, g.op("Add", x, merge(g, x, fused(g, Parts(q, k, v, seen=causal(g, q, k))))))
    up = g.dense(x, HIDDEN, INNER)
    gated = g.op("Mul", up, tanh_gate(g, up))
    down = g.contrib("FusedMatMul", gated, g.matrix("weight", (INNER, HIDDEN), INNER), alpha=0.5)
    g.output("y", onnx_norm(g, g.op("Add", x, down)), ("batch", "length", HIDDEN))
    return g.model()


# Llama


def llama(opset: int, attend: Attend, norm: Step, silu: Step) -> onnx.ModelProto:
    """RMS norm, rotary embedding, keys and values that heads share, SiLU; the causal mask is an input."""
    g = FormBuilder("llama", 0, opset)
    x = g.input("x", ("batch", "length", HIDDEN))
    positions = g.input("positions", ("batch", "length"), TensorProto.INT64)
    seen = g.input("seen", ("batch", 1, "length", "length"), TensorProto.BOOL)
    cos, sin = rotary_tables(g, positions)
    h = norm(g, x)
    q = rotated(g, split(g, x, g.dense(h, HIDDEN, HIDDEN, bias=False)), cos, sin)
    k, v = (split(g, x, g.dense(h, HIDDEN, KV_HEADS * SIZE, bias=False), KV_HEADS) for _ in range(2))
    k, v = repeated(g, x, rotated(g, k, cos, sin)), repeated(g, x, v)
    context = merge(g, x, attend(g, Parts(q, k, v, seen=seen)))
    x = g.op("Add", x, g.dense(context, HIDDEN, HIDDEN, bias=False))
    h = norm(g, x)
    gate, up = silu(g, g.dense(h, HIDDEN, INNER, bias=False)), g.dense(h, HIDDEN, INNER, bias=False)
    down = g.dense(g.op("Mul", gate, up), INNER, HIDDEN, bias=False)
    g.output("y", g.op("Add", x, down), ("batch", "length", HIDDEN))
    return g.model()


def rotary_tables(g: FormBuilder, positions: str) -> tuple[str, str]:
    """cos and sin [batch, 1, length, size] of the frequencies, side by side twice."""
    frequencies = g.constant((10000.0 ** (-np.arange(0, SIZE, 2) / SIZE)).reshape(1, -1, 1))
    places = g.op("Cast", g.op("Unsqueeze", positions, g.integers(1)), to=TensorProto.FLOAT)
    angles = g.op("Transpose", g.op("MatMul", frequencies, places), perm=[0, 2, 1])
    both = g.op("Concat", angles, angles, axis=-1)
    cos, sin = (g.op("Mul", g.op(kind, both), g.constant(1.0)) for kind in ("Cos", "Sin"))
    return g.op("Unsqueeze", cos, g.integers(1)), g.op("Unsqueeze", sin, g.integers(1))


def rotated(g: FormBuilder, x: str, cos: str, sin: str) -> str:
    """x * cos + rotate_half(x) * sin, the half of the size being read from the shape."""
    size = g.op("Gather", g.op("Shape", x), g.constant(3, np.int64), axis=0)
    half = g.op("Unsqueeze", g.op("Div", size, g.constant(2, np.int64)), g.integers(0))
    low = g.op("Slice", x, g.integers(0), half, g.integers(3), g.integers(1))
    high = g.op("Slice", x, half, g.integers(_END), g.integers(3), g.integers(1))
    turned = g.op("Concat", g.op("Neg", high), low, axis=-1)
    return g.op("Add", g.op("Mul", x, cos), g.op("Mul", turned, sin))


def repeated(g: FormBuilder, x: str, kv: str) -> str:
    """repeat_kv: unsqueeze, expand, reshape."""
    times = HEADS // KV_HEADS
    wide = g.op("Concat", dim(g, x, 0), g.integers(KV_HEADS), g.integers(times), dim(g, x, 1), g.integers(SIZE), axis=0)
    expanded = g.op("Expand", g.op("Unsqueeze", kv, g.integers(2)), wide)
    return g.op("Reshape", expanded, g.op("Concat", dim(g, x, 0), g.integers(HEADS), dim(g, x, 1), g.integers(SIZE), axis=0))


def torch_silu(g: FormBuilder, x: str) -> str:
    return g.op("Mul", x, g.op("Sigmoid", x))


def quick_gelu(g: FormBuilder, x: str) -> str:
    return g.contrib("QuickGelu", x, alpha=1.0)


# All forms


@dataclass(frozen=True)
class Form:
    """How to build one, and how many of which dl ops it must come to."""

    build: Callable[[], onnx.ModelProto]
    ops: Mapping[str, int]


_BERT = {"attention": 1, "gelu": 1, "layer_norm": 2}
_LLAMA = {"attention": 1, "silu": 1, "rms_norm": 2, "rotary_embedding": 2}

FORMS: Mapping[str, Form] = {
    "bert-torchscript": Form(lambda: bert(14, eager, torch_norm, torch_gelu), _BERT),
    "bert-torchscript-sdpa": Form(lambda: bert(17, scripted, onnx_norm, torch_gelu), _BERT),
    "bert-dynamo": Form(lambda: bert(18, dynamo, onnx_norm, dynamo_gelu), _BERT),
    "bert-tf2onnx": Form(lambda: bert(15, eager, tensorflow_norm, tensorflow_gelu), _BERT),
    "bert-onnxruntime-session": Form(lambda: bert_onnxruntime(fused), _BERT),
    "bert-onnxruntime-transformers": Form(lambda: bert_onnxruntime(None), _BERT),
    "gpt2-torchscript": Form(lambda: gpt2(14, eager, torch_norm, cache=False), _BERT),
    "gpt2-torchscript-cache": Form(lambda: gpt2(14, eager, torch_norm, cache=True), _BERT),
    "gpt2-torchscript-sdpa-cache": Form(lambda: gpt2(17, scripted, onnx_norm, cache=True), _BERT),
    "gpt2-dynamo-cache": Form(lambda: gpt2(18, dynamo, onnx_norm, cache=True), _BERT),
    "gpt2-onnxruntime": Form(gpt2_onnxruntime, _BERT),
    "llama-torchscript": Form(lambda: llama(17, scripted, torch_rms, torch_silu), _LLAMA),
    "llama-torchscript-eager": Form(lambda: llama(14, eager, torch_rms, torch_silu), _LLAMA),
    "llama-dynamo": Form(lambda: llama(18, dynamo, dynamo_rms, torch_silu), _LLAMA),
    "llama-onnxruntime": Form(lambda: llama(17, fused, onnxruntime_rms, quick_gelu), _LLAMA),
}
