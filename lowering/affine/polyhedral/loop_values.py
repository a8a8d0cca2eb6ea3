"""Which pairs of instances meet in one iteration of a loop, and which run the other way along it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

import islpy as isl

from dlc.lowering.affine.polyhedral.model import Statement

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out
_SMALLER = isl.Map("{ [a] -> [b] : b < a }")
_LARGER = isl.Map("{ [a] -> [b] : b > a }")


class LoopValues:
    """The variable of a loop as a function of instances, to be compared at both ends of pairs of them.

    Relations between two statements are made once. Those between values are composed with the values: comparing the functions
    themselves takes isl three times as long where they are quotients.
    """

    def __init__(self, value: isl.UnionPwAff) -> None:
        self._maps = {one.get_tuple_name(_IN): one for one in maps_of(isl.UnionMap.from_union_pw_aff(value))}
        self._known: dict[tuple[str, str, isl.Map | None], isl.Map] = {}

    def equal(self, pairs: isl.Map) -> isl.Map:
        """Those of `pairs`, from instances of one statement to those of one, with the same value at both ends."""
        return self._related(pairs, None)

    def falling(self, pairs: isl.Map) -> isl.Map:
        """Those whose second instance has the smaller value."""
        return self._related(pairs, _SMALLER)

    def rising(self, pairs: isl.Map) -> isl.Map:
        """Those whose second instance has the larger value."""
        return self._related(pairs, _LARGER)

    def different(self, pairs: isl.Map) -> isl.Map:
        """Those with another value."""
        return self.falling(pairs).union(self.rising(pairs)).coalesce()

    def is_same(self, pairs: isl.Map) -> bool:
        """Whether all pairs have the same value at both ends. Rising ones come first: schedules that are legal have no others."""
        return bool(self.rising(pairs).is_empty() and self.falling(pairs).is_empty())

    def _related(self, pairs: isl.Map, how: isl.Map | None) -> isl.Map:
        ends = pairs.get_tuple_name(_IN), pairs.get_tuple_name(_OUT)
        if ends[0] not in self._maps or ends[1] not in self._maps:
            return isl.Map.empty(pairs.get_space())
        key = *ends, how
        if key not in self._known:
            first = self._maps[ends[0]] if how is None else self._maps[ends[0]].apply_range(how)
            self._known[key] = first.apply_range(self._maps[ends[1]].reverse())
        return pairs.intersect(self._known[key])


def loop_variable(statement: Statement, depth: int) -> isl.PwAff:
    """The variable of the statement's loop at `depth`, for its instances."""
    space = isl.LocalSpace.from_space(statement.domain.get_space())
    variable = isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.set, depth))
    return variable.intersect_domain(statement.domain)


def tile_number(values: isl.UnionPwAff, size: int) -> isl.UnionPwAff:
    """The number of the tile of `size` that each value lies in."""
    return values if size == 1 else values.scale_down_val(isl.Val(size)).floor()


def place_in_tile(values: isl.UnionPwAff, size: int) -> isl.UnionPwAff:
    """The place of each value in its tile of `size`."""
    return values.sub(tile_number(values, size).scale_val(isl.Val(size)))


def ends_of(values: isl.UnionPwAff) -> tuple[isl.Val, isl.Val]:
    """The least and the largest value: infinite where there is none, NaN for both where there are no values.

    isl's own functions for that refuse some quotients: "expecting integer affine expression".
    """
    found = isl.UnionMap.from_union_pw_aff(values).range()
    if found.is_empty():
        return isl.Val.nan(values.get_ctx()), isl.Val.nan(values.get_ctx())
    numbers = isl.Set.from_union_set(found)
    return numbers.dim_min_val(0), numbers.dim_max_val(0)


def maps_of(relation: isl.UnionMap) -> Iterator[isl.Map]:
    """The relations that a union consists of, one for each two spaces."""
    found = relation.get_map_list()
    return (found.get_map(at) for at in range(found.n_map()))


def union_of(relations: Iterable[isl.Map], space: isl.Space) -> isl.UnionMap:
    """The union of relations; `space` is that of their parameters."""
    return reduce(isl.UnionMap.union, map(isl.UnionMap.from_map, relations), isl.UnionMap.empty(space))
