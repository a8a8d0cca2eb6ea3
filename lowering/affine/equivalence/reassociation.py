"""Sums and other chains of one associative and commutative op as bags of what they combine.

Two chains are equal where their leaves can be paired so that each pair is equal, whatever the order. Leaves are places: an operand
of an instance of the chain. What reads the same elements in both functions is paired; that every leaf has exactly one partner,
and that partners are equal, is checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import islpy as isl

from dlc._mlir import ir
from dlc.lowering.affine.equivalence.value_graph import ValueGraph, ValueNode
from dlc.lowering.affine.polyhedral.model import union_map
from dlc.lowering.policy import policy

_EXACT = frozenset(
    f"arith.{name}"
    for name in (
        "addi",
        "muli",
        "andi",
        "ori",
        "xori",
        "maxsi",
        "minsi",
        "maxui",
        "minui",
        "maximumf",
        "minimumf",
        "maxnumf",
        "minnumf",
    )
)
_ROUNDED = frozenset({"arith.addf", "arith.mulf"})


def may_reassociate(op: ir.Operation, allow: bool) -> bool:
    """Whether the order of a chain of such ops does not matter, or may be changed: `fastmath<reassoc>`, or `allow` for all."""
    if op.name in _EXACT:
        return True
    return op.name in _ROUNDED and (allow or any(flag in str(op.attributes["fastmath"]) for flag in ("reassoc", "fast>")))


@dataclass
class AssociativeTrees:
    """The chains of the nodes of `graph` whose ops have one signature."""

    graph: ValueGraph
    nodes: Sequence[ValueNode]

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(node.name for node in self.nodes)

    @cached_property
    def steps(self) -> isl.UnionMap:
        """Instances to those of the chain that are operands of theirs."""
        found = [
            source
            for node in self.nodes
            for operand in node.operands
            for source in operand.sources
            if _target(source) in self.names
        ]
        return union_map(found, self._context)

    @cached_property
    def _context(self) -> isl.Set:
        return isl.Set(f"{self.graph.shared.prefix()}{{ : }}")

    @cached_property
    def members(self) -> isl.UnionMap | None:
        """Instances to all of the chain that ends in them; None when some of it would count twice, or isl does not find it."""
        if not self.steps.is_injective() or any(self._is_double(node) for node in self.nodes):
            return None
        closure, is_exact = self.steps.transitive_closure()
        if not is_exact and not closure.is_equal(self.steps.union(self.steps.apply_range(closure))):
            return None
        whole = isl.UnionMap.empty(self._context.get_space())
        for node in self.nodes:
            whole = whole.union(isl.UnionSet.from_set(node.domain).identity())
        return whole.union(closure).coalesce()

    def _is_double(self, node: ValueNode) -> bool:
        """Whether an instance has one instance of the chain as both of its operands."""
        operands = [[source for source in operand.sources if _target(source) in self.names] for operand in node.operands]
        one, other = (union_map(list(sources), self._context) for sources in operands)
        return not one.intersect(other).is_empty()

    def leaves(self) -> Iterator[tuple[ValueNode, int, isl.Map]]:
        """The places of leaves: `(node, operand_number, instances of the node to what is there)`, one for each source."""
        for node in self.nodes:
            for operand_number, operand in enumerate(node.operands):
                for source in operand.sources:
                    if _target(source) not in self.names:
                        yield node, operand_number, source


@dataclass
class Reassociation:
    """Pairs the leaves of chains of two functions."""

    after: ValueGraph
    before: ValueGraph
    allow: bool
    _chains: dict[tuple[str, str], AssociativeTrees] = field(default_factory=dict)
    _guesses: dict[tuple[str, str, int], isl.Map | None] = field(default_factory=dict)

    def covers(self, after: ValueNode, before: ValueNode) -> bool:
        """Whether the order of both chains may change."""
        return len(before.operands) == 2 and may_reassociate(after.op, self.allow) and may_reassociate(before.op, self.allow)

    def leaf_pairs(self, relation: isl.Map, after: ValueNode, before: ValueNode) -> list[isl.Map] | None:
        """What must be equal for the chains that end in the instances of `relation` to be; None where partners are not found."""
        ends = self._chains_of(self.after, after), self._chains_of(self.before, before)
        members = [chains.members for chains in ends]
        if members[0] is None or members[1] is None:
            return None
        wanted = [self._places(relation, chains, whole, at) for at, (chains, whole) in enumerate(zip(ends, members, strict=True))]
        pairs, found = self._partners(relation, ends, members)
        if not _is_bijection(pairs, wanted):
            return None
        return found

    def _chains_of(self, graph: ValueGraph, node: ValueNode) -> AssociativeTrees:
        key = graph.side, node.signature
        if key not in self._chains:
            self._chains[key] = AssociativeTrees(graph, [one for one in graph.nodes.values() if one.signature == node.signature])
        return self._chains[key]

    def _places(self, relation: isl.Map, chains: AssociativeTrees, members: isl.UnionMap, end: int) -> isl.UnionMap:
        """`[after -> before]` to the places of all leaves of the one or the other end."""
        pairs = relation.domain_map() if end == 0 else relation.range_map()
        places = [_place(*leaf) for leaf in chains.leaves()]
        reached = isl.UnionMap.from_map(pairs).apply_range(members)
        return reached.apply_range(union_map(places, self.after.shared.context()))

    def _partners(
        self, relation: isl.Map, ends: Sequence[AssociativeTrees], members: Sequence[isl.UnionMap]
    ) -> tuple[isl.UnionMap, list[isl.Map]]:
        """`[after -> before]` to pairs of places that read the same, and the pairs of values there."""
        whole, values = isl.UnionMap.empty(relation.get_space().params()), []
        for one, operand_number, source in ends[0].leaves():
            for other, at, target in ends[1].leaves():
                equal = self._equal(_target(source), _target(target), 0)
                if equal is None:
                    continue
                places = source.apply_range(equal).apply_range(target.reverse())
                reached = _reached(relation, members, places)
                if reached.is_empty():
                    continue
                named = _place(one, operand_number, source).product(_place(other, at, target))
                whole = whole.union(isl.UnionMap.from_map(reached.apply_range(named)))
                values.append(reached.range().unwrap().apply_domain(source).apply_range(target).intersect(equal))
        return whole, values

    def _equal(self, after: str, before: str, depth: int) -> isl.Map | None:
        """A guess: the instances whose values are built from the same elements; None for never."""
        key = after, before, depth
        if key not in self._guesses:
            self._guesses[key] = self._find_equal(after, before, depth)
        return self._guesses[key]

    def _find_equal(self, after: str, before: str, depth: int) -> isl.Map | None:
        one, other = self.after.nodes.get(after), self.before.nodes.get(before)
        if one is None and other is None:
            return self._equal_ends(after) if after == before else None
        if one is None or other is None or one.signature != other.signature:
            return None
        found = isl.Map.from_domain_and_range(one.domain, other.domain)
        if depth == policy().limits.reassociation_depth or self.covers(one, other):
            return found
        for first, second in zip(one.operands, other.operands, strict=True):
            parts = [
                source.apply_range(equal).apply_range(target.reverse())
                for source in first.sources
                for target in second.sources
                if (equal := self._equal(_target(source), _target(target), depth + 1)) is not None
            ]
            if not parts:
                return None
            whole = parts[0]
            for part in parts[1:]:
                whole = whole.union(part)
            found = found.intersect(whole)
        return None if found.is_empty() else found.coalesce()

    def _equal_ends(self, name: str) -> isl.Map | None:
        for graph in (self.after, self.before):
            for node in graph.nodes.values():
                for operand in node.operands:
                    for source in operand.sources:
                        if _target(source) == name:
                            return isl.Map.identity(source.get_space().range().map_from_set())
        return None


def _reached(relation: isl.Map, members: Sequence[isl.UnionMap], places: isl.Map) -> isl.Map:
    """`[after -> before] -> [instance -> instance]` for the pairs of `places` that are in the chains of the pairs of `relation`."""
    ends = []
    for chain, side, inside in zip(
        members, (relation.domain_map(), relation.range_map()), (places.domain(), places.range()), strict=True
    ):
        space = isl.Map.from_domain_and_range(side.range(), inside).get_space()
        ends.append(side.apply_range(chain.extract_map(space)))
    return ends[0].range_product(ends[1]).intersect_range(places.wrap())


def _place(node: ValueNode, operand_number: int, source: isl.Map) -> isl.Map:
    """Instances of `node` to their places number `operand_number`, where what is there comes from `source`."""
    return source.domain().identity().set_tuple_name(isl.dim_type.out, f"{node.name}_{operand_number}")


def _target(source: isl.Map) -> str:
    return str(source.get_tuple_name(isl.dim_type.out))


def _is_bijection(pairs: isl.UnionMap, wanted: Sequence[isl.UnionMap]) -> bool:
    """Whether `[..] -> [place -> place]` gives each place of either side, `wanted`, exactly one partner."""
    if not pairs.range_factor_domain().is_equal(wanted[0]) or not pairs.range_factor_range().is_equal(wanted[1]):
        return False
    return pairs.uncurry().is_single_valued() and pairs.range_reverse().uncurry().is_single_valued()
