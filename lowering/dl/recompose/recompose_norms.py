"""`dl-recompose-norms`: softmax and normalisations that exporters wrote as means, roots and quotients become ops again."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.matching import attributes_of, functions, groups_of, source, type_of
from dlc.lowering.dl.patterns import (
    built_like,
    cone,
    decimal,
    is_float,
    merged_location,
    narrow,
    operand_of,
    operands_of,
    other_operand,
    reduction,
    replace_cone,
    scalar,
    sole_user,
    with_scalar,
)
from dlc.lowering.dl.recompose.channel_norms import CHANNEL_RULES
from dlc.lowering.dl.rewriting import Rewriter, RuleSet, apply_rules
from dlc.lowering.pass_base import Pass

RULES = RuleSet()


@dataclass(frozen=True)
class RecomposeNorms(Pass):
    """Recognise softmax, log_softmax, layer norm, RMS norm, and batch, instance and group norm.

    Norms come first without weights; then scale, bias and casts around them are taken in. Epsilon must be a positive
    constant, and the axes must be the last ones.

    before:
        %m = "dl.reduce_mean"(%x) {axes = array<i64: -1>, keepdims = true}
        %c = "dl.sub"(%x, %m)
        %v = "dl.reduce_mean"(%square) {axes = array<i64: -1>, keepdims = true}  // %square = %c ** 2
        %d = "dl.sqrt"(%sum)                                                     // %sum = %v + epsilon
        %n = "dl.div"(%c, %d)
        %s = "dl.mul"(%n, %scale)
        %y = "dl.add"(%s, %bias)
    after:
        %y = "dl.layer_norm"(%x, %scale, %bias)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        for function in functions(op):
            apply_rules(function, CHANNEL_RULES, RULES)


@RULES.rule("dl.exp")
def recompose_softmax(op: ir.Operation, rewriter: Rewriter) -> bool:
    """exp(x - max(x)) / sum(exp(x - max(x))) = softmax(x)"""
    found = _shifted(op.operands[0])
    total = None if found is None else _user(op.results[0], "dl.reduce_sum")
    if found is None or total is None:
        return False
    x, axis = found
    total = sole_user(total.results[0], "dl.unsqueeze") or total
    if reduction(total.results[0], "dl.reduce_sum") != (op.results[0], (axis,)):
        return False
    inverse = sole_user(total.results[0], "dl.reciprocal")
    top = sole_user(total.results[0] if inverse is None else inverse.results[0])
    if top is None or top.name != ("dl.div" if inverse is None else "dl.mul"):
        return False
    divided = top.operands[0] if inverse is None else other_operand(top, inverse.results[0])
    return divided == op.results[0] and replace_cone(rewriter, top, "softmax", x, axis=_from_end(axis, x))


def _shifted(value: ir.Value) -> tuple[ir.Value, int] | None:
    """`(x, axis)` where `value` is x - max(x) along the axis."""
    found = operands_of(value, "dl.sub")
    top = None if found is None else reduction(found[1], "dl.reduce_max")
    if found is None or top is None or top[0] != found[0] or len(top[1]) != 1 or not is_float(value):
        return None
    return found[0], top[1][0]


def _user(value: ir.Value, name: str) -> ir.Operation | None:
    """The op called `name` among at most three users of `value`."""
    found = [use.owner.operation for _, use in zip(range(3), value.uses, strict=False)]
    return next((user for user in found if user.name == name), None)


def _from_end(axis: int, x: ir.Value) -> int:
    return axis - type_of(x).rank


@RULES.rule("dl.log")
def recompose_log_softmax(op: ir.Operation, rewriter: Rewriter) -> bool:
    """x - max(x) - log(sum(exp(x - max(x)))) = log_softmax(x)"""
    total = reduction(op.operands[0], "dl.reduce_sum")
    shifted = None if total is None else operand_of(total[0], "dl.exp")
    found = None if shifted is None else _shifted(shifted)
    if total is None or found is None or total[1] != (found[1],):
        return False
    x, axis = found
    user = sole_user(op.results[0])
    if user is None:
        return False
    if user.name == "dl.sub" and user.operands[0] == shifted:
        return replace_cone(rewriter, user, "log_softmax", x, axis=_from_end(axis, x))
    top = sole_user(user.results[0], "dl.sub") if user.name == "dl.add" else None
    if top is None or top.operands[0] != x or top.operands[1] != user.results[0]:
        return False
    is_sum = reduction(other_operand(user, op.results[0]), "dl.reduce_max") == (x, (axis,))
    return is_sum and replace_cone(rewriter, top, "log_softmax", x, axis=_from_end(axis, x))


