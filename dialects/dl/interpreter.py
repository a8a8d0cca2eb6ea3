"""Runs a module of dl ops by the ops' NumPy meanings: slow, and the measure of every compiled result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dlc._mlir import ir
from dlc.dialects.dl import op_class


class NotInterpretable(ValueError):
    """The module holds an op that has no NumPy meaning; the message names it."""


def interpret(module: ir.Module, inputs: Sequence[np.ndarray], params: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Outputs of the module's public function on `inputs`, with the arrays of its `dl.param` keys in `params`.

    Raises `NotInterpretable` for ops other than dl's and func.return.
    """
    function = next(op.operation for op in module.body.operations if "sym_visibility" not in op.operation.attributes)
    with np.errstate(all="ignore"):
        block = function.regions[0].blocks[0]
        return _run_block(block, dict(zip(block.arguments, inputs, strict=True)), params)


def _run_block(
    block: ir.Block, values: dict[ir.Value, np.ndarray], params: Mapping[str, np.ndarray]
) -> list[np.ndarray]:
    """What the block's terminator gives, from the arrays of the values that the block reads."""
    last_use = _last_uses(block)
    for index, op in enumerate(block.operations):
        operation = op.operation
        if operation.name in ("func.return", "dl.yield"):
            return [values[value] for value in operation.operands]
        for result, array in zip(operation.results, _run_op(operation, values, params), strict=True):
            values[result] = array
        for value in _read_by(operation):
            if last_use[value] == index:
                values.pop(value, None)  # a large network does not fit in memory otherwise
    raise NotInterpretable("the function has no return")


def _last_uses(block: ir.Block) -> dict[ir.Value, int]:
    return {value: index for index, op in enumerate(block.operations) for value in _read_by(op.operation)}


def _read_by(operation: ir.Operation) -> list[ir.Value]:
    """Values that an op, or one inside it, takes."""
    inner = (op.operation for region in operation.regions for block in region.blocks for op in block.operations)
    return [*operation.operands, *(value for op in inner for value in _read_by(op))]


def _run_op(
    operation: ir.Operation, values: Mapping[ir.Value, np.ndarray], params: Mapping[str, np.ndarray]
) -> Sequence[np.ndarray]:
    found = op_class(operation.name) if operation.name.startswith("dl.") else None
    if found is None:
        raise NotInterpretable(f"'{operation.name}' has no NumPy meaning; give a module of dl ops")
    if operation.name == "dl.kernel":
        return _run_block(operation.regions[0].blocks[0], dict(values), params)
    attributes = operation.opview.attribute_values()
    if operation.name == "dl.param":
        return [params[attributes["key"]]]
    groups: list[Any] = [
        None if group is None else [values[item] for item in group] if isinstance(group, list) else values[group]
        for group in operation.opview.operand_groups()
    ]
    result = found.reference(*groups, **attributes)
    return result if isinstance(result, tuple) else (result,)
