"""Index-set splitting: blocks of an array's elements, in which the updates that wait for nothing of the block come first.

For recurrences whose loops all carry dependences (Cholesky, LU, Nussinov). An instance belongs to the element that it writes
(owner computes). Where dependences go one way along each dim of the array, its blocks may be computed one after another. Inside
a block the updates that read finished elements of other blocks alone are free of each other but for the sum of each element:
a product, fit for vectors and register tiles. What is left, a share that falls with the size of the array, keeps the text's order.
(Griebl, Feautrier and Lengauer, IJPP 2000, cut index sets where dependences change; here that is where they leave the block.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from weakref import WeakKeyDictionary

import islpy as isl

from dlc.analysis.polyhedral.dependences import Dependence, joined, memory_dependences
from dlc.analysis.polyhedral.loop_values import LoopValues
from dlc.analysis.polyhedral.model import Scop, Statement
from dlc.analysis.polyhedral.reductions import reductions, without_reductions
from dlc.analysis.polyhedral.schedule_tree import original_schedule
from dlc.lowering.polyhedral.coincidence import with_coincidence, within_iterations
from dlc.lowering.polyhedral.iterations import on_instances
from dlc.lowering.polyhedral.volumes import volume, volume_of

_LEAST_SHARE = 0.25
"""Blocks that wait for no other of their step become a loop of their own where they do so much of all."""
_MOST_ROUNDS = 6
"""Steps along dependences after which what waits for a block must be known."""


@dataclass(frozen=True, eq=False)
class Order:
    """What a schedule must keep, as all pairs of instances, transitive ones included.

    `kept` tells what runs before what; of `pairs` nothing may run at the same time either. They differ by updates of one
    element that any order leaves the same.
    """

    context: isl.Set
    kept: Sequence[Dependence]
    pairs: Sequence[Dependence]

    @classmethod
    def of(cls, scop: Scop) -> Order:
        """That of a function's loops; found once."""
        if scop not in _ORDERS:
            pairs = memory_dependences(scop)
            _ORDERS[scop] = cls(scop.context, without_reductions(pairs, reductions(scop, single=True)), pairs)
        return _ORDERS[scop]

    @cached_property
    def kept_map(self) -> isl.UnionMap:
        """All of `kept` as one relation between instances."""
        return joined(self.context, self.kept) if self.is_relaxed else self.pairs_map

    @cached_property
    def pairs_map(self) -> isl.UnionMap:
        """All of `pairs` as one relation between instances."""
        return joined(self.context, self.pairs)

    @property
    def is_relaxed(self) -> bool:
        """Whether some updates need no order."""
        return len(self.kept) < len(self.pairs)


_ORDERS: WeakKeyDictionary[Scop, Order] = WeakKeyDictionary()
"""The orders of scops so far: each part of a scop is asked about, and the schedule of all."""


def blocked_schedules(scop: Scop, statements: Sequence[Statement], lanes: int) -> Iterator[isl.Schedule]:
    """Schedules of `statements` by blocks of the array that they write; none where they do not update one array so."""
    owners = _Owners.of(statements)
    if owners is None or not lanes:
        return
    order = Order.of(scop)
    validity, apart = (_within(part, owners.elements.domain()) for part in (order.kept_map, order.pairs_map))
    signs = owners.directions(validity)
    if signs is None:
        return
    for sizes in _block_sizes(owners.rank, lanes):
        blocks = _Blocks(owners, signs, sizes)
        pieces = _cut(statements, blocks, validity)
        if pieces is None:
            return
        early, late = pieces
        tree = _early_schedule(statements, blocks, early).sequence(_late_schedule(scop, statements, late))
        tree = _in_rows(tree, blocks, apart)
        for dim in range(1, owners.rank):
            tree = tree.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(blocks.number(dim)))
        yield with_coincidence(tree, apart)


