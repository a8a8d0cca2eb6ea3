"""Importers of attention and rotary embedding."""

from __future__ import annotations

import math
from dataclasses import dataclass

import onnx

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import type_of_value
from dlc.dtypes import dtype_of_numpy
from dlc.frontends.onnx.attention_mask import AttentionMask
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext

_FAR = 2**63 - 1
_SCORES, _CAPPED, _MASKED, _WEIGHTS = range(4)
"""What the fourth output of ONNX's Attention is, by `qk_matmul_output_mode`."""

_SOFTMAX_TYPES = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE, onnx.TensorProto.BFLOAT16)
"""What `softmax_precision` may name."""


@importer("Attention")
def import_attention(node: NodeContext) -> list[ir.Value | None]:
    """`dl.attention`, or its parts where scores are capped or are an output."""
    _require_softmax_of_floats(node)
    heads = _Heads.of(node)
    k, v = (_with_past(node, past, new) for past, new in ((4, heads.k), (5, heads.v)))
    present, v = v, _as_type_of(heads.q, v)
    mask = AttentionMask(node, heads.q, heads.k, k)
    scale = node.attribute("scale")
    scores = None
    if node.attribute("softcap", 0.0) or node.uses_output(3) or _wants_f64(node):
        result, scores = decomposed(node, heads.q, k, v, mask.value(), scale)
    elif mask.is_plainly_causal:
        value = mask.given()
        aligned = node.has_input(4)
        result = dl.attention(heads.q, k, v, value, scale=scale, is_causal=True, aligned_at_end=aligned)
    else:
        result = dl.attention(heads.q, k, v, mask.value(), scale=scale)
    return [merged_heads(result) if node.rank(0) == 3 else result, k, present, *([scores] if scores else [])]


def _as_type_of(q: ir.Value, v: ir.Value) -> ir.Value:
    """Values may have another element type than queries, keys and the result."""
    dtype = type_of_value(q).dtype
    return v if type_of_value(v).dtype == dtype else dl.cast(v, to=dtype)


@dataclass(frozen=True)
class _Heads:
    """Queries, keys and values as [batch, heads, positions, size]."""

    q: ir.Value
    k: ir.Value
    v: ir.Value

    @staticmethod
    def of(node: NodeContext) -> _Heads:
        if node.rank(0) == 4:
            return _Heads(*(node.value(index) for index in range(3)))
        counts = [node.attribute("q_num_heads"), *[node.attribute("kv_num_heads")] * 2]
        if None in counts:
            node.unsupported("inputs of rank 3 need q_num_heads and kv_num_heads")
        if min(counts) < 1:
            node.unsupported(f"q_num_heads is {counts[0]} and kv_num_heads is {counts[1]}; give 1 or more")
        return _Heads(*(split_heads(node.value(index), count) for index, count in enumerate(counts)))


