"""`dl-recompose-attention`: products of queries and keys, softmax and values that exporters wrote become attention."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dlc._mlir import ir
from dlc.analysis.derived_dims import is_at_most
from dlc.dialects import dl
from dlc.dialects.dl.types import FLOATS, Shape
from dlc.lowering.dl.matching import attributes_of, functions, has_one_use, source, type_of
from dlc.lowering.dl.patterns import (
    close,
    cone,
    decimal,
    merged_location,
    narrow,
    operand_of,
    operands_of,
    peelings,
    reduction,
    same,
    scalar,
)
from dlc.lowering.dl.recompose.attention_heads import Keys, as_heads, read_keys, unmerged, unrepeated
from dlc.lowering.dl.recompose.attention_masks import Mask, Masking, build_mask, masking_of
from dlc.lowering.dl.recompose.attention_scores import Scores, read_scores, split_heads
from dlc.lowering.dl.rewriting import Rewriter, RuleSet, apply_rules
from dlc.lowering.pass_base import Pass

RULES = RuleSet()


@dataclass(frozen=True)
class RecomposeAttention(Pass):
    """Recognise scaled dot-product attention, with masks, causality, shared kv heads and heads merged into the batch.

    The scale is the product of all constant factors of queries, keys and scores. Where a row of scores is -inf as a
    whole, softmax is NaN and attention 0; finite masks stay what is added. Views and the concatenation of a cache stay.

    before:
        %t = "dl.transpose"(%k) {perm = array<i64: 0, 1, 3, 2>}
        %p = "dl.matmul"(%q, %t)
        %s = "dl.div"(%p, %root)
        %m = "dl.add"(%s, %mask)
        %w = "dl.softmax"(%m)
        %y = "dl.matmul"(%w, %v)
    after:
        %y = "dl.attention"(%q, %k, %v, %mask)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        for function in functions(op):
            apply_rules(function, RULES)


@dataclass(frozen=True)
class _Weights:
    """Weights of values are the softmax of `scores`, which other values than it use too where `guarded` by a test of them."""

    scores: ir.Value
    guarded: bool


@RULES.rule("dl.matmul")
def recompose_attention(op: ir.Operation, rewriter: Rewriter) -> bool:
    """softmax(scale * q @ transpose(k) + mask) @ v = attention(q, k, v, mask)"""
    weights, v = _weights(op.operands[0], rewriter), op.operands[1]
    if weights is None or type_of(v).rank != type_of(op.operands[0]).rank:
        return False
    scores = read_scores(weights.scores, rewriter, checks_use=not weights.guarded)
    if scores is None:
        return False
    scores = _with_heads(scores, op.operands[0], rewriter)
    found = _operands(scores, v, rewriter)
    shape = None if found is None else _score_shape(found, scores.heads, rewriter)
    if found is None or shape is None or not all(_fits(mask, shape, rewriter) for mask in scores.masks):
        return False
    masking = masking_of(scores.masks, shape, type_of(found.q).dtype, rewriter)
    if masking is None:
        return False
    _replace(op, rewriter, found, masking, scores)
    return True


def _weights(value: ir.Value, rewriter: Rewriter) -> _Weights | None:
    """The softmax along the last axis that `value` is, but for a guard of hidden rows, a cast and a reshape."""
    if source(value) is None or not has_one_use(value):
        return None
    inner = operand_of(value, "dl.reshape")
    if inner is not None:
        if split_heads(rewriter, inner, value) is None or not has_one_use(inner):
            return None
        value = inner
    inner = operand_of(value, "dl.cast")
    if inner is not None:
        if (type_of(inner).dtype, type_of(value).dtype) not in (("f32", "f16"), ("f32", "bf16")) or not has_one_use(inner):
            return None
        value = inner
    guard = source(value, "dl.where")
    if guard is None:
        return _softmax(value, uses=1, guarded=False)
    condition, zero, value = guard.operands
    found = _softmax(value, uses=None, guarded=True)
    if found is None or scalar(zero) != 0 or type_of(zero).rank > type_of(value).rank:
        return None
    return _guarded(condition, value, found.scores)


def _softmax(value: ir.Value, uses: int | None, guarded: bool) -> _Weights | None:
    op = source(value, "dl.softmax")
    if op is None or attributes_of(op)["axis"] % type_of(value).rank != type_of(value).rank - 1:
        return None
    return _Weights(op.operands[0], guarded) if uses is None or has_one_use(value) else None


def _guarded(condition: ir.Value, value: ir.Value, scores: ir.Value) -> _Weights | None:
    """Rows of weights that are NaN, or whose scores are all -inf, become 0: what attention does."""
    if same(operand_of(condition, "dl.isnan"), value):
        return _Weights(scores, False) if _count_uses(value) == 2 else None
    compared = operands_of(condition, "dl.equal")
    if compared is None or scalar(compared[1]) != -math.inf or not has_one_use(value):
        return None
    top = reduction(compared[0], "dl.reduce_max")
    is_row = top is not None and top[0] == scores and top[1] == (type_of(scores).rank - 1,)
    return _Weights(scores, True) if is_row and _count_uses(scores) == 2 else None


def _count_uses(value: ir.Value) -> int:
    return sum(1 for _ in zip(range(3), value.uses, strict=False))


def _with_heads(scores: Scores, weights: ir.Value, rewriter: Rewriter) -> Scores:
    """The heads may also be split after softmax only."""
    shape = rewriter.type_of(weights).shape
    return replace(scores, heads=shape) if scores.heads is None and len(shape) == 4 else scores


