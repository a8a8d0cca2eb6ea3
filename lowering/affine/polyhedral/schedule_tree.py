"""The order that a scop's loops give its statements, as an isl schedule tree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl

from dlc.lowering.affine.polyhedral.model import Scop, Statement, union_set


def original_schedule(scop: Scop, statements: Sequence[Statement] | None = None) -> isl.Schedule:
    """The schedule tree of the text, of all or some statements: a band a loop, a sequence where a body holds several items."""
    return _of(scop, scop.statements if statements is None else statements, 0)


def _of(scop: Scop, statements: Sequence[Statement], depth: int) -> isl.Schedule:
    """The tree of `statements`, which share `depth` loops, from there inwards."""
    places = sorted({statement.beta[depth] for statement in statements})
    parts = [_item(scop, [one for one in statements if one.beta[depth] == place], depth) for place in places]
    return reduce(lambda before, after: before.sequence(after), parts)


def _item(scop: Scop, statements: Sequence[Statement], depth: int) -> isl.Schedule:
    """The tree of one item of a body: a statement, or a loop with all that is inside."""
    first = statements[0]
    if len(first.loops) == depth:
        return isl.Schedule.from_domain(union_set([first.domain], scop.context))
    width = sum(loop.op == first.loops[depth].op for loop in first.loops[depth:])
    inner = _of(scop, statements, depth + width)
    band = inner.insert_partial_schedule(_dims(statements, range(depth, depth + width)))
    if not first.loops[depth].is_parallel:
        return band
    node = band.get_root().child(0)
    for member in range(width):
        node = node.band_member_set_coincident(member, True)
    return node.band_set_permutable(True).get_schedule()


def _dims(statements: Sequence[Statement], dims: range) -> isl.MultiUnionPwAff:
    """The values of the loops number `dims`, for each statement."""
    columns = []
    for dim in dims:
        parts = [isl.UnionPwAff.from_pw_aff(_dim(statement, dim)) for statement in statements]
        columns.append(reduce(lambda one, other: one.union_add(other), parts))
    whole = isl.MultiUnionPwAff.from_union_pw_aff(columns[0])
    for column in columns[1:]:
        whole = whole.flat_range_product(isl.MultiUnionPwAff.from_union_pw_aff(column))
    return whole


def _dim(statement: Statement, dim: int) -> isl.PwAff:
    """`S[i0, .., in] -> i_dim`"""
    space = isl.LocalSpace.from_space(statement.domain.get_space())
    return isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.set, dim))
