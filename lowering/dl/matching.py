"""What graph passes ask about values and ops of the dl dialect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dlc._mlir import ir
from dlc.analysis.symbols import functions_of
from dlc.dialects.dl.types import ALL_DTYPES, TensorType, tensor_type
from dlc.lowering.pass_base import PassFailure

KEPT = frozenset({"dl.yield", "dl.kernel"})
"""dl ops that stay although nothing uses a result of theirs."""


def source(value: ir.Value | None, name: str = "") -> ir.Operation | None:
    """The op that gives `value`; None for a block argument, an absent operand, or an op not called `name` where given."""
    if value is None or isinstance(value.owner, ir.Block):
        return None
    operation: ir.Operation = value.owner.operation
    return operation if not name or operation.name == name else None


def users(value: ir.Value) -> Iterator[ir.Operation]:
    """The ops that use `value`, once for each use."""
    return (use.owner.operation for use in value.uses)


def has_one_use(value: ir.Value) -> bool:
    """Whether exactly one operand is `value`."""
    uses = iter(value.uses)
    return next(uses, None) is not None and next(uses, None) is None


def type_of(value: ir.Value) -> TensorType:
    """The plain type of a tensor value; `PassFailure` at a value of another type, which no function of a dl module may have."""
    found = tensor_type(value.type)
    if found is None:
        remedy = f"models at level dl hold ranked tensors of {', '.join(ALL_DTYPES)}"
        raise PassFailure(value.location, f"a value is {value.type}", remedy)
    return found


def attributes_of(operation: ir.Operation) -> dict[str, Any]:
    """Python values of the attributes of a dl op, defaults filled in."""
    found: dict[str, Any] = operation.opview.attribute_values()
    return found


def groups_of(operation: ir.Operation) -> tuple[Any, ...]:
    """Operands of a dl op by field: a value, None for an absent one, a list for a variadic one."""
    found: tuple[Any, ...] = operation.opview.operand_groups()
    return found


def constant_array(value: ir.Value | None) -> np.ndarray | None:
    """The array of a `dl.constant`, None for any other value."""
    operation = source(value, "dl.constant")
    return None if operation is None else attributes_of(operation)["value"]


def constant_scalar(value: ir.Value | None) -> float | None:
    """The one number that all elements of a `dl.constant` are, None for any other value."""
    array = constant_array(value)
    if array is None or array.size == 0 or array.dtype == np.bool_ or not (array == array.flat[0]).all():
        return None
    return float(array.flat[0])


def is_weight(value: ir.Value) -> bool:
    """Whether `value` depends on constants and params alone: it is known before the first call.

    A look from the end of a graph goes up to its arguments; ask `WeightFacts` where many values are looked at.
    """
    return WeightFacts()(value)


class WeightFacts:
    """Answers `is_weight` for many values of a function: what is found of a value is remembered."""

    def __init__(self) -> None:
        self._known: dict[int, bool] = {}

    def __call__(self, value: ir.Value) -> bool:
        """Whether `value` depends on constants and params alone."""
        pending = [value]
        while pending:
            found = self._found(pending[-1])
            if isinstance(found, ir.Value):
                pending.append(found)
            else:
                self._known[hash(pending.pop())] = found
        return self._known[hash(value)]

    def forget(self, operation: ir.Operation) -> None:
        """Forget an op that is about to be erased: a new one may take its place in memory."""
        for result in operation.results:
            self._known.pop(hash(result), None)

    def _found(self, value: ir.Value) -> bool | ir.Value:
        """Whether `value` is a weight, or else a value of which that must be known first."""
        known = self._known.get(hash(value))
        operation = source(value)
        if known is not None:
            return known
        if operation is None or not operation.name.startswith("dl.") or len(operation.regions):
            return False
        facts = [(operand, self._known.get(hash(operand))) for operand in operation.operands]
        if any(fact is False for _, fact in facts):
            return False
        return next((operand for operand, fact in facts if fact is None), True)


def may_stand_for(kind: TensorType, result: ir.Value) -> bool:
    """Whether a value of type `kind` may replace `result` at all its uses.

    It may when the types are equal, or when dl ops alone use the result and `kind` knows at least its static dims.
    """
    declared = type_of(result)
    if kind == declared:
        return True
    if kind.dtype != declared.dtype or kind.rank != declared.rank:
        return False
    if any(isinstance(dim, int) and dim != mine for dim, mine in zip(declared.shape, kind.shape, strict=True)):
        return False
    return all(user.name.startswith("dl.") and user.name != "dl.yield" for user in users(result))


def functions(module: ir.Operation) -> Iterator[ir.Operation]:
    """The functions of a module that have a body, listed before the first is given out."""
    found = functions_of(module)
    yield from (function for function in found if len(function.regions[0].blocks))


BODY = "dl.body"
"""Marks the functions that hold what a branch or loop of another one does."""


def is_entry(function: ir.Operation) -> bool:
    """Whether a function holds a graph that calls computes: one that can be called from outside, or the body of a branch or loop.

    The others are kernels, and what computes weights.
    """
    return BODY in function.attributes or not ("dl.precompute" in function.attributes or is_private(function))


def is_private(function: ir.Operation) -> bool:
    """Whether a function can be called from its module alone."""
    return "sym_visibility" in function.attributes and function.attributes["sym_visibility"].value != "public"


def dl_ops(operation: ir.Operation) -> list[ir.Operation]:
    """The dl ops below an op, in order, an op before those inside it."""
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner.name.startswith("dl."):
            found.append(inner)
        return ir.WalkResult.ADVANCE

    operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def erase_unused(operations: Sequence[ir.Operation]) -> None:
    """Erase those of `operations`, given in program order, whose results nothing uses."""
    for operation in reversed(operations):
        if operation.name not in KEPT and not any(True for result in operation.results for _ in result.uses):
            operation.erase()
