"""Value-based dependences: which write a read sees, which one overwrites it, by isl's dataflow analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from dlc.analysis.polyhedral.dependences import ORDERING, Dependence, Kind
from dlc.analysis.polyhedral.model import Access, Scop


@dataclass(frozen=True, eq=False)
class LiveIn:
    """Instances whose read `access` sees what the memory held before the scop, and the elements."""

    access: Access
    relation: isl.Map


def value_dependences(scop: Scop, kinds: Sequence[Kind] = ORDERING) -> list[Dependence]:
    """The nearest pairs: a read and the last write before it (flow), a read and the next write after it (anti), a write and the
    last one before it (output), a read and the last read before it (input).

    Together they order all that `memory_dependences` orders. Iterations of an `affine.parallel` are taken in the order of a loop.
    """
    tagged = _Tagged(scop)
    found = []
    for kind in kinds:
        sinks = tagged.accesses(kind == "output")
        sources = tagged.accesses(kind != "input")
        flow = _flow(sources, sinks, tagged.times(is_reversed=kind == "anti"))
        relation = flow.get_must_dependence()
        found += tagged.dependences(kind, relation.reverse() if kind == "anti" else relation)
    return found


def live_in_reads(scop: Scop) -> list[LiveIn]:
    """The reads that no write of the scop comes before."""
    tagged = _Tagged(scop)
    unwritten = _flow(tagged.accesses(True), tagged.accesses(False), tagged.times()).get_must_no_source()
    found = [LiveIn(tagged.by_tag[_tag(part.domain())], part.domain_factor_domain()) for part in _maps(unwritten)]
    return sorted(found, key=lambda one: tagged.rank[one.access])


def _flow(sources: isl.UnionMap, sinks: isl.UnionMap, times: isl.UnionMap) -> isl.UnionFlow:
    info = isl.UnionAccessInfo.from_sink(sinks).set_must_source(sources).set_schedule_map(times)
    return info.compute_flow()


class _Tagged:
    """Relations whose instances carry the number of an access: `[S0[i] -> a3[]]`."""

    def __init__(self, scop: Scop) -> None:
        self.scop = scop
        listed = [access for statement in scop.statements for access in statement.accesses]
        self.by_tag = {f"a{number}": access for number, access in enumerate(listed)}
        self.rank = {access: number for number, access in enumerate(listed)}
        self.depth = max((len(statement.loops) for statement in scop.statements), default=0)

    def accesses(self, writes: bool) -> isl.UnionMap:
        """The tagged instances to elements that they write, or read."""
        found = isl.UnionMap.empty(self.scop.context.get_space())
        for tag, access in self.by_tag.items():
            if access.writes is writes:
                relation = self._untagging(tag, access).apply_range(access.relation)
                found = found.union(isl.UnionMap.from_map(relation))
        return found

    def times(self, *, is_reversed: bool = False) -> isl.UnionMap:
        """The tagged instances to vectors that grow in the order of the text, or fall."""
        sign = "-" if is_reversed else ""
        found = isl.UnionMap.empty(self.scop.context.get_space())
        for tag, access in self.by_tag.items():
            statement = self.scop.by_name[access.statement_name]
            names = [loop.name for loop in statement.loops]
            vector = [str(statement.beta[0])]
            for name, place in zip(names, statement.beta[1:], strict=True):
                vector += [name, str(place)]
            vector += ["0"] * (2 * (self.depth - len(names))) + [str(2 * access.position + access.writes)]
            times = ", ".join(f"{sign}({entry})" for entry in vector)
            time = isl.Map(f"{{ [{statement.name}[{', '.join(names)}] -> {tag}[]] -> [{times}] }}")
            found = found.union(isl.UnionMap.from_map(time))
        return found

    def dependences(self, kind: Kind, relation: isl.UnionMap) -> list[Dependence]:
        """`relation` between tagged instances as records, in the order of the accesses."""
        found = []
        for part in _maps(relation):
            source, sink = self.by_tag[_tag(part.domain())], self.by_tag[_tag(part.range())]
            found.append(Dependence(kind, source, sink, part.factor_domain().coalesce(), is_nearest=True))
        return sorted(found, key=lambda one: (self.rank[one.source], self.rank[one.sink]))

    def _untagging(self, tag: str, access: Access) -> isl.Map:
        """`[S0[i] -> a3[]] -> S0[i]`"""
        dims = ", ".join(loop.name for loop in self.scop.by_name[access.statement_name].loops)
        return isl.Map(f"{{ {access.statement_name}[{dims}] -> {tag}[] }}").domain_map()


def _tag(instances: isl.Set) -> str:
    """The tag of `[S0[i] -> a3[]]`."""
    return str(instances.unwrap().get_tuple_name(isl.dim_type.out))


def _maps(relation: isl.UnionMap) -> list[isl.Map]:
    found: list[isl.Map] = []
    relation.foreach_map(found.append)
    return found
