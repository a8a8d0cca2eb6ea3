"""Values of loops: where they start, how far they are apart, and which lie in whole blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import islpy as isl

from dlc.lowering.affine.schedule.loop_tree import Leaf, LoopNode, Path, Tree, at, loops_above, walk


def value_map(loops: Sequence[LoopNode], domain: isl.UnionSet) -> isl.UnionMap:
    """Instances of `domain` to the values of `loops`, as points of a space without name."""
    columns = [isl.MultiUnionPwAff.from_union_pw_aff(loop.values.intersect_domain(domain)) for loop in loops]
    if not columns:
        origin = isl.MultiVal.zero(domain.get_space().add_unnamed_tuple_ui(0))
        return isl.UnionMap.from_multi_union_pw_aff(isl.MultiUnionPwAff.multi_val_on_domain(domain, origin))
    return isl.UnionMap.from_multi_union_pw_aff(reduce(lambda one, other: one.flat_range_product(other), columns))


def values_of(relation: isl.UnionMap) -> isl.UnionPwAff:
    """A relation from instances to one number each, as a function."""
    return isl.UnionPwMultiAff.from_union_map(relation).get_union_pw_aff(0)


def on_instances(domain: isl.UnionSet, number: int) -> isl.UnionPwAff:
    """The same number for every instance."""
    return isl.UnionPwAff.val_on_domain(domain, isl.Val(number))


def first_values(tree: Tree, path: Path, outermost: Path) -> isl.UnionPwAff:
    """For every instance, the least value of the loop at `path` in the same iteration of the loops around `outermost`."""
    return _extreme_values(tree, path, outermost, isl.Map.lexmin)


def last_values(tree: Tree, path: Path, outermost: Path) -> isl.UnionPwAff:
    """As `first_values`, the greatest one."""
    return _extreme_values(tree, path, outermost, isl.Map.lexmax)


def _extreme_values(tree: Tree, path: Path, outermost: Path, extreme: object) -> isl.UnionPwAff:
    loop = at(tree, path)
    assert isinstance(loop, LoopNode) and callable(extreme)
    outer = value_map(loops_above(tree, outermost), loop.domain)
    ranges = isl.Map.from_union_map(outer.reverse().apply_range(isl.UnionMap.from_union_pw_aff(loop.values)))
    found = extreme(ranges.coalesce())
    return values_of(outer.apply_range(isl.UnionMap.from_map(found)).coalesce()).coalesce()


def is_simple(values: isl.UnionPwAff) -> bool:
    """Whether the values are one expression for each statement."""
    pieces: list[int] = []
    values.foreach_pw_aff(lambda part: pieces.append(part.n_piece()))
    return all(count == 1 for count in pieces)


def stride_of(loop: LoopNode) -> int:
    """The greatest number that divides the distance of any two values."""
    values = isl.Set.from_union_set(isl.UnionMap.from_union_pw_aff(loop.values).intersect_domain(loop.domain).range())
    return int(str(values.get_stride(0)))


@dataclass(frozen=True, eq=False)
class Numbered:
    """The iterations of a loop counted from `origin` in steps of `stride`: `value = origin + stride * count`."""

    origin: isl.UnionPwAff
    stride: int
    count: isl.UnionPwAff

    def block_of(self, size: int) -> isl.UnionPwAff:
        """The number of the block of `size` iterations that an instance lies in."""
        return self.count.scale_down_val(isl.Val(size)).floor()

    def start_of_block(self, size: int) -> isl.UnionPwAff:
        """The value that the block of an instance starts with."""
        return self.origin.add(self.block_of(size).scale_val(isl.Val(size * self.stride)))

    def place_in_block(self, size: int) -> isl.UnionPwAff:
        """0 to size - 1."""
        return self.count.sub(self.block_of(size).scale_val(isl.Val(size)))


def numbered(tree: Tree, path: Path, outermost: Path | None = None) -> Numbered:
    """The iterations of the loop at `path`, counted from its first value in an iteration of the loops around `outermost`.

    Where the first value is no single expression, they are counted from 0 (or the least value of a stride).
    """
    loop = at(tree, path)
    assert isinstance(loop, LoopNode)
    stride = stride_of(loop) or 1
    origin = first_values(tree, path, path if outermost is None else outermost)
    if not is_simple(origin):
        values = isl.Set.from_union_set(isl.UnionMap.from_union_pw_aff(loop.values).range())
        offset = int(str(values.get_stride_info(0).get_offset().get_constant_val())) if stride > 1 else 0
        origin = on_instances(loop.domain, offset)
    distance = loop.values.sub(origin)
    count = distance.scale_down_val(isl.Val(stride)).floor() if stride > 1 else distance
    return Numbered(origin, stride, count.coalesce())


def in_whole_blocks(
    loop: LoopNode, above: Sequence[LoopNode], places: isl.UnionPwAff, blocks: isl.UnionPwAff, size: int
) -> isl.UnionSet:
    """The instances inside `loop` whose block of `size` iterations is whole: every iteration of the block has an instance
    of the statement for the same values of the loops around and inside."""
    found = loop.domain.subtract(loop.domain)
    for path, node in walk(loop):
        if isinstance(node, Leaf):
            others = [*above, *loops_above(loop, path)[1:]]
            found = found.union(whole_of(node.domain, others, places, blocks, size))
    return found.coalesce()


def whole_of(
    domain: isl.UnionSet, others: Sequence[LoopNode], places: isl.UnionPwAff, blocks: isl.UnionPwAff, size: int
) -> isl.UnionSet:
    """The instances of `domain` whose block has an instance in every place, for the same values of the loops `others`."""
    block = LoopNode(domain, blocks.intersect_domain(domain), Leaf(domain))
    place = LoopNode(domain, places.intersect_domain(domain), Leaf(domain))
    where = value_map([block, *others], domain)
    used = isl.Map.from_union_map(where.reverse().apply_range(value_map([place], domain)))
    every = isl.Map.from_domain_and_range(used.domain(), isl.Set(f"{{ [place] : 0 <= place < {size} }}"))
    missing = every.subtract(used).domain()
    whole = used.domain().subtract(missing).coalesce()
    return where.intersect_range(isl.UnionSet.from_set(whole)).domain().coalesce()
