"""Blocks of the elements of an array, and the instances that belong to them by what they write (owner computes)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import islpy as isl

from dlc.lowering.affine.polyhedral.loop_values import ends_of, maps_of, union_of
from dlc.lowering.affine.polyhedral.model import Statement
from dlc.lowering.affine.schedule.iterations import on_instances

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, eq=False)
class WrittenElement:
    """The element of one array that each instance writes."""

    elements: isl.UnionMap
    array: str
    rank: int

    @classmethod
    def of(cls, statements: Sequence[Statement]) -> WrittenElement | None:
        """None where statements write several arrays or elements, or an array of one dim."""
        writes = [write for statement in statements for write in statement.writes]
        array = writes[0].array
        if len(writes) != len(statements) or any(write.array is not array for write in writes) or array.rank < 2:
            return None
        if not array.is_memory or not all(write.relation.is_single_valued() for write in writes):
            return None
        owned = [isl.UnionMap.from_map(write.relation.intersect_domain(_of(statements, write.statement_name))) for write in writes]
        return cls(reduce(lambda one, other: one.union(other), owned), array.name, array.rank)

    def coordinate(self, dim: int) -> isl.UnionPwAff:
        """The subscript number `dim` of each instance's element."""
        return isl.UnionPwMultiAff.from_union_map(self.elements).get_union_pw_aff(dim)

    def directions(self, validity: isl.UnionMap) -> tuple[int, ...] | None:
        """For each dim 1 where all dependences go to the same or greater subscripts, -1 where to the same or lesser ones.

        None where they go both ways along a dim, or never leave an element.
        """
        steps = validity.apply_domain(self.elements).apply_range(self.elements).deltas()
        if steps.is_empty():
            return None
        deltas = isl.Set.from_union_set(steps)
        found = []
        for dim in range(self.rank):
            low, high = deltas.dim_min_val(dim), deltas.dim_max_val(dim)
            if not low.is_neg() and low.is_int():
                found.append(1)
            elif not high.is_pos() and high.is_int():
                found.append(-1)
            else:
                return None
        return None if _is_origin(deltas) else tuple(found)


@dataclass(frozen=True, eq=False)
class ArrayTiles:
    """Blocks of `sizes` elements, counted along each dim in the direction of dependences."""

    owners: WrittenElement
    signs: Sequence[int]
    sizes: Sequence[int]

    def number(self, dim: int) -> isl.UnionPwAff:
        """The number of each instance's block along one dim."""
        along = self.owners.coordinate(dim).scale_val(isl.Val(self.signs[dim]))
        return along.scale_down_val(isl.Val(self.sizes[dim])).floor()

    def placed(self, value: isl.UnionPwAff) -> isl.UnionPwAff | None:
        """`value`, a subscript of each instance's element or the like, less what its block makes of it; None where it is none."""
        domain = value.domain()
        for dim in range(self.owners.rank):
            coordinate = self.owners.coordinate(dim).intersect_domain(domain)
            first = self.number(dim).scale_val(isl.Val(self.sizes[dim] * self.signs[dim])).intersect_domain(domain)
            for sign in (1, -1):
                rest = value.sub(coordinate.scale_val(isl.Val(sign)))
                low, high = ends_of(rest)
                if low.is_int() and low.eq(high):
                    return value.sub(first.scale_val(isl.Val(sign)))
        return None

    def place(self, dim: int) -> isl.UnionPwAff:
        """The place of each instance's element in its block along one dim, in the order of subscripts."""
        first = self.number(dim).scale_val(isl.Val(self.sizes[dim] * self.signs[dim]))
        place = self.owners.coordinate(dim).sub(first)
        return place if self.signs[dim] > 0 else place.add(on_instances(self.owners.elements.domain(), self.sizes[dim] - 1))

    @cached_property
    def relation(self) -> isl.UnionMap:
        """Instances to the numbers of their blocks, said by inequalities: quotients would stay in all that is made of it.

        What holds for the numbers is said, too: it follows for whole numbers alone, and polyhedra are simplified without.
        """
        plain = self.owners.elements.apply_range(isl.UnionMap.from_map(self._of_elements))
        exact = [one.intersect_range(one.range().remove_divs()) for one in maps_of(plain)]
        return union_of(exact, plain.get_space())

    @cached_property
    def _of_elements(self) -> isl.Map:
        """The elements of the array to the numbers of their blocks."""
        rank, name = self.owners.rank, self.owners.array
        subscripts = [f"e{dim}" for dim in range(rank)]
        numbers = [f"b{dim}" for dim in range(rank)]
        bounds = [
            f"{size}{number} <= {sign}{subscript} < {size}{number} + {size}"
            for size, number, sign, subscript in zip(self.sizes, numbers, self.signs, subscripts, strict=True)
        ]
        return isl.Map(f"{{ {name}[{', '.join(subscripts)}] -> [{', '.join(numbers)}] : {' and '.join(bounds)} }}")

    def waited_for(self, pairs: isl.UnionMap) -> isl.Set:
        """The blocks that others wait for which differ from them in their numbers along the first dim alone."""
        own = isl.UnionMap.from_map(self._of_elements)
        elements = pairs.apply_domain(self.owners.elements).apply_range(self.owners.elements).coalesce()
        waiting = isl.Map.from_union_map(elements.apply_domain(own).apply_range(own))
        for dim in range(1, self.owners.rank):
            waiting = waiting.equate(_IN, dim, _OUT, dim)
        return waiting.subtract(isl.Map.identity(waiting.get_space())).domain()


def _is_origin(deltas: isl.Set) -> bool:
    return all(deltas.plain_get_val_if_fixed(isl.dim_type.set, dim).is_zero() for dim in range(deltas.dim(isl.dim_type.set)))


def _of(statements: Sequence[Statement], name: str) -> isl.Set:
    return next(one.domain for one in statements if one.name == name)