def _in_rows(tree: isl.Schedule, blocks: _Blocks, apart: isl.UnionMap) -> isl.Schedule:
    """The loop over blocks along the first dim around what `tree` does in each.

    Blocks that no other of the same step waits for come last, where they are many: they have no order among themselves. In
    Cholesky and LU these are the rows below the diagonal.
    """
    waiting = apart
    for dim in range(1, blocks.owners.rank):
        waiting = within_iterations(waiting, LoopValues(blocks.number(dim)))
    waiting = waiting.subtract(within_iterations(waiting, LoopValues(blocks.number(0))))
    home, every = blocks.relation(), tree.get_domain()
    first = home.intersect_range(waiting.domain().apply(home)).domain().coalesce()
    last = every.subtract(first).coalesce()
    parts = [first, last] if volume_of(last) > _LEAST_SHARE * volume_of(every) else [every]
    rows = isl.MultiUnionPwAff.from_union_pw_aff(blocks.number(0))
    return reduce(
        isl.Schedule.sequence,
        [tree.intersect_domain(part).insert_partial_schedule(rows) for part in parts if not part.is_empty()],
    )


def _block_sizes(rank: int, lanes: int) -> Iterator[tuple[int, ...]]:
    """Sizes of blocks that are tried: one or two vectors along the last dim, eight registers along the others.

    Four are never cheaper by the model (`lu`, `cholesky`, `nussinov`), and each size costs a third of a second to weigh.

    The loop over blocks along the last dim is the outermost: so each step reads a new panel of the narrow side.
    """
    for wide in (lanes, 2 * lanes):
        yield (*[8] * (rank - 1), wide)


def _within(pairs: isl.UnionMap, domain: isl.UnionSet) -> isl.UnionMap:
    return pairs.intersect_domain(domain).intersect_range(domain)


@dataclass(frozen=True, eq=False)
class _Owners:
    """The element of one array that each instance writes."""

    elements: isl.UnionMap
    array: str
    rank: int

    @classmethod
    def of(cls, statements: Sequence[Statement]) -> _Owners | None:
        """None where statements write several arrays or elements, or an array of one dim."""
        writes = [write for statement in statements for write in statement.writes]
        array = writes[0].array
        if len(writes) != len(statements) or any(write.array is not array for write in writes) or array.rank < 2:
            return None
        if not array.is_memory or not all(write.relation.is_single_valued() for write in writes):
            return None
        owned = [isl.UnionMap.from_map(write.relation.intersect_domain(_of(statements, write.statement_name))) for write in writes]
        return cls(reduce(lambda one, other: one.union(other), owned), array.name, array.rank)

    def coordinate(self, dim: int) -> isl.UnionPwAff:
        """The subscript number `dim` of each instance's element."""
        return isl.UnionPwMultiAff.from_union_map(self.elements).get_union_pw_aff(dim)

    def directions(self, validity: isl.UnionMap) -> tuple[int, ...] | None:
        """For each dim 1 where all dependences go to the same or greater subscripts, -1 where to the same or lesser ones.

        None where they go both ways along a dim, or never leave an element.
        """
        steps = validity.apply_domain(self.elements).apply_range(self.elements).deltas()
        if steps.is_empty():
            return None
        deltas = isl.Set.from_union_set(steps)
        found = []
        for dim in range(self.rank):
            low, high = deltas.dim_min_val(dim), deltas.dim_max_val(dim)
            if not low.is_neg() and low.is_int():
                found.append(1)
            elif not high.is_pos() and high.is_int():
                found.append(-1)
            else:
                return None
        return None if _is_origin(deltas) else tuple(found)


def _is_origin(deltas: isl.Set) -> bool:
    return all(deltas.plain_get_val_if_fixed(isl.dim_type.set, dim).is_zero() for dim in range(deltas.dim(isl.dim_type.set)))


def _of(statements: Sequence[Statement], name: str) -> isl.Set:
    return next(one.domain for one in statements if one.name == name)


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Blocks of `sizes` elements, counted along each dim in the direction of dependences."""

    owners: _Owners
    signs: Sequence[int]
    sizes: Sequence[int]

    def number(self, dim: int) -> isl.UnionPwAff:
        """The number of each instance's block along one dim."""
        along = self.owners.coordinate(dim).scale_val(isl.Val(self.signs[dim]))
        return along.scale_down_val(isl.Val(self.sizes[dim])).floor()

    def place(self, dim: int) -> isl.UnionPwAff:
        """The place of each instance's element in its block along one dim, in the order of subscripts."""
        first = self.number(dim).scale_val(isl.Val(self.sizes[dim] * self.signs[dim]))
        place = self.owners.coordinate(dim).sub(first)
        return place if self.signs[dim] > 0 else place.add(on_instances(self.owners.elements.domain(), self.sizes[dim] - 1))

    def relation(self) -> isl.UnionMap:
        """Instances to the numbers of their blocks, said by inequalities: quotients would stay in all that is made of it."""
        rank, name = self.owners.rank, self.owners.array
        subscripts = [f"e{dim}" for dim in range(rank)]
        numbers = [f"b{dim}" for dim in range(rank)]
        bounds = [
            f"{size}{number} <= {sign}{subscript} < {size}{number} + {size}"
            for size, number, sign, subscript in zip(self.sizes, numbers, self.signs, subscripts, strict=True)
        ]
        text = f"{{ {name}[{', '.join(subscripts)}] -> [{', '.join(numbers)}] : {' and '.join(bounds)} }}"
        return self.owners.elements.apply_range(isl.UnionMap(text))


