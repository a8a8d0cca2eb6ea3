"""Attention and rotary position embedding."""

import math
from typing import Optional

import numpy as np

from dlc.dialects.dl.attributes import BoolAttr, FloatAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.numerics import wide
from dlc.dialects.dl.types import (
    FLOATS,
    TensorType,
    broadcast_shapes,
    require,
    require_equal_dims,
    require_same_dtype,
    shape_text,
)


class Attention(DLOp, name="attention"):
    """Scaled dot-product attention of several heads. ONNX Attention.

    result[b, h] = softmax(scale * q[b, h] @ transpose(k[b, g]) + mask[b, h], axis=-1) @ v[b, g]

    q is [batch, heads, queries, size], k is [batch, kv heads, keys, size], v is [batch, kv heads, keys, value size].
    Neighbouring heads share a kv head: g = h / (heads / kv heads). mask broadcasts to [batch, heads, queries, keys]:
    added where its element type is that of q; where it is i1, only the true positions take part. With `is_causal`, query
    i sees the keys up to i, or with `aligned_at_end` up to i + keys - queries. A query that sees no key gives 0. f16 and
    bf16 compute in f32.

    c1: q, k and v have one element type, and mask has it or i1.    c2: q, k and v have rank 4.
    c3: they have equal dims 0.    c4: q and k have equal dims 3.    c5: k and v have equal dims 1 and 2.
    c6: the number of kv heads divides that of heads.    c7: mask broadcasts to [batch, heads, queries, keys].
    """

    fusion_class = "contraction"
    accepts = {"q": FLOATS, "k": FLOATS, "v": FLOATS, "mask": (*FLOATS, "i1")}
    q: Operand[Tensor]
    k: Operand[Tensor]
    v: Operand[Tensor]
    result: Result[Tensor]
    mask: Optional[Operand[Tensor]] = None
    scale = FloatAttr(default=None, doc="factor of the products; absent: 1 / sqrt(size)")
    is_causal = BoolAttr(default=False, doc="whether a query sees only the keys up to its own position")
    aligned_at_end = BoolAttr(default=False, doc="whether the last query's position is that of the last key")

    @staticmethod
    def infer(
        q: TensorType,
        k: TensorType,
        v: TensorType,
        mask: Optional[TensorType],
        *,
        scale: Optional[float],
        is_causal: bool,
        aligned_at_end: bool,
    ) -> TensorType:
        dtype = require_same_dtype("c1", q=q, k=k, v=v)
        require("c1", mask is None or mask.dtype in (dtype, "i1"), f"mask is {mask and mask.dtype} but q is {dtype}")
        for name, operand in (("q", q), ("k", k), ("v", v)):
            require("c2", operand.rank == 4, f"{name} has rank {operand.rank} but must have 4")
        batch = require_equal_dims("c3", q.dim(0), k.dim(0), "q dim 0", "k dim 0")
        batch = require_equal_dims("c3", batch, v.dim(0), "q dim 0", "v dim 0")
        require_equal_dims("c4", q.dim(3), k.dim(3), "q dim 3", "k dim 3")
        kv_heads = require_equal_dims("c5", k.dim(1), v.dim(1), "k dim 1", "v dim 1")
        keys = require_equal_dims("c5", k.dim(2), v.dim(2), "k dim 2", "v dim 2")
        heads = q.dim(1)
        if isinstance(heads, int) and isinstance(kv_heads, int):
            fits = kv_heads > 0 and heads % kv_heads == 0
            require("c6", fits, f"q has {heads} heads, not a multiple of {kv_heads} kv heads")
        if mask is not None:
            scores = (batch, heads, q.dim(2), keys)
            fits = broadcast_shapes("c7", mask.shape, scores) is not None and mask.rank <= 4
            fits = fits and not any(_larger(own, dim) for own, dim in zip(mask.shape[::-1], scores[::-1], strict=False))
            require("c7", fits, f"mask is {shape_text(mask.shape)} but must broadcast to {shape_text(scores)}")
        return TensorType((batch, heads, q.dim(2), v.dim(3)), dtype)

    @staticmethod
    @wide
    def reference(
        q: np.ndarray,
        k: np.ndarray,
        v: np.ndarray,
        mask: Optional[np.ndarray],
        *,
        scale: Optional[float],
        is_causal: bool,
        aligned_at_end: bool,
    ) -> np.ndarray:
        factor = q.dtype.type(_default_scale(q.shape[3]) if scale is None else scale)
        group = q.shape[1] // k.shape[1]
        k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
        scores = np.matmul(q, np.swapaxes(k, 2, 3)) * factor
        if mask is not None:
            scores = np.where(mask, scores, -np.inf).astype(q.dtype) if mask.dtype == np.bool_ else scores + mask
        if is_causal:
            lead = scores.shape[3] - scores.shape[2] if aligned_at_end else 0
            seen = np.tri(scores.shape[2], scores.shape[3], lead, dtype=np.bool_)
            scores = np.where(seen, scores, -np.inf).astype(q.dtype)
        return np.matmul(_attention_weights(scores), v)


