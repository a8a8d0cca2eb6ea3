"""Whether two functions compute the same: the relation between their values, found from the results backwards.

`related` says "these two instances have the same value". It starts with what both functions leave behind, and two instances
are in it only if they are the same op on related operands; copies (loads, carried values) stand for what they copy. So it is a
bisimulation of the two data flow graphs, after K. Shashidhar et al. and S. Verdoolaege et al., "Equivalence checking of static
affine programs using widening to handle recurrences" (CAV 2009). Values that depend on themselves are widened to the affine
hull of the pairs so far; what that adds is checked as everything else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import islpy as isl

from dlc.lowering.affine.equivalence.reassociation import Reassociation
from dlc.lowering.affine.equivalence.value_graph import INDEX, UNDEFINED, ValueGraph, ValueNode, ValueOperand
from dlc.lowering.affine.equivalence.value_places import agreeing
from dlc.lowering.policy import policy

_COMMUTATIVE = ("arith.addf", "arith.mulf", "arith.addi", "arith.muli", "arith.andi", "arith.ori", "arith.xori")


@dataclass(frozen=True, eq=False)
class RelatedInstances:
    """Instances of `after` that must have the values of instances of `before`, found as that operand of `parent`.

    Ends are names of nodes or of terminals.
    """

    after: str
    before: str
    relation: isl.Map
    parent: RelatedInstances | None
    operand_number: int
    is_widened: bool = False


@dataclass(frozen=True, eq=False)
class Mismatch:
    """A pair whose values differ, or may: `reason` says why."""

    pair: RelatedInstances
    reason: str


class Unmatched(Exception):
    """The comparison gave up: the functions may be equal, but the relation between them was not found."""


@dataclass
class Matching:
    """The comparison of `after` with `before`; `run` fills `related` and `mismatches`."""

    after: ValueGraph
    before: ValueGraph
    related: dict[tuple[str, str], isl.Map] = field(default_factory=dict)
    mismatches: list[Mismatch] = field(default_factory=list)
    reassociation: Reassociation | None = None
    """How chains are compared whose order does not matter; None where all order does."""

    _visits: dict[tuple[str, str], int] = field(default_factory=dict)
    _whole: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Compare all results; stops at the first that differs."""
        self._context = self.after.shared.context()
        waiting: deque[RelatedInstances] = deque(self._results())
        while waiting and not self.mismatches:
            pair = self._news(waiting.popleft())
            if pair is not None:
                waiting.extend(self._successors(pair))

    def _results(self) -> Iterator[RelatedInstances]:
        """Each element of what the functions leave behind, paired with itself."""
        for key in self.after.results:
            if key not in self.before.results:
                raise Unmatched(f"only the function after has the result '{key}'")
        for key, node in self.before.results.items():
            other = self.after.results.get(key)
            if other is None:
                raise Unmatched(f"only the function before has the result '{key}'")
            pairs = isl.Map.from_domain_and_range(other.domain, node.domain)
            for dim in range(len(node.dims)):
                pairs = pairs.equate(isl.dim_type.in_, dim, isl.dim_type.out, dim)
            yield RelatedInstances(other.name, node.name, pairs, None, 0)

    def _news(self, pair: RelatedInstances) -> RelatedInstances | None:
        """What of `pair` is not in the relation yet, widened where it keeps growing; None when there is nothing."""
        key = pair.after, pair.before
        known = self.related.get(key)
        fresh = pair.relation.intersect_params(self._context)
        if known is not None:
            fresh = fresh.subtract(known)
        if fresh.is_empty():
            return None
        self._visits[key] = self._visits.get(key, 0) + 1
        if self._visits[key] > policy().limits.most_visits:
            raise Unmatched("the relation between the values keeps growing")
        whole = fresh if known is None else known.union(fresh)
        is_widened = pair.is_widened
        if self._visits[key] > policy().limits.widening_visits:
            wide = self._widened(whole, *key)
            is_widened = is_widened or not wide.is_subset(whole)
            fresh = wide if known is None else wide.subtract(known)
            whole = wide
        self.related[key] = whole.coalesce()
        return RelatedInstances(pair.after, pair.before, fresh.coalesce(), pair.parent, pair.operand_number, is_widened)

    def _widened(self, relation: isl.Map, after: str, before: str) -> isl.Map:
        """The pairs of instances that fulfil the equations that all of `relation` does, and meet the same elements of memory."""
        hull = isl.Map.from_basic_map(relation.affine_hull())
        if after in self.after.nodes and before in self.before.nodes:
            equal = agreeing(self.after.nodes[after], self.before.nodes[before], relation)
            hull = hull if equal is None else hull.intersect(equal)
        if after in self.after.nodes:
            hull = hull.intersect_domain(_with_lanes_of(relation.domain(), self.after.nodes[after]))
        if before in self.before.nodes:
            hull = hull.intersect_range(_with_lanes_of(relation.range(), self.before.nodes[before]))
        return hull.intersect_params(self._context).union(relation)

    def _successors(self, pair: RelatedInstances) -> list[RelatedInstances]:
        """What must be related for `pair` to be; notes a mismatch where that cannot be."""
        after, before = self.after.nodes.get(pair.after), self.before.nodes.get(pair.before)
        if pair.before == UNDEFINED:
            return []
        after_copies = after is not None and not after.signature
        before_copies = before is not None and not before.signature
        if after_copies or before_copies:
            return self._through_copies(pair, after if after_copies else None, before if before_copies else None)
        if after is None or before is None:
            self._compare_ends(pair)
            return []
        if after.signature != before.signature:
            self._differ(pair, "they are different ops")
            return []
        leaves = self._leaves(pair, after, before)
        return self._operands(pair, after, before) if leaves is None else leaves

    def _through_copies(self, pair: RelatedInstances, after: ValueNode | None, before: ValueNode | None) -> list[RelatedInstances]:
        for node in (after, before):
            if node is not None:
                self._is_whole(node)
        ends = [pair.relation]
        if after is not None:
            ends = [one.apply_domain(source) for one in ends for source in after.operands[0].sources]
        if before is not None:
            ends = [one.apply_range(source) for one in ends for source in before.operands[0].sources]
        return [_pair(one, pair, 0) for one in ends if not one.is_empty()]

    def _leaves(self, pair: RelatedInstances, after: ValueNode, before: ValueNode) -> list[RelatedInstances] | None:
        """The leaves of two chains; None where order counts or partners are not found."""
        if self.reassociation is None or not self.reassociation.covers(after, before):
            return None
        found = self.reassociation.leaf_pairs(pair.relation, after, before)
        return None if found is None else [_pair(relation, pair, 0) for relation in found if not relation.is_empty()]

    def _is_whole(self, node: ValueNode) -> None:
        """Every instance has each of its operands from somewhere; else pairs would be lost, and with them differences."""
        if node.name in self._whole:
            return
        self._whole.add(node.name)
        instances = node.domain.intersect_params(self._context)
        for operand in node.operands:
            missing = instances
            for source in operand.sources:
                missing = missing.subtract(source.domain())
            if not operand.joined and not missing.is_empty():
                raise Unmatched(f"where an operand of '{node.op.name}' comes from is not known")

    def _operands(self, pair: RelatedInstances, after: ValueNode, before: ValueNode) -> list[RelatedInstances]:
        self._is_whole(after)
        self._is_whole(before)
        found = []
        operands = list(zip(after.operands, before.operands, strict=True))
        if before.op.name in _COMMUTATIVE and self._is_swapped(pair, operands):
            operands = [(operands[0][0], operands[1][1]), (operands[1][0], operands[0][1])]
        for operand_number, (one, other) in enumerate(operands):
            for relation in _ends(pair.relation, one, other):
                found.append(_pair(relation, pair, operand_number))
        return found

    def _is_swapped(self, pair: RelatedInstances, operands: list[tuple[ValueOperand, ValueOperand]]) -> bool:
        """Whether the operands plainly fit crosswise only: what computes them differs else."""
        straight = self._fits(pair, *operands[0]) and self._fits(pair, *operands[1])
        return (
            not straight and self._fits(pair, operands[0][0], operands[1][1]) and self._fits(pair, operands[1][0], operands[0][1])
        )

    def _fits(self, pair: RelatedInstances, one: ValueOperand, other: ValueOperand) -> bool:
        """Whether no end of these operands is of different kinds."""
        return all(self._may_equal(relation) for relation in _ends(pair.relation, one, other))

    def _may_equal(self, relation: isl.Map, depth: int = 3) -> bool:
        after, before = _names(relation)
        one, other = self.after.nodes.get(after), self.before.nodes.get(before)
        if before == UNDEFINED:
            return True
        if (one is None or one.signature) and (other is None or other.signature):
            if one is None and other is None:
                return after == before and (relation.dim(isl.dim_type.in_) == 0 or relation.is_subset(_identity(relation)))
            return one is not None and other is not None and one.signature == other.signature
        if not depth:
            return True
        copies = [
            one if one is not None and not one.signature else None,
            other if other is not None and not other.signature else None,
        ]
        pair = RelatedInstances(after, before, relation, None, 0)
        return all(self._may_equal(found.relation, depth - 1) for found in self._through_copies(pair, *copies))

    def _compare_ends(self, pair: RelatedInstances) -> None:
        """Terminals are equal by name and place."""
        if pair.after != pair.before:
            self._differ(pair, "they come from different places")
        elif pair.relation.dim(isl.dim_type.in_) and not pair.relation.is_subset(_identity(pair.relation)):
            wrong = pair.relation.subtract(_identity(pair.relation))
            reason = "different index values" if pair.after == INDEX else "different elements"
            self._differ(
                RelatedInstances(pair.after, pair.before, wrong, pair.parent, pair.operand_number, pair.is_widened),
                f"they are {reason}",
            )

    def _differ(self, pair: RelatedInstances, reason: str) -> None:
        self.mismatches.append(Mismatch(pair, reason))


