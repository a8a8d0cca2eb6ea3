"""Vector forms of the statements that copy between an array and a buffer."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import affine, ir, vector
from dlc.lowering.affine.ir.affine_builder import AffineScope
from dlc.lowering.affine.ir.expressions import coefficient
from dlc.lowering.affine.ir.values import zeros
from dlc.lowering.affine.polyhedral.packed_buffers import CopyStatement

Ends = tuple[Sequence[ir.AffineExpr], Sequence[ir.AffineExpr]]
"""The subscripts of what is read and of what is written."""


def ends_of(statement: CopyStatement, values: Sequence[ir.AffineExpr]) -> Ends:
    """The two ends among the values that a statement which copies gets."""
    rank = statement.accesses[0].array.rank
    return values[:rank], values[rank:]


def can_move_lanes(statement: CopyStatement, values: Sequence[ir.AffineExpr], lane: int, *, masked: bool) -> bool:
    """Whether neighbouring iterations along dim `lane` write neighbouring elements; masked ones must read such, too."""
    source, target = ends_of(statement, values)
    known = all(coefficient(subscript, lane) is not None for subscript in source)
    return _is_row(target, lane) and known and (not masked or _is_row(source, lane))


def _is_row(subscripts: Sequence[ir.AffineExpr], lane: int) -> bool:
    strides = [coefficient(subscript, lane) for subscript in subscripts]
    return bool(strides) and strides[-1] == 1 and not any(strides[:-1])


def move_lanes(
    statement: CopyStatement,
    lanes: Sequence[Sequence[ir.AffineExpr]],
    scope: AffineScope,
    lane: int,
    rows: Ends,
    mask: ir.Value | None,
) -> None:
    """Build the copy of one vector: `lanes` are the values for each lane, `rows` the ends in terms of dim `lane`."""
    memrefs = [scope.buffers.get(access.array.name, access.array.value) for access in statement.accesses]
    kind = ir.VectorType.get([len(lanes)], ir.MemRefType(memrefs[0].type).element_type)
    source, target = ends_of(statement, lanes[0])
    place = statement.location
    if mask is not None:
        filler = zeros(kind, place)
        loaded = vector.maskedload(kind, memrefs[0], _indices(scope, source, place), mask, filler, loc=place)
        vector.maskedstore(memrefs[1], _indices(scope, target, place), mask, loaded, loc=place)
        return
    if _is_row(rows[0], lane):
        map, indices = scope.map(source)
        loaded = affine.AffineVectorLoadOp(kind, memrefs[0], indices, ir.AffineMapAttr.get(map), loc=place).result
    else:
        elements = [_element(memrefs[0], scope, ends_of(statement, values)[0], place) for values in lanes]
        loaded = ir.Operation.create("vector.from_elements", [kind], elements, loc=place).results[0]
    map, indices = scope.map(target)
    ir.Operation.create("affine.vector_store", [], [loaded, memrefs[1], *indices], {"map": ir.AffineMapAttr.get(map)}, loc=place)


def _element(memref: ir.Value, scope: AffineScope, subscripts: Sequence[ir.AffineExpr], place: ir.Location) -> ir.Value:
    map, indices = scope.map(subscripts)
    kind = ir.MemRefType(memref.type).element_type
    return ir.Operation.create("affine.load", [kind], [memref, *indices], {"map": ir.AffineMapAttr.get(map)}, loc=place).results[0]


def _indices(scope: AffineScope, subscripts: Sequence[ir.AffineExpr], place: ir.Location) -> list[ir.Value]:
    found = []
    for subscript in subscripts:
        map, operands = scope.map([subscript])
        found.append(affine.AffineApplyOp(map, operands, loc=place).result)
    return found
