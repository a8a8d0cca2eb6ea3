"""Importers of elementwise arithmetic and casts."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import onnx

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.storage import STORAGE
from dlc.dialects.dl.types import FLOATS, dtype_of_numpy
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext

_SAME = {
    "Abs": "abs",
    "Add": "add",
    "Ceil": "ceil",
    "Div": "div",
    "Floor": "floor",
    "Mul": "mul",
    "Neg": "neg",
    "Round": "round",
    "Sign": "sign",
    "Sub": "sub",
}
"""ONNX op -> dl op, for ops whose operands are the same and that have no attributes."""

_FOLDED = {"Max": "max", "Min": "min", "Sum": "add"}
_POWERS: dict[float, Callable[[ir.Value], ir.Value]] = {
    2.0: lambda x: dl.mul(x, x),
    3.0: lambda x: dl.mul(dl.mul(x, x), x),
    0.5: lambda x: dl.sqrt(x),
    -0.5: lambda x: dl.rsqrt(x),
    -1.0: lambda x: dl.reciprocal(x),
}
"""Constant exponents that are a cheaper op."""


def import_same(node: NodeContext, names: dict[str, str]) -> ir.Value:
    """The dl op that `names` gives for the node's op, on all inputs of the node."""
    found: ir.Value = getattr(dl, names[node.node.op_type])(*node.values())
    return found


@importer(*_SAME)
def import_arithmetic(node: NodeContext) -> ir.Value:
    return import_same(node, _SAME)


@importer(*_FOLDED)
def import_variadic(node: NodeContext) -> ir.Value:
    """A chain of binary ops; one input is the result itself."""
    found: ir.Value = functools.reduce(getattr(dl, _FOLDED[node.node.op_type]), node.values())
    return found


@importer("Mean")
def import_mean(node: NodeContext) -> ir.Value:
    """The sum divided by the number of inputs."""
    if node.num_inputs == 1:
        return node.value(0)
    total = functools.reduce(dl.add, node.values())
    return dl.div(total, node.constant_value(node.num_inputs, node.type(0).dtype))


@importer("Mod")
def import_mod(node: NodeContext) -> ir.Value:
    return dl.mod(*node.values(), fmod=bool(node.attribute("fmod", 0)))


@importer("Pow")
def import_pow(node: NodeContext) -> ir.Value:
    """A power; squares, cubes, roots and reciprocals become ops of their own."""
    exponent, base = node.constant(1), node.type(0)
    if exponent is not None and exponent.size == 1 and exponent.ndim <= base.rank:
        value = float(exponent.reshape(-1)[0])
        if value in _POWERS and (base.dtype in FLOATS or value in (2.0, 3.0)):
            return _POWERS[value](node.value(0))
    return dl.pow(*node.values())


@importer("Clip")
def import_clip(node: NodeContext) -> ir.Value:
    """Bounds as attributes (opset 6) or inputs; those that are not known at import become max and min."""
    x = node.value(0)
    low, high = (_known_bound(node, index, name) for index, name in ((1, "min"), (2, "max")))
    if low is not None and high is not None:
        return dl.clip(x, low=low, high=high)
    if node.has_input(1):
        x = dl.max(x, node.value(1))
    return dl.min(x, node.value(2)) if node.has_input(2) else x


def _known_bound(node: NodeContext, index: int, name: str) -> float | None:
    """A bound that `dl.clip` takes: infinite where absent, None where it is not known or is no f64 number."""
    if not node.has_input(index):
        unbounded = -np.inf if name == "min" else np.inf
        return float(node.attribute(name, unbounded))
    array = node.constant(index)
    if array is None or array.size != 1:
        return None
    value = array.reshape(-1)[0]
    return float(value) if _is_exact(value) else None


def _is_exact(value: np.generic) -> bool:
    """True for numbers that a float holds: not for NaN, nor for some integers beyond 2 ** 53."""
    if value.dtype.kind in "iu":
        return int(float(value)) == int(value)
    return not np.isnan(float(value))


@importer("Cast")
def import_cast(node: NodeContext) -> ir.Value:
    return _cast(node, dtype_of_onnx(node, node.attribute("to")))


@importer("BitCast")
def import_bit_cast(node: NodeContext) -> ir.Value:
    """To i1 come bytes of 0 or 1 alone; others have no meaning there, and count as 1."""
    x, to = node.value(0), dtype_of_onnx(node, node.attribute("to"))
    if to != "i1" or node.type(0).dtype == "i1":
        return dl.bitcast(x, to=to)
    return dl.cast(dl.bitcast(x, to="i8"), to="i1")


@importer("CastLike")
def import_cast_like(node: NodeContext) -> ir.Value:
    return _cast(node, node.type(1).dtype)


def _cast(node: NodeContext, dtype: str) -> ir.Value:
    """A conversion; `saturate` and `round_mode` are those of the types that are only stored."""
    stored = {"saturate": bool(node.attribute("saturate", 1)), "rounding": node.attribute("round_mode", "up")}
    return dl.cast(node.value(0), to=dtype, **(stored if dtype in STORAGE else {}))


def dtype_of_onnx(node: NodeContext, element: int) -> str:
    """The dl dtype of an ONNX element type's number."""
    if element not in onnx.TensorProto.DataType.values():
        node.unsupported(f"element type {element} does not exist")
    try:
        return dtype_of_numpy(onnx.helper.tensor_dtype_to_np_dtype(element))
    except (KeyError, TypeError):
        node.unsupported(f"casts to element type {onnx.TensorProto.DataType.Name(element).lower()} are not supported")
