"""Value-based dependences: which write a read sees, which write ends what another wrote.

Feautrier, Dataflow analysis of array and scalar references, 1991: the last write is a lexicographic maximum. isl's own analysis
fails on some subscripts with divisions ("affine expression involves some of the domain dimensions") and takes three times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from dlc.lowering.affine.dependences.dependences import ORDERING, Dependence, ExecutionOrder, Kind, by_array, kind_of
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.polyhedral.model import Scop


@dataclass(frozen=True, eq=False)
class LiveIn:
    """Instances whose read `access` sees what the memory held before the scop, and the elements."""

    access: MemRefAccess
    relation: isl.Map


def value_dependences(scop: Scop, kinds: Sequence[Kind] = ORDERING) -> list[Dependence]:
    """The nearest pairs: the last write before a read (flow) or a write (output), the next write after a read (anti).

    Together they order all that `memory_dependences` orders; reads among themselves (input) have no such pairs.
    Iterations of an `affine.parallel` are taken in the order of a loop.
    """
    orders = ExecutionOrder(scop, sequential=True)
    found = []
    for accesses in by_array(scop):
        pairs = _Pairs(accesses, orders)
        for access in accesses:
            if ("output" if access.writes else "flow") in kinds:
                found += [_nearest(source, access, relation) for source, relation in pairs.last_writes(access)]
            if not access.writes and "anti" in kinds:
                found += [_nearest(access, sink, relation) for sink, relation in pairs.next_writes(access)]
    return found


def live_in_reads(scop: Scop) -> list[LiveIn]:
    """The reads that no write of the scop comes before."""
    orders = ExecutionOrder(scop, sequential=True)
    found = []
    for accesses in by_array(scop):
        pairs = _Pairs(accesses, orders)
        found += [LiveIn(access, pairs.unwritten(access)) for access in accesses if not access.writes]
    return [one for one in found if not one.relation.is_empty()]


def _nearest(source: MemRefAccess, sink: MemRefAccess, relation: isl.Map) -> Dependence:
    return Dependence(kind_of(source, sink), source, sink, relation, is_nearest=True)


class _Pairs:
    """Pairs of accesses to one element of an array, as relations between `touches`: instances, or, where an instance may touch
    several elements, instances with an element `[S0[i] -> A[x]]`.

    The instances of one access run in the order of their numbers, so that the last write by one access is a largest one, and
    what is left is to choose among accesses.
    """

    def __init__(self, accesses: Sequence[MemRefAccess], orders: ExecutionOrder) -> None:
        self.accesses = accesses
        self.orders = orders
        self.writes = [access for access in accesses if access.writes]
        self.has_elements = not all(access.relation.is_single_valued() for access in accesses)

    def last_writes(self, sink: MemRefAccess) -> list[tuple[MemRefAccess, isl.Map]]:
        """For each write that may be the last before `sink`, the pairs from it to `sink`."""
        found = {write: _simplified(self._before(write, sink).reverse()).lexmax() for write in self.writes}
        chosen = self._chosen(found, lambda one, other: self._order(one, other))
        return [(write, self._between_instances(relation.reverse())) for write, relation in chosen]

    def next_writes(self, source: MemRefAccess) -> list[tuple[MemRefAccess, isl.Map]]:
        """For each write that may be the next after `source`, the pairs from `source` to it."""
        found = {write: _simplified(self._before(source, write)).lexmin() for write in self.writes}
        chosen = self._chosen(found, lambda one, other: self._order(other, one).reverse())
        return [(write, self._between_instances(relation)) for write, relation in chosen]

    def unwritten(self, read: MemRefAccess) -> isl.Map:
        """The instances of `read`, with their elements, that no write comes before."""
        found = self._touches(read).domain()
        for write in self.writes:
            found = found.subtract(self._before(write, read).range())
        found = found.coalesce()
        return found.unwrap() if self.has_elements else read.relation.intersect_domain(found)

    def _chosen(
        self, found: Mapping[MemRefAccess, isl.Map], is_beaten: Callable[[MemRefAccess, MemRefAccess], isl.Map]
    ) -> Iterator[tuple[MemRefAccess, isl.Map]]:
        """Of functions from a touch to one of each write, the parts where no other's is nearer.

        `is_beaten(a, b)` relates touches of `a` to those of `b` that are nearer.
        """
        present = {write: relation for write, relation in found.items() if not relation.is_empty()}
        for write, relation in present.items():
            left = relation
            for other, choice in present.items():
                if other is write:
                    continue
                both = left.range_product(choice).intersect_range(is_beaten(write, other).wrap())
                left = left.subtract_domain(both.domain())
            if not left.is_empty():
                yield write, left.coalesce()

    def _before(self, source: MemRefAccess, sink: MemRefAccess) -> isl.Map:
        """The pairs of touches of one element, that of `source` first."""
        same = self._touches(source).apply_range(self._touches(sink).reverse())
        return same if same.is_empty() else same.intersect(self._order(source, sink)).coalesce()

    def _order(self, source: MemRefAccess, sink: MemRefAccess) -> isl.Map:
        """The touches of `source` to those of `sink` that come later, of whatever elements."""
        order = self.orders.before(source, sink)
        if not self.has_elements:
            return order
        elements = source.relation.range().get_space()
        return order.product(isl.Map.universe(elements.map_from_set()))

    def _touches(self, access: MemRefAccess) -> isl.Map:
        """Touches to their elements."""
        return access.relation.range_map() if self.has_elements else access.relation

    def _between_instances(self, relation: isl.Map) -> isl.Map:
        return relation.factor_domain().coalesce() if self.has_elements else relation


def _simplified(relation: isl.Map) -> isl.Map:
    """`relation` read anew from its text: composition leaves divisions by 1 behind, for which isl's lexmax loses points."""
    text = str(relation)
    return isl.Map(text) if "floor(" in text or " mod " in text else relation
