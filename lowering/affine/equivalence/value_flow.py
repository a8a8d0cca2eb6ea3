"""Which write a read sees: the last one to the element before it (P. Feautrier, "Dataflow analysis of array references")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl

from dlc.lowering.affine.equivalence.value_graph import MemoryObject, MemoryUse, ValueGraph, ValueNode, ValueOperand, initial


def resolve_loads(graph: ValueGraph) -> None:
    """Make every load a copy of the values that it sees: what was stored, or the contents from before the function."""
    length = max((len(use.times) for use in graph.uses), default=0)
    for memory in graph.memory_objects:
        uses = [use for use in graph.uses if use.array is memory]
        reads = [use for use in uses if not use.writes]
        if reads:
            _resolve(graph, memory, reads, [use for use in uses if use.writes], length)


def _resolve(graph: ValueGraph, memory: MemoryObject, reads: Sequence[MemoryUse], writes: Sequence[MemoryUse], length: int) -> None:
    times = {use: time_of(graph, use, length) for use in (*reads, *writes)}
    for read in reads:
        found: list[isl.Map] = []
        unseen = read.elements
        for write, pairs in _last_writes(read, writes, times):
            found += _stored(pairs, write.node)
            read.node.writers.append((write.node, pairs))
            unseen = unseen.subtract_domain(pairs.domain())
        if not unseen.is_empty():
            found.append(unseen.set_tuple_name(isl.dim_type.out, initial(memory)) if memory.key else _undefined(unseen))
        padding = read.node.operands[0].sources if read.node.operands else ()
        read.node.operands[:] = [ValueOperand((*found, *padding))]


def _last_writes(
    read: MemoryUse, writes: Sequence[MemoryUse], times: Mapping[MemoryUse, isl.Map]
) -> Iterator[tuple[MemoryUse, isl.Map]]:
    """The writes that a read sees, with its instances to theirs: of all earlier writes of the element, the latest.

    isl's own data flow analysis loses instances where subscripts have a modulo (islpy 2026.2.2): hence a lexicographic maximum.
    """
    earlier = []
    for write in writes:
        pairs = _earlier(read, write)
        if not pairs.is_empty():
            earlier.append((write, pairs))
    if not earlier:
        return
    if len(earlier) == 1 and earlier[0][1].is_single_valued():
        yield earlier[0]
        return
    seen = isl.Map.empty(times[read].get_space())
    for write, pairs in earlier:
        seen = seen.union(pairs.apply_range(times[write]))
    latest = seen.coalesce().lexmax()
    for write, pairs in earlier:
        last = pairs.intersect(latest.apply_range(times[write].reverse())).coalesce()
        if not last.is_empty():
            yield write, last


def _earlier(read: MemoryUse, write: MemoryUse) -> isl.Map:
    """Instances of `read` to those of `write` that touch the element before.

    The first shared loop whose variable differs decides, else the places in the text, which are the first numbers that differ.
    """
    pairs = read.elements.apply_range(write.elements.reverse())
    found = isl.Map.empty(pairs.get_space())
    depth = 0
    for one, other in zip(read.times, write.times, strict=False):
        if one != other:
            return found.union(pairs) if int(other) < int(one) else found
        if not one.isdigit():
            found = found.union(pairs.order_gt(isl.dim_type.in_, depth, isl.dim_type.out, depth))
            pairs = pairs.equate(isl.dim_type.in_, depth, isl.dim_type.out, depth)
            depth += 1
    return found


def _stored(pairs: isl.Map, write: ValueNode) -> list[isl.Map]:
    """`pairs` of loads and writes as loads and what was written: the operand of a store, else the write itself."""
    if write.signature:
        return [pairs]
    found = [pairs.apply_range(source) for source in write.operands[0].sources]
    return [one for one in found if not one.is_empty()]


def _undefined(first: isl.Map) -> isl.Map:
    target = first.project_out(isl.dim_type.out, 0, first.dim(isl.dim_type.out))
    return target.set_tuple_name(isl.dim_type.out, "undefined")


def time_of(graph: ValueGraph, use: MemoryUse, length: int) -> isl.Map:
    """The instances of a use to the times when it happens."""
    return graph.map(use.node, "", [*use.times, *["0"] * (length - len(use.times))])
