"""Whole numbers and truth values beside tensors, which decide on branches and loops: what is known of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.dialects import dl
from dlc.dialects.dl.control import CONTROL
from dlc.dialects.dl.types import NUMPY_DTYPES, tensor_type, width_of, wrapped
from dlc.lowering.dl.matching import attributes_of, constant_array, source, type_of

_SIGNED_COMPARISONS: Sequence[Callable[[int, int], bool]] = (
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
)
_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.andi": operator.and_,
    "arith.maxsi": max,
    "arith.minsi": min,
}


def control_ops(operation: ir.Operation) -> list[ir.Operation]:
    """The branches and loops below an op, one before those inside it."""
    return [op for op in nested_ops(operation) if op.name in CONTROL]


def known_scalar(value: ir.Value) -> int | None:
    """The number that `value`, an index or an integer, always is (a truth value is 0 or 1); None where that is not known."""
    op = source(value)
    if op is None:
        return None
    if op.name == "arith.constant":
        given = op.attributes["value"]
        return int(ir.IntegerAttr(given).value != 0 if _is_bool(value.type) else ir.IntegerAttr(given).value)
    if op.name == "tensor.extract":
        return _extracted(op)
    if op.name in ("arith.index_cast", "arith.extui", "arith.extsi") and not _is_bool(op.operands[0].type):
        return _converted(op)
    if op.name in _ARITHMETIC or op.name == "arith.cmpi":
        return _computed(op)
    return None


def _converted(op: ir.Operation) -> int | None:
    number = known_scalar(op.operands[0])
    if number is not None and op.name == "arith.extui":
        number &= (1 << _width(op.operands[0].type)) - 1
    return None if number is None else wrapped(number, _width(op.results[0].type))


def _width(kind: ir.Type) -> int:
    """Bits of an integer; an index has those of i64."""
    return kind.width if isinstance(kind, ir.IntegerType) else width_of("i64")


def is_less(op: ir.Operation) -> bool:
    """Whether an op compares two signed numbers, and holds where the first is less."""
    predicate = ir.IntegerAttr(op.attributes["predicate"]).value if op.name == "arith.cmpi" else len(_SIGNED_COMPARISONS)
    return predicate < len(_SIGNED_COMPARISONS) and _SIGNED_COMPARISONS[predicate] is operator.lt


def _is_bool(kind: ir.Type) -> bool:
    return isinstance(kind, ir.IntegerType) and kind.width == 1


def _extracted(op: ir.Operation) -> int | None:
    shape = source(op.operands[0], "dl.shape_of")
    if shape is not None:
        return _extracted_size(op, shape)
    array = constant_array(op.operands[0])
    if array is None or array.dtype.kind not in "iub" or array.size != 1:
        return None
    return int(array.reshape(-1)[0])


def _extracted_size(op: ir.Operation, shape: ir.Operation) -> int | None:
    """The size that `op` takes from the list that the `dl.shape_of` op `shape` gives."""
    given = attributes_of(shape)
    dims, place = type_of(shape.operands[0]).shape[given["start"] : given["end"]], known_scalar(op.operands[1])
    size = None if place is None or not 0 <= place < len(dims) else dims[place]
    return size if isinstance(size, int) else None


def _computed(op: ir.Operation) -> int | None:
    left = known_scalar(op.operands[0])
    right = None if left is None else known_scalar(op.operands[1])
    if left is None or right is None:
        return None
    if op.name != "arith.cmpi":
        ordered = op.name in ("arith.maxsi", "arith.minsi") and _is_bool(op.results[0].type)  # a sign, which is -1 there
        return None if ordered else wrapped(_ARITHMETIC[op.name](left, right), _width(op.results[0].type))
    predicate = ir.IntegerAttr(op.attributes["predicate"]).value
    if _is_bool(op.operands[0].type) and predicate >= _SIGNED_COMPARISONS.index(operator.lt):
        return None
    return int(_SIGNED_COMPARISONS[predicate](left, right)) if predicate < len(_SIGNED_COMPARISONS) else None


def fold_scalars(function: ir.Operation) -> None:
    """Constants for what is known: scalars become `arith.constant`, tensors of them `dl.constant`."""
    for op in nested_ops(function):
        if len(op.results) != 1 or op.name in ("arith.constant", *CONTROL):
            continue
        if op.name == "tensor.from_elements":
            _fold_elements(op)
            continue
        kind = op.results[0].type
        known = known_scalar(op.results[0]) if isinstance(kind, (ir.IndexType, ir.IntegerType)) else None
        if known is not None:
            with op.location, ir.InsertionPoint(op):
                op.results[0].replace_all_uses_with(constant_scalar(known, kind))
            op.erase()


def erase_unused_scalars(function: ir.Operation) -> None:
    """Erase ops on scalars whose results nothing uses, wherever they are."""
    for op in reversed(nested_ops(function)):
        if op.name.startswith("arith.") and not any(True for result in op.results for _ in result.uses):
            op.erase()


def constant_scalar(number: int, kind: ir.Type) -> ir.Value:
    """An `arith.constant` at the current place."""
    attributes = {"value": ir.IntegerAttr.get(kind, number)}
    found: ir.Value = ir.Operation.create("arith.constant", results=[kind], attributes=attributes).result
    return found


def _fold_elements(op: ir.Operation) -> None:
    numbers, kind = [known_scalar(operand) for operand in op.operands], tensor_type(op.results[0].type)
    if kind is None or any(number is None for number in numbers):
        return
    shape = [dim for dim in kind.shape if isinstance(dim, int)]
    with op.location, ir.InsertionPoint(op):
        op.results[0].replace_all_uses_with(dl.constant(value=np.array(numbers, NUMPY_DTYPES[kind.dtype]).reshape(shape)))
    op.erase()
