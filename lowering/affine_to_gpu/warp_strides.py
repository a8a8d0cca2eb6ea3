"""How the accesses of a statement move along the loop that lies along warps, and which of them can be vectors there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import islpy as isl

from dlc.lowering.affine.cost.strides import access_strides, layout
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.ir.alignment import starts_aligned
from dlc.lowering.affine.polyhedral.grouping import is_free
from dlc.lowering.affine.polyhedral.loop_values import ends_of, place_in_tile
from dlc.lowering.affine.polyhedral.model import Scop, Statement
from dlc.lowering.affine.schedule.loop_tree import Leaf, LoopNode, Tree, around, loops_above, on_leaves, statement_names, walk
from dlc.lowering.affine_to_gpu.affine_vectorize_accesses import is_plain
from dlc.lowering.policy import policy
from dlc.targets.machine import VECTOR_BYTES, GpuMachine

_Strides = Mapping[MemRefAccess, int | None]


def extent_of(loop: LoopNode) -> int:
    """How many values the loop's variable has at most; a large number where that is not bounded."""
    low, high = ends_of(loop.values.intersect_domain(loop.domain))
    return int(str(high.sub(low))) + 1 if low.is_int() and high.is_int() else policy().limits.unbounded_trips


@dataclass(frozen=True, eq=False)
class WarpStrides:
    """The accesses of the statement that `leaf` runs in `loops`, of which number `dim` lies along warps, if one does."""

    scop: Scop
    statement: Statement
    loops: Sequence[LoopNode]
    leaf: Leaf
    dim: int | None

    @cached_property
    def _strides(self) -> Sequence[_Strides]:
        """In elements along the loop that lies along warps, and along the innermost one; those that are 0 may be left out."""
        dims = [0 if self.dim is None else self.dim, len(self.loops) - 1]
        values = [loop.values for loop in self.loops]
        return [dict(found) for found in access_strides(self.scop, values, self.leaf.domain, dims)]

    @cached_property
    def lanes(self) -> Mapping[MemRefAccess, int]:
        """Elements of the largest vectors along the loop that lies along warps, from where its variable is a multiple of them on,
        by access; those that can be no vectors are left out."""
        return {} if self.dim is None else self._lanes_along(self.loops[self.dim], self._strides[0])

    def _lanes_along(self, loop: LoopNode, strides: _Strides) -> Mapping[MemRefAccess, int]:
        """None where the ops have no copies (`vector_copies.py`)."""
        statement = self.statement
        if not all(is_plain(op) or is_free(op) for op in statement.ops) or not _may_move(statement):
            return {}
        found = {access: _lanes(access, self.leaf, loop) for access, stride in strides.items() if stride == 1}
        return {access: lanes for access, lanes in found.items() if lanes > 1}

    def may_take(self, width: int) -> bool:
        """Whether a thread may take `width` neighbours: each access that moves along them can be a vector, as single elements would
        lie apart in a warp, and where the last of them is an iteration, so are those before."""
        moved = [access for access, stride in self._strides[0].items() if stride != 0]
        if self.dim is None or self.taken > 1 or not all(access in self.lanes for access in moved):
            return False
        times = _times(self.loops, self.leaf)
        names = [f"i{place}" for place in range(len(self.loops))]
        starts = [f"{width} * floor({name} / {width})" if place == self.dim else name for place, name in enumerate(names)]
        return bool(times.apply(isl.Map(f"{{ [{', '.join(names)}] -> [{', '.join(starts)}] }}")).is_subset(times))

    @cached_property
    def taken(self) -> int:
        """How many neighbours a thread takes already, by an innermost loop of so few iterations that they make vectors; else 1."""
        if self.dim is None or self.dim == len(self.loops) - 1:
            return 1
        extent, (along, near) = extent_of(self.loops[-1]), self._strides
        follow = any(stride == 1 and along.get(access) == extent for access, stride in near.items())
        if not (1 < extent <= VECTOR_BYTES and follow):
            return 1
        return extent if extent <= max(self._near[1].values(), default=1) else 1

    @cached_property
    def _near(self) -> tuple[_Strides, Mapping[MemRefAccess, int]]:
        """Strides and lanes along the innermost loop."""
        return self._strides[1], self._lanes_along(self.loops[-1], self._strides[1])

    def left(self, width: int) -> float:
        """The share of its accesses that a thread does which takes `width` neighbours at once."""
        accesses, width = [access for access in self.statement.accesses if access.array.is_memory], max(width, self.taken)
        if width == 1 or not accesses:
            return 1.0
        near, lanes = self._near if self.taken > 1 else (self._strides[0], self.lanes)
        parts = (width if near.get(access, 0) == 0 else min(width, lanes.get(access, 1)) for access in accesses)
        return sum(1 / part for part in parts) / len(accesses)

    def sectors(self, width: int, facts: GpuMachine) -> float:
        """Sectors that memory moves for one iteration, where a thread takes `width` neighbours at once; all where no loop is."""
        if self.dim is None:
            return float(len(self.statement.accesses))
        return sum(self._sectors(access, width, facts) for access in self.statement.accesses)

    def _sectors(self, access: MemRefAccess, width: int, facts: GpuMachine) -> float:
        """Of one access: lanes of a warp are as many vectors apart as it takes for a thread's neighbours."""
        stride, lanes = self._strides[0].get(access, 0), self.lanes if width > 1 else {}
        if stride is None:
            return 1.0
        if self.taken > 1 and stride == self.taken and self._strides[1].get(access) == 1:
            stride, width, lanes = 1, self.taken, self._near[1]
        stride *= width // min(width, lanes.get(access, 1))
        return min(1.0, max(abs(stride) * access.array.element_bytes / facts.sector_bytes, 1 / facts.warp_threads))


