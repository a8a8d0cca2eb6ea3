"""Lowerings of normalisations: reductions in the accumulator's dtype, then one elementwise generic."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import Builder, accumulator_dtype
from dlc.lowering.dl_to_linalg.building.checks import require_groups, require_same, size_of
from dlc.lowering.dl_to_linalg.building.contraction import Loops, Part, reduce_with, spread, widened
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering


@lowering("softmax")
def lower_softmax(b: Builder, op: SourceOp) -> ir.Value:
    """The exponentials, kept; their sum; then products with its inverse, which is constant along a row."""
    x, dtype = op.operands[0], op.result.dtype
    axis = op["axis"] % x.type.rank
    wide = accumulator_dtype(dtype)
    powers, total = exponentials(b, x, largest_along(b, x, axis, wide), axis, wide)

    def body(power: ir.Value, total: ir.Value) -> ir.Value:
        inverse = b.arith("div", b.scalar(1, wide), total, wide)
        return b.narrow(b.arith("mul", power, inverse, wide), dtype)

    return spread(b, powers, [(total, _others(x, axis))], dtype, body)


@lowering("log_softmax")
def lower_log_softmax(b: Builder, op: SourceOp) -> ir.Value:
    """(x - max) - log(sum of exp(x - max)). x - max is stored where the result will lie, while exponentials are computed."""
    x, dtype = op.operands[0], op.result.dtype
    wide, axis = accumulator_dtype(dtype), op["axis"] % op.types[0].rank
    kept = _others(x, axis)
    largest = largest_along(b, x, axis, wide)
    shifted = spread(b, x, [(largest, kept)], wide, lambda element, top: b.arith("sub", widened(b, element, wide), top, wide))
    total = b.reduce([shifted], [axis], b.scalar(0, wide), lambda element, total: b.arith("add", total, _exp(b, element), wide))
    logarithm = b.map([total], b.shape(total), wide, lambda element: b.unary("math.log", element))
    return spread(b, shifted, [(logarithm, kept)], dtype, lambda element, log: b.narrow(b.arith("sub", element, log, wide), dtype))


def largest_along(b: Builder, x: ir.Value, axis: int, wide: str) -> ir.Value:
    """The largest element along `axis`, which is dropped, as dtype `wide`.

    It passes over NaN, which the exponentials find again: compare and select are one instruction, a maximum that keeps NaN four.
    """

    def larger(element: ir.Value, top: ir.Value) -> ir.Value:
        element = widened(b, element, wide)
        return b.select(b.compare("gt", element, top, wide), element, top)

    return b.reduce([x], [axis], b.lowest(wide), larger)


def exponentials(b: Builder, x: ir.Value, shift: ir.Value, axis: int, wide: str) -> tuple[ir.Value, ir.Value]:
    """exp(x - shift), where `shift` lacks `axis` and is no smaller than what lies along it, and the sum of that; both `wide`."""

    powers = spread(b, x, [(shift, _others(x, axis))], wide, lambda element, shift: _power(b, element, shift, wide))
    total = b.reduce([powers], [axis], b.scalar(0, wide), lambda element, acc: b.arith("add", acc, element, wide))
    return powers, total


def _power(b: Builder, element: ir.Value, largest: ir.Value, wide: str) -> ir.Value:
    """exp(element - largest), where no element is larger."""
    return _exp(b, b.arith("sub", widened(b, element, wide), largest, wide))


def _exp(b: Builder, shifted: ir.Value) -> ir.Value:
    """exp of what is never above 0."""
    return b.create("math.exp", [shifted.type], [shifted], {"dlc.nonpositive": ir.UnitAttr.get()})


@lowering("batch_norm")
def lower_batch_norm(b: Builder, op: SourceOp) -> ir.Value:
    """(x - mean) * factor + bias, where factor = scale / sqrt(var + epsilon) is computed once per channel."""
    x, scale, bias, mean, var = op.operands
    _require_weights(b, op, [1])
    dtype, wide = op.result.dtype, accumulator_dtype(op.result.dtype)

    def factor_of(scale: ir.Value, var: ir.Value) -> ir.Value:
        return b.arith("div", widened(b, scale, wide), _root(b, widened(b, var, wide), op["epsilon"], wide), wide)

    factor = b.map([scale, var], b.shape(scale), wide, factor_of)

    def body(element: ir.Value, mean: ir.Value, factor: ir.Value, bias: ir.Value) -> ir.Value:
        centered = b.arith("sub", widened(b, element, wide), widened(b, mean, wide), wide)
        product = b.arith("mul", centered, factor, wide)
        return b.narrow(b.arith("add", product, widened(b, bias, wide), wide), dtype)

    return spread(b, x, [(mean, [1]), (factor, [1]), (bias, [1])], dtype, body)


@lowering("layer_norm")
def lower_layer_norm(b: Builder, op: SourceOp) -> ir.Value:
    """Mean, then variance, then one generic that scales."""
    x, scale, bias = op.operands
    rank = op.types[0].rank
    axes = list(range(op["axis"] % rank, rank))
    _require_weights(b, op, axes)
    return _standardize(b, x, axes, op["epsilon"], op.result.dtype, scale=_part(scale, axes), bias=_part(bias, axes))


@lowering("instance_norm")
def lower_instance_norm(b: Builder, op: SourceOp) -> ir.Value:
    """As layer norm over the spatial axes, with weights per channel."""
    x, scale, bias = op.operands
    _require_weights(b, op, [1])
    axes = list(range(2, op.types[0].rank))
    return _standardize(b, x, axes, op["epsilon"], op.result.dtype, scale=(scale, [1]), bias=(bias, [1]))


@lowering("group_norm")
def lower_group_norm(b: Builder, op: SourceOp) -> ir.Value:
    """As layer norm over [channels of a group, spatial axes...], with weights per channel."""
    groups, dtype, rank = op["num_groups"], op.result.dtype, op.types[0].rank
    x, scale, bias = op.operands
    _require_weights(b, op, [1])
    require_groups(b, size_of(b, op, (0, 1)), groups)
    shape = b.shape(x)
    split = [groups, b.extent("floordiv", shape[1], groups)]
    after = [[axis + 1] for axis in range(2, rank)]
    grouped = b.expand(x, [[0], [1, 2], *after], [shape[0], *split, *shape[2:]])
    scale, bias = (b.expand(item, [[0, 1]], split) for item in (scale, bias))
    axes = list(range(2, rank + 1))
    found = _standardize(b, grouped, axes, op["epsilon"], dtype, scale=(scale, [1, 2]), bias=(bias, [1, 2]))
    return b.collapse(found, [[0], [1, 2], *after])


@lowering("rms_norm")
def lower_rms_norm(b: Builder, op: SourceOp) -> ir.Value:
    """The inverse root of the mean square, then one generic that scales."""
    x, scale = op.operands
    dtype, rank = op.result.dtype, op.types[0].rank
    wide, axes = accumulator_dtype(dtype), list(range(op["axis"] % rank, rank))
    kept = list(range(axes[0]))
    _require_weights(b, op, axes)

    def add_square(element: ir.Value, total: ir.Value) -> ir.Value:
        element = widened(b, element, wide)
        return b.arith("add", total, b.arith("mul", element, element, wide), wide)

    squares = b.reduce([x], axes, b.scalar(0, wide), add_square)
    inverse = _inverse_root(b, squares, _count(b, x, axes, wide), op["epsilon"], wide)

    def body(element: ir.Value, inverse: ir.Value, *weights: ir.Value) -> ir.Value:
        found = b.arith("mul", widened(b, element, wide), inverse, wide)
        for weight in weights:
            found = b.arith("mul", found, widened(b, weight, wide), wide)
        return b.narrow(found, dtype)

    weights = [] if scale is None else [(scale, axes)]
    return spread(b, x, [(inverse, kept), *weights], dtype, body)


@lowering("lrn")
def lower_lrn(b: Builder, op: SourceOp) -> ir.Value:
    """Sums of squares over a window of channels as one generic (..., tap), then one division by their power."""
    x, size, dtype = op.operands[0], op["size"], op.result.dtype
    rank, wide = op.types[0].rank, accumulator_dtype(dtype)
    low, high = [0] * rank, [0] * rank
    axis = op["axis"] % rank
    low[axis], high[axis] = (size - 1) // 2, size // 2
    padded = b.pad(x, low, high, b.scalar(0, dtype))
    loops = Loops(rank, 1)
    *places, tap = loops.dims()
    reads = [place + tap if at == axis else place for at, place in enumerate(places)]
    maps = [loops.map(reads), loops.map([tap]), loops.map(places)]

    def add_square(element: ir.Value, _: ir.Value, total: ir.Value) -> ir.Value:
        element = widened(b, element, wide)
        return b.arith("add", total, b.arith("mul", element, element, wide), wide)

    # The shape of the second operand alone says how many taps there are.
    start = b.full(b.shape(x), b.scalar(0, wide))
    squares = b.generic([padded, b.empty([size], dtype)], start, maps, loops.iterators, add_square)

    is_positive = op["bias"] > 0 and op["alpha"] >= 0

    def body(element: ir.Value, square: ir.Value) -> ir.Value:
        weighted = b.arith("mul", square, b.scalar(op["alpha"] / size, wide), wide)
        base = b.arith("add", weighted, b.scalar(op["bias"], wide), wide)
        power = _raised(b, base, op["beta"], wide, is_positive)
        return b.narrow(b.arith("div", widened(b, element, wide), power, wide), dtype)

    return spread(b, x, [(squares, list(range(rank)))], dtype, body)


def _raised(b: Builder, base: ir.Value, exponent: float, dtype: str, is_positive: bool) -> ir.Value:
    """`base` to a power; of positive numbers the usual 0.75 and its like are square roots, at a third of the time."""
    if not is_positive or exponent not in (0.25, 0.5, 0.75, 1.0):
        return b.binary("math.powf", base, b.scalar(exponent, dtype))
    if exponent == 1.0:
        return base
    root = b.unary("math.sqrt", base)
    if exponent == 0.5:
        return root
    fourth = b.unary("math.sqrt", root)
    return fourth if exponent == 0.25 else b.arith("mul", root, fourth, dtype)


def _standardize(
    b: Builder, x: ir.Value, axes: Sequence[int], epsilon: float, dtype: str, scale: Part | None, bias: Part | None
) -> ir.Value:
    """(x - mean) / sqrt(var + epsilon) * scale + bias over `axes`; squares of centred values do not cancel."""
    wide = accumulator_dtype(dtype)
    kept = [axis for axis in range(x.type.rank) if axis not in set(axes)]
    count, zero = _count(b, x, axes, wide), b.scalar(0, wide)
    total = b.reduce([x], axes, zero, lambda element, acc: b.arith("add", acc, widened(b, element, wide), wide))
    mean = b.map([total], b.shape(total), wide, lambda element: b.arith("div", element, count, wide))

    def centered(element: ir.Value, mean: ir.Value) -> ir.Value:
        return b.arith("sub", widened(b, element, wide), mean, wide)

    def add_square(element: ir.Value, mean: ir.Value, total: ir.Value) -> ir.Value:
        distance = centered(element, mean)
        return b.arith("add", total, b.arith("mul", distance, distance, wide), wide)

    squares = reduce_with(b, x, [(mean, kept)], axes, zero, add_square)
    inverse = _inverse_root(b, squares, count, epsilon, wide)

    def body(element: ir.Value, mean: ir.Value, inverse: ir.Value, *weights: ir.Value) -> ir.Value:
        found = b.arith("mul", centered(element, mean), inverse, wide)
        for name, weight in zip(names, weights, strict=True):
            found = b.arith(name, found, widened(b, weight, wide), wide)
        return b.narrow(found, dtype)

    given = {name: part for name, part in (("mul", scale), ("add", bias)) if part is not None}
    names = list(given)
    return spread(b, x, [(mean, kept), (inverse, kept), *given.values()], dtype, body)


def _inverse_root(b: Builder, squares: ir.Value, count: ir.Value, epsilon: float, wide: str) -> ir.Value:
    """1 / sqrt(squares / count + epsilon)"""

    def body(element: ir.Value) -> ir.Value:
        root = _root(b, b.arith("div", element, count, wide), epsilon, wide)
        return b.arith("div", b.scalar(1, wide), root, wide)

    return b.map([squares], b.shape(squares), wide, body)


def _root(b: Builder, variance: ir.Value, epsilon: float, wide: str) -> ir.Value:
    return b.unary("math.sqrt", b.arith("add", variance, b.scalar(epsilon, wide), wide))


def _count(b: Builder, x: ir.Value, axes: Sequence[int], wide: str) -> ir.Value:
    """Number of elements of `axes`, as a scalar of dtype `wide`."""
    sizes: list[Extent] = [b.dim(x, axis) for axis in axes]
    count = b.num_elements(sizes)
    if isinstance(count, int):
        return b.scalar(count, wide)
    return b.convert(b.index_cast(count, b.element("i64")), "i64", wide)


def _require_weights(b: Builder, op: SourceOp, axes: Sequence[int]) -> None:
    """Fail at run time unless every weight has the sizes that x has along `axes`."""
    for operand in range(1, len(op.types)):
        for at, axis in enumerate(axes):
            require_same(b, op, (operand, at), (0, axis))


def _others(x: ir.Value, axis: int) -> list[int]:
    return [other for other in range(x.type.rank) if other != axis]


def _part(weight: ir.Value | None, axes: Sequence[int]) -> Part | None:
    return None if weight is None else (weight, axes)
