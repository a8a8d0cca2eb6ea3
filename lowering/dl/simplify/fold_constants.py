"""`dl-fold-constants`: ops on constants become constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import TensorType, type_of_array
from dlc.lowering.dl.matching import (
    attributes_of,
    constant_array,
    dl_ops,
    erase_unused,
    functions,
    groups_of,
    may_stand_for,
    source,
    type_of,
)
from dlc.lowering.pass_base import Pass, option


@dataclass(frozen=True)
class FoldConstants(Pass):
    """Evaluate ops whose operands are all constants, by the ops' reference implementations.

    Results of more than `limit` elements stay ops: text would copy them. `dl-outline-constants` moves those out of the entry.

    before:
        %0 = "dl.constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
        %1 = "dl.add"(%0, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    after:
        %1 = "dl.constant"() {value = dense<[2.0, 4.0]> : tensor<2xf32>} : () -> tensor<2xf32>
    """

    limit: int = option(1024, "most elements of a result that is folded")

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        for function in functions(op):
            for operation in dl_ops(function):
                _fold(operation, self.limit)
            erase_unused(dl_ops(function))


def _fold(operation: ir.Operation, limit: int) -> None:
    """Let constants stand for the results of an op on constants, where they are small."""
    operands = operation.operands
    if not len(operands) or operation.regions or any(source(value, "dl.constant") is None for value in operands):
        return
    found = dl.op_class(operation.name)
    if found is None or not len(operation.results):
        return
    arrays = [_arrays_of(group) for group in groups_of(operation)]
    attributes = attributes_of(operation)
    types = [type_of(result) for result in operation.results]
    if not _is_small(operation.name, types, arrays, attributes, limit):
        return
    try:
        given = found.reference(*arrays, **attributes)
    except (ValueError, IndexError, ArithmeticError, MemoryError):  # sizes, indices or divisors that do not fit: run time says so
        return
    _replace(operation, given if isinstance(given, tuple) else (given,), limit)


def _arrays_of(group: Any) -> Any:
    return [constant_array(value) for value in group] if isinstance(group, list) else constant_array(group)


def _replace(operation: ir.Operation, arrays: Sequence[np.ndarray], limit: int) -> None:
    """Constants of `arrays` for the results, where each is small and its type fits all uses."""
    pairs = list(zip(operation.results, (np.asarray(array) for array in arrays), strict=True))
    if any(array.size > limit or not may_stand_for(type_of_array(array), result) for result, array in pairs):
        return
    with operation.location, ir.InsertionPoint(operation):
        for result, array in pairs:
            result.replace_all_uses_with(dl.constant(value=array))
    operation.erase()


def _is_small(name: str, types: Sequence[TensorType], arrays: Sequence[Any], attributes: Mapping[str, Any], limit: int) -> bool:
    """Whether each result has at most `limit` elements, as far as that is known before they are computed."""
    for kind in types:
        count = kind.num_elements
        if count is None:
            bound = _BOUNDS.get(name)
            count = bound(arrays, attributes) if bound is not None else None
        if count is None or count > limit:
            return False
    return True


def _operand_size(arrays: Sequence[Any], attributes: Mapping[str, Any]) -> int:
    return int(arrays[0].size)


def _expanded_size(arrays: Sequence[Any], attributes: Mapping[str, Any]) -> int | None:
    if arrays[1] is None:
        return None
    shape = [int(given) if dim < 0 else dim for dim, given in zip(attributes["shape"], arrays[1], strict=True)]
    return int(arrays[0].size) * int(np.prod([max(dim, 1) for dim in shape], dtype=object))


def _range_size(arrays: Sequence[Any], attributes: Mapping[str, Any]) -> int | None:
    start, limit, step = (float(array) for array in arrays)
    if step == 0:
        return 0
    count = (limit - start) / step
    return int(max(count, 0)) + 1 if np.isfinite(count) else None


_BOUNDS: dict[str, Callable[[Sequence[Any], Mapping[str, Any]], int | None]] = {
    "dl.reshape": _operand_size,
    "dl.slice": _operand_size,
    "dl.expand": _expanded_size,
    "dl.range": _range_size,
}
"""Upper bounds of the number of elements, for ops whose types leave it open although their operands are static."""
