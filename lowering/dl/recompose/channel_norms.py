"""Rules of `dl-recompose-norms` for norms with weights per channel: batch, instance and group norm."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.matching import attributes_of, constant_scalar, groups_of, source, type_of
from dlc.lowering.dl.patterns import (
    built_like,
    cone,
    decimal,
    is_float,
    merged_location,
    other_operand,
    sole_user,
    with_scalar,
)
from dlc.lowering.dl.rewriting import Rewriter, RuleSet

CHANNEL_RULES = RuleSet()


@dataclass(frozen=True)
class _Affine:
    """`top` is value * scale + bias, with weights that have one element per channel of the value."""

    top: ir.Operation
    scale: ir.Value
    bias: ir.Value


def _affine(value: ir.Value) -> _Affine | None:
    """The scale and shift that alone use `value`."""
    product = sole_user(value, "dl.mul")
    top = None if product is None else sole_user(product.results[0], "dl.add")
    if product is None or top is None:
        return None
    scale, bias = other_operand(product, value), other_operand(top, product.results[0])
    return _Affine(top, scale, bias) if all(_is_per_channel(weight, value) for weight in (scale, bias)) else None


def _is_per_channel(weight: ir.Value, x: ir.Value) -> bool:
    """Whether `weight` is shaped to multiply each channel (axis 1) of x by a number of its own."""
    own, kind = type_of(x), type_of(weight)
    if own.rank < 2 or not own.rank - 1 <= kind.rank <= own.rank or kind.dtype != own.dtype:
        return False
    channels, *rest = kind.shape[-(own.rank - 1) :]
    leading = kind.shape[: -(own.rank - 1)]
    return isinstance(channels, int) and channels == own.shape[1] and all(dim == 1 for dim in (*leading, *rest))


def _vector(weight: ir.Value) -> ir.Value:
    """A weight per channel as a tensor of rank 1, at the insertion point."""
    if type_of(weight).rank == 1:
        return weight
    inner = source(weight)
    if inner is not None and inner.name in ("dl.reshape", "dl.unsqueeze") and type_of(inner.operands[0]).rank == 1:
        return inner.operands[0]
    value: ir.Value = dl.reshape(weight, shape=[type_of(weight).num_elements])
    return value


def _replace(rewriter: Rewriter, found: _Affine, name: str, x: ir.Value, *statistics: ir.Value, **attributes: float) -> bool:
    """Let the op called `name`, with weights as vectors, stand for all from `x` to the shift; True."""
    top = found.top
    with ir.InsertionPoint(top), merged_location(cone(top, [x, found.scale, found.bias, *statistics])):
        vectors = [_vector(weight) for weight in (found.scale, found.bias, *statistics)]
        value = built_like(top.results[0], name, x, *vectors, **attributes)
    rewriter.replace(top, value)
    return True


@CHANNEL_RULES.rule("dl.sqrt")
def recompose_batch_norm(op: ir.Operation, rewriter: Rewriter) -> bool:
    """(x - mean) / sqrt(var + epsilon) * scale + bias = batch_norm(x, scale, bias, mean, var)"""
    total = with_scalar(op.operands[0], "dl.add")
    quotient = sole_user(op.results[0], "dl.div")
    if total is None or not total[1] > 0 or quotient is None or quotient.operands[1] != op.results[0]:
        return False
    centred = source(quotient.operands[0], "dl.sub")
    if centred is None or not is_float(op.results[0]):
        return False
    (x, mean), var = centred.operands, total[0]
    found = _affine(quotient.results[0])
    if found is None or not _is_per_channel(mean, x) or not _is_per_channel(var, x):
        return False
    return _replace(rewriter, found, "batch_norm", x, mean, var, epsilon=decimal(total[1], type_of(x).dtype))


@CHANNEL_RULES.rule("dl.layer_norm")
def recompose_instance_norm(op: ir.Operation, rewriter: Rewriter) -> bool:
    """layer_norm(x) over the axes from 2 on, times a scale and plus a bias per channel = instance_norm(x, scale, bias)"""
    x, scale, bias = groups_of(op)
    attributes, rank = attributes_of(op), type_of(x).rank
    if scale is not None or bias is not None or rank < 3 or attributes["axis"] % rank != 2:
        return False
    found = _affine(op.results[0])
    return found is not None and _replace(rewriter, found, "instance_norm", x, epsilon=attributes["epsilon"])


@CHANNEL_RULES.rule("dl.layer_norm", "dl.instance_norm")
def recompose_group_norm(op: ir.Operation, rewriter: Rewriter) -> bool:
    """reshape(norm(reshape(x))) * scale + bias = group_norm(x, scale, bias), where norm is over all but [batch, groups]"""
    groups = _groups_normalized(op)
    inner, user = source(op.operands[0], "dl.reshape"), sole_user(op.results[0], "dl.reshape")
    if groups is None or inner is None or user is None:
        return False
    x = inner.operands[0]
    before, after, middle = type_of(x), type_of(user.results[0]), type_of(op.operands[0])
    channels = before.shape[1] if before.rank >= 2 else None
    if not isinstance(channels, int) or channels % groups or middle.shape[1] != groups:
        return False
    if not _same_reshaped(rewriter, x, user.results[0], op.operands[0]) or before.rank != after.rank:
        return False
    found = _affine(user.results[0])
    if found is None:
        return False
    epsilon = attributes_of(op)["epsilon"]
    return _replace(rewriter, found, "group_norm", x, num_groups=groups, epsilon=epsilon)


def _groups_normalized(op: ir.Operation) -> int | None:
    """Size of axis 1, where the op standardises over all axes after it and does nothing else."""
    x, scale, bias = groups_of(op)
    kind = type_of(x)
    if op.name == "dl.layer_norm":
        is_plain = scale is None and bias is None and kind.rank >= 3 and attributes_of(op)["axis"] % kind.rank == 2
    else:
        is_plain = constant_scalar(scale) == 1 and constant_scalar(bias) == 0
    groups = kind.shape[1] if kind.rank >= 3 else None
    return groups if is_plain and isinstance(groups, int) and groups > 0 else None


def _same_reshaped(rewriter: Rewriter, x: ir.Value, back: ir.Value, middle: ir.Value) -> bool:
    """Whether `back` surely has x's shape, and `middle` x's batch."""
    own = rewriter.type_of(x).shape
    return own == rewriter.type_of(back).shape and own[0] == rewriter.type_of(middle).shape[0]
