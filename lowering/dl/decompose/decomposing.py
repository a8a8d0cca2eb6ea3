"""What the `dl-decompose-<op>` passes share: every op of a kind is replaced by a formula of simpler ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import NUMPY_DTYPES
from dlc.lowering.dl.matching import attributes_of, dl_ops, functions, groups_of, type_of

_NARROW = ("f16", "bf16")


def decompose(module: ir.Operation, name: str, formula: Callable[..., ir.Value]) -> None:
    """Replace every dl op called `name` by `formula` of its operands (by position) and attributes (by name).

    The formula computes f16 and bf16 in f32, as the op does, between casts.
    """
    for function in functions(module):
        for op in dl_ops(function):
            if op.name == f"dl.{name}":
                _replace(op, formula)


def _replace(op: ir.Operation, formula: Callable[..., ir.Value]) -> None:
    result = op.results[0]
    dtype = type_of(result).dtype
    with ir.InsertionPoint(op), op.location:
        operands = [_widened(operand) for operand in groups_of(op)]
        value = formula(*operands, **attributes_of(op))
        if dtype in _NARROW:
            value = dl.cast(value, to=dtype)
    if value.type != result.type:  # sizes that the formula does not show
        value.set_type(result.type)
    result.replace_all_uses_with(value)
    op.erase()


def _widened(value: ir.Value | None) -> ir.Value | None:
    if value is None or type_of(value).dtype not in _NARROW:
        return value
    wide: ir.Value = dl.cast(value, to="f32")
    return wide


def number(value: float, like: ir.Value) -> ir.Value:
    """A constant of rank 0 and the element type of `like`."""
    found: ir.Value = dl.constant(value=np.array(value, NUMPY_DTYPES[type_of(like).dtype]))
    return found


def standardized(x: ir.Value, axes: Sequence[int], epsilon: float) -> ir.Value:
    """x with mean 0 and variance 1 over `axes`."""
    return over_root(dl.sub(x, dl.reduce_mean(x, axes=axes, keepdims=True)), axes, epsilon)


def over_root(x: ir.Value, axes: Sequence[int], epsilon: float) -> ir.Value:
    """x divided by the root of its mean square over `axes`, to which `epsilon` is added."""
    mean = dl.reduce_mean(dl.mul(x, x), axes=axes, keepdims=True)
    found: ir.Value = dl.div(x, dl.sqrt(dl.add(mean, number(epsilon, x))))
    return found


def scaled(x: ir.Value, scale: ir.Value | None, bias: ir.Value | None) -> ir.Value:
    """x * scale + bias, without those that are absent."""
    product = x if scale is None else dl.mul(x, scale)
    return product if bias is None else dl.add(product, bias)


def per_channel(weight: ir.Value, x: ir.Value) -> ir.Value:
    """A vector with one element per channel (axis 1 of x), shaped to broadcast with x."""
    trailing = tuple(range(1, type_of(x).rank - 1))
    return dl.unsqueeze(weight, axes=trailing) if trailing else weight
