"""`dl-fold-batch-norm`: batch norms go into the weights before them, or become a scale and a shift."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import NUMPY_DTYPES
from dlc.lowering.dl.matching import attributes_of, dl_ops, erase_unused, functions, has_one_use, source, type_of
from dlc.lowering.dl.patterns import built_like, merged_location
from dlc.lowering.dl.rewriting import Rewriter, RuleSet, apply_rules
from dlc.lowering.dl.weights.contractions import WeightContraction, is_channel_vector, per_channel
from dlc.lowering.pass_base import Pass

RULES = RuleSet()
_EXACT = ("f32", "f64")
"""Types whose weights take a factor at no loss. Those of f16 and bf16 would round once more: a sum that nearly cancels is then
off by far more than the op's own rounding."""


@dataclass(frozen=True)
class FoldBatchNorm(Pass):
    """Fold batch norms whose statistics are weights.

    After a conv, conv_transpose or matmul with a weight, whose result nothing else uses, f32 and f64 batch norms become other
    weights and another bias. Any other one becomes a scale and a shift whose factors are weights, for f16 and bf16 in f32;
    `dl-fold-scales` takes them on from there, into a conv after them too. A bias %b before a batch norm that is folded gives
    %bias + (%b - %mean) * %f: where %b and %mean nearly cancel, their products with a large %f may be infinite.

    before:
        %0 = "dl.conv"(%x, %w) ...
        %1 = "dl.batch_norm"(%0, %scale, %bias, %mean, %var) ...
    after:
        %f = scale / sqrt(var + epsilon)
        %1 = "dl.conv"(%x, %w * %f, %bias - %mean * %f) ...
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        for function in functions(op):
            erase_unused(dl_ops(function))
            apply_rules(function, RULES)


@RULES.rule("dl.batch_norm")
def fold_batch_norm_into_weights(op: ir.Operation, rewriter: Rewriter) -> bool:
    """batch_norm(conv(x, w, b)) = conv(x, w * f, bias + (b - mean) * f), where f = scale / sqrt(var + epsilon)"""
    x, kind = op.operands[0], type_of(op.operands[0])
    if kind.dtype not in _EXACT or not _is_foldable(op, rewriter):
        return False
    addends, before = _without_biases(x, rewriter)
    contraction = WeightContraction.giving(before, rewriter.is_weight)
    if contraction is None or contraction.out_axis != 1 or type_of(before) != kind:
        return False
    with merged_location([op, contraction.op]):
        biases = [dl.reshape(addend, shape=[-1]) for addend in addends]
        factor, shift = _factors(op, kind.dtype, biases if contraction.bias is None else [contraction.bias, *biases])
        scaled = replace(contraction, bias=None).times_outputs(factor)
        if contraction.has_bias:
            value = scaled.plus(shift).build()
        else:
            value = built_like(op.results[0], "add", scaled.build(), per_channel(shift, kind.rank, 1))
    rewriter.replace(op, value)
    return True


@RULES.rule("dl.batch_norm")
def lower_batch_norm_to_scale_and_shift(op: ir.Operation, rewriter: Rewriter) -> bool:
    """batch_norm(x) = x * f + (bias - mean * f), where f = scale / sqrt(var + epsilon)"""
    if not _is_foldable(op, rewriter):
        return False
    x, kind = op.operands[0], type_of(op.operands[0])
    wide = kind.dtype if kind.dtype in _EXACT else "f32"
    factor, shift = (per_channel(item, kind.rank, 1) for item in _factors(op, wide, []))
    x = x if wide == kind.dtype else dl.cast(x, to=wide)
    value = dl.add(dl.mul(x, factor), shift)
    rewriter.replace(op, value if wide == kind.dtype else dl.cast(value, to=kind.dtype))
    return True


def _is_foldable(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Whether the statistics are weights, of as many channels as x surely has."""
    x, *statistics = op.operands
    channels = type_of(x).shape[1]
    fits = isinstance(channels, int) and all(type_of(item).shape == (channels,) for item in statistics)
    return fits and type_of(op.results[0]) == type_of(x) and all(map(rewriter.is_weight, statistics)) and not rewriter.is_weight(x)


def _factors(op: ir.Operation, dtype: str, biases: Sequence[ir.Value]) -> tuple[ir.Value, ir.Value]:
    """The factor and the shift per channel, in element type `dtype`, where `biases` are added before."""
    scale, bias, mean, var = (item if type_of(item).dtype == dtype else dl.cast(item, to=dtype) for item in list(op.operands)[1:])
    epsilon = dl.constant(value=np.asarray(attributes_of(op)["epsilon"], NUMPY_DTYPES[dtype]))
    factor = dl.div(scale, dl.sqrt(dl.add(var, epsilon)))
    if not biases:
        return factor, dl.sub(bias, dl.mul(mean, factor))
    return factor, dl.add(bias, dl.mul(dl.sub(functools.reduce(dl.add, biases), mean), factor))


def _without_biases(x: ir.Value, rewriter: Rewriter) -> tuple[list[ir.Value], ir.Value]:
    """The weights per channel that are added last, each to a value that nothing else uses, and the value before."""
    kind, addends = type_of(x), []
    channels = kind.shape[1] if isinstance(kind.shape[1], int) else None
    while (op := source(x, "dl.add")) is not None and has_one_use(x):
        pairs = (list(op.operands), list(op.operands)[::-1])
        found = next((pair for pair in pairs if rewriter.is_weight(pair[1]) and not rewriter.is_weight(pair[0])), None)
        if found is None or type_of(found[0]) != kind or not is_channel_vector(found[1], kind.rank, 1, channels):
            break
        x = found[0]
        addends.append(found[1])
    return addends, x
