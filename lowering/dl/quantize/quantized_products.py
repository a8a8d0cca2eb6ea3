"""Rules of `dl-fuse-quantization` at products: floats that stand for bytes are multiplied in i32, and scaled once."""

from __future__ import annotations

import math
from collections.abc import Callable

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import TensorType
from dlc.lowering.dl.matching import WeightFacts, attributes_of, constant_scalar, groups_of, has_one_use, source, type_of, users
from dlc.lowering.dl.patterns import built_like, merged_location
from dlc.lowering.dl.quantize.byte_convs import ByteConv
from dlc.lowering.dl.quantize.quantization import Dequantized
from dlc.lowering.dl.rewriting import Rewriter, RuleSet
from dlc.lowering.dl.weights.scales import Term
from dlc.lowering.policy import policy

PRODUCTS = RuleSet()


@PRODUCTS.rule("dl.conv")
def convolve_bytes(op: ir.Operation, rewriter: Rewriter) -> bool:
    """conv(D(x), D(w), b) = conv(x - z, w - q) * (s_x * s_w) + b"""
    x, weight, bias = groups_of(op)
    image, kernel = Dequantized.of(x, rewriter.is_weight), _weight(weight, rewriter)
    if image is None or kernel is None or not image.is_per_tensor or rewriter.is_weight(x):
        return False
    channels = type_of(weight).dim(0)
    if ByteConv.over(op, image.ints, kernel.ints) is None or not _lies_along(kernel.scale, 0, type_of(weight)):
        return False
    rank = type_of(x).rank
    with merged_location([op]):
        sums = _integers(op, image, kernel)
        found = _scaled(sums, image.scale, _per_channel(kernel.scale, channels, rank))
        found = found if bias is None else dl.add(found, _per_channel(bias, channels, rank))
    rewriter.replace(op, found)
    return True


@PRODUCTS.rule("dl.matmul")
def multiply_bytes(op: ir.Operation, rewriter: Rewriter) -> bool:
    """matmul(D(x), D(w)) = matmul(x - z, w - q) * (s_x * s_w)"""
    x, weight = op.operands
    left, right = Dequantized.of(x, rewriter.is_weight), _weight(weight, rewriter)
    kind = type_of(weight)
    if left is None or right is None or not left.is_per_tensor or rewriter.is_weight(x):
        return False
    if kind.rank != 2 or not kind.is_static or type_of(x).dim(-1) != kind.dim(0):
        return False
    if not all(_lies_along(value, 1, kind) for value in (right.scale, right.ints.zero)):
        return False
    columns = None if right.scale is None else _vector(right.scale, kind.dim(1))
    found = _scaled(_integers(op, left, right), left.scale, columns)
    rewriter.replace(op, found)
    return True


@PRODUCTS.rule("dl.round")
def scale_before_rounding(op: ir.Operation, rewriter: Rewriter) -> bool:
    """round(relu(y * f + b) / t) = round(relu(y * (f / t) + b / t)), where bytes are made of it"""
    term = Term.of(source(op.operands[0]), rewriter.is_weight, "dl.mul", "dl.div")
    if term is None or type_of(term.weight).rank or type_of(op.results[0]).dtype != "f32" or not _gives_bytes(op):
        return False
    if source(term.value) is None or not has_one_use(op.operands[0]) or not _takes_factor(term.value, term, rewriter.is_weight):
        return False
    with merged_location([op, term.op]):
        found = dl.round(_with_factor(term.value, term, rewriter.is_weight))
    rewriter.replace(op, found)
    return True


def _weight(value: ir.Value, rewriter: Rewriter) -> Dequantized | None:
    return Dequantized.of(value, rewriter.is_weight) if rewriter.is_weight(value) else None


def _integers(op: ir.Operation, left: Dequantized, right: Dequantized) -> ir.Value:
    """The product of what two operands are before they are scaled, in f32."""
    create: Callable[..., ir.Value] = getattr(dl, "conv" if op.name == "dl.conv" else "matmul")  # conv is a module, too
    return dl.cast(create(left.integers(), right.integers(), **attributes_of(op)), to="f32")


