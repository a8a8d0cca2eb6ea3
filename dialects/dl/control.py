"""What branches and loops mean: the ops of scf, tensor and arith that stand between dl ops, in NumPy.

IRDL gives all values of a variadic operand or result one type, but branches and loops carry tensors of several. So the dl level
takes upstream's `scf.if`, `scf.for` and `scf.while` on tensors, with `tensor.extract` and `arith` for what decides on them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dlc._mlir import ir
from dlc.dialects.dl.types import NUMPY_DTYPES, type_of_value

CONTROL = frozenset({"scf.if", "scf.for", "scf.while"})
"""The ops with regions that a dl module may hold beside `dl.kernel`."""

Values = Mapping[ir.Value, Any]
RunBlock = Callable[[ir.Block, dict[ir.Value, Any]], list[Any]]


def run_control(operation: ir.Operation, values: Values, run_block: RunBlock) -> list[Any]:
    """The results of a branch or loop; `run_block` gives what the terminator of a block takes, from the values that it reads."""
    regions = [list(region.blocks) for region in operation.regions]
    given = [values[value] for value in operation.operands]
    if operation.name == "scf.if":
        blocks = regions[0 if given[0] else 1]
        return run_block(blocks[0], dict(values)) if blocks else []
    if operation.name == "scf.for":
        first, last, step, *carried = given
        for number in range(first, last, step):
            carried = _run(regions[0][0], [number, *carried], values, run_block)
        return carried
    while True:
        going, *given = _run(regions[0][0], given, values, run_block)
        if not going:
            return given
        given = _run(regions[1][0], given, values, run_block)


def _run(block: ir.Block, arguments: Sequence[Any], values: Values, run_block: RunBlock) -> list[Any]:
    return run_block(block, {**values, **dict(zip(block.arguments, arguments, strict=True))})


def _constant(op: ir.Operation, _: Sequence[Any]) -> Any:
    value = op.attributes["value"]
    return np.array(value) if isinstance(value, ir.DenseElementsAttr) else int(ir.IntegerAttr(value).value)


def _empty(op: ir.Operation, sizes: Sequence[Any]) -> np.ndarray:
    kind, given = type_of_value(op.results[0]), iter(sizes)
    return np.zeros([dim if isinstance(dim, int) else next(given) for dim in kind.shape], NUMPY_DTYPES[kind.dtype])


def _from_elements(op: ir.Operation, elements: Sequence[Any]) -> np.ndarray:
    kind = type_of_value(op.results[0])
    return np.array(elements, NUMPY_DTYPES[kind.dtype]).reshape([dim for dim in kind.shape if isinstance(dim, int)])


def _insert_slice(op: ir.Operation, given: Sequence[Any]) -> np.ndarray:
    part, whole, *dynamic = given
    rest, lists = iter(dynamic), []
    for name in ("static_offsets", "static_sizes", "static_strides"):
        static = list(ir.DenseI64ArrayAttr(op.attributes[name]))
        unknown = ir.ShapedType.get_dynamic_size() if name == "static_sizes" else ir.ShapedType.get_dynamic_stride_or_offset()
        lists.append([next(rest) if item == unknown else item for item in static])
    result = whole.copy()
    place = tuple(slice(offset, offset + size * stride, stride) for offset, size, stride in zip(*lists, strict=True))
    result[place] = part.reshape(lists[1])
    return result


def slice_axes(op: ir.Operation, rank: int) -> list[int]:
    """The axes of a `tensor.insert_slice` that what it writes, of rank `rank`, has; the others are of size 1."""
    sizes = list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"]))
    spare, kept = len(sizes) - rank, []
    for axis, size in enumerate(sizes):
        if size == 1 and spare:
            spare -= 1
        else:
            kept.append(axis)
    return kept


def slice_sizes(op: ir.Operation) -> list[ir.Value | int]:
    """The sizes of the slice that a `tensor.insert_slice` writes: numbers, or indices."""
    counts = list(op.attributes["operandSegmentSizes"])
    given = iter(list(op.operands)[sum(counts[:3]) : sum(counts[:4])])
    unknown = ir.ShapedType.get_dynamic_size()
    return [next(given) if size == unknown else size for size in ir.DenseI64ArrayAttr(op.attributes["static_sizes"])]


def _compare(op: ir.Operation, given: Sequence[Any]) -> bool:
    predicates = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
    return bool(predicates[ir.IntegerAttr(op.attributes["predicate"]).value](*given))


SCALAR_OPS: Mapping[str, Callable[[ir.Operation, Sequence[Any]], Any]] = {
    "arith.constant": _constant,
    "arith.index_cast": lambda op, given: given[0],
    "arith.addi": lambda op, given: given[0] + given[1],
    "arith.subi": lambda op, given: given[0] - given[1],
    "arith.andi": lambda op, given: given[0] & given[1],
    "arith.maxsi": lambda op, given: max(given),
    "arith.minsi": lambda op, given: min(given),
    "arith.cmpi": _compare,
    "tensor.extract": lambda op, given: given[0][tuple(given[1:])].item(),
    "tensor.from_elements": _from_elements,
    "tensor.empty": _empty,
    "tensor.cast": lambda op, given: given[0],
    "tensor.insert_slice": _insert_slice,
}
"""The ops between dl ops, from an op and what its operands are: arrays, and Python numbers for scalars."""
