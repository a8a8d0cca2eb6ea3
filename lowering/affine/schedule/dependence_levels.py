"""Index-set splitting: the iterations inside an outer loop by when they may run, in levels of iterations without order.

The first level waits for nothing in the same iteration of the outer loop, the next one for the first alone, and so on. Shortest
paths (Floyd and Warshall) have five levels in each step: elements before row and column k, then row and column k, the corners, and
so on. The loops of the text carry dependences only because they run through all levels. (After Griebl, Feautrier and Lengauer, IJPP
2000.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import islpy as isl

from dlc.lowering.affine.dependences.analysis import DependenceAnalysis
from dlc.lowering.affine.dependences.coincidence import between_instances, with_coincidence
from dlc.lowering.affine.polyhedral.model import Statement, union_set
from dlc.lowering.policy import policy


def leveled_schedules(analysis: DependenceAnalysis, statements: Sequence[Statement]) -> Iterator[isl.Schedule]:
    """A schedule with the levels in each iteration of the outermost loop one after another; none where they are many or no cuts."""
    if len({one.loops[0].op for one in statements if one.loops}) != 1 or min(len(one.loops) for one in statements) < 2:
        return
    context = isl.DEFAULT_CONTEXT
    limit = context.get_max_operations()
    context.set_max_operations(policy().limits.dependence_operations)
    context.reset_operations()
    try:
        schedule = _leveled(analysis, statements)
    except isl.Error:
        schedule = None
    finally:
        context.set_max_operations(limit)
        context.reset_operations()
    if schedule is not None:
        yield schedule


def _leveled(analysis: DependenceAnalysis, statements: Sequence[Statement]) -> isl.Schedule | None:
    scop = analysis.scop
    domain = union_set([one.domain for one in statements], scop.context)
    validity = between_instances(analysis.kept_map, domain)
    outer = _loop_values(statements, 0)
    values = isl.UnionMap.from_union_pw_aff(outer)
    levels = _levels(domain, validity.intersect(values.apply_range(values.reverse())))
    pieces = [piece for level in levels or [] for piece in _pieces(level)]
    if not len(statements) < len(pieces) <= policy().limits.level_pieces:
        return None
    nests = [_nest(piece, scop.by_name[piece.get_tuple_name()]) for piece in pieces]
    tree = reduce(lambda before, after: before.sequence(after), nests)
    tree = tree.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(outer))
    return with_coincidence(tree, analysis.pairs_map)


def _levels(domain: isl.UnionSet, waits: isl.UnionMap) -> list[isl.UnionSet] | None:
    """The levels of `domain`, where the second of each pair of `waits` waits for the first; None where there are too many."""
    found: list[isl.UnionSet] = []
    while not domain.is_empty():
        waits = waits.intersect_domain(domain)
        ready = domain.subtract(waits.range()).coalesce()
        if ready.is_empty() or len(found) == policy().limits.dependence_levels:
            return None
        found.append(ready)
        domain = domain.subtract(ready).coalesce()
    return found


def _pieces(level: isl.UnionSet) -> list[isl.Set]:
    """Polyhedra that make up a level."""
    parts = level.get_set_list()
    whole = [parts.get_set(at) for at in range(parts.n_set())]
    return [isl.Set.from_basic_set(piece) for part in whole for piece in part.make_disjoint().coalesce().get_basic_sets()]


def _nest(piece: isl.Set, statement: Statement) -> isl.Schedule:
    """Loops over a piece inside the outermost one, in the text's order."""
    schedule = isl.Schedule.from_domain(isl.UnionSet.from_set(piece))
    for depth in reversed(range(1, len(statement.loops))):
        value = _loop_values([statement], depth).intersect_domain(isl.UnionSet.from_set(piece))
        schedule = schedule.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(value))
    return schedule


def _loop_values(statements: Sequence[Statement], depth: int) -> isl.UnionPwAff:
    """The variable of the loop number `depth` of each instance."""
    found = []
    for one in statements:
        space = isl.LocalSpace.from_space(one.domain.get_space())
        variable = isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.set, depth))
        found.append(isl.UnionPwAff.from_pw_aff(variable.intersect_domain(one.domain)))
    return reduce(lambda one, other: one.union_add(other), found)