def _scaled(sums: ir.Value, *scales: ir.Value | None) -> ir.Value:
    given = [scale for scale in scales if scale is not None]
    if not given:
        return sums
    return dl.mul(sums, given[0] if len(given) == 1 else dl.mul(given[0], given[1]))


def _lies_along(value: ir.Value | None, axis: int, weight: TensorType) -> bool:
    """Whether a scale or zero point of a weight is one number, or one for each index of `axis`."""
    if value is None:
        return True
    kind = type_of(value)
    sizes = [*[1] * (weight.rank - kind.rank), *kind.shape]
    return kind.rank <= weight.rank and all(
        size == 1 or (index == axis and size == weight.dim(axis)) for index, size in enumerate(sizes)
    )


def _per_channel(value: ir.Value | None, channels: object, rank: int) -> ir.Value | None:
    """Numbers of output channels, as they combine with images of `rank` axes, channels second; a scalar as it is."""
    vector = None if value is None else _vector(value, channels)
    return vector if vector is None or type_of(vector).rank == 0 else dl.reshape(vector, shape=[channels, *[1] * (rank - 2)])


def _vector(value: ir.Value, size: object) -> ir.Value:
    """A scalar, or a tensor with one axis that is not 1, as a scalar or vector."""
    kind = type_of(value)
    shape = [] if all(dim == 1 for dim in kind.shape) else [size]
    return value if list(kind.shape) == shape else dl.reshape(value, shape=shape)


def _gives_bytes(rounding: ir.Operation) -> bool:
    """Whether all that uses a rounded value makes bytes of it, perhaps after adding a zero point."""
    found = list(users(rounding.results[0]))
    if len(found) == 1 and found[0].name == "dl.add":
        found = list(users(found[0].results[0]))
    return bool(found) and all(user.name == "dl.cast" and type_of(user.results[0]).dtype in ("i8", "ui8") for user in found)


def _takes_factor(value: ir.Value, factor: Term, is_weight: WeightFacts, depth: int = 0) -> bool:
    """Whether a factor goes into the weights that `value` is computed with; nothing else may use what is computed on the way."""
    if is_weight(value):
        return True
    op = source(value)
    if op is None or depth == policy().limits.pattern_depth or not has_one_use(value):
        return False
    if op.name in ("dl.add", "dl.sub"):
        return all(_takes_factor(operand, factor, is_weight, depth + 1) for operand in op.operands)
    if op.name in ("dl.relu", "dl.clip"):
        number = constant_scalar(factor.weight)
        return number is not None and 0 < number < math.inf and _takes_factor(op.operands[0], factor, is_weight, depth + 1)
    return Term.of(op, is_weight, "dl.mul") is not None


def _with_factor(value: ir.Value, factor: Term, is_weight: WeightFacts) -> ir.Value:
    """`value` times the factor; see `_takes_factor`."""
    if is_weight(value):
        return factor.combine(value, factor.weight)
    op = source(value)
    assert op is not None
    if op.name in ("dl.add", "dl.sub"):
        return built_like(value, op.name[3:], *(_with_factor(operand, factor, is_weight) for operand in op.operands))
    if op.name in ("dl.relu", "dl.clip"):
        inner = _with_factor(op.operands[0], factor, is_weight)
        return built_like(value, op.name[3:], inner, **_bounds(op, factor))
    term = Term.of(op, is_weight, "dl.mul")
    assert term is not None
    return built_like(value, "mul", term.value, factor.combine(term.weight, factor.weight))


def _bounds(op: ir.Operation, factor: Term) -> dict[str, float]:
    """The bounds of a clip of numbers that a factor has been applied to; none of a relu."""
    number = constant_scalar(factor.weight) or 1.0
    times = 1 / number if factor.op.name == "dl.div" else number
    return {name: bound * times for name, bound in attributes_of(op).items()} if op.name == "dl.clip" else {}
