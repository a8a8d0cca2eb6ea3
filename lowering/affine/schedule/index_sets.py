"""Index-set splitting: blocks of an array's elements, in which the updates that wait for nothing of the block come first.

For recurrences whose loops all carry dependences (Cholesky, LU, Nussinov). An instance belongs to the element that it writes (owner
computes). Where dependences go one way along each dim of the array, its blocks may be computed one after another. Some updates
inside a block read only elements of other blocks, which are finished. They depend on each other by the sum of each element alone:
they are a product, fit for vectors and register tiles. The other updates keep the order of the text; their share falls with the
size of the array. (Griebl, Feautrier and Lengauer, IJPP 2000, cut index sets where dependences change; here that is where they
leave the block.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import islpy as isl

from dlc.lowering.affine.dependences.analysis import DependenceAnalysis
from dlc.lowering.affine.dependences.band_nests import is_band
from dlc.lowering.affine.dependences.coincidence import between_instances, with_coincidence
from dlc.lowering.affine.dependences.volumes import volume, volume_of
from dlc.lowering.affine.polyhedral.loop_values import maps_of, union_of
from dlc.lowering.affine.polyhedral.model import Scop, Statement
from dlc.lowering.affine.polyhedral.schedule_tree import original_schedule
from dlc.lowering.affine.schedule.element_blocks import ArrayTiles, WrittenElement
from dlc.lowering.policy import policy


def blocked_schedules(analysis: DependenceAnalysis, statements: Sequence[Statement], lanes: int) -> Iterator[isl.Schedule]:
    """Schedules of `statements` by blocks of the array that they write; none where they do not update one array so."""
    owners = WrittenElement.of(statements)
    if owners is None or not lanes:
        return
    instances = owners.elements.domain()
    validity, apart = (between_instances(part, instances) for part in (analysis.kept_map, analysis.pairs_map))
    signs = owners.directions(validity)
    if signs is None:
        return
    for sizes in _block_sizes(owners.rank, lanes):
        blocks = ArrayTiles(owners, signs, sizes)
        pieces = _cut(statements, blocks, validity)
        if pieces is None:
            return
        given = _placed_schedule(analysis.scop, statements, blocks)
        rows = [_in_block(statements, blocks, given, [piece.intersect(row) for piece in pieces]) for row in _rows(blocks, apart)]
        number = isl.MultiUnionPwAff.from_union_pw_aff(blocks.number(0))
        tree = reduce(isl.Schedule.sequence, [row.insert_partial_schedule(number) for row in rows])
        for dim in range(1, owners.rank):
            tree = tree.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(blocks.number(dim)))
        yield with_coincidence(tree, apart)


def _in_block(
    statements: Sequence[Statement], blocks: ArrayTiles, given: isl.Schedule, pieces: Sequence[isl.UnionSet]
) -> isl.Schedule:
    """What is done in each block: of the two pieces first the updates that wait for nothing there, then all others as `given`."""
    early, late = pieces
    rest = given.intersect_domain(late)
    if early.is_empty():
        return rest
    first = _early_schedule(statements, blocks, early)
    return first if late.is_empty() else first.sequence(rest)


def _rows(blocks: ArrayTiles, apart: isl.UnionMap) -> list[isl.UnionSet]:
    """The instances in blocks that others of the same step wait for, and those of the others, if they are many.

    These come last and have no order among themselves: in Cholesky and LU they are the rows below the diagonal. What comes first
    may hold others, too.
    """
    home = blocks.relation
    last = _last(home, blocks.waited_for(apart))
    return [one.domain().coalesce() for one in (home.subtract(last).coalesce(), last) if not one.is_empty()]


def _last(home: isl.UnionMap, waited_for: isl.Set) -> isl.UnionMap:
    """The instances and blocks in `home` beyond those faces of the hull of `waited_for` that have a share of all beyond them.

    Faces that have few, such as that before the last row of blocks, would only cut loops.
    """
    least = policy().search.index_set_share * volume_of(home.domain())
    halves = (home.intersect_range(isl.UnionSet.from_set(half)) for half in _outside(waited_for.simple_hull()))
    return reduce(isl.UnionMap.union, [one for one in halves if volume_of(one.domain()) > least], home.subtract(home)).coalesce()


def _outside(polyhedron: isl.BasicSet) -> Iterator[isl.Set]:
    """The half-spaces that leave `polyhedron`."""
    for constraint in polyhedron.get_constraints():
        side = constraint.get_aff()
        sides = [side, side.neg()] if constraint.is_equality() else [side]
        yield from (isl.Set.from_basic_set(one.neg_basic_set()) for one in sides)


def _block_sizes(rank: int, lanes: int) -> Iterator[tuple[int, ...]]:
    """Sizes of blocks that are tried: eight along all dims but the last, one or two vectors along that.

    Neither four nor two vectors that are longer than eight are ever cheaper by the model (`lu`, `cholesky`, `nussinov`), and each
    size costs a tenth of a second to weigh. The loop over blocks along the last dim is the outermost: so each step reads a new
    panel of the narrow side.
    """
    for wide in (lanes, 2 * lanes) if lanes < policy().blocks.tall_block else (lanes,):
        yield (*[policy().blocks.tall_block] * (rank - 1), wide)


def _cut(statements: Sequence[Statement], blocks: ArrayTiles, validity: isl.UnionMap) -> tuple[isl.UnionSet, isl.UnionSet] | None:
    """The instances of the innermost loops that wait for nothing in their block, and all others. None without any."""
    home = blocks.relation
    sources = validity.subtract(_equal(blocks.owners.elements)).reverse()
    others = reduce(lambda found, one: found.subtract_domain(isl.UnionSet.from_set(one.domain)), _deepest(statements), home)
    late = sources.apply_range(home).intersect(home).union(others).coalesce()
    waiting = validity.reverse()
    for _ in range(policy().limits.index_set_rounds):
        more = waiting.apply_range(late).intersect(home).union(late).coalesce()
        if more.is_subset(late):
            early = home.subtract(late).coalesce()
            return None if early.is_empty() else _simplest(early, home, waiting)
        late = more
    return None


def _simplest(early: isl.UnionMap, home: isl.UnionMap, waiting: isl.UnionMap) -> tuple[isl.UnionSet, isl.UnionSet]:
    """`early` with one polyhedron for each statement, where what is left of all may still run after it; and what is left.

    `waiting` leads from instances to those that they wait for.
    """
    space = early.get_space()
    largest = union_of([_largest(one, home.extract_map(one.get_space())) for one in maps_of(early)], space)
    late = home.subtract(largest).coalesce()
    if not waiting.apply_range(late).intersect(largest).is_empty():
        largest, late = early, home.subtract(early).coalesce()
    return largest.domain().coalesce(), late.domain().coalesce()


def _largest(early: isl.Map, home: isl.Map) -> isl.Map:
    """The largest polyhedron in `early`, without constraints that are of no need there or that `home` has, too."""
    pieces = [_grown(piece, early, home) for piece in early.get_basic_maps()]
    return pieces[0] if len(pieces) == 1 else max(pieces, key=lambda piece: volume(piece.domain()))


def _grown(piece: isl.BasicMap, within: isl.Map, home: isl.Map) -> isl.Map:
    """`piece` without the constraints that are of no need for it to stay inside of `within`, a part of `home`."""
    kept = piece.gist(home.simple_hull()).get_constraints()
    for constraint in list(kept):
        others = [one for one in kept if one is not constraint]
        if _with(home, others).is_subset(within):
            kept = others
    return _with(home, kept)


def _with(pairs: isl.Map, constraints: Sequence[isl.Constraint]) -> isl.Map:
    """Those of `pairs` that keep the constraints."""
    bounds = reduce(isl.BasicMap.add_constraint, constraints, isl.BasicMap.universe(pairs.get_space()))
    return pairs.intersect(isl.Map.from_basic_map(bounds))


def _deepest(statements: Sequence[Statement]) -> list[Statement]:
    """The statements with the most loops around them."""
    most = max(len(one.loops) for one in statements)
    return [one for one in statements if len(one.loops) == most]


def _equal(values: isl.UnionMap) -> isl.UnionMap:
    """The pairs of instances with the same value."""
    return values.apply_range(values.reverse())


def _early_schedule(statements: Sequence[Statement], blocks: ArrayTiles, early: isl.UnionSet) -> isl.Schedule:
    """For each statement loops over the elements of a block, and inside over the updates of each."""
    parts = [_updates_schedule(one, blocks, early.intersect(isl.UnionSet.from_set(one.domain))) for one in _deepest(statements)]
    return reduce(lambda before, after: before.sequence(after), [part for part in parts if not part.get_domain().is_empty()])


def _updates_schedule(statement: Statement, blocks: ArrayTiles, domain: isl.UnionSet) -> isl.Schedule:
    schedule = isl.Schedule.from_domain(domain)
    points = [blocks.place(dim) for dim in range(blocks.owners.rank)]
    for loop in reversed([*points, *_summed_loops(statement, blocks.owners)]):
        schedule = schedule.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(loop.intersect_domain(domain)))
    return schedule


def _summed_loops(main: Statement, owners: WrittenElement) -> list[isl.UnionPwAff]:
    """The loops of a statement that its element does not tell."""
    own = isl.Map.from_union_map(owners.elements.intersect_domain(isl.UnionSet.from_set(main.domain))).reverse()
    space = isl.LocalSpace.from_space(main.domain.get_space())
    found = []
    for at in range(len(main.loops)):
        others = own.project_out(isl.dim_type.out, at + 1, len(main.loops) - at - 1).project_out(isl.dim_type.out, 0, at)
        if not others.is_single_valued():
            variable = isl.Aff.var_on_domain(space, isl.dim_type.set, at)
            found.append(isl.UnionPwAff.from_pw_aff(isl.PwAff.from_aff(variable)))
    return found


def _placed_schedule(scop: Scop, statements: Sequence[Statement], blocks: ArrayTiles) -> isl.Schedule:
    """The text's order inside a block: loops over elements go over places in it, so that their bounds do not depend on it."""

    def visit(node: isl.ScheduleNode) -> isl.ScheduleNode:
        if not is_band(node) or node.band_n_member() != 1:
            return node
        placed = blocks.placed(node.band_get_partial_schedule().get_union_pw_aff(0))
        if placed is None:
            return node
        return node.delete().insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(placed))

    return original_schedule(scop, statements).get_root().map_descendant_bottom_up(visit).get_schedule()