@dataclass(frozen=True)
class _Operands:
    q: ir.Value
    keys: Keys
    v: ir.Value
    factor: float


def _operands(scores: Scores, v: ir.Value, rewriter: Rewriter) -> _Operands | None:
    """Queries, keys and values, the latter without repeats where both have as many."""
    q, q_factor = list(peelings(unmerged(rewriter, scores.lhs, scores.heads)))[-1]
    q = unmerged(rewriter, q, scores.heads)
    keys = read_keys(rewriter, unmerged(rewriter, scores.rhs, scores.heads))
    if keys.perm is None:
        keys = replace(keys, value=unmerged(rewriter, keys.value, scores.heads))
    v = unmerged(rewriter, v, scores.heads)
    factor = scores.factor * q_factor * keys.factor
    if not factor > 0 or not math.isfinite(factor):
        return None
    if keys.perm is None and type_of(v).rank == 4:
        (k, times), (short, v_times) = unrepeated(rewriter, keys.value), unrepeated(rewriter, v)
        if times == v_times:
            keys, v = replace(keys, value=k), short
    q, keys = _narrowed(q, keys, type_of(v).dtype)
    return _Operands(q, keys, v, factor)


def _narrowed(q: ir.Value, keys: Keys, dtype: str) -> tuple[ir.Value, Keys]:
    """Queries and keys that were widened for their product alone, as they were."""
    inner, inner_keys = operand_of(q, "dl.cast"), operand_of(keys.value, "dl.cast")
    if type_of(q).dtype == dtype or inner is None or inner_keys is None:
        return q, keys
    if dtype not in ("f16", "bf16") or type_of(inner).dtype != dtype or type_of(inner_keys).dtype != dtype:
        return q, keys
    return inner, replace(keys, value=inner_keys)


def _score_shape(found: _Operands, heads: Shape | None, rewriter: Rewriter) -> Shape | None:
    """[batch, heads, queries, keys] of operands that surely have the shapes that attention asks for; products broadcast more.

    Heads that are merged with the batch count as heads of a batch of 1 where no shape has them apart.
    """
    q, k, v = (rewriter.type_of(value) for value in (found.q, found.keys.value, found.v))
    if len({q.dtype, k.dtype, v.dtype}) > 1 or q.dtype not in FLOATS or len({q.rank, k.rank, v.rank}) > 1:
        return None
    keys = k.shape if found.keys.perm is None else tuple(k.shape[axis] for axis in found.keys.perm)
    if None in (*q.shape, *keys, *v.shape) or q.shape[0] != keys[0] or q.shape[0] != v.shape[0]:
        return None
    if keys[-2] != v.shape[-2] or q.shape[-1] != keys[-1]:
        return None
    if q.rank == 3:
        return (*(heads[:2] if heads is not None else (1, q.shape[0])), q.shape[1], keys[1])
    shared = v.shape[1]
    if keys[1] != shared:
        return None
    if q.shape[1] != shared and not (isinstance(shared, int) and isinstance(q.shape[1], int) and _divides(shared, q.shape[1])):
        return None
    return (*q.shape[:3], keys[2])


def _divides(part: int, whole: int) -> bool:
    return part > 0 and whole % part == 0


def _fits(mask: Mask, scores: Shape, rewriter: Rewriter) -> bool:
    """Whether a mask surely does not enlarge the scores. It can't enlarge the keys: their product with values would not fit."""
    shape = rewriter.type_of(mask.value).shape
    if len(shape) > 4 or (shape and isinstance(shape[-1], int) and isinstance(scores[3], int) and shape[-1] not in (1, scores[3])):
        return False
    outer = zip(shape[-3::-1], scores[1::-1], strict=False)
    return all(dim in (1, mine) for dim, mine in outer) and (len(shape) < 2 or shape[-2] == 1 or is_at_most(shape[-2], scores[2]))


def _replace(op: ir.Operation, rewriter: Rewriter, found: _Operands, masking: Masking, scores: Scores) -> None:
    result, dtype = op.results[0], type_of(found.q).dtype
    heads = scores.heads
    inputs = [found.q, found.keys.value, found.v, *(mask.value for mask in scores.masks)]
    with ir.InsertionPoint(op), merged_location(cone(op, inputs)):
        k = found.keys.value if found.keys.perm is None else dl.transpose(found.keys.value, perm=found.keys.perm)
        q, k, v = (as_heads(value, heads) for value in (found.q, k, found.v))
        value = dl.attention(
            q,
            k,
            v,
            build_mask(masking, q),
            scale=_scale(found.factor, q, dtype),
            is_causal=masking.is_causal,
            aligned_at_end=masking.aligned_at_end,
        )
        if type_of(result).rank == 3:
            merged = dl.reshape(value, shape=[-1, -1, -1], copied=[-1, 2, 3])
            value = dl.squeeze(value, axes=[0]) if heads is None else merged
    if value.type != result.type:
        value.set_type(result.type)
    rewriter.replace(op, value)


def _scale(factor: float, q: ir.Value, dtype: str) -> float | None:
    """The factor, None where it is the default."""
    size = type_of(q).shape[3]
    if isinstance(size, int) and size > 0 and close(factor, 1 / math.sqrt(size), dtype):
        return None
    return decimal(factor, dtype)


@RULES.rule("dl.attention")
def narrow_attention(op: ir.Operation, rewriter: Rewriter) -> bool:
    """cast(attention(cast(q), cast(k), cast(v))) = attention(q, k, v) where f16 or bf16 is cast to f32 and back"""
    return narrow(op, rewriter)
