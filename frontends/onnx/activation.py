"""Importers of activation functions, ONNX's and onnxruntime's."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import FLOATS, type_of_value
from dlc.frontends.onnx.elementwise import import_same
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.widening import in_floats

_SAME = {
    "HardSwish": "hard_swish",
    "Mish": "mish",
    "Relu": "relu",
    "Sigmoid": "sigmoid",
    "Softplus": "softplus",
    "Softsign": "softsign",
}
_WITH_ATTRIBUTES: dict[str, tuple[str, dict[str, float]]] = {
    "HardSigmoid": ("hard_sigmoid", {"alpha": 0.2, "beta": 0.5}),
    "LeakyRelu": ("leaky_relu", {"alpha": 0.01}),
    "ThresholdedRelu": ("thresholded_relu", {"alpha": 1.0}),
    "Elu": ("elu", {"alpha": 1.0}),
    "Swish": ("silu", {"alpha": 1.0}),
}
"""ONNX op -> dl op and the attributes that both call the same, with ONNX's defaults."""

_CONTRIB = "com.microsoft"


@importer(*_SAME)
def import_activation(node: NodeContext) -> ir.Value:
    return import_same(node, _SAME)


@importer(*_WITH_ATTRIBUTES)
def import_with_attributes(node: NodeContext) -> ir.Value:
    name, defaults = _WITH_ATTRIBUTES[node.node.op_type]
    attributes = {key: float(node.attribute(key, default)) for key, default in defaults.items()}
    found: ir.Value = getattr(dl, name)(node.value(0), **attributes)
    return found


@importer("PRelu")
def import_prelu(node: NodeContext) -> ir.Value:
    """x or slope * x. Opset 6 and older have one slope per channel (axis 1) and no broadcasting from the right."""
    x, slope = node.type(0), node.type(1)
    from_right = slope.rank != 1 or slope.dim(0) in (1, x.dim(-1))
    if from_right or x.rank < 2 or slope.dim(0) != x.dim(1):
        return dl.prelu(node.value(0), node.value(1))
    trailing = tuple(range(1, x.rank - 1))
    return dl.prelu(node.value(0), dl.unsqueeze(node.value(1), axes=trailing))


@importer("Selu")
def import_selu(node: NodeContext) -> ir.Value:
    """gamma * elu; the defaults are ONNX's f32 numbers."""
    alpha = node.attribute("alpha", 1.67326319217681884765625)
    return dl.elu(node.value(0), alpha=float(alpha), scale=float(node.attribute("gamma", 1.05070102214813232421875)))


@importer("Celu")
def import_celu(node: NodeContext) -> ir.Value:
    """max(x, 0) + min(0, alpha * (exp(x / alpha) - 1))."""
    alpha = float(node.attribute("alpha", 1.0))
    if alpha <= 0:
        node.unsupported(f"alpha is {alpha}, but only positive values are supported")
    return dl.elu(node.value(0), alpha=alpha, rate=1 / alpha)


@importer("Shrink")
def import_shrink(node: NodeContext) -> ir.Value:
    """x - bias above lambd, x + bias below -lambd, else 0; integers in floats, of which the fraction is cut off."""
    return in_floats(node, _shrunk)


def _shrunk(node: NodeContext) -> ir.Value:
    x, dtype = node.value(0), node.type(0).dtype
    lambd, bias = float(node.attribute("lambd", 0.5)), float(node.attribute("bias", 0.0))
    offset, zero = node.constant_value(bias, dtype), node.constant_value(0, dtype)
    below = dl.where(dl.less(x, node.constant_value(-lambd, dtype)), dl.add(x, offset), zero)
    return dl.where(dl.less(node.constant_value(lambd, dtype), x), dl.sub(x, offset), below)


@importer("Gelu")
def import_gelu(node: NodeContext) -> ir.Value:
    return dl.gelu(node.value(0), approximate=node.attribute("approximate", "none"))


@importer("Gelu", "BiasGelu", "FastGelu", domain=_CONTRIB)
def import_contrib_gelu(node: NodeContext) -> ir.Value:
    """GELU of x plus an optional bias; FastGelu is the tanh form."""
    x = dl.add(node.value(0), node.value(1)) if node.has_input(1) else node.value(0)
    return dl.gelu(x, approximate="tanh" if node.node.op_type == "FastGelu" else "none")


@importer("QuickGelu", domain=_CONTRIB)
def import_quick_gelu(node: NodeContext) -> ir.Value:
    return dl.silu(node.value(0), alpha=float(node.attribute("alpha", 1.702)))


def activated(node: NodeContext, x: ir.Value, parameters: Mapping[str, float]) -> ir.Value:
    """The activation that a fused op of onnxruntime names, with the parameters that it gives."""
    kind, dtype = node.attribute("activation", ""), type_of_value(x).dtype
    if kind == "LeakyRelu":
        x = dl.leaky_relu(x, alpha=float(parameters.get("alpha", 0.01)))
    elif kind == "HardSigmoid":
        x = dl.hard_sigmoid(x, alpha=float(parameters.get("alpha", 0.2)), beta=float(parameters.get("beta", 0.5)))
    elif kind == "Clip" and dtype in FLOATS:
        x = dl.clip(x, low=float(parameters.get("alpha", -math.inf)), high=float(parameters.get("beta", math.inf)))
    elif kind in ("Relu", "Sigmoid", "Tanh"):
        x = getattr(dl, kind.lower())(x)
    elif kind:
        node.unsupported(f"activation {kind} is not supported")
    return x
