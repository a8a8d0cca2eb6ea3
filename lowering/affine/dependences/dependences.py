"""Exact dependences between instances of statements, from all pairs of accesses to one element; see also `last_writers.py`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import islpy as isl

from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.polyhedral.execution_order import comes_first, order_of, unordered
from dlc.lowering.affine.polyhedral.model import Scop, union_map

Kind = Literal["flow", "anti", "output", "input"]

_KINDS: dict[tuple[bool, bool], Kind] = {
    (True, False): "flow",
    (False, True): "anti",
    (True, True): "output",
    (False, False): "input",
}

ORDERING: tuple[Kind, ...] = ("flow", "anti", "output")
"""The kinds that a schedule must keep; reads of the same element (input) only tell what is worth keeping close."""


@dataclass(frozen=True, eq=False)
class Dependence:
    """`relation` takes instances of the source to instances of the sink that touch the same element later.

    One that `is_nearest` leaves out pairs with a write of the element between: only all of a kind together order what it orders.
    """

    kind: Kind
    source: MemRefAccess
    sink: MemRefAccess
    relation: isl.Map
    is_nearest: bool = False


@dataclass(frozen=True, eq=False)
class Race:
    """Two accesses to one element, one of them a write, in iterations of an `affine.parallel` that have no order."""

    one: MemRefAccess
    other: MemRefAccess
    relation: isl.Map


def memory_dependences(scop: Scop, kinds: Sequence[Kind] = ORDERING) -> list[Dependence]:
    """Every pair of accesses to one element, one before the other, transitive pairs included."""
    orders = ExecutionOrder(scop)
    found = []
    for source, sink in _pairs(scop, kinds):
        relation = _same_element(source, sink)
        if not relation.is_empty():
            relation = relation.intersect(orders.before(source, sink)).coalesce()
        if not relation.is_empty():
            found.append(Dependence(kind_of(source, sink), source, sink, relation))
    return found


def races(scop: Scop) -> list[Race]:
    """The pairs that a parallel loop of the input leaves without an order: defects of the input."""
    if not any(loop.is_parallel for statement in scop.statements for loop in statement.loops):
        return []
    found = []
    for one, other in _pairs(scop, ORDERING):
        apart = unordered(scop.by_name[one.statement_name], scop.by_name[other.statement_name])
        relation = _same_element(one, other).intersect(apart).coalesce()
        if not relation.is_empty():
            found.append(Race(one, other, relation))
    return found


def kind_of(source: MemRefAccess, sink: MemRefAccess) -> Kind:
    """What a dependence between the two is called."""
    return _KINDS[source.writes, sink.writes]


def _same_element(source: MemRefAccess, sink: MemRefAccess) -> isl.Map:
    return source.relation.apply_range(sink.relation.reverse())


@dataclass
class ExecutionOrder:
    """The order of statements' instances, computed once for each pair."""

    scop: Scop
    sequential: bool = False
    """Whether iterations of an `affine.parallel` have the order of a loop."""

    def __post_init__(self) -> None:
        self.known: dict[tuple[str, str, bool], isl.Map] = {}

    def before(self, first: MemRefAccess, second: MemRefAccess) -> isl.Map:
        """Tuples of the statement of `first` to those of the statement of `second` where `first` comes before `second`."""
        one, other = first.statement_name, second.statement_name
        key = (one, other, one == other and comes_first(first, second))
        if key not in self.known:
            statements = self.scop.by_name
            self.known[key] = order_of(statements[one], statements[other], same_instance=key[2], sequential=self.sequential)
        return self.known[key]


def _pairs(scop: Scop, kinds: Iterable[Kind]) -> Iterator[tuple[MemRefAccess, MemRefAccess]]:
    """All ordered pairs of accesses to the same array that make one of `kinds`."""
    wanted = {pair for pair, kind in _KINDS.items() if kind in set(kinds)}
    for accesses in by_array(scop):
        for source in accesses:
            for sink in accesses:
                if (source.writes, sink.writes) in wanted:
                    yield source, sink


def by_array(scop: Scop) -> list[list[MemRefAccess]]:
    """The accesses of each array, in the order of the text."""
    found: dict[str, list[MemRefAccess]] = defaultdict(list)
    for statement in scop.statements:
        for access in statement.accesses:
            found[access.array.name].append(access)
    return list(found.values())


def joined(context: isl.Set, dependences: Sequence[Dependence]) -> isl.UnionMap:
    """The dependences of a scop with the `context` as one relation between instances.

    Pairs within one instance, which no schedule can break, are left out.
    """
    whole = union_map([dependence.relation for dependence in dependences], context)
    return whole.subtract(whole.domain().union(whole.range()).identity()).coalesce()
