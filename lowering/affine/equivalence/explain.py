"""Why two functions differ, as a dependence that one of them breaks: which write, which read, at which iterations.

Ops know where they come from by names in their locations (see `tags.py`). For the ops that touch memory the iterations before
and after are related by their subscripts; with that, the dependences of the function before are looked up in the one after.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import islpy as isl

from dlc._mlir import ir
from dlc.lowering.affine.dependences.dependences import Kind
from dlc.lowering.affine.dependences.witness import Instance, Witness, coordinates, first_point, parameter_values, place_text
from dlc.lowering.affine.equivalence.value_flow import time_of
from dlc.lowering.affine.equivalence.value_graph import MemoryObject, MemoryUse, ValueGraph
from dlc.lowering.affine.polyhedral.source_names import memref_name, names_of_loops


@dataclass
class ReversedDependences:
    """Looks for a dependence of `before` whose ends `after` runs the other way round.

    `origins` takes ops of `after` to those of `before` that they come from.
    """

    before: ValueGraph
    after: ValueGraph
    origins: Mapping[ir.Operation, ir.Operation]
    _instances: dict[tuple[str, str], isl.Map | None] = field(default_factory=dict)

    def witness(self) -> Witness | None:
        """The first dependence found broken: flow, then anti, then output; None when none is."""
        for kind, source, sink, relation in dependences(self.before):
            for first in self._copies(source):
                for second in self._copies(sink):
                    broken = self._broken(relation, source, sink, first, second)
                    if broken is not None:
                        return witness_between(self.before, kind, source, sink, broken)
        return None

    def _copies(self, use: MemoryUse) -> list[MemoryUse]:
        """The uses of `after` that come from `use`, and touch what is the same memory there."""
        found = self._by_origin.get(use.node.op, ())
        return [one for one in found if one.writes is use.writes and self._is_same_memory(one.array, use.array)]

    def _is_same_memory(self, after: MemoryObject, before: MemoryObject) -> bool:
        if after.key or before.key:
            return after.key == before.key
        assert after.value is not None and before.value is not None
        return self.origins.get(after.value.owner.operation) == before.value.owner.operation

    @cached_property
    def _by_origin(self) -> Mapping[ir.Operation, list[MemoryUse]]:
        found: dict[ir.Operation, list[MemoryUse]] = {}
        for use in self.after.uses:
            origin = self.origins.get(use.node.op)
            if origin is not None:
                found.setdefault(origin, []).append(use)
        return found

    def _broken(self, relation: isl.Map, source: MemoryUse, sink: MemoryUse, first: MemoryUse, second: MemoryUse) -> isl.Map | None:
        """The pairs of `relation` that `after` runs as `second`, then `first`."""
        before = self.instances(first, source), self.instances(second, sink)
        if before[0] is None or before[1] is None:
            return None
        swapped = _runs_before(self.after, second, first).reverse()
        broken = relation.intersect(swapped.apply_domain(before[0]).apply_range(before[1]))
        broken = broken.intersect_params(self.before.shared.context())
        return None if broken.is_empty() else broken

    def instances(self, after: MemoryUse, before: MemoryUse) -> isl.Map | None:
        """The instances of `after` to those of `before` that they are; None when subscripts do not tell."""
        key = after.node.name, before.node.name
        if key not in self._instances:
            self._instances[key] = self._find_instances(after, before)
        return self._instances[key]

    def _find_instances(self, after: MemoryUse, before: MemoryUse) -> isl.Map | None:
        found = isl.Map.from_domain_and_range(after.node.domain, before.node.domain)
        for one, other in self._companions(after, before):
            if self._is_same_memory(one.array, other.array) and one.array.depth == other.array.depth == 0:
                place = other.elements.set_tuple_name(isl.dim_type.out, one.array.name).reverse()
                found = found.intersect(_at_nodes(one.elements.apply_range(place), after, before))
        return found if found.is_single_valued() and not found.is_empty() else None

    def _companions(self, after: MemoryUse, before: MemoryUse) -> Iterator[tuple[MemoryUse, MemoryUse]]:
        """The two uses, and the pairs of others of the same blocks that have one counterpart there."""
        yield after, before
        neighbours = [use for use in self.after.uses if use.node.op.block == after.node.op.block]
        counts = Counter(self.origins.get(use.node.op) for use in neighbours)
        for one in neighbours:
            origin = self.origins.get(one.node.op)
            if one is after or counts[origin] > 1:
                continue
            others = [use for use in self.before.uses if use.node.op == origin and use.writes is one.writes]
            if origin is not None and len(others) == 1 and origin.block == before.node.op.block and _lanes(one) == _lanes(after):
                yield one, others[0]


def _lanes(use: MemoryUse) -> tuple[str, ...]:
    return use.node.dims[len(use.node.loops) :]


def _at_nodes(relation: isl.Map, after: MemoryUse, before: MemoryUse) -> isl.Map:
    """`relation` between uses of the same loops as one between the nodes of `after` and `before`."""
    relation = relation.set_tuple_name(isl.dim_type.in_, after.node.name)
    return relation.set_tuple_name(isl.dim_type.out, before.node.name)


def _runs_before(graph: ValueGraph, first: MemoryUse, second: MemoryUse) -> isl.Map:
    """Instances of `first` to those of `second` that run later."""
    length = max(len(first.times), len(second.times))
    return time_of(graph, first, length).lex_lt_map(time_of(graph, second, length))


def witness_between(graph: ValueGraph, kind: Kind, source: MemoryUse, sink: MemoryUse, pairs: isl.Map) -> Witness:
    """The first of `pairs`, instances of two uses of `graph` that touch one element."""
    pair = first_point(pairs.wrap()).unwrap()
    first, second = pair.domain(), pair.range()
    element = source.elements.intersect_domain(first).range().intersect(sink.elements.intersect_domain(second).range())
    return Witness(
        kind,
        _instance(graph, source, first),
        _instance(graph, sink, second),
        element_text(source, first_point(element)),
        parameter_values(pair.wrap(), parameter_names(graph)),
        sink.node.op.location,
    )


def parameter_names(graph: ValueGraph) -> dict[str, str]:
    """What messages call the parameters: `%n`, `size 0 of %A`."""
    arguments = list(graph.function.regions[0].blocks[0].arguments)
    found = {}
    for key, name in graph.shared.parameters.items():
        argument = _ARGUMENT.search(key)
        called = memref_name(arguments[int(argument[1])]) if argument else ""
        axis = _SIZE.match(key)
        if key == f"arg{argument[1] if argument else ''}":
            found[name] = called
        elif axis:
            found[name] = f"size {axis[1]} of {called}"
    return found


_ARGUMENT = re.compile(r"\barg(\d+)")
_SIZE = re.compile(r"memref\.dim#0{}\(arg\d+, arith\.constant#0{value = (\d+) : index}")


def element_text(use: MemoryUse, element: isl.Set) -> str:
    """`%A[2, 5]` for a set of one element of the use's memory."""
    if use.array.value is None:
        return "state outside of memory"
    place = coordinates(element)[use.array.depth :]
    return f"{memref_name(use.array.value)}[{', '.join(map(str, place))}]"


