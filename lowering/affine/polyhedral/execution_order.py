"""Which instance runs before which, from the statements' places in the loops."""

from __future__ import annotations

from functools import reduce

import islpy as isl

from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.polyhedral.model import Statement


def order_of(first: Statement, second: Statement, *, same_instance: bool = False, sequential: bool = False) -> isl.Map:
    """Tuples of numbers, instances of `first` or not, to those of `second` that surely run after them.

    Iterations of an `affine.parallel` have no order, so that two instances are ordered only within one iteration of it; with
    `sequential`, it has the order of a loop. With `same_instance`, an instance counts as before itself.
    """
    shared = shared_loops(first, second)
    pairs = _all_pairs(first, second)
    parts = [carried_at(pairs, depth) for depth in range(shared) if sequential or not first.loops[depth].is_parallel]
    if first.beta[shared] < second.beta[shared] or (same_instance and first is second):
        parts.append(_equal_above(pairs, shared))
    return reduce(lambda one, other: one.union(other), parts, isl.Map.empty(pairs.get_space()))


def unordered(first: Statement, second: Statement) -> isl.Map:
    """Pairs of tuples in iterations of one `affine.parallel` that differ, those of `first` with the smaller value."""
    shared = shared_loops(first, second)
    pairs = _all_pairs(first, second)
    parts = [carried_at(pairs, depth) for depth in range(shared) if first.loops[depth].is_parallel]
    return reduce(lambda one, other: one.union(other), parts, isl.Map.empty(pairs.get_space()))


def comes_first(first: MemRefAccess, second: MemRefAccess) -> bool:
    """Whether `first` happens before `second`, another access of its statement, in one instance: an op reads before it writes."""
    return (first.position, first.writes) < (second.position, second.writes)


def shared_loops(first: Statement, second: Statement) -> int:
    """How many loops from the outside in are around both."""
    count = 0
    for one, other in zip(first.loops, second.loops, strict=False):
        if one.op != other.op or one.variable != other.variable:
            break
        count += 1
    return count


def carried_at(pairs: isl.Map, depth: int) -> isl.Map:
    """Those of `pairs` that agree in the dims before `depth`, and whose first instance has the smaller value there."""
    return _equal_above(pairs, depth).order_lt(isl.dim_type.in_, depth, isl.dim_type.out, depth)


def _all_pairs(first: Statement, second: Statement) -> isl.Map:
    domain, range_ = first.domain.get_space(), second.domain.get_space()
    return isl.Map.universe(isl.Space.map_from_domain_and_range(domain, range_))


def _equal_above(pairs: isl.Map, depth: int) -> isl.Map:
    """The pairs that agree in the first `depth` dims."""
    for dim in range(depth):
        pairs = pairs.equate(isl.dim_type.in_, dim, isl.dim_type.out, dim)
    return pairs
