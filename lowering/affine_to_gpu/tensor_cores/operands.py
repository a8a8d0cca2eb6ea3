"""Operands of contractions: what a sum of products multiplies, in memory that copies can read."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from dlc._mlir import ir
from dlc.analysis.buffers import is_allocation, root_of, strides_of
from dlc.lowering.affine.ir.accesses import MemRefAccess, access_of
from dlc.lowering.affine.ir.expressions import Linear
from dlc.lowering.affine.ir.loops import Loop, real_ops
from dlc.lowering.affine.ir.padding import PaddedCopy
from dlc.lowering.affine_to_gpu.tensor_cores.open_strides import OpenPart, has_open_rows, parts_in_root, parts_of

_NUMBERS = (ir.F16Type, ir.BF16Type, ir.F32Type, ir.F64Type, ir.IntegerType)
_WIDENED = {"arith.extf", "arith.extsi"}
_PRODUCTS = {"arith.mulf", "arith.muli"}


@dataclass(frozen=True, eq=False)
class Operand:
    """What is multiplied: elements of `memref`, which has no gaps, at the place that `form` gives; `load` loads them. Where a form
    of `inside` is negative or reaches the number beside it, there is none, and the operand is zero. Where sizes are known at run
    time only, `open_parts` are added to the place."""

    memref: ir.Value
    form: Linear
    element: ir.Type
    load: ir.Operation
    inside: tuple[tuple[Linear, int], ...] = ()
    open_parts: tuple[OpenPart, ...] = ()

    @property
    def bytes(self) -> int:
        """The size of an element."""
        return int(self.element.width) // 8

    def factor(self, loop: Loop) -> int:
        """Elements from one iteration of `loop` to the next."""
        return self.form.factors.get(loop.iv, 0)

    def is_open_along(self, loop: Loop) -> bool:
        """Whether an iteration of `loop` moves by a number of elements that run time knows."""
        return any(part.form.of(loop.iv) for part in self.open_parts)

    def moves_along(self, loop: Loop) -> bool:
        """Whether another element is multiplied in each iteration of `loop`."""
        return self.factor(loop) != 0 or self.is_open_along(loop)

    def open_strides(self) -> tuple[ir.Value, ...]:
        """Emit the strides of the open parts."""
        return tuple(part.stride(self.memref) for part in self.open_parts)

    @property
    def variables(self) -> set[ir.Value]:
        """What the place depends on."""
        return set(self.form.factors).union(*(part.form.factors for part in self.open_parts))


def operands_of(combiner: ir.Operation, body: ir.Block, padded: Mapping[ir.Value, PaddedCopy]) -> tuple[Operand, Operand] | None:
    """What is multiplied in `body`, which does nothing else but add it up."""
    product = next((value.owner for value in combiner.operands if is_result_of(value, _PRODUCTS)), None)
    if product is None:
        return None
    ops = {combiner, product.operation}
    found = []
    for value in product.operands:
        if is_result_of(value, _WIDENED):
            ops.add(value.owner.operation)
            value = value.owner.operands[0]
        operand = _operand(value, padded) if is_result_of(value, {"affine.load"}) else None
        if operand is None:
            return None
        ops.add(value.owner.operation)
        found.append(operand)
    lhs, rhs = found
    return (lhs, rhs) if ops == set(real_ops(body)) else None


def is_result_of(value: ir.Value, names: set[str]) -> bool:
    """Whether an op of one of these names gives a value."""
    return not isinstance(value, ir.BlockArgument) and value.owner.name in names


def _operand(value: ir.Value, padded: Mapping[ir.Value, PaddedCopy]) -> Operand | None:
    """The operand that an `affine.load` reads, where memory is known to start at a multiple of a copy's size.

    What it reads through a view with gaps, such as a part of each row, is an operand in the memory that it is a view of.
    """
    access = access_of(value.owner.operation)
    root = root_of(access.memref)
    if access.memref in padded and (unpadded := _unpadded(access, padded[access.memref])):
        return unpadded
    if has_open_rows(ir.MemRefType(access.memref.type)):
        return _open_operand(access, access.memref, parts_of(access))
    if access.distance is None and has_open_rows(ir.MemRefType(root.type)):
        return _open_operand(access, root, parts_in_root(access))
    is_whole = is_dense(ir.MemRefType(access.memref.type))
    memref, form = (access.memref, access.distance) if is_whole else (root, access.flat)
    kind = ir.MemRefType(memref.type)
    has_no_gaps = is_dense(kind) or has_open_rows(kind)
    if form is None or not has_no_gaps or not isinstance(kind.element_type, _NUMBERS) or not starts_aligned(root):
        return None
    return Operand(memref, form, kind.element_type, value.owner.operation)


def _open_operand(access: MemRefAccess, memref: ir.Value, parts: tuple[Linear, tuple[OpenPart, ...]] | None) -> Operand | None:
    """What a load reads of `memref`, of which run time knows some sizes, at these parts of a place."""
    element = ir.MemRefType(memref.type).element_type
    if parts is None or not isinstance(element, _NUMBERS) or not starts_aligned(access.root):
        return None
    return Operand(memref, parts[0], element, access.op, open_parts=parts[1])


def starts_aligned(root: ir.Value) -> bool:
    """Whether memory is known to start at a multiple of a copy's size."""
    return isinstance(root, ir.BlockArgument) or is_allocation(root)


def _unpadded(access: MemRefAccess, copy: PaddedCopy) -> Operand | None:
    """What a load of a copy with zeros around it reads of the source."""
    kind, places = ir.MemRefType(copy.source.type), [form for form in access.starts if form is not None]
    is_zero = getattr(copy.fill, "value", None) == 0
    if not is_zero or len(places) < len(access.starts) or not copy.has_known_sizes or not is_dense(kind):
        return None
    strides, _ = kind.get_strides_and_offset()
    form = Linear({})
    for place, stride in zip(copy.source_forms(places), strides, strict=True):
        form = form.plus(place, stride)
    inside = tuple(
        (place.plus(Linear({}, -axis.begin)), axis.extent)
        for place, axis in zip(places, copy.axes, strict=True)
        if not axis.is_whole
    )
    return Operand(copy.source, form, kind.element_type, access.op, inside)


def is_dense(kind: ir.MemRefType) -> bool:
    """Whether elements lie one after the other, row by row from the start on, in a static shape whose elements have numbers."""
    if not kind.has_static_shape or prod(kind.shape) > sys.maxsize:
        return False
    strides, offset = strides_of(kind)
    return offset == 0 and strides == [prod(kind.shape[axis + 1 :]) for axis in range(kind.rank)]
