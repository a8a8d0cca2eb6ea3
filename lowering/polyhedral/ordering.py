"""The dependences that a scheduler must keep, without those that follow from others."""

from __future__ import annotations

import islpy as isl

from dlc.analysis.polyhedral.model import Scop
from dlc.analysis.polyhedral.schedule_tree import original_schedule


def ordering_dependences(scop: Scop) -> isl.UnionMap:
    """Each read to the last write before it, each write to the last one and to the reads between: whoever keeps these keeps all.

    A pair of one element's accesses that has a write between them follows from the pairs with that write.
    """
    reads, writes = scop.accesses(writes=False), scop.accesses(writes=True)
    schedule = original_schedule(scop)
    flow = _last_sources(reads, writes, None, schedule)
    order = _last_sources(writes, writes, reads, schedule)
    found = flow.union(order)
    return found.subtract(found.domain().union(found.range()).identity())


def _last_sources(sinks: isl.UnionMap, kills: isl.UnionMap, others: isl.UnionMap | None, schedule: isl.Schedule) -> isl.UnionMap:
    """From the last access of `kills`, and those of `others` after it, to each access of `sinks`."""
    info = isl.UnionAccessInfo.from_sink(sinks).set_must_source(kills)
    if others is not None:
        info = info.set_may_source(others)
    flow = info.set_schedule(schedule).compute_flow()
    return flow.get_may_dependence()
