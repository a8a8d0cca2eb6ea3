"""Which elements memory ops read and write: lanes beside the one at their subscripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.affine.ir.accesses import access_of
from dlc.lowering.affine.polyhedral.model import ExtractionError


@dataclass(frozen=True)
class Lanes:
    """The elements of a vector access: `sizes[k]` lanes along the memref's axis `axes[k]`; `is_clipped` of them where those
    outside of the memref are left out."""

    axes: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    is_clipped: tuple[bool, ...] = ()


def lanes_of(op: ir.Operation) -> Lanes:
    """What a memory op reads or writes beside the element at its subscripts. Raises ExtractionError for masks."""
    access = access_of(op)
    kind, memref = access.kind, access.memref.type
    if not isinstance(kind, ir.VectorType) or kind == memref.element_type:
        return Lanes()
    if op.name.startswith("vector.transfer"):
        return _transfer_lanes(op, kind)
    if isinstance(memref.element_type, ir.VectorType):
        raise ExtractionError(op, "it reads or writes parts of elements that are vectors", "make the memref one of scalars")
    axes = tuple(range(memref.rank - kind.rank, memref.rank))
    return Lanes(axes, tuple(kind.shape), (False,) * kind.rank)


def _transfer_lanes(op: ir.Operation, kind: ir.VectorType) -> Lanes:
    """Lanes along the axes that the permutation map names; one that it broadcasts has one element."""
    if list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[-1]:
        raise ExtractionError(op, "its mask decides which elements it touches", "use loop bounds or affine.if instead of the mask")
    if kind.scalable:
        raise ExtractionError(op, "the number of its lanes is not known", "use vectors of fixed size")
    flags = [ir.BoolAttr(flag).value for flag in ir.ArrayAttr(op.attributes["in_bounds"])]
    found: list[tuple[int, int, bool]] = []
    for result, size, is_inside in zip(op.attributes["permutation_map"].value.results, kind.shape, flags, strict=True):
        expression = result.maybe_downcast()
        if isinstance(expression, ir.AffineDimExpr):
            found.append((expression.position, size, not is_inside))
    return Lanes(tuple(one[0] for one in found), tuple(one[1] for one in found), tuple(one[2] for one in found))


def spelled(texts: Sequence[str], lanes: Lanes) -> list[str]:
    """Subscripts with the lanes' variables `l0, l1, ...` added."""
    found = list(texts)
    for number, axis in enumerate(lanes.axes):
        found[axis] = f"({found[axis]} + l{number})"
    return found
