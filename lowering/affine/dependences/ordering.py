"""The dependences that a scheduler must keep, without those that follow from others."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from dlc.lowering.affine.dependences.dependences import Dependence
from dlc.lowering.affine.polyhedral.model import Scop, union_map


def ordering_dependences(scop: Scop, dependences: Sequence[Dependence]) -> isl.UnionMap:
    """The pairs of `dependences`, the value-based ones of `scop`, as one relation: who keeps these keeps all.

    Pairs are not merged into larger sets: the fewer constraints each has, the faster is isl's scheduler (`heat-3d` of PolyBench
    takes 0.2 s this way, and more than 12 s with one hull for the points of its star).
    """
    found = union_map([dependence.relation for dependence in dependences], scop.context)
    return found.subtract(found.domain().union(found.range()).identity())
