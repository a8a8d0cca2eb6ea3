"""The dependences that a scheduler must keep, without those that follow from others."""

from __future__ import annotations

import islpy as isl

from dlc.analysis.polyhedral.last_writers import value_dependences
from dlc.analysis.polyhedral.model import Scop, union_map


def ordering_dependences(scop: Scop) -> isl.UnionMap:
    """Each read to the last write before it, each write to the last one and to the reads between: whoever keeps these keeps all.

    Pairs are not merged into larger sets: the fewer constraints each has, the faster is isl's scheduler (`heat-3d` of PolyBench
    takes 0.2 s this way, and more than 12 s with one hull for the points of its star).
    """
    found = union_map([dependence.relation for dependence in value_dependences(scop)], scop.context)
    return found.subtract(found.domain().union(found.range()).identity())
