"""Which elements the iterations of a loop touch, and the boxes that hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.schedule.iterations import value_map
from dlc.lowering.affine.schedule.loop_tree import LoopNode


def footprint(accesses: Sequence[MemRefAccess], loops: Sequence[LoopNode], domain: isl.UnionSet) -> isl.Map | None:
    """Values of `loops` to the elements that `accesses` touch for instances of `domain`; None where they touch none."""
    found: isl.Map | None = None
    for access in accesses:
        relation = isl.UnionMap.from_map(access.relation).intersect_domain(domain)
        if relation.is_empty():
            continue
        touched = isl.Map.from_union_map(value_map(loops, relation.domain()).reverse().apply_range(relation))
        found = touched if found is None else found.union(touched)
    return None if found is None else found.coalesce()


@dataclass(frozen=True, eq=False)
class FixedBox:
    """The elements from `first`, a function of the values of loops, `shape` in each dim."""

    first: isl.PwMultiAff
    shape: tuple[int, ...]

    def places(self, buffer: str) -> isl.Map:
        """`[loops -> A[e]] -> buffer[e - first(loops)]`"""
        first = isl.Map.from_pw_multi_aff(self.first)
        space = first.get_space()
        pairs = isl.Map.from_domain_and_range(isl.Set.universe(space.domain()), isl.Set.universe(space.range()))
        wrapped = pairs.range_map()
        distance = wrapped.sum(pairs.domain_map().apply_range(first).neg())
        return distance.set_tuple_name(isl.dim_type.out, buffer)


def box_around(elements: isl.Map) -> FixedBox | None:
    """A box of constant shape that holds the `elements` of each iteration, small in each dim; None where there is none."""
    rank = elements.dim(isl.dim_type.out)
    columns = [_range_of(_column(elements, dim)) for dim in range(rank)]
    if any(column is None for column in columns):
        return None
    space = elements.get_space()
    firsts = isl.MultiPwAff.zero(space)
    for dim, column in enumerate(columns):
        assert column is not None
        firsts = firsts.set_pw_aff(dim, column[0])
    return FixedBox(isl.PwMultiAff.from_multi_pw_aff(firsts), tuple(column[1] for column in columns if column is not None))


def _column(elements: isl.Map, dim: int) -> isl.Map:
    """Iterations to the subscripts in one dim."""
    count = elements.dim(isl.dim_type.out)
    plain = elements.project_out(isl.dim_type.out, dim + 1, count - dim - 1).project_out(isl.dim_type.out, 0, dim)
    return plain.coalesce()


def _range_of(column: isl.Map) -> tuple[isl.PwAff, int] | None:
    """The first subscript and the number of subscripts of an interval around those of each iteration."""
    candidates: list[isl.Aff] = []
    isl.PwMultiAff.from_map(column.lexmin()).foreach_piece(lambda _, value: candidates.append(value.get_aff(0)))
    found: list[tuple[isl.PwAff, int]] = []
    for candidate in candidates:
        first = isl.PwAff.from_aff(candidate)
        distances = column.sum(isl.Map.from_pw_aff(first).neg()).range().project_out_all_params()
        if not distances.is_bounded() or int(str(distances.dim_min_val(0))) < 0:
            continue
        found.append((first, int(str(distances.dim_max_val(0))) + 1))
    return min(found, key=lambda one: one[1]) if found else None