@dataclass(frozen=True)
class _Deviation:
    """`inverse` or else `root` is (the inverse of) the root of the mean square of x, centred or not, over the last axes."""

    x: ir.Value
    axes: tuple[int, ...]
    centred: bool
    epsilon: float

    def is_numerator(self, value: ir.Value) -> bool:
        return _centre(value) == (self.x, self.axes) if self.centred else value == self.x

    @property
    def name(self) -> str:
        return "layer_norm" if self.centred else "rms_norm"

    @property
    def attributes(self) -> dict[str, float]:
        return {"axis": _from_end(self.axes[0], self.x), "epsilon": decimal(self.epsilon, type_of(self.x).dtype)}


def _deviation(value: ir.Value) -> _Deviation | None:
    """What `value`, mean(square(x)) + epsilon, says of x."""
    found = with_scalar(value, "dl.add")
    mean = None if found is None else reduction(found[0], "dl.reduce_mean")
    base = None if mean is None else _squared(mean[0])
    if found is None or mean is None or base is None or not found[1] > 0 or not is_float(base):
        return None
    axes, rank = mean[1], type_of(base).rank
    if axes != tuple(range(rank - len(axes), rank)):
        return None
    centre = _centre(base)
    if centre is not None and centre[1] == axes:
        return _Deviation(centre[0], axes, True, found[1])
    return _Deviation(base, axes, False, found[1])


def _squared(value: ir.Value) -> ir.Value | None:
    """x where `value` is x * x or x ** 2."""
    op = source(value)
    if op is None or op.name not in ("dl.mul", "dl.pow"):
        return None
    x, other = op.operands[0], op.operands[1]
    if op.name == "dl.mul":
        return x if x == other else None
    return x if scalar(other) == 2 and type_of(other).rank <= type_of(x).rank else None


def _centre(value: ir.Value) -> tuple[ir.Value, tuple[int, ...]] | None:
    """`(x, axes)` where `value` is x - mean(x) over the axes."""
    found = operands_of(value, "dl.sub")
    mean = None if found is None else reduction(found[1], "dl.reduce_mean")
    return mean if found is not None and mean is not None and mean[0] == found[0] else None


@RULES.rule("dl.sqrt", "dl.rsqrt", "dl.pow")
def recompose_standardization(op: ir.Operation, rewriter: Rewriter) -> bool:
    """(x - mean(x)) / sqrt(mean((x - mean(x)) ** 2) + epsilon) = layer_norm(x), and x / sqrt(...) = rms_norm(x)"""
    exponent = _exponent(op)
    found = None if exponent is None else _deviation(op.operands[0])
    if found is None:
        return False
    inverse = op.results[0]
    if exponent == 0.5:
        user = sole_user(inverse)
        if user is not None and user.name == "dl.div" and user.operands[1] == inverse and found.is_numerator(user.operands[0]):
            return replace_cone(rewriter, user, found.name, found.x, **found.attributes)
        inverted = _inverse(user, inverse)
        if inverted is None:
            return False
        inverse = inverted
    user = sole_user(inverse, "dl.mul")
    if user is not None and found.is_numerator(other_operand(user, inverse)):
        return replace_cone(rewriter, user, found.name, found.x, **found.attributes)
    return found.centred and _recompose_product_form(inverse, found, rewriter)


def _exponent(op: ir.Operation) -> float | None:
    """0.5 or -0.5 where the op is that power of its first operand."""
    if op.name != "dl.pow":
        return 0.5 if op.name == "dl.sqrt" else -0.5
    exponent = scalar(op.operands[1])
    return exponent if exponent in (0.5, -0.5) and type_of(op.operands[1]).rank <= type_of(op.operands[0]).rank else None


def _inverse(user: ir.Operation | None, root: ir.Value) -> ir.Value | None:
    """1 / root, where `user` computes that."""
    if user is None or user.name not in ("dl.reciprocal", "dl.div"):
        return None
    is_quotient = user.name == "dl.reciprocal" or (
        user.operands[1] == root and scalar(user.operands[0]) == 1 and type_of(user.operands[0]).rank <= type_of(root).rank
    )
    return user.results[0] if is_quotient else None


