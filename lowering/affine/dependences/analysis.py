"""What must keep its order in a function's loops, and what of it a schedule breaks: whoever reorders loops asks here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import islpy as isl

from dlc.lowering.affine.dependences.dependences import Dependence, joined, memory_dependences
from dlc.lowering.affine.dependences.last_writers import value_dependences
from dlc.lowering.affine.dependences.legality import Violation, carried_by_parallel, violations
from dlc.lowering.affine.dependences.reduction_dependences import reductions, without_reductions
from dlc.lowering.affine.polyhedral.model import Scop, union_map


@dataclass(frozen=True, eq=False)
class DependenceAnalysis:
    """The dependences of `scop`, each kind of them found when it is first asked for.

    Who keeps the `nearest` pairs keeps all `pairs`. `kept` are the pairs whose order a schedule must keep. The others are updates
    of one element, which give the same in any order, but may not run at the same time.
    """

    scop: Scop

    @cached_property
    def nearest(self) -> Sequence[Dependence]:
        """The value-based dependences, without those that follow from others."""
        return value_dependences(self.scop)

    @cached_property
    def ordering(self) -> isl.UnionMap:
        """The nearest pairs as one relation between instances, for a scheduler."""
        return ordering_of(self.scop, self.nearest)

    @cached_property
    def pairs(self) -> Sequence[Dependence]:
        """All pairs, transitive ones included."""
        return memory_dependences(self.scop)

    @cached_property
    def kept(self) -> Sequence[Dependence]:
        """Those of all pairs that tell what runs before what."""
        return without_reductions(self.pairs, reductions(self.scop, single=True))

    @cached_property
    def kept_map(self) -> isl.UnionMap:
        """All of `kept` as one relation between instances."""
        return joined(self.scop.context, self.kept) if self.is_relaxed else self.pairs_map

    @cached_property
    def pairs_map(self) -> isl.UnionMap:
        """All of `pairs` as one relation between instances."""
        return joined(self.scop.context, self.pairs)

    @property
    def is_relaxed(self) -> bool:
        """Whether some updates need no order."""
        return len(self.kept) < len(self.pairs)

    @property
    def apart(self) -> Sequence[Dependence]:
        """The dependences of which nothing may run at the same time: the nearest ones, which are fewer, where all are kept."""
        return self.pairs if self.is_relaxed else self.nearest

    def broken_by(
        self, schedule: isl.Schedule, kinds_of: Callable[[str], Sequence[str]] = lambda mark: (), *, in_order: bool = False
    ) -> Iterator[Violation]:
        """What `schedule` does not keep, or leaves to iterations without an order; `kinds_of` says which loops its marks make such.

        Updates may change places among themselves, unless they are to stay `in_order`.
        """
        may_relax = not in_order and self.is_relaxed
        yield from violations(self.kept if may_relax else self.nearest, schedule)
        yield from carried_by_parallel(self.pairs if may_relax else self.nearest, schedule, kinds_of)


def ordering_of(scop: Scop, dependences: Sequence[Dependence]) -> isl.UnionMap:
    """The pairs of `dependences`, those of `scop`, as one relation.

    Pairs are not merged into larger sets: the fewer constraints each has, the faster is isl's scheduler (`heat-3d` of PolyBench
    takes 0.2 s this way, and more than 12 s with one hull for the points of its star).
    """
    found = union_map([dependence.relation for dependence in dependences], scop.context)
    return found.subtract(found.domain().union(found.range()).identity())
