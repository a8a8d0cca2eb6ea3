"""Runs a module of dl ops by the ops' reference implementations: slow, and the measure of every compiled result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dlc._mlir import ir
from dlc.dialects.dl import op_class
from dlc.dialects.dl.control import CONTROL, SCALAR_OPS, run_control

Made = Callable[[str, np.ndarray], np.ndarray]
MadeOfValue = Callable[[ir.Value, np.ndarray], np.ndarray]

_ENDS = ("func.return", "dl.yield", "scf.yield", "scf.condition")


class NotInterpretable(ValueError):
    """The module holds an op that has no reference implementation, or a param that has no array; the message names it."""


def interpret(module: ir.Module, inputs: Sequence[np.ndarray], params: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Outputs of the module's public function on `inputs`, with the arrays of its `dl.param` keys in `params`.

    Keys that a function marked `dl.precompute` gives are computed first. As in compiled code, dl ops whose results nobody
    reads do not run. Raises `NotInterpretable` for ops other than dl's, those of branches and loops (`control.py`),
    func.return and calls of the module's functions, and for keys that are not in `params`.
    """
    functions = {op.operation.attributes["sym_name"].value: op.operation for op in module.body.operations}
    with np.errstate(all="ignore"):
        return _Program(functions, {**params, **precomputed(module, params)}).run(_entry(functions), inputs)


def precomputed(module: ir.Module, params: Mapping[str, np.ndarray], made: Made | None = None) -> dict[str, np.ndarray]:
    """The arrays that the module's functions marked `dl.precompute` give, by their keys (result attribute `dl.param`).

    `made` is told each of them as soon as it is computed, and gives the one to take in its place.
    """
    functions = {op.operation.attributes["sym_name"].value: op.operation for op in module.body.operations}
    found: dict[str, np.ndarray] = {}
    with np.errstate(all="ignore"):
        for function in functions.values():
            if "dl.precompute" not in function.attributes:
                continue
            keys = _result_keys(function)
            arrays = _Program(functions, {**params, **found}).run(function, (), _by_value(function, keys, made) if made else None)
            found.update(zip(keys, arrays, strict=True))
    return found


def _entry(functions: Mapping[str, ir.Operation]) -> ir.Operation:
    """The function that the caller of the model calls."""
    return next(
        function
        for function in functions.values()
        if "sym_visibility" not in function.attributes and "dl.precompute" not in function.attributes
    )


def _result_keys(function: ir.Operation) -> list[str]:
    if "res_attrs" not in function.attributes:
        return []
    return [str(ir.DictAttr(entry)["dl.param"].value) for entry in ir.ArrayAttr(function.attributes["res_attrs"])]


def _by_value(function: ir.Operation, keys: Sequence[str], made: Made) -> MadeOfValue:
    """`made` for the values that a function returns, by the first of their keys."""
    block = function.regions[0].blocks[0]
    returned = dict(reversed(list(zip(block.operations[len(block.operations) - 1].operands, keys, strict=True))))
    return lambda value, array: made(returned[value], array) if value in returned else array


@dataclass(frozen=True)
class _Program:
    """The functions of a module by name, and the arrays of its params by key."""

    functions: Mapping[str, ir.Operation]
    params: Mapping[str, np.ndarray]

    def run(self, function: ir.Operation, inputs: Sequence[np.ndarray], made: MadeOfValue | None = None) -> list[np.ndarray]:
        """What the function returns; each array that its body computes is what `made` makes of it."""
        if not len(function.regions[0].blocks):
            raise NotInterpretable(f"function '{function.attributes['sym_name'].value}' has no body")
        block = function.regions[0].blocks[0]
        return self._run_block(block, dict(zip(block.arguments, inputs, strict=True)), made)

    def _run_block(self, block: ir.Block, values: dict[ir.Value, np.ndarray], made: MadeOfValue | None = None) -> list[np.ndarray]:
        """What the block's terminator gives, from the arrays of the values that the block reads."""
        last_use = _last_uses(block)
        for index, op in enumerate(block.operations):
            operation = op.operation
            if operation.name in _ENDS:
                return [values[value] for value in operation.operands]
            if _is_unread(operation, last_use):
                continue
            for result, array in zip(operation.results, self._run_op(operation, values), strict=True):
                values[result] = made(result, array) if made else array
            for value in _read_by(operation):
                if last_use[value] == index:
                    values.pop(value, None)  # a large network does not fit in memory otherwise
        raise NotInterpretable("the function has no return")

    def _run_op(self, operation: ir.Operation, values: Mapping[ir.Value, np.ndarray]) -> Sequence[np.ndarray]:
        if operation.name == "func.call":
            callee = self.functions[ir.FlatSymbolRefAttr(operation.attributes["callee"]).value]
            return self.run(callee, [values[value] for value in operation.operands])
        if operation.name in CONTROL:
            return run_control(operation, values, self._run_block)
        if operation.name in SCALAR_OPS:
            return [SCALAR_OPS[operation.name](operation, [values[value] for value in operation.operands])]
        found = op_class(operation.name) if operation.name.startswith("dl.") else None
        if found is None:
            raise NotInterpretable(f"'{operation.name}' has no reference implementation; give a module of dl ops")
        if operation.name == "dl.kernel":
            return self._run_block(operation.regions[0].blocks[0], dict(values))
        attributes = operation.opview.attribute_values()
        if operation.name == "dl.param":
            if attributes["key"] not in self.params:
                raise NotInterpretable(f"the param '{attributes['key']}' has no array; give one")
            return [self.params[attributes["key"]]]
        groups: list[Any] = [
            None if group is None else [values[item] for item in group] if isinstance(group, list) else values[group]
            for group in operation.opview.operand_groups()
        ]
        result = found.reference(*groups, **attributes)
        return result if isinstance(result, tuple) else (result,)


def _last_uses(block: ir.Block) -> dict[ir.Value, int]:
    """The number of the last op that reads each value; what does not run reads nothing."""
    found: dict[ir.Value, int] = {}
    for index, op in reversed(list(enumerate(block.operations))):
        if not _is_unread(op.operation, found):
            for value in _read_by(op.operation):
                found.setdefault(value, index)
    return found


def _is_unread(operation: ir.Operation, read: Mapping[ir.Value, int]) -> bool:
    """Whether an op is dl's and gives results that are none of `read`."""
    results = operation.results
    return operation.name.startswith("dl.") and len(results) > 0 and not any(result in read for result in results)


def _read_by(operation: ir.Operation) -> list[ir.Value]:
    """Values that an op, or one inside it, takes."""
    inner = (op.operation for region in operation.regions for block in region.blocks for op in block.operations)
    return [*operation.operands, *(value for op in inner for value in _read_by(op))]