def _recompose_product_form(inverse: ir.Value, found: _Deviation, rewriter: Rewriter) -> bool:
    """x * f + (bias - mean(x) * f) with f = inverse * scale, as TensorFlow writes it."""
    factor, scale = inverse, None
    user = sole_user(inverse, "dl.mul")
    if user is not None:
        factor, scale = user.results[0], other_operand(user, inverse)
    products = [use.owner.operation for _, use in zip(range(3), factor.uses, strict=False)]
    if len(products) != 2 or any(product.name != "dl.mul" for product in products):
        return False
    scaled = next((product for product in products if other_operand(product, factor) == found.x), None)
    if scaled is None:
        return False
    means = next((product for product in products if product != scaled), None)
    if means is None:
        return False
    if reduction(other_operand(means, factor), "dl.reduce_mean") != (found.x, found.axes):
        return False
    top = sole_user(scaled.results[0])
    rest = sole_user(means.results[0], "dl.sub")
    if top is None or rest is None or rest.operands[1] != means.results[0]:
        return False
    bias = None
    if top.name == "dl.add":
        if other_operand(top, scaled.results[0]) != rest.results[0] or sole_user(rest.results[0]) is None:
            return False
        bias = rest.operands[0]
    elif top != rest or top.operands[0] != scaled.results[0]:
        return False
    with ir.InsertionPoint(top), merged_location(cone(top, [found.x, *(item for item in (scale, bias) if item)])):
        normal = built_like(found.x, "layer_norm", found.x, **found.attributes)
        value = normal if scale is None else dl.mul(normal, scale)
        if bias is not None:
            value = dl.add(value, bias)
        if value.type != top.results[0].type:
            value.set_type(top.results[0].type)
    rewriter.replace(top, value)
    return True


@RULES.rule("dl.layer_norm", "dl.rms_norm")
def absorb_scale(op: ir.Operation, rewriter: Rewriter) -> bool:
    """layer_norm(x) * scale = layer_norm(x, scale), and the same for rms_norm"""
    user = sole_user(op.results[0], "dl.mul")
    if user is None or any(weight is not None for weight in groups_of(op)[1:]):
        return False
    return _absorb(op, user, rewriter)


@RULES.rule("dl.layer_norm")
def absorb_bias(op: ir.Operation, rewriter: Rewriter) -> bool:
    """layer_norm(x, scale) + bias = layer_norm(x, scale, bias)"""
    user = sole_user(op.results[0], "dl.add")
    return user is not None and groups_of(op)[2] is None and _absorb(op, user, rewriter)


def _absorb(op: ir.Operation, user: ir.Operation, rewriter: Rewriter) -> bool:
    """Make the other operand of `user` a weight of the norm, if it has the normalised dims, behind axes of size 1 at most."""
    x, *weights = groups_of(op)
    weight, attributes = other_operand(user, op.results[0]), attributes_of(op)
    own, kind = type_of(x), type_of(weight)
    dims = own.shape[attributes["axis"] % own.rank :]
    extra = kind.rank - len(dims)
    if not 0 <= extra <= own.rank - len(dims) or any(dim != 1 for dim in kind.shape[:extra]):
        return False
    if kind.shape[extra:] != dims or not all(isinstance(dim, int) for dim in dims):
        return False
    with ir.InsertionPoint(user), merged_location([op, user]):
        if extra:
            weight = dl.squeeze(weight, axes=list(range(extra)))
        weights = [weight] if op.name == "dl.rms_norm" else [weights[0], weight] if user.name == "dl.add" else [weight, None]
        value = built_like(user.results[0], op.name, x, *weights, **attributes)
    rewriter.replace(user, value)
    return True


@RULES.rule("dl.layer_norm", "dl.rms_norm", "dl.softmax", "dl.log_softmax", "dl.batch_norm", "dl.instance_norm", "dl.group_norm")
def narrow_norm(op: ir.Operation, rewriter: Rewriter) -> bool:
    """cast(norm(cast(x))) = norm(x) where f16 or bf16 is cast to f32 and back: a norm computes in f32 and rounds once"""
    return narrow(op, rewriter)