class RotaryEmbedding(DLOp, name="rotary_embedding"):
    """Rotate pairs of features by the angle of their position. ONNX RotaryEmbedding.

    result[b, h, s, i] = x[i] * cos[b, s, p] - x[j] * sin[b, s, p]
    result[b, h, s, j] = x[j] * cos[b, s, p] + x[i] * sin[b, s, p]

    x is [batch, heads, positions, size]; pair p is (i, j) = (p, p + size / 2), with `interleaved` (2 * p, 2 * p + 1).

    c1: operands have one element type.    c2: x has rank 4.    c3: x dim 3 is even.
    c4: cos and sin are [batch or 1, positions, size / 2].
    """

    fusion_class = "injective"
    accepts = FLOATS
    x: Operand[Tensor]
    cos: Operand[Tensor]
    sin: Operand[Tensor]
    result: Result[Tensor]
    interleaved = BoolAttr(default=False, doc="whether the features of a pair are neighbours")

    @staticmethod
    def infer(x: TensorType, cos: TensorType, sin: TensorType, *, interleaved: bool) -> TensorType:
        require_same_dtype("c1", x=x, cos=cos, sin=sin)
        require("c2", x.rank == 4, f"x has rank {x.rank} but must have 4")
        size = x.dim(3)
        require("c3", not isinstance(size, int) or size % 2 == 0, f"x dim 3 is {size}")
        for name, angles in (("cos", cos), ("sin", sin)):
            require("c4", angles.rank == 3, f"{name} has rank {angles.rank} but must have 3")
            if angles.dim(0) != 1:
                require_equal_dims("c4", x.dim(0), angles.dim(0), "x dim 0", f"{name} dim 0")
            require_equal_dims("c4", x.dim(2), angles.dim(1), "x dim 2", f"{name} dim 1")
            pairs = size // 2 if isinstance(size, int) else None
            require_equal_dims("c4", pairs, angles.dim(2), "half of x dim 3", f"{name} dim 2")
        return x

    @staticmethod
    @wide
    def reference(x: np.ndarray, cos: np.ndarray, sin: np.ndarray, *, interleaved: bool) -> np.ndarray:
        half = x.shape[3] // 2
        first, second = (slice(0, None, 2), slice(1, None, 2)) if interleaved else (slice(0, half), slice(half, None))
        result = np.empty_like(x)
        cos, sin = cos[:, None], sin[:, None]
        result[..., first] = x[..., first] * cos - x[..., second] * sin
        result[..., second] = x[..., second] * cos + x[..., first] * sin
        return result


def _default_scale(size: int) -> float:
    return 1 / math.sqrt(size) if size else math.inf


def _attention_weights(scores: np.ndarray) -> np.ndarray:
    """Softmax along the last axis, where rows of -inf give 0."""
    top = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    powers = np.exp(scores - np.where(np.isneginf(top), scores.dtype.type(0), top))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, scores.dtype.type(1), total)


def _larger(own: object, target: object) -> bool:
    """True when a mask's dim would enlarge the dim that it must broadcast to."""
    return isinstance(own, int) and own != 1 and isinstance(target, int) and own != target