def _cut(statements: Sequence[Statement], blocks: _Blocks, validity: isl.UnionMap) -> tuple[isl.UnionSet, isl.UnionSet] | None:
    """The instances of the innermost loops that wait for nothing in their block, and all others. None without any."""
    home = blocks.relation()
    sources = validity.subtract(_equal(blocks.owners.elements)).reverse()
    others = reduce(lambda found, one: found.subtract_domain(isl.UnionSet.from_set(one.domain)), _deepest(statements), home)
    late = sources.apply_range(home).intersect(home).union(others).coalesce()
    for _ in range(_MOST_ROUNDS):
        more = validity.reverse().apply_range(late).intersect(home).union(late).coalesce()
        if more.is_subset(late):
            early = home.subtract(late).coalesce().domain().coalesce()
            return None if early.is_empty() else _simplest(early, blocks, home.domain(), validity)
        late = more
    return None


def _simplest(
    early: isl.UnionSet, blocks: _Blocks, every: isl.UnionSet, validity: isl.UnionMap
) -> tuple[isl.UnionSet, isl.UnionSet]:
    """`early` with one polyhedron for each statement, where what is left of `every` may still run after it; and what is left."""
    largest = isl.UnionSet.empty(early.get_space())
    parts = early.get_set_list()
    for at in range(parts.n_set()):
        pieces = [isl.Set.from_basic_set(piece) for piece in parts.get_set(at).make_disjoint().get_basic_sets()]
        largest = largest.union(isl.UnionSet.from_set(max(pieces, key=volume) if len(pieces) > 1 else pieces[0]))
    rest = every.subtract(largest).coalesce()
    backwards = validity.intersect_domain(rest).intersect_range(largest)
    for dim in range(blocks.owners.rank):
        backwards = within_iterations(backwards, LoopValues(blocks.number(dim)))
    return (largest, rest) if backwards.is_empty() else (early, every.subtract(early).coalesce())


def _deepest(statements: Sequence[Statement]) -> list[Statement]:
    """The statements with the most loops around them."""
    most = max(len(one.loops) for one in statements)
    return [one for one in statements if len(one.loops) == most]


def _equal(values: isl.UnionMap) -> isl.UnionMap:
    """The pairs of instances with the same value."""
    return values.apply_range(values.reverse())


def _early_schedule(statements: Sequence[Statement], blocks: _Blocks, early: isl.UnionSet) -> isl.Schedule:
    """For each statement loops over the elements of a block, and inside over the updates of each."""
    parts = [_updates_schedule(one, blocks, early.intersect(isl.UnionSet.from_set(one.domain))) for one in _deepest(statements)]
    return reduce(lambda before, after: before.sequence(after), [part for part in parts if not part.get_domain().is_empty()])


def _updates_schedule(statement: Statement, blocks: _Blocks, domain: isl.UnionSet) -> isl.Schedule:
    schedule = isl.Schedule.from_domain(domain)
    points = [blocks.place(dim) for dim in range(blocks.owners.rank)]
    for loop in reversed([*points, *_summed_loops(statement, blocks.owners)]):
        schedule = schedule.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(loop.intersect_domain(domain)))
    return schedule


def _summed_loops(main: Statement, owners: _Owners) -> list[isl.UnionPwAff]:
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


def _late_schedule(scop: Scop, statements: Sequence[Statement], late: isl.UnionSet) -> isl.Schedule:
    """The text's order."""
    return original_schedule(scop, statements).intersect_domain(late)
