"""Which instance runs before which, from the statements' places in the loops."""

from __future__ import annotations

import islpy as isl

from dlc.analysis.polyhedral.model import Access, Scop, Statement


def happens_before(first: Statement, second: Statement, *, same_instance: bool = False) -> isl.Map:
    """Instances of `first` to those of `second` that surely run after them.

    Iterations of an `affine.parallel` have no order, so that two instances are ordered only within one iteration of it.
    With `same_instance`, an instance counts as before itself.
    """
    shared = shared_loops(first, second)
    pairs = isl.Map.from_domain_and_range(first.domain, second.domain)
    found = pairs.subtract(pairs)
    for depth in range(shared):
        if not first.loops[depth].is_parallel:
            found = found.union(_smaller_at(_equal_above(pairs, depth), depth))
    comes_first = first.beta[shared] < second.beta[shared]
    if comes_first or (same_instance and first is second):
        found = found.union(_equal_above(pairs, shared))
    return found


def accesses_in_order(scop: Scop, first: Access, second: Access) -> isl.Map:
    """Instances with `first` to instances with `second` where the first access surely happens before the second."""
    one, other = scop.by_name[first.statement_name], scop.by_name[second.statement_name]
    return happens_before(one, other, same_instance=one is other and first.position < second.position)


def shared_loops(first: Statement, second: Statement) -> int:
    """How many loops from the outside in are around both."""
    count = 0
    for one, other in zip(first.loops, second.loops, strict=False):
        if one.op != other.op or one.variable != other.variable:
            break
        count += 1
    return count


def _equal_above(pairs: isl.Map, depth: int) -> isl.Map:
    """The pairs that agree in the first `depth` dims."""
    for dim in range(depth):
        pairs = pairs.equate(isl.dim_type.in_, dim, isl.dim_type.out, dim)
    return pairs


def _smaller_at(pairs: isl.Map, dim: int) -> isl.Map:
    """The pairs whose first instance has the smaller value in `dim`."""
    return pairs.order_lt(isl.dim_type.in_, dim, isl.dim_type.out, dim)
