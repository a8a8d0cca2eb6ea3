"""Importers of onnxruntime's attention and rotary embedding, which its optimiser writes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import type_of_value
from dlc.frontends.onnx.attention import merged_heads, rotated, split_heads
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext

_CONTRIB = "com.microsoft"
_HIDING = -10000.0


@dataclass(frozen=True)
class _Inputs:
    """Indices of the inputs of an attention node that the kinds of nodes have at places of their own."""

    mask: int
    bias: int
    past_k: int = -1
    past_v: int = -1


@importer("Attention", domain=_CONTRIB)
def import_attention(node: NodeContext) -> list[ir.Value]:
    """One product gives queries, keys and values; the past holds keys and values in one tensor."""
    if node.attribute("do_rotary", 0):
        node.unsupported("do_rotary is not supported; export the model with nodes RotaryEmbedding")
    if node.attribute("past_present_share_buffer", 0):
        node.unsupported("a past that shares its buffer with the present is not supported; export the model without it")
    heads = int(node.attribute("num_heads"))
    projected = dl.matmul(node.value(0), node.value(1))
    if node.has_input(2):
        projected = dl.add(projected, node.value(2))
    width = type_of_value(projected).shape[2]
    if not isinstance(width, int):
        node.unsupported("the weight's size must be known at compile time")
    sizes = node.attribute("qkv_hidden_sizes") or [width // 3] * 3
    ends = np.cumsum(sizes)
    q, k, v = (
        split_heads(dl.slice(projected, starts=[int(end - size)], ends=[int(end)], axes=[2], steps=[1]), heads)
        for size, end in zip(sizes, ends, strict=True)
    )
    if node.has_input(4):
        k, v = (dl.concat(_part_of_past(node.value(4), at), new, axis=2) for at, new in enumerate((k, v)))
    result = _attention(node, q, k, v, _Inputs(mask=3, bias=5), has_past=node.has_input(4))
    present = [dl.concat(dl.unsqueeze(k, axes=[0]), dl.unsqueeze(v, axes=[0]), axis=0)] if node.uses_output(1) else []
    return [merged_heads(result), *present]


def _part_of_past(past: ir.Value, at: int) -> ir.Value:
    return dl.squeeze(dl.slice(past, starts=[at], ends=[at + 1], axes=[0], steps=[1]), axes=[0])


@importer("MultiHeadAttention", domain=_CONTRIB)
def import_multi_head_attention(node: NodeContext) -> list[ir.Value]:
    """Queries, keys and values come apart, the latter two perhaps with their heads apart already."""
    heads = int(node.attribute("num_heads"))
    if any(node.has_input(index) for index in (8, 9)):
        node.unsupported("a past that shares its buffer with the present is not supported; export the model without it")
    q, k, v = _packed(node) if not node.has_input(2) else [_biased(node, index, heads) for index in range(3)]
    has_past = node.has_input(6)
    if has_past:
        k, v = (dl.concat(node.value(6 + at), new, axis=2) for at, new in enumerate((k, v)))
    result = _attention(node, q, k, v, _Inputs(mask=4, bias=5), has_past)
    return [merged_heads(result), k, v][: max(1, node.num_outputs)]


def _packed(node: NodeContext) -> list[ir.Value]:
    """Queries, keys and values from [batch, positions, heads, 3, size], or from queries, and keys and values in one input."""
    if node.has_input(3):
        node.unsupported("a bias is not supported where queries, keys and values are packed")
    index = 1 if node.has_input(1) else 0
    packed, count = node.value(index), 2 if index else 3
    if type_of_value(packed).rank != 5 or type_of_value(packed).shape[3] != count:
        node.unsupported(f"input {index} is {node.type(index)}, but must be [batch, positions, heads, {count}, size]")
    parts = []
    for at in range(count):
        part = dl.squeeze(dl.slice(packed, starts=[at], ends=[at + 1], axes=[3], steps=[1]), axes=[3])
        parts.append(dl.transpose(part, perm=[0, 2, 1, 3]))
    return [split_heads(node.value(0), int(node.attribute("num_heads"))), *parts] if index else parts


def _biased(node: NodeContext, index: int, heads: int) -> ir.Value:
    """Queries, keys or values with their part of the bias, and their heads apart."""
    x = node.value(index)
    if node.rank(index) == 4:
        return x
    if node.has_input(3):
        sizes = [node.type(at).shape[2] if node.rank(at) == 3 else 0 for at in range(3)]
        if not all(isinstance(size, int) for size in sizes):
            node.unsupported("the parts of the bias must be known at compile time")
        start = sum(int(size or 0) for size in sizes[:index])
        x = dl.add(x, dl.slice(node.value(3), starts=[start], ends=[start + int(sizes[index] or 0)], axes=[0], steps=[1]))
    return split_heads(x, heads)


def _attention(node: NodeContext, q: ir.Value, k: ir.Value, v: ir.Value, inputs: _Inputs, has_past: bool) -> ir.Value:
    """dl.attention with what is added to the scores: the given bias, and a huge negative number where a mask is 0."""
    dtype = type_of_value(q).dtype
    masks = [node.value(inputs.bias)] if node.has_input(inputs.bias) else []
    if node.has_input(inputs.mask):
        visible = _visible(node, inputs.mask, k)
        hiding = node.constant_value(node.attribute("mask_filter_value", _HIDING), dtype)
        masks.append(dl.where(visible, node.constant_value(0, dtype), hiding))
    mask = dl.add(*masks) if len(masks) == 2 else masks[0] if masks else None
    scale = node.attribute("scale", 0.0) or None
    is_causal = bool(node.attribute("unidirectional", 0))
    result: ir.Value = dl.attention(q, k, v, mask, scale=scale, is_causal=is_causal, aligned_at_end=is_causal and has_past)
    return result


def _visible(node: NodeContext, index: int, k: ir.Value) -> ir.Value:
    """A mask of 1 and 0 by key, by query and key, or as the number of keys of each image: i1 that broadcasts to the scores."""
    kind = node.type(index)
    mask = dl.less(node.constant_value(0, kind.dtype), node.value(index))
    if kind.rank == 2:
        return dl.unsqueeze(mask, axes=[1, 2])
    if kind.rank == 3:
        return dl.unsqueeze(mask, axes=[1])
    batch, keys = type_of_value(k).shape[0], type_of_value(k).shape[2]
    if kind.rank != 1 or (isinstance(batch, int) and kind.shape[0] not in (batch, None)):
        node.unsupported(f"a mask of type {kind} is not supported; give one of 1 and 0, or the number of keys of each image")
    lengths = dl.unsqueeze(node.value(index), axes=[1, 2, 3])
    if isinstance(keys, int):
        return dl.less(node.constant_value(np.arange(keys), kind.dtype), lengths)
    zero, one = (node.constant_value(value, "i64") for value in (0, 1))
    places = dl.range(zero, dl.squeeze(dl.shape_of(k, start=2, end=3), axes=[0]), one)
    return dl.less(places, dl.cast(lengths, to="i64"))


@importer("RotaryEmbedding", domain=_CONTRIB)
def import_rotary_embedding(node: NodeContext) -> ir.Value:
    """Angles are rows of the caches: at the positions given, or from the one position given on."""
    if node.attribute("is_packed_batching", 0) or node.attribute("scale", 1.0) != 1:
        node.unsupported("a scale and packed batches are not supported")
    is_flat = node.rank(0) == 3
    turned = int(node.attribute("rotary_embedding_dim", 0))
    columns, width = node.type(2).shape[1], node.type(0).shape[-1]
    heads = int(node.attribute("num_heads", 0))
    if is_flat and not heads and isinstance(columns, int) and isinstance(width, int):
        heads = width // (2 * columns)
    if is_flat and not heads:
        node.unsupported("an input of rank 3 needs num_heads")
    x = split_heads(node.value(0), heads) if is_flat else node.value(0)
    places = _places(node, x)
    cos, sin = (dl.gather(node.value(index), places, axis=0) for index in (2, 3))
    result = rotated(x, cos, sin, turned, bool(node.attribute("interleaved", 0)))
    return merged_heads(result) if is_flat else result


def _places(node: NodeContext, x: ir.Value) -> ir.Value:
    """Positions [batch or 1, positions]."""
    if node.rank(1) == 2:
        return node.value(1)
    size = type_of_value(x).shape[2]
    zero, one = node.constant_value(0, "i64"), node.constant_value(1, "i64")
    end = node.constant_value(size, "i64") if isinstance(size, int) else dl.squeeze(dl.shape_of(x, start=2, end=3), axes=[0])
    return dl.unsqueeze(dl.add(dl.range(zero, end, one), node.value(1)), axes=[0])
