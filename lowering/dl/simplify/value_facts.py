"""What rules may take for granted of values: constants they are full of, their sign, and shapes that broadcasting keeps."""

from __future__ import annotations

import numpy as np

from dlc._mlir import ir
from dlc.dialects.dl.types import FLOATS, TensorType
from dlc.lowering.dl.matching import constant_array, source
from dlc.lowering.policy import policy


def is_full_of(value: ir.Value | None, number: float) -> bool:
    """Whether `value` is a `dl.constant` of which every element is `number`, of its sign where it is a zero."""
    array = constant_array(value)
    if array is None or array.size == 0:
        return False
    if float(array.flat[0]) != number or not bool((array == array.flat[0]).all()):
        return False
    if number != 0 or array.dtype.kind in "iub":
        return True
    return bool((np.signbit(array) == np.signbit(number)).all())


def broadcasts_into(small: TensorType, big: TensorType) -> bool:
    """Whether broadcasting with `small` is known to leave the shape of `big` as it is."""
    if small.rank > big.rank:
        return False
    offset = big.rank - small.rank
    return all(dim == 1 or (isinstance(dim, int) and dim == big.shape[offset + axis]) for axis, dim in enumerate(small.shape))


def has_clear_sign(value: ir.Value, depth: int = 0) -> bool:
    """Whether no element can be below 0 or -0.0; NaN may occur."""
    operation = source(value)
    if operation is None or depth == policy().limits.pattern_depth:
        return False
    name = operation.name.removeprefix("dl.")
    if name in _CLEAR or (name == "abs" and _is_float(value)):  # that of the smallest integer is itself
        return True
    if name == "constant":
        array = constant_array(value)
        return array is not None and not np.signbit(array.astype(np.float64)).any()
    operands = list(operation.operands)
    if name == "mul" and operands[0] == operands[1]:
        return _is_float(value)  # an integer square may wrap
    if name in _KEEPING and _is_float(value):
        return all(has_clear_sign(operand, depth + 1) for operand in operands)
    return name in _MOVING and has_clear_sign(operands[0], depth + 1)


def _is_float(value: ir.Value) -> bool:
    return str(value.type.element_type) in FLOATS


_CLEAR = frozenset({"exp", "sigmoid", "softmax", "cosh", "softplus"})
_KEEPING = frozenset({"add", "mul", "div", "sqrt", "reduce_sum", "reduce_mean", "reduce_prod", "max", "min"})
_MOVING = frozenset({"reshape", "squeeze", "unsqueeze", "transpose", "slice", "expand", "tile"})