def _with_lanes_of(instances: isl.Set, node: ValueNode) -> isl.Set:
    """All instances of `node`, in the lanes alone that `instances` has: what a mask leaves out may be anything."""
    return node.domain.intersect(instances.eliminate(isl.dim_type.set, 0, len(node.loops)))


def _ends(relation: isl.Map, one: ValueOperand, other: ValueOperand) -> Iterator[isl.Map]:
    """The pairs of what two operands come from."""
    for source in one.sources:
        reached = relation.apply_domain(source)
        if reached.is_empty():
            continue
        for target in other.sources:
            pairs = reached.apply_range(target)
            for dim in range(one.joined):
                at = pairs.dim(isl.dim_type.in_) - 1 - dim, pairs.dim(isl.dim_type.out) - 1 - dim
                pairs = pairs.equate(isl.dim_type.in_, at[0], isl.dim_type.out, at[1])
            if not pairs.is_empty():
                yield pairs


def _pair(relation: isl.Map, parent: RelatedInstances, operand_number: int) -> RelatedInstances:
    return RelatedInstances(*_names(relation), relation, parent, operand_number, parent.is_widened)


def _names(relation: isl.Map) -> tuple[str, str]:
    return relation.get_tuple_name(isl.dim_type.in_), relation.get_tuple_name(isl.dim_type.out)


def _identity(relation: isl.Map) -> isl.Map:
    return isl.Map.identity(relation.get_space())
