"""Rules of `dl-fold-scales` at contractions and attentions: factors and shifts by weights before and after them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import INTS, UNSIGNED_INTS
from dlc.lowering.dl.matching import (
    WeightFacts,
    attributes_of,
    constant_scalar,
    groups_of,
    has_one_use,
    source,
    type_of,
    users,
)
from dlc.lowering.dl.patterns import built_like, merged_location
from dlc.lowering.dl.rewriting import Rewriter, RuleSet
from dlc.lowering.dl.weights.contractions import WeightContraction, channel_vector

SCALE_RULES = RuleSet()
EXACT = ("f32", "f64")
"""Types whose weights take a factor at no loss; see `dl-fold-batch-norm`."""

_VIEWS = frozenset({"dl.reshape", "dl.transpose", "dl.squeeze", "dl.unsqueeze"})


@dataclass(frozen=True)
class Term:
    """`op` combines a computed `value` with a `weight`, and its result has the type of `value`."""

    op: ir.Operation
    value: ir.Value
    weight: ir.Value

    @classmethod
    def of(cls, op: ir.Operation | None, is_weight: WeightFacts, *names: str) -> Term | None:
        """That of an op with one of `names`; the weight is the divisor of a `dl.div`, and subtracted by a `dl.sub`."""
        if op is None or op.name not in names:
            return None
        lhs, rhs = op.operands
        pairs = [(lhs, rhs)] if op.name in ("dl.div", "dl.sub") else [(lhs, rhs), (rhs, lhs)]
        for value, weight in pairs:
            if is_weight(weight) and not is_weight(value) and type_of(value) == type_of(op.results[0]):
                return cls(op, value, weight)
        return None

    def combine(self, weight: ir.Value, other: ir.Value) -> ir.Value:
        """The op's computation on two weights."""
        built: ir.Value = {"dl.mul": dl.mul, "dl.div": dl.div, "dl.add": dl.add, "dl.sub": dl.sub}[self.op.name](weight, other)
        return built


@SCALE_RULES.rule("dl.mul", "dl.div")
def fold_factor_after_contraction(op: ir.Operation, rewriter: Rewriter) -> bool:
    """conv(x, w, b) * f = conv(x, w * f, b * f), where f has one number per output channel"""
    term = Term.of(op, rewriter.is_weight, "dl.mul", "dl.div")
    contraction = WeightContraction.giving(term.value, rewriter.is_weight) if term else None
    if term is None or contraction is None or type_of(term.value).dtype not in EXACT:
        return False
    factor = _output_vector(contraction, term.weight)
    if factor is None:
        return False
    with merged_location([op, contraction.op]):
        value = contraction.times_outputs(factor, term.combine).build()
    rewriter.replace(op, value)
    return True


@SCALE_RULES.rule("dl.add", "dl.sub")
def fold_shift_into_bias(op: ir.Operation, rewriter: Rewriter) -> bool:
    """conv(x, w, b) + t = conv(x, w, b + t), where t has one number per output channel"""
    term = Term.of(op, rewriter.is_weight, "dl.add", "dl.sub")
    contraction = WeightContraction.giving(term.value, rewriter.is_weight) if term else None
    if term is None or contraction is None or not contraction.has_bias or contraction.channels is None:
        return False
    dtype = type_of(term.value).dtype
    if (contraction.bias is not None and dtype not in (*EXACT, *INTS)) or (op.name == "dl.sub" and dtype in UNSIGNED_INTS):
        return False
    shift = _output_vector(contraction, term.weight)
    if shift is None:
        return False
    with merged_location([op, contraction.op]):
        shift = dl.neg(shift) if op.name == "dl.sub" else shift
        if contraction.bias is None and type_of(shift).shape != (contraction.channels,):
            shift = dl.expand(shift, shape=[contraction.channels])
        value = contraction.plus(shift).build()
    rewriter.replace(op, value)
    return True


@SCALE_RULES.rule("dl.conv", "dl.conv_transpose", "dl.matmul")
def fold_factor_before_contraction(op: ir.Operation, rewriter: Rewriter) -> bool:
    """conv(x * f, w, b) = conv(x, w * f, b), where f has one number per input channel: padding stays 0"""
    contraction = WeightContraction.of(op, rewriter.is_weight)
    term = (
        Term.of(source(contraction.x), rewriter.is_weight, "dl.mul", "dl.div")
        if contraction and has_one_use(contraction.x)
        else None
    )
    if contraction is None or term is None or type_of(contraction.x).dtype not in EXACT:
        return False
    factor = _input_vector(contraction, term.weight)
    if factor is None:
        return False
    with merged_location([op, term.op]):
        value = _with_x(contraction.times_inputs(factor, term.combine), term.value).build()
    rewriter.replace(op, value)
    return True


@SCALE_RULES.rule("dl.conv")
def fold_shift_before_conv(op: ir.Operation, rewriter: Rewriter) -> bool:
    """conv(x + t, w, b) = conv(x, w, b + sum(w * t)), where t has one number per input channel and there is no padding"""
    contraction = WeightContraction.of(op, rewriter.is_weight)
    if contraction is None or contraction.has_padding or contraction.channels is None or not has_one_use(contraction.x):
        return False
    term = Term.of(source(contraction.x), rewriter.is_weight, "dl.add", "dl.sub")
    if term is None or type_of(contraction.x).dtype not in EXACT:
        return False
    shift = _input_vector(contraction, term.weight)
    if shift is None:
        return False
    with merged_location([op, term.op]):
        shift = dl.neg(shift) if term.op.name == "dl.sub" else shift
        weighted = contraction.times_inputs(shift).weight
        axes = [axis for axis in range(type_of(weighted).rank) if axis != contraction.outputs]
        value = _with_x(contraction, term.value).plus(dl.reduce_sum(weighted, axes=axes, keepdims=False)).build()
    rewriter.replace(op, value)
    return True


