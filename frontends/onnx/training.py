"""Importers of the optimisers of ai.onnx.preview.training: one step on any number of tensors."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import NUMPY_DTYPES, type_of_value
from dlc.frontends.onnx.gradient import DERIVED
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext

_TRAINING = "ai.onnx.preview.training"
_RATE, _STEPS, _FIRST = 0, 1, 2


@importer("Gradient", domain=_TRAINING)
def import_gradient(node: NodeContext) -> ir.Value:
    """One that `expand_gradients` has left."""
    node.unsupported(
        "derivatives are computed from xs to y where all sizes are known, of matrices and stacks of them in MatMul, "
        f"and of {', '.join(DERIVED)}; export the model with the graph of its backward pass in place of this node"
    )


@importer("Adagrad", domain=_TRAINING)
def import_adagrad(node: NodeContext) -> list[ir.Value]:
    """Tensors and sums of squared gradients (Duchi et al., JMLR 2011), the rate falling with the number of steps."""
    moved, sums = [], []
    for x, gradient, total in _tensors(node, 3):
        gradient = _regularized(node, x, gradient)
        total = dl.add(total, dl.mul(gradient, gradient))
        spread = dl.add(dl.sqrt(total), _number(x, node.attribute("epsilon", 1e-6)))
        decay = dl.mul(_as(node.value(_STEPS), x), _number(x, node.attribute("decay_factor", 0.0)))
        rate = dl.div(_as(node.value(_RATE), x), dl.add(decay, _number(x, 1.0)))
        moved.append(dl.sub(x, dl.div(dl.mul(rate, gradient), spread)))
        sums.append(total)
    return [*moved, *sums]


@importer("Adam", domain=_TRAINING)
def import_adam(node: NodeContext) -> list[ir.Value]:
    """Tensors and running means of gradients and of their squares (Kingma and Ba, ICLR 2015)."""
    alpha, beta = float(node.attribute("alpha", 0.9)), float(node.attribute("beta", 0.999))
    moved, means, squares = [], [], []
    for x, gradient, mean, square in _tensors(node, 4):
        gradient = _regularized(node, x, gradient)
        mean = _blended(mean, alpha, gradient, 1 - alpha)
        square = _blended(square, beta, dl.mul(gradient, gradient), 1 - beta)
        spread = dl.add(dl.sqrt(square), _number(x, node.attribute("epsilon", 1e-6)))
        step = dl.div(dl.mul(_unbiased_rate(node, x, alpha, beta), mean), spread)
        after = float(node.attribute("norm_coefficient_post", 0.0))
        new = dl.sub(x, step)
        moved.append(dl.mul(new, _number(x, 1 - after)) if after else new)
        means.append(mean)
        squares.append(square)
    return [*moved, *means, *squares]


def _unbiased_rate(node: NodeContext, x: ir.Value, alpha: float, beta: float) -> ir.Value:
    """The rate times sqrt(1 - beta^T) / (1 - alpha^T) after the first step; the powers of a step are those of f64."""
    steps = dl.cast(_scalar(node.value(_STEPS)), to="f64")
    one = node.constant_value(1.0, "f64")
    rest_alpha, rest_beta = (dl.sub(one, dl.pow(node.constant_value(share, "f64"), steps)) for share in (alpha, beta))
    factor = dl.div(dl.sqrt(rest_beta), rest_alpha)
    rate = _as(node.value(_RATE), x)
    return dl.where(_has_begun(node), dl.mul(rate, _as(factor, x)), rate)


@importer("Momentum", domain=_TRAINING)
def import_momentum(node: NodeContext) -> list[ir.Value]:
    """Tensors and velocities (Polyak, 1964), or those of Nesterov's method."""
    mode = node.attribute("mode")
    if mode not in ("standard", "nesterov"):
        node.unsupported(f"mode {mode} is not one of standard and nesterov")
    alpha, beta = float(node.attribute("alpha", 0.0)), float(node.attribute("beta", 0.0))
    moved, velocities = [], []
    for x, gradient, velocity in _tensors(node, 3):
        gradient = _regularized(node, x, gradient)
        share = dl.where(_has_begun(node), _number(x, beta), _number(x, 1.0))
        velocity = dl.add(dl.mul(velocity, _number(x, alpha)), dl.mul(gradient, share))
        step = velocity if mode == "standard" else dl.add(gradient, dl.mul(velocity, _number(x, alpha)))
        moved.append(dl.sub(x, dl.mul(_as(node.value(_RATE), x), step)))
        velocities.append(velocity)
    return [*moved, *velocities]


def _tensors(node: NodeContext, kinds: int) -> list[Sequence[ir.Value]]:
    """What belongs to each tensor that is trained: itself, its gradient, and its state, which the node lists by kind."""
    count = (node.num_inputs - _FIRST) // kinds
    if node.num_inputs != _FIRST + count * kinds:
        node.unsupported(f"{node.num_inputs - _FIRST} tensors are given, which is no multiple of {kinds}")
    return [tuple(node.value(_FIRST + kind * count + at) for kind in range(kinds)) for at in range(count)]


def _regularized(node: NodeContext, x: ir.Value, gradient: ir.Value) -> ir.Value:
    """The gradient of the loss with norm_coefficient / 2 times the squared norm of x."""
    share = float(node.attribute("norm_coefficient", 0.0))
    return dl.add(dl.mul(x, _number(x, share)), gradient) if share else gradient


def _blended(old: ir.Value, old_share: float, new: ir.Value, new_share: float) -> ir.Value:
    return dl.add(dl.mul(old, _number(old, old_share)), dl.mul(new, _number(new, new_share)))


def _has_begun(node: NodeContext) -> ir.Value:
    """Whether there were steps before this one."""
    return dl.less(node.constant_value(0, "i64"), _scalar(node.value(_STEPS)))


def _number(like: ir.Value, value: float) -> ir.Value:
    """A scalar of the element type of a tensor."""
    return dl.constant(value=NUMPY_DTYPES[type_of_value(like).dtype].type(value))


def _as(value: ir.Value, like: ir.Value) -> ir.Value:
    """A number in the element type of a tensor."""
    dtype = type_of_value(like).dtype
    scalar = _scalar(value)
    return scalar if type_of_value(scalar).dtype == dtype else dl.cast(scalar, to=dtype)


def _scalar(value: ir.Value) -> ir.Value:
    """A number that is given as a scalar or as a list of one."""
    return dl.squeeze(value, axes=[0]) if type_of_value(value).rank == 1 else value