def _instance(graph: ValueGraph, use: MemoryUse, point: isl.Set) -> Instance:
    op = use.node.op
    values = tuple(zip(names_of_loops(op), coordinates(point), strict=False))
    return Instance(statement_of(graph, op), values, place_text(op.location))


def statement_of(graph: ValueGraph, op: ir.Operation) -> str:
    """`S0`, `S1`, ... by stores in the order of the text; a load belongs to the next store of its block."""
    stores = list(dict.fromkeys(use.node.op for use in graph.uses if use.writes and use.node.role != "frees"))
    ops = [inner.operation for inner in op.block.operations]
    store = next((later for later in ops[ops.index(op) :] if later in stores), None)
    return f"S{stores.index(store)}" if store is not None else op.name


def dependences(graph: ValueGraph) -> Iterator[tuple[Kind, MemoryUse, MemoryUse, isl.Map]]:
    """The dependences of a function, source to sink: flow from the last write that a read sees, all pairs else.

    Those on what the function leaves behind are left out; relations may be empty.
    """
    uses = [use for use in graph.uses if use.node.op != graph.function]
    written = {use.node.name: use for use in uses if use.writes}
    for sink in uses:
        for writer, relation in sink.node.writers:
            yield "flow", written[writer.name], sink, relation.reverse()
    kinds: Sequence[tuple[Kind, bool]] = (("anti", False), ("output", True))
    for kind, writes in kinds:
        for source in uses:
            for sink in uses:
                if source.writes is writes and sink.writes and source.array is sink.array:
                    relation = source.elements.apply_range(sink.elements.reverse())
                    yield kind, source, sink, relation.intersect(_runs_before(graph, source, sink))