@SCALE_RULES.rule("dl.matmul")
def fold_shift_before_matmul(op: ir.Operation, rewriter: Rewriter) -> bool:
    """matmul(x + t, w) + b = matmul(x, w) + (b + matmul(t, w)), where t has one number per column of x"""
    contraction = WeightContraction.of(op, rewriter.is_weight)
    if contraction is None or contraction.weight_first or not has_one_use(contraction.x) or not has_one_use(op.results[0]):
        return False
    term = Term.of(source(contraction.x), rewriter.is_weight, "dl.add", "dl.sub")
    after = Term.of(next(users(op.results[0])), rewriter.is_weight, "dl.add", "dl.sub")
    if term is None or after is None or type_of(contraction.x).dtype not in EXACT or type_of(contraction.weight).rank != 2:
        return False
    if all(dim == 1 for dim in type_of(term.weight).shape):
        return False
    shift = _input_vector(contraction, term.weight)
    if shift is None:
        return False
    with merged_location([op, term.op]):
        shift = dl.neg(shift) if term.op.name == "dl.sub" else shift
        row = dl.matmul(dl.reshape(shift, shape=[1, -1]), contraction.weight)
        value = _with_x(contraction, term.value).build()
        value = built_like(op.results[0], "add", value, dl.reshape(row, shape=[-1]))
    rewriter.replace(op, value)
    return True


@SCALE_RULES.rule("dl.attention")
def fold_factor_into_attention(op: ir.Operation, rewriter: Rewriter) -> bool:
    """attention(q * c, k, v, scale=s) = attention(q, k, v, scale=s * c), the same for k"""
    operands, attributes = list(groups_of(op)), attributes_of(op)
    size = type_of(operands[0]).shape[3]
    scale = attributes["scale"]
    if scale is None:
        if not isinstance(size, int) or size <= 0:
            return False
        scale = 1 / math.sqrt(size)
    for index in (0, 1):
        term = Term.of(source(operands[index]), rewriter.is_weight, "dl.mul", "dl.div") if has_one_use(operands[index]) else None
        factor = constant_scalar(term.weight) if term else None
        if term is None or not factor or not math.isfinite(factor):
            continue
        scale = scale * factor if term.op.name == "dl.mul" else scale / factor
        operands[index] = term.value
        with merged_location([op, term.op]):
            value = built_like(op.results[0], "attention", *operands, **(attributes | {"scale": scale}))
        rewriter.replace(op, value)
        return True
    return False


@SCALE_RULES.rule("dl.mul", "dl.div")
def fold_factor_of_product(op: ir.Operation, rewriter: Rewriter) -> bool:
    """matmul(x, y) * c = matmul(x * c, y), where c is one number that goes into the weights that x (or y) is computed by"""
    term = Term.of(op, rewriter.is_weight, "dl.mul", "dl.div")
    product = source(term.value, "dl.matmul") if term and has_one_use(term.value) else None
    if term is None or product is None or type_of(term.value).dtype not in EXACT or type_of(term.weight).num_elements != 1:
        return False
    for index in (0, 1):
        path = _way_to_contraction(product.operands[index], rewriter)
        if path is not None:
            operands = list(product.operands)
            operands[index] = _scaled_along(path, operands[index], term, rewriter)
            with merged_location([op, product]):
                value = built_like(product.results[0], "matmul", *operands)
            rewriter.replace(op, value)
            return True
    return False


def _way_to_contraction(value: ir.Value, rewriter: Rewriter) -> list[ir.Operation] | None:
    """The views and biases between a value and a contraction with a weight, from the value on; each is used once."""
    path: list[ir.Operation] = []
    while has_one_use(value) and (op := source(value)) is not None:
        if WeightContraction.of(op, rewriter.is_weight) is not None:
            return path
        term = Term.of(op, rewriter.is_weight, "dl.add", "dl.sub")
        if op.name in _VIEWS and len(op.operands) == 1:
            value = op.operands[0]
        elif term is not None:
            value = term.value
        else:
            return None
        path.append(op)
    return None


def _scaled_along(path: list[ir.Operation], value: ir.Value, factor: Term, rewriter: Rewriter) -> ir.Value:
    """`value` times a scalar that is applied to what the ops of `path` are computed from."""
    number = dl.reshape(factor.weight, shape=[]) if type_of(factor.weight).rank else factor.weight
    start = path[-1].operands[0] if path else value
    if path and (term := Term.of(path[-1], rewriter.is_weight, "dl.add", "dl.sub")) is not None:
        start = term.value
    scaled: ir.Value = factor.combine(start, number)
    for op in reversed(path):
        with op.location:
            if (term := Term.of(op, rewriter.is_weight, "dl.add", "dl.sub")) is not None:
                shift = factor.combine(term.weight, number)
                scaled = built_like(op.results[0], op.name.removeprefix("dl."), scaled, shift)
            else:
                scaled = built_like(op.results[0], op.name.removeprefix("dl."), scaled, **attributes_of(op))
    return scaled


def _output_vector(contraction: WeightContraction, weight: ir.Value) -> ir.Value | None:
    rank = type_of(contraction.op.results[0]).rank
    return channel_vector(weight, rank, contraction.out_axis, contraction.channels)


def _input_vector(contraction: WeightContraction, weight: ir.Value) -> ir.Value | None:
    kind = type_of(contraction.x)
    size = kind.shape[contraction.in_axis]
    return channel_vector(weight, kind.rank, contraction.in_axis, size if isinstance(size, int) else None)


def _with_x(contraction: WeightContraction, x: ir.Value) -> WeightContraction:
    return replace(contraction, x=x)
