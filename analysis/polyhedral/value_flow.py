"""Which write a read sees: the last one to the element before it (P. Feautrier, "Dataflow analysis of array references")."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from dlc.analysis.polyhedral.model import union_map
from dlc.analysis.polyhedral.value_graph import Cells, Graph, MemoryUse, Node, Operand, initial


def resolve_loads(graph: Graph) -> None:
    """Make every load a copy of the values that it sees: what was stored, or the contents from before the function."""
    length = max((len(use.times) for use in graph.uses), default=0)
    for cells in graph.cells:
        uses = [use for use in graph.uses if use.array is cells]
        reads = [use for use in uses if not use.writes]
        if reads:
            _resolve(graph, cells, reads, [use for use in uses if use.writes], length)


def _resolve(graph: Graph, cells: Cells, reads: Sequence[MemoryUse], writes: Sequence[MemoryUse], length: int) -> None:
    context = isl.Set(f"{graph.shared.prefix()}{{ : }}")
    info = isl.UnionAccessInfo.from_sink(union_map([use.elements for use in reads], context))
    info = info.set_must_source(union_map([use.elements for use in writes], context))
    flow = info.set_schedule_map(union_map([time_of(graph, use, length) for use in (*reads, *writes)], context)).compute_flow()
    seen = maps_by_ends(flow.get_must_dependence())
    unseen = maps_by_ends(flow.get_must_no_source())
    for use in reads:
        found = []
        for write in writes:
            pairs = seen.get((write.node.name, use.node.name))
            if pairs is not None:
                found += _stored(pairs.reverse(), write.node)
                use.node.writers.append((write.node, pairs.reverse()))
        first = unseen.get((use.node.name, cells.name))
        if first is not None:
            found.append(first.set_tuple_name(isl.dim_type.out, initial(cells)) if cells.key else _undefined(first))
        padding = use.node.operands[0].sources if use.node.operands else ()
        use.node.operands[:] = [Operand((*found, *padding))]


def _stored(pairs: isl.Map, write: Node) -> list[isl.Map]:
    """`pairs` of loads and writes as loads and what was written: the operand of a store, else the write itself."""
    if write.signature:
        return [pairs]
    found = [pairs.apply_range(source) for source in write.operands[0].sources]
    return [one for one in found if not one.is_empty()]


def _undefined(first: isl.Map) -> isl.Map:
    target = first.project_out(isl.dim_type.out, 0, first.dim(isl.dim_type.out))
    return target.set_tuple_name(isl.dim_type.out, "undefined")


def time_of(graph: Graph, use: MemoryUse, length: int) -> isl.Map:
    """The instances of a use to the times when it happens."""
    return graph.map(use.node, "", [*use.times, *["0"] * (length - len(use.times))])


def maps_by_ends(relation: isl.UnionMap) -> dict[tuple[str, str], isl.Map]:
    """The maps of `relation` by the tuple names of their domain and range."""
    found: dict[tuple[str, str], isl.Map] = {}

    def note(one: isl.Map) -> None:
        found[one.get_tuple_name(isl.dim_type.in_), one.get_tuple_name(isl.dim_type.out)] = one

    relation.foreach_map(note)
    return found
