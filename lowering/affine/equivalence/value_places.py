"""Which elements of memory the values of a graph meet: what their operands are loaded from, and where they are stored."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from dlc.lowering.affine.equivalence.value_graph import ValueGraph, ValueNode
from dlc.lowering.policy import policy


def note_places(graph: ValueGraph) -> None:
    """Fill `places` of every node that computes, from memory that both functions have. Runs before loads are resolved."""
    for node in graph.nodes.values():
        if node.signature:
            for operand_number, operand in enumerate(node.operands):
                for key, place in _loaded(graph, operand.sources, policy().limits.place_depth):
                    _add(node, f"{operand_number} {key}", place)
    for use in graph.uses:
        if not use.writes or use.node.signature or not use.array.key or not use.node.operands:
            continue
        for source in use.node.operands[0].sources:
            target = graph.nodes.get(source.get_tuple_name(isl.dim_type.out))
            if target is not None and target.signature:
                _add(target, f"stored {use.array.key}", source.reverse().apply_range(use.elements))


def _add(node: ValueNode, key: str, place: isl.Map) -> None:
    node.places[key] = node.places[key].union(place) if key in node.places else place


def _loaded(graph: ValueGraph, sources: tuple[isl.Map, ...], depth: int) -> Iterator[tuple[str, isl.Map]]:
    """The elements that loads at the ends of `sources` read, by the key of their memory."""
    for source in sources:
        target = graph.nodes.get(source.get_tuple_name(isl.dim_type.out))
        if target is None or target.signature:
            continue
        if target.reads is not None:
            if target.reads.array.key:
                yield target.reads.array.key, source.apply_range(target.reads.elements)
        elif depth and target.operands:
            further = tuple(source.apply_range(one) for one in target.operands[0].sources)
            yield from _loaded(graph, further, depth - 1)


def agreeing(after: ValueNode, before: ValueNode, relation: isl.Map) -> isl.Map | None:
    """The pairs of instances that meet the same elements as those of `relation` do; None when these have none in common.

    Of the places of both that lie in one array, those count that are equal for all of `relation`.
    """
    found: isl.Map | None = None
    for key, place in after.places.items():
        for other, target in before.places.items():
            if key.split()[-1] != other.split()[-1]:
                continue
            equal = place.apply_range(target.reverse())
            if relation.is_subset(equal):
                found = equal if found is None else found.intersect(equal)
    return found