def split_heads(x: ir.Value, heads: int) -> ir.Value:
    """[batch, positions, heads * size] as [batch, heads, positions, size]."""
    size = type_of_value(x).shape[2]
    sizes = [-1, -1, heads, size // heads if isinstance(size, int) else -1]
    return dl.transpose(dl.reshape(x, shape=sizes, copied=[0, 1, -1, -1]), perm=[0, 2, 1, 3])


def merged_heads(x: ir.Value) -> ir.Value:
    """The inverse of `split_heads`."""
    back = dl.transpose(x, perm=[0, 2, 1, 3])
    sizes = type_of_value(back).shape[2:]
    merged = math.prod(size for size in sizes if size is not None) if None not in sizes else -1
    return dl.reshape(back, shape=[-1, -1, merged], copied=[0, 1, -1])


def _with_past(node: NodeContext, index: int, new: ir.Value) -> ir.Value:
    return dl.concat(node.value(index), new, axis=2) if node.has_input(index) else new


def _require_softmax_of_floats(node: NodeContext) -> None:
    asked = node.attribute("softmax_precision")
    if asked is not None and asked not in _SOFTMAX_TYPES:
        names = ", ".join(f"{each} ({onnx.TensorProto.DataType.Name(each)})" for each in _SOFTMAX_TYPES)
        node.unsupported(f"softmax_precision is {asked}; it may be {names}")


def _wants_f64(node: NodeContext) -> bool:
    """True when softmax must be more precise than `dl.attention` computes it."""
    return node.attribute("softmax_precision") == onnx.TensorProto.DOUBLE and node.type(0).dtype != "f64"


def decomposed(
    node: NodeContext,
    q: ir.Value,
    k: ir.Value,
    v: ir.Value,
    mask: ir.Value | None,
    scale: float | None,
    sink: ir.Value | None = None,
) -> tuple[ir.Value, ir.Value]:
    """The result, and the scores in the state that the node gives out; `sink` is one more score of each row, with no value."""
    dtype, mode = type_of_value(q).dtype, int(node.attribute("qk_matmul_output_mode", 0))
    if mode not in (_SCORES, _CAPPED, _MASKED, _WEIGHTS):
        node.unsupported(f"qk_matmul_output_mode is {mode}; it may be 0 to 3")
    states = [_scores(node, q, k, scale)]
    cap = float(node.attribute("softcap", 0.0))
    capped = states[0]
    if cap:
        factor = node.constant_value(cap, dtype)
        capped = dl.mul(dl.tanh(dl.div(capped, factor)), factor)
    masked = capped if mask is None else _masked(node, capped, mask)
    weights = _weights(node, masked) if sink is None else _weights_beside(masked, sink)
    states += [capped, masked, weights]
    return _grouped_product(weights, v), states[mode]


def _scores(node: NodeContext, q: ir.Value, k: ir.Value, scale: float | None) -> ir.Value:
    size = type_of_value(q).shape[3]
    if scale is None and not isinstance(size, int):
        node.unsupported("the scale needs a size of heads that is known at compile time")
    factor = 1 / math.sqrt(int(size or 1)) if scale is None else scale
    products = _grouped_product(q, dl.transpose(k, perm=[0, 1, 3, 2]))
    return dl.mul(products, node.constant_value(factor, type_of_value(q).dtype))


def _grouped_product(lhs: ir.Value, rhs: ir.Value) -> ir.Value:
    """Matrix products of heads with the kv head that they share."""
    heads, kv_heads = type_of_value(lhs).shape[1], type_of_value(rhs).shape[1]
    if heads == kv_heads and heads is not None:
        return dl.matmul(lhs, rhs)
    kv_size = kv_heads if isinstance(kv_heads, int) else -1
    split = dl.reshape(lhs, shape=[-1, kv_size, -1, -1, -1], copied=[0, -1, -1, 2, 3])
    product = dl.matmul(split, dl.unsqueeze(rhs, axes=[2]))
    return dl.reshape(product, shape=[-1, -1, -1, -1], copied=[0, -1, 3, 4])


def _masked(node: NodeContext, scores: ir.Value, mask: ir.Value) -> ir.Value:
    if type_of_value(mask).dtype != "i1":
        return dl.add(scores, mask)
    return dl.where(mask, scores, node.constant_value(-math.inf, type_of_value(scores).dtype))


def _weights(node: NodeContext, scores: ir.Value) -> ir.Value:
    """Softmax in the wanted precision; rows of -inf give 0."""
    dtype = type_of_value(scores).dtype
    wanted = node.attribute("softmax_precision")
    wide = dtype_of_numpy(onnx.helper.tensor_dtype_to_np_dtype(wanted)) if wanted else dtype
    scores = scores if wide == dtype else dl.cast(scores, to=wide)
    lowest, zero = node.constant_value(-math.inf, wide), node.constant_value(0, wide)
    hidden = dl.equal(dl.reduce_max(scores, axes=[3], keepdims=True), lowest)
    found = dl.where(hidden, zero, dl.softmax(scores, axis=3))
    return found if wide == dtype else dl.cast(found, to=dtype)


def _weights_beside(scores: ir.Value, sink: ir.Value) -> ir.Value:
    """The softmax of rows that have one more score, `sink`, without the weight of that; f16 and bf16 compute in f32."""
    dtype = type_of_value(scores).dtype
    wide = "f32" if dtype in ("f16", "bf16") else dtype
    scores, sink = (dl.cast(each, to=wide) if wide != dtype else each for each in (scores, sink))
    top = dl.max(dl.reduce_max(scores, axes=[3], keepdims=True), sink)
    powers = dl.exp(dl.sub(scores, top))
    total = dl.add(dl.reduce_sum(powers, axes=[3], keepdims=True), dl.exp(dl.sub(sink, top)))
    weights = dl.div(powers, total)
    return dl.cast(weights, to=dtype) if wide != dtype else weights


@importer("RotaryEmbedding")
def import_rotary_embedding(node: NodeContext) -> ir.Value:
    """Angles are looked up by position; features beyond `rotary_embedding_dim` stay as they are."""
    is_flat = node.rank(0) == 3
    heads = int(node.attribute("num_heads", 0))
    if is_flat and not heads:
        node.unsupported("an input of rank 3 needs num_heads")
    x = split_heads(node.value(0), heads) if is_flat else node.value(0)
    cos, sin = (_angles(node, index) for index in (1, 2))
    result = rotated(x, cos, sin, int(node.attribute("rotary_embedding_dim", 0)), bool(node.attribute("interleaved", 0)))
    return merged_heads(result) if is_flat else result


def rotated(x: ir.Value, cos: ir.Value, sin: ir.Value, turned: int, interleaved: bool) -> ir.Value:
    """Rotary embedding of the first `turned` features of x [batch, heads, positions, size]; 0 means all."""
    if turned in (0, type_of_value(x).shape[3]):
        return dl.rotary_embedding(x, cos, sin, interleaved=interleaved)
    first = dl.slice(x, starts=[0], ends=[turned], axes=[3], steps=[1])
    rest = dl.slice(x, starts=[turned], ends=[_FAR], axes=[3], steps=[1])
    return dl.concat(dl.rotary_embedding(first, cos, sin, interleaved=interleaved), rest, axis=3)


def _angles(node: NodeContext, index: int) -> ir.Value:
    angles = node.value(index)
    return dl.gather(angles, node.value(3), axis=0) if node.has_input(3) else angles
