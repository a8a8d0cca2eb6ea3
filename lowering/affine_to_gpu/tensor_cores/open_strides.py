"""Places in memory whose sizes run time knows: elements at strides that are numbers, and at strides that are products of sizes."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from dlc._mlir import arith, ir, memref
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.ir.expressions import Linear


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
    kind, known, open_parts = ir.MemRefType(access.memref.type), Linear({}), list[OpenPart]()
    factor, axes = 1, tuple[int, ...]()
    for axis in reversed(range(kind.rank)):
        form = access.starts[axis]
        if form is None:
            return None
        if not axes:
            known = known.plus(form, factor)
        elif form.factors or form.constant:
            open_parts.append(OpenPart(form, factor, axes))
        if kind.is_dynamic_dim(axis):
            axes = (axis, *axes)
        else:
            factor *= kind.shape[axis]
    return known, tuple(open_parts)


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
