"""What the accesses of a chain of loops touch: subscripts as sums of the loops' variables, and how many lines that comes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd, prod

import islpy as isl

from dlc.lowering.affine.cost.strides import layout, linear_subscripts
from dlc.lowering.affine.dependences.band_nests import Member
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.polyhedral.model import Scop
from dlc.targets.machine import L1_WAY_BYTES


@dataclass(frozen=True, eq=False)
class Reference:
    """An access whose subscript number `dim` is the sum of `factors[dim][member]` times that loop's variable, and of what is fixed.

    `strides` are the memref's, in elements. Axes that a view has joined count as one.
    """

    access: MemRefAccess
    factors: tuple[tuple[int, ...], ...]
    strides: tuple[int, ...]
    element_bytes: int

    @property
    def is_joined(self) -> bool:
        """Whether some of its dims are several of the memref."""
        return len(self.factors) < self.access.array.rank

    def moves_along(self, member: int) -> bool:
        """Whether another value of the loop leads to another element."""
        return member in self.dependent_loops

    @cached_property
    def dependent_loops(self) -> tuple[int, ...]:
        """The loops that lead to other elements."""
        return tuple(sorted({at for factors in self.factors for at, factor in enumerate(factors) if factor}))

    def stride(self, member: int) -> int:
        """Elements from one iteration of the loop to the next."""
        return sum(factors[member] * stride for factors, stride in zip(self.factors, self.strides, strict=True))

    def box(self, extents: Sequence[int]) -> tuple[int, ...]:
        """The number of values of each subscript, for so many iterations of each loop."""
        sizes = (1 + sum(abs(factor) * (extents[at] - 1) for at, factor in self._moves[dim]) for dim in range(len(self.factors)))
        return tuple(sizes)

    @cached_property
    def _moves(self) -> list[list[tuple[int, int]]]:
        """The loops that move each subscript, with their factors."""
        return [[(at, factor) for at, factor in enumerate(factors) if factor] for factors in self.factors]

    @cached_property
    def _steps(self) -> list[tuple[int, int]]:
        """Bytes from one value of a subscript to the next, and which subscript, the least first."""
        return sorted((abs(stride) * self.element_bytes, dim) for dim, stride in enumerate(self.strides))

    def runs(self, extents: Sequence[int], unit: int) -> Runs:
        """The bytes that those iterations touch; gaps smaller than `unit` count as touched."""
        box = self.box(extents)
        length, count, distance = self.element_bytes, 1, 0
        for step, dim in self._steps:
            if box[dim] == 1:
                continue
            if count == 1 and step <= max(length, unit):
                length += (box[dim] - 1) * step
            else:
                distance = distance or step
                count *= box[dim]
        return Runs(count, length, distance)


@dataclass(frozen=True)
class Runs:
    """`count` runs of `length` bytes, the nearest of which begin `distance` bytes apart (0 for a single one)."""

    count: int
    length: int
    distance: int = 0

    def units(self, unit: int) -> int:
        """Lines or pages that the runs lie in, if they begin with one."""
        return self.count * -(-self.length // unit)

    def occupied(self, unit: int) -> int:
        """As `units`, with those that runs in the same sets of the first-level cache keep from being used."""
        lines = self.units(unit)
        if not self.distance:
            return lines
        starts = min(self.count, L1_WAY_BYTES // gcd(self.distance, L1_WAY_BYTES))
        reached = min(L1_WAY_BYTES, starts * -(-self.length // unit) * unit)
        return lines if self.count <= starts else lines * L1_WAY_BYTES // reached


def packed_runs(reference: Reference, extents: Sequence[int]) -> Runs:
    """The same elements side by side."""
    return Runs(1, prod(reference.box(extents)) * reference.element_bytes)


def references(scop: Scop, node: isl.ScheduleNode, members: Sequence[Member]) -> list[Reference] | None:
    """Those of all accesses below the chain of `node`; None where a subscript is no such sum, or a layout is not known."""
    times = node.get_prefix_schedule_union_map()
    depth = node.get_schedule_depth()
    for member in members:
        times = times.flat_range_product(isl.UnionMap.from_union_pw_aff(member.value))
    found: list[Reference] = []
    for statement in scop.statements:
        own = times.intersect_domain(isl.UnionSet.from_set(statement.domain))
        if own.is_empty():
            continue
        instances = isl.Map.from_union_map(own).reverse()
        for access in statement.accesses:
            reference = _reference(access, instances, depth, len(members))
            if reference is None:
                return None
            found.append(reference)
    return found


def _reference(access: MemRefAccess, instances: isl.Map, depth: int, count: int) -> Reference | None:
    strides = layout(access)
    elements = instances.apply_range(access.relation)
    if strides is None or not access.array.is_memory or access.array.loops:
        return None
    subscripts = linear_subscripts(access, elements, strides)
    if subscripts is None:
        return None
    factors = [[subscript.get_coefficient_val(isl.dim_type.in_, depth + at) for at in range(count)] for subscript, _ in subscripts]
    if not all(value.is_int() for row in factors for value in row):
        return None
    numbers = tuple(tuple(int(str(value)) for value in row) for row in factors)
    return Reference(access, numbers, tuple(stride for _, stride in subscripts), access.array.element_bytes)
