"""Places in memory whose sizes run time knows: elements at strides that are numbers, and at strides that are products of sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from dlc._mlir import arith, ir, memref
from dlc.analysis.buffers import defining_op, root_of, strides_of
from dlc.lowering.affine.ir.accesses import MemRefAccess, is_plain_view
from dlc.lowering.affine.ir.expressions import Linear

_Stride = tuple[int, tuple[int, ...]]
"""Elements as a number times the sizes of memory along some axes."""


@dataclass(frozen=True, eq=False)
class OpenPart:
    """What `form` adds to a place: so many times `factor` elements, times the sizes of the memory along the dynamic `axes`."""

    form: Linear
    factor: int
    axes: tuple[int, ...]

    def stride(self, memory: ir.Value) -> ir.Value:
        """Emit the elements from one step of the form to the next."""
        found = _index(self.factor)
        for axis in self.axes:
            found = arith.muli(found, memref.dim(memory, _index(axis)))
        return found


def has_open_rows(kind: ir.MemRefType) -> bool:
    """Whether elements lie one after the other, row by row from the start on, in a shape of which run time knows some sizes."""
    return not kind.has_static_shape and kind.affine_map == ir.AffineMap.get_identity(kind.rank)


def parts_of(access: MemRefAccess) -> tuple[Linear, tuple[OpenPart, ...]] | None:
    """The place of an access to memory with open rows: what it is at strides that are numbers, and the rest. None where subscripts
    are not linear."""
    return _parts(access, _row_strides(ir.MemRefType(access.memref.type)), 0)


def parts_in_root(access: MemRefAccess) -> tuple[Linear, tuple[OpenPart, ...]] | None:
    """The same of an access through a view, in its root, whose sizes the parts are multiplied with. None where the view does not
    start at a known place, or its strides are no products of sizes."""
    kind, strides = ir.MemRefType(access.memref.type), _strides(access.memref)
    _, offset = strides_of(kind)
    if strides is None or offset == ir.ShapedType.get_dynamic_stride_or_offset() or not is_plain_view(access.memref):
        return None
    return _parts(access, strides, offset)


def _parts(access: MemRefAccess, strides: Sequence[_Stride], offset: int) -> tuple[Linear, tuple[OpenPart, ...]] | None:
    known, open_parts = Linear({}, offset), list[OpenPart]()
    for form, (factor, axes) in zip(access.starts, strides, strict=True):
        if form is None:
            return None
        if not axes:
            known = known.plus(form, factor)
        elif form.factors or form.constant:
            open_parts.append(OpenPart(form, factor, axes))
    return known, tuple(open_parts)


def _strides(value: ir.Value) -> list[_Stride] | None:
    """The strides of a view of memory with open rows; None where they are no products of that memory's sizes."""
    kind, op = ir.MemRefType(value.type), defining_op(value)
    if value == root_of(value) or op is None:
        return _row_strides(kind) if has_open_rows(kind) else None
    found = _strides(op.operands[0])
    if found is None or op.name == "memref.cast":
        return found
    if op.name == "memref.subview":
        is_plain = kind.rank == len(found) and all(step == 1 for step in ir.DenseI64ArrayAttr(op.attributes["static_strides"]))
        return found if is_plain else None
    if op.name not in ("memref.expand_shape", "memref.collapse_shape"):
        return None
    groups = [
        [ir.IntegerAttr(axis).value for axis in ir.ArrayAttr(group)] for group in ir.ArrayAttr(op.attributes["reassociation"])
    ]
    if op.name == "memref.expand_shape":
        parts = [_expanded(stride, [_size(kind, axis) for axis in group]) for stride, group in zip(found, groups, strict=True)]
        return [stride for part in parts for stride in part or ()] if None not in parts else None
    source = ir.MemRefType(op.operands[0].type)
    return [found[next((axis for axis in reversed(group) if _size(source, axis) != 1), group[-1])] for group in groups]


def _row_strides(kind: ir.MemRefType) -> list[_Stride]:
    """Those of memory with open rows."""
    found: list[_Stride] = []
    factor, axes = 1, tuple[int, ...]()
    for axis in reversed(range(kind.rank)):
        found.append((factor, axes))
        size = _size(kind, axis)
        factor, axes = (factor, (axis, *axes)) if size is None else (factor * size, axes)
    return found[::-1]


def _expanded(stride: _Stride, sizes: Sequence[int | None]) -> list[_Stride] | None:
    """The strides of dims that one becomes; only the first may be of open size."""
    if None in sizes[1:]:
        return None
    return [(stride[0] * prod(size or 1 for size in sizes[at + 1 :]), stride[1]) for at in range(len(sizes))]


def _size(kind: ir.MemRefType, axis: int) -> int | None:
    """The size along an axis; None where run time knows it."""
    return None if kind.is_dynamic_dim(axis) else int(kind.shape[axis])


def flat_open(memory: ir.Value) -> ir.Value:
    """Emit a view of memory with open rows as one of a single dim."""
    kind = ir.MemRefType(memory.type)
    static = [size for axis, size in enumerate(kind.shape) if not kind.is_dynamic_dim(axis)]
    size = OpenPart(Linear({}), prod(static), tuple(axis for axis in range(kind.rank) if kind.is_dynamic_dim(axis)))
    dynamic = ir.ShapedType.get_dynamic_size()
    view = ir.MemRefType.get([dynamic], kind.element_type, memory_space=kind.memory_space)
    numbers = {"static_offsets": [0], "static_sizes": [dynamic], "static_strides": [1]}
    attributes: dict[str, ir.Attribute] = {name: ir.DenseI64ArrayAttr.get(given) for name, given in numbers.items()}
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, 0, 1, 0])
    return ir.Operation.create("memref.reinterpret_cast", [view], [memory, size.stride(memory)], attributes).results[0]


def _index(number: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), number)
