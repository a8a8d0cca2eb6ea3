"""What primitives share: nests without statements between their loops, and loops cut into blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import islpy as isl

from dlc.lowering.affine.schedule.iterations import (
    Numbered,
    in_whole_blocks,
    is_simple,
    last_values,
    numbered,
    on_instances,
    value_map,
    whole_of,
)
from dlc.lowering.affine.schedule.loop_tree import (
    Leaf,
    LoopNode,
    Path,
    Tree,
    around,
    at,
    block,
    loop_in,
    loops_above,
    put,
    restrict,
    statement_names,
    walk,
)
from dlc.lowering.affine.schedule.program import PrimitiveError, Program, Result


def loop_at(program: Program, path: Path) -> LoopNode:
    """The loop at a path that `Program.find` gave."""
    return loop_in(program.tree, path)


def nest_of(program: Program, names: Sequence[str]) -> list[Path]:
    """The paths of loops that lie directly in each other, from the outside in; PrimitiveError for others."""
    paths = [program.find(name) for name in names]
    for position, (outer, inner) in enumerate(pairwise(paths)):
        if inner == (*outer, 0):
            continue
        nested = inner[: len(outer)] == outer
        reason = f"loop '{names[position + 1]}' does not lie directly in loop '{names[position]}'"
        if not nested:
            reason = f"loop '{names[position + 1]}' does not lie inside loop '{names[position]}'"
        raise PrimitiveError(
            reason, "name the loops between them, or distribute the outer one first" if nested else "name loops from the outside in"
        )
    return paths


def require_positive(what: str, number: int, least: int = 1) -> None:
    """PrimitiveError where an argument is too small."""
    if number < least:
        raise PrimitiveError(f"{what} is {number}", f"give {least} or more")


@dataclass(frozen=True, eq=False)
class Cut:
    """A loop cut into blocks of `size` iterations: the instances before, in and after the blocks that hold anything `whole`."""

    loop: LoopNode
    steps: Numbered
    size: int
    whole: isl.UnionSet
    before: isl.UnionSet
    main: isl.UnionSet
    after: isl.UnionSet

    @property
    def starts(self) -> isl.UnionPwAff:
        """The value that each instance's block starts with."""
        return self.steps.start_of_block(self.size)

    @property
    def places(self) -> isl.UnionPwAff:
        """Each instance's place in its block, from 0."""
        return self.steps.place_in_block(self.size)


def cut(program: Program, path: Path, size: int, *, jammed: bool) -> Cut:
    """Cut the loop at `path` into blocks. With `jammed`, whole means so for every iteration of the loops inside, too."""
    loop, above = loop_at(program, path), loops_above(program.tree, path)
    steps = numbered(program.tree, path)
    places, blocks = steps.place_in_block(size), steps.block_of(size)
    whole = in_whole_blocks(loop, above, places, blocks, size) if jammed else whole_of(loop.domain, above, places, blocks, size)
    keys = value_map([*above, around(blocks, Leaf(loop.domain))], loop.domain)
    main_keys = whole.apply(keys)
    earlier = isl.UnionMap.from_map(_same_but_last_less(len(above) + 1))
    main = keys.intersect_range(main_keys).domain()
    before = keys.intersect_range(earlier.intersect_range(main_keys).domain()).domain().subtract(main)
    after = loop.domain.subtract(main).subtract(before).coalesce()
    return Cut(loop, steps, size, whole, before.coalesce(), main.coalesce(), _behind_blocks(program, path, steps, size, after))


def _behind_blocks(program: Program, path: Path, steps: Numbered, size: int, after: isl.UnionSet) -> isl.UnionSet:
    """`after`, where that is the same as the iterations from `size * floor(count / size)` on: isl makes a bound of that."""
    last = last_values(program.tree, path, path)
    if after.is_empty() or not is_simple(last):
        return after
    count = last.sub(steps.origin).scale_down_val(isl.Val(steps.stride)).floor().add(on_instances(after, 1))
    first = count.scale_down_val(isl.Val(size)).floor().scale_val(isl.Val(size))
    beyond = isl.UnionMap.from_union_pw_aff(steps.count.sub(first)).intersect_range(isl.UnionSet("{ [distance] : distance >= 0 }"))
    found = beyond.domain().intersect(loop_at(program, path).domain)
    return found if found.is_equal(after) else after


def _same_but_last_less(count: int) -> isl.Map:
    outer = [f"a{number}" for number in range(count - 1)]
    return isl.Map(f"{{ [{', '.join([*outer, 'b'])}] -> [{', '.join([*outer, 'c'])}] : b < c }}")


def replace_by_blocks(program: Program, path: Path, parts: Cut, inside: Tree | None) -> Result:
    """Put the blocks in the loop's place: `inside` for what is whole, the loop as it was for the rest.

    Returns the names of the loop over the blocks and of the loops before and after, where there are such.
    """
    if inside is None:
        raise PrimitiveError(
            f"loop '{_called(program, path)}' has no {parts.size} iterations that go together", "give a smaller number"
        )
    base = program.base_name(path)
    partial = restrict(parts.loop, parts.main.subtract(parts.whole))
    body = block([inside] if partial is None else [inside, named_copy(program, path, partial, "partial")])
    items: list[Tree] = [around(parts.starts, body, parts.loop.name or program.fresh_name(base), parts.loop.kind)]
    names = [items[0].name] if isinstance(items[0], LoopNode) else []
    for instances, suffix in ((parts.before, "head"), (parts.after, "rest")):
        outside = restrict(parts.loop, instances)
        if outside is None:
            continue
        copy = named_copy(program, path, outside, suffix)
        items.insert(0 if suffix == "head" else len(items), copy)
        names.append(copy.name)
    return program.changed(put(program.tree, path, block(items))), tuple(names)


def named_copy(program: Program, path: Path, tree: Tree, suffix: str) -> LoopNode:
    """`tree`, a copy of the loop at `path`, and the loops inside it with `suffix` added to their names."""
    new = tree
    for inside, node in walk(tree):
        if isinstance(node, LoopNode) and node.kind in ("loop", "unordered", "parallel"):
            base = node.name or _place(program, path, tree, inside)
            name = program.fresh_name(f"{base}.{suffix}".replace(":", "_"))
            new = put(new, inside, replace(loop_in(new, inside), name=name))
    assert isinstance(new, LoopNode)
    return new


def _place(program: Program, path: Path, tree: Tree, inside: Path) -> str:
    """What the loop at `inside`, below a copy of the loop at `path`, would be called by its depth."""
    depth = len(loops_above(program.tree, path)) + len(loops_above(tree, inside))
    return f"{statement_names(at(tree, inside))[0]}:{depth}"


def _called(program: Program, path: Path) -> str:
    return loop_at(program, path).name or program.base_name(path)