def warp_strides(scop: Scop, above: Sequence[LoopNode], nest: Tree, dim: int | None) -> list[WarpStrides]:
    """Those of the statements of `nest` that run at all, where loop `dim` of `above` and of the nest's loops lies along warps."""
    return [WarpStrides(scop, _statement(scop, leaf), loops, leaf, dim) for loops, leaf in leaves_of(above, nest)]


def vector_widths(statements: Sequence[WarpStrides]) -> list[int]:
    """How many neighbours along the loop that lies along warps a thread may take at once in all of its statements, 1 first."""
    most = max((lanes for one in statements for lanes in one.lanes.values()), default=1)
    if most == 1 or not all(one.may_take(most) for one in statements):
        return [1]
    return [1 << power for power in range(most.bit_length())]


def with_neighbours(tree: Tree, values: isl.UnionPwAff, width: int) -> Tree:
    """The tree with a loop over `width` neighbours along `values` around each statement."""
    return on_leaves(tree, lambda leaf: around(place_in_tile(values, width), leaf)) if width > 1 else tree


def leaves_of(above: Sequence[LoopNode], nest: Tree) -> Iterator[tuple[list[LoopNode], Leaf]]:
    """The statements of `nest` that run at all, each with all loops around."""
    for path, node in walk(nest):
        if isinstance(node, Leaf) and not node.domain.is_empty():
            yield [*above, *loops_above(nest, path)], node


def _statement(scop: Scop, leaf: Leaf) -> Statement:
    (name,) = statement_names(leaf)
    return scop.by_name[name]


def _times(loops: Sequence[LoopNode], leaf: Leaf) -> isl.Set:
    """The values of `loops` in the instances that `leaf` runs."""
    domain = isl.Set.from_union_set(leaf.domain)
    space = domain.get_space().from_domain().add_dims(isl.dim_type.out, 1)
    maps = [isl.Map.from_pw_aff(loop.values.extract_pw_aff(space)) for loop in loops]
    return reduce(isl.Map.flat_range_product, maps).intersect_domain(domain).range()


def _may_move(statement: Statement) -> bool:
    """Whether no instance reads or writes what another one writes, in an array of both."""
    for at, first in enumerate(statement.accesses):
        for later in statement.accesses[at + 1 :]:
            shares = first.array is later.array and (first.writes or later.writes)
            if shares and (first.writes or not first.relation.is_equal(later.relation)):
                return False
    return True


def _lanes(access: MemRefAccess, leaf: Leaf, loop: LoopNode) -> int:
    strides = layout(access)
    if not access.array.is_memory or not strides or access.array.loops or not starts_aligned(access.array.value):
        return 1
    relation = access.relation.intersect_domain(leaf.domain.extract_set(access.relation.get_space().domain()))
    if not relation.is_single_valued():
        return 1
    subscripts, lanes = isl.PwMultiAff.from_map(relation), VECTOR_BYTES // access.array.element_bytes
    while lanes > 1 and not _is_multiple(subscripts, strides, loop, lanes):
        lanes //= 2
    return lanes


def _is_multiple(subscripts: isl.PwMultiAff, strides: Sequence[int], loop: LoopNode, lanes: int) -> bool:
    """Whether an access is at a multiple of `lanes` elements wherever the loop's variable is one."""
    space = subscripts.get_space().domain().from_domain().add_dims(isl.dim_type.out, 1)
    rest = loop.values.extract_pw_aff(space).intersect_domain(subscripts.domain())
    for axis, stride in enumerate(strides):
        if stride % lanes:
            rest = rest.sub(subscripts.get_pw_aff(axis).scale_val(isl.Val(stride)))
    return bool(rest.mod_val(isl.Val(lanes)).non_zero_set().is_empty())
