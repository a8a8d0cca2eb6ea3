"""Subscripts that leave the static sizes of memrefs."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from dlc._mlir import ir
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.polyhedral.model import Scop


@dataclass(frozen=True, eq=False)
class OutOfBounds:
    """Instances of a statement whose `access` is to elements that the memref has not, and these elements.

    `is_certain` tells whether that happens for all values of the parameters; otherwise for some.
    """

    access: MemRefAccess
    relation: isl.Map
    is_certain: bool


def out_of_bounds(scop: Scop) -> list[OutOfBounds]:
    """The accesses that leave their memref below 0 or beyond a static size, in the order of the text."""
    found = []
    for statement in scop.statements:
        for access in statement.accesses:
            outside = _outside(access)
            if not outside.is_empty():
                found.append(OutOfBounds(access, outside, scop.context.is_subset(outside.params())))
    return found


def _outside(access: MemRefAccess) -> isl.Map:
    """The part of an access's relation whose elements do not exist."""
    if not access.array.is_memory:
        return isl.Map.empty(access.relation.get_space())
    first, rank = len(access.array.loops), access.array.rank
    kind = ir.MemRefType(access.array.value.type)
    dims = [f"o{axis}" for axis in range(rank)]
    bounds = [f"{dim} >= 0" for dim in dims[first:]]
    bounds += [f"{dims[first + axis]} < {kind.shape[axis]}" for axis in range(kind.rank) if kind.is_static_dim(axis)]
    inside = isl.Set(f"{{ {access.array.name}[{', '.join(dims)}] : {' and '.join(bounds)} }}")
    return access.relation.subtract_range(inside).coalesce()
