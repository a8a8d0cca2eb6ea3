"""Exact dependences between instances of statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import islpy as isl

from dlc.analysis.polyhedral.model import Access, Scop, union_map
from dlc.analysis.polyhedral.order import accesses_in_order

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
    """`relation` takes instances of the source to instances of the sink that touch the same element later."""

    kind: Kind
    source: Access
    sink: Access
    relation: isl.Map


def memory_dependences(scop: Scop, kinds: Sequence[Kind] = ORDERING) -> list[Dependence]:
    """Every pair of accesses to one element, one before the other, transitive pairs included."""
    found = []
    for source, sink in _pairs(scop):
        kind = _KINDS[source.writes, sink.writes]
        if kind not in kinds:
            continue
        same_element = source.relation.apply_range(sink.relation.reverse())
        relation = same_element.intersect(accesses_in_order(scop, source, sink)).coalesce()
        if not relation.is_empty():
            found.append(Dependence(kind, source, sink, relation))
    return found


def _pairs(scop: Scop) -> Iterator[tuple[Access, Access]]:
    """All ordered pairs of accesses to the same array."""
    accesses = [access for statement in scop.statements for access in statement.accesses]
    for source, sink in product(accesses, accesses):
        if source.array is sink.array:
            yield source, sink


def joined(scop: Scop, dependences: Sequence[Dependence]) -> isl.UnionMap:
    """The dependences as one relation between instances; pairs within one instance, which no schedule can break, left out."""
    whole = union_map([dependence.relation for dependence in dependences], scop.context)
    return whole.subtract(whole.domain().union(whole.range()).identity()).coalesce()
