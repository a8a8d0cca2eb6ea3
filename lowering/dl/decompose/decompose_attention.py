"""`dl-decompose-attention`: attention as two products of matrices with a softmax between them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.decompose.decomposing import decompose, number
from dlc.lowering.dl.matching import dl_ops, functions, type_of
from dlc.lowering.pass_base import Pass, PassFailure


@dataclass(frozen=True)
class DecomposeAttention(Pass):
    """Write attention as products of matrices, a scale, masks and softmax; shared kv heads are repeated.

    before:
        %y = "dl.attention"(%q, %k, %v, %mask)
    after:
        %t = "dl.transpose"(%k) {perm = array<i64: 0, 1, 3, 2>}
        %p = "dl.matmul"(%q, %t)
        %s = "dl.mul"(%p, %scale)
        %m = "dl.add"(%s, %mask)
        %w = "dl.softmax"(%m)
        ...                          // rows that are hidden as a whole become 0
        %y = "dl.matmul"(%w, %v)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        for function in functions(op):
            for found in dl_ops(function):
                if found.name == "dl.attention":
                    _check(found)
        decompose(op, "attention", _formula)


def _check(op: ir.Operation) -> None:
    q, k = type_of(op.operands[0]), type_of(op.operands[1])
    if q.shape[1] is None or k.shape[1] is None:
        raise PassFailure(op, f"q is {q} and k is {k}: the number of heads is dynamic", "give inputs a static number of heads")
    if q.shape[3] is None and op.opview.attribute_values()["scale"] is None:
        raise PassFailure(op, f"q is {q}: the scale depends on a dynamic size", "give the attribute scale")


def _formula(
    q: ir.Value,
    k: ir.Value,
    v: ir.Value,
    mask: ir.Value | None,
    *,
    scale: float | None,
    is_causal: bool,
    aligned_at_end: bool,
) -> ir.Value:
    heads, kv_heads, size = type_of(q).shape[1], type_of(k).shape[1], type_of(q).shape[3]
    assert isinstance(heads, int) and isinstance(kv_heads, int)
    keys, values = (_repeated(item, kv_heads, heads // kv_heads) for item in (k, v))
    factor = scale if scale is not None else 1 / math.sqrt(int(size or 1))
    scores = dl.mul(dl.matmul(q, dl.transpose(keys, perm=[0, 1, 3, 2])), number(factor, q))
    if mask is not None and type_of(mask).dtype != "i1":
        scores = dl.add(scores, mask)
    if mask is not None and type_of(mask).dtype == "i1":
        scores = dl.where(mask, scores, number(-math.inf, q))
    if is_causal:
        scores = dl.where(_visible(q, k, aligned_at_end), scores, number(-math.inf, q))
    weights = dl.softmax(scores)
    if mask is not None or is_causal:
        rows = dl.equal(dl.reduce_max(scores, axes=[3], keepdims=True), number(-math.inf, q))
        weights = dl.where(rows, number(0, q), weights)
    found: ir.Value = dl.matmul(weights, values)
    return found


def _repeated(x: ir.Value, heads: int, times: int) -> ir.Value:
    """Every head `times` times in a row."""
    if times == 1:
        return x
    wide = dl.expand(dl.unsqueeze(x, axes=[2]), shape=[1, 1, times, 1, 1])
    found: ir.Value = dl.reshape(wide, shape=[-1, heads * times, -1, -1], copied=[0, -1, 3, 4])
    return found


def _visible(q: ir.Value, k: ir.Value, aligned_at_end: bool) -> ir.Value:
    """Which keys a query sees: i1 [queries, keys]."""
    queries, keys = _places(q), _places(k)
    queries = dl.unsqueeze(queries, axes=[1])
    if aligned_at_end:
        queries = dl.add(queries, dl.sub(_count(k), _count(q)))
    found: ir.Value = dl.less_equal(dl.unsqueeze(keys, axes=[0]), queries)
    return found


def _places(x: ir.Value) -> ir.Value:
    """0, 1, ... for each position of x."""
    zero, one = (dl.constant(value=np.array(value, np.int64)) for value in (0, 1))
    found: ir.Value = dl.range(zero, _count(x), one)
    return found


def _count(x: ir.Value) -> ir.Value:
    size = type_of(x).shape[2]
    if isinstance(size, int):
        known: ir.Value = dl.constant(value=np.array(size, np.int64))
        return known
    found: ir.Value = dl.squeeze(dl.shape_of(x, start=2, end=3), axes=[0])
    return found
