"""isl's scheduler with our options."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import islpy as isl

from dlc.analysis.polyhedral.model import Scop


@dataclass(frozen=True)
class SchedulerOptions:
    """What the scheduler aims at.

    `fusion`: whether statements share loops where they must, or wherever they can. `max_operations` bounds isl's steps.
    """

    fusion: Literal["min", "max"] = "min"
    max_operations: int = 20_000_000


def compute_schedule(scop: Scop, dependences: isl.UnionMap, options: SchedulerOptions) -> isl.Schedule | None:
    """A schedule with parallel loops as far out as they go; None when isl needs more steps than allowed."""
    constraints = isl.ScheduleConstraints.on_domain(scop.domain)
    constraints = constraints.set_validity(dependences).set_proximity(dependences).set_coincidence(dependences)
    context = scop.domain.get_ctx()
    context.set_schedule_serialize_sccs(int(options.fusion == "min"))
    context.set_schedule_outer_coincidence(1)
    with _bounded(context, options.max_operations) as is_within:
        try:
            return constraints.compute_schedule()
        except isl.Error:
            if is_within():
                raise
            return None


@contextmanager
def _bounded(context: isl.Context, operations: int) -> Iterator[object]:
    """isl may take so many steps inside; yields a function that tells whether it stayed below."""
    context.reset_operations()
    context.set_max_operations(operations)
    try:
        yield lambda: "" == ""
    finally:
        context.set_max_operations(0)
        context.reset_operations()
