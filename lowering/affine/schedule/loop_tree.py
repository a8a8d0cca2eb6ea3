"""Schedule trees as records: loops of one variable, sequences, scratch memory and statements, each with its instances.

isl's trees are edited through cursors; primitives cut, move and join whole subtrees, which records do in one expression.
`from_schedule` and `to_schedule` go from one form to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal, get_args

import islpy as isl

from dlc.lowering.affine.polyhedral.loop_marks import LoopMark, loop_marks_of, mark_band, mark_scratch, scratch_of

Kind = Literal["loop", "unordered", "parallel", "lanes", "unroll", "unroll_by_isl"]
"""How iterations run: one after the other; without order, as an `affine.parallel` or a loop that says so; as lanes of a vector;
written out by the emitter, or by isl. All but the last are kinds of `loop_marks.py`."""

_KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}


@dataclass(frozen=True, eq=False)
class Leaf:
    """Instances of one statement that the nodes above tell apart."""

    domain: isl.UnionSet


@dataclass(frozen=True, eq=False)
class LoopNode:
    """Runs `body` for rising `values` of its instances.

    With `is_separated`, values for which other statements run become loops of their own instead of conditions inside.
    """

    domain: isl.UnionSet
    values: isl.UnionPwAff
    body: Tree
    name: str = ""
    kind: Kind = "loop"
    is_separated: bool = False
    ast_options: isl.UnionSet | None = None
    """What else isl's AST generator is told of the band, which has this loop alone."""


@dataclass(frozen=True, eq=False)
class SequenceNode:
    """Runs its `items` one after the other."""

    domain: isl.UnionSet
    items: tuple[Tree, ...]


@dataclass(frozen=True, eq=False)
class Scratch:
    """Memory for the buffer `array` exists while `body` runs."""

    domain: isl.UnionSet
    array: str
    body: Tree


Tree = Leaf | LoopNode | SequenceNode | Scratch

Path = tuple[int, ...]
"""The way from the root to a node: the place of each child."""


def children(tree: Tree) -> tuple[Tree, ...]:
    """The nodes right below."""
    if isinstance(tree, Leaf):
        return ()
    return tree.items if isinstance(tree, SequenceNode) else (tree.body,)


def walk(tree: Tree, path: Path = ()) -> Iterator[tuple[Path, Tree]]:
    """Every node with its path, in the order in which they run."""
    yield path, tree
    for place, child in enumerate(children(tree)):
        yield from walk(child, (*path, place))


def at(tree: Tree, path: Path) -> Tree:
    """The node at `path`."""
    return reduce(lambda node, place: children(node)[place], path, tree)


def loop_in(tree: Tree, path: Path) -> LoopNode:
    """The loop at `path` below `tree`."""
    found = at(tree, path)
    assert isinstance(found, LoopNode)
    return found


def loops_above(tree: Tree, path: Path) -> list[LoopNode]:
    """The loops around the node at `path`, from the outside in."""
    above = [at(tree, path[:length]) for length in range(len(path))]
    return [node for node in above if isinstance(node, LoopNode)]


def with_children(tree: Tree, new: Sequence[Tree]) -> Tree:
    """The node around other children, whose instances it takes over; sequences in sequences become one."""
    if isinstance(tree, Leaf):
        return tree
    if isinstance(tree, SequenceNode):
        return block(new)
    (body,) = new
    return replace(tree, domain=body.domain, body=body)


def put(tree: Tree, path: Path, node: Tree) -> Tree:
    """The tree with `node`, which runs the same instances, in the place of the one at `path`."""
    if not path:
        return node
    parts = list(children(tree))
    parts[path[0]] = put(parts[path[0]], path[1:], node)
    return with_children(tree, parts)


def block(items: Sequence[Tree]) -> Tree:
    """The items in sequence; a single one by itself."""
    flat = [part for item in items for part in (item.items if isinstance(item, SequenceNode) else (item,))]
    return flat[0] if len(flat) == 1 else SequenceNode(reduce(lambda a, b: a.union(b), [item.domain for item in flat]), tuple(flat))


def restrict(tree: Tree, instances: isl.UnionSet) -> Tree | None:
    """The part of `tree` that runs those `instances`; None where it runs none of them."""
    domain = tree.domain.intersect(instances).coalesce()
    if domain.is_empty():
        return None
    if isinstance(tree, Leaf):
        return Leaf(domain)
    parts = [part for part in (restrict(child, instances) for child in children(tree)) if part is not None]
    new = with_children(tree, parts)
    return replace(new, values=new.values.intersect_domain(domain)) if isinstance(new, LoopNode) else new


def on_leaves(tree: Tree, change: Callable[[Leaf], Tree]) -> Tree:
    """The tree with each leaf replaced."""
    if isinstance(tree, Leaf):
        return change(tree)
    return with_children(tree, [on_leaves(child, change) for child in children(tree)])


def around(values: isl.UnionPwAff, body: Tree, name: str = "", kind: Kind = "loop") -> LoopNode:
    """A loop around `body`; of `values` those of the body's instances count."""
    return LoopNode(body.domain, values.intersect_domain(body.domain), body, name, kind)


# Which loops and statements there are.


def statement_names(tree: Tree) -> list[str]:
    """The statements that `tree` runs, in order of their names."""
    names = {found.get_tuple_name() for found in sets_of(tree.domain)}
    return sorted(names, key=lambda name: (len(name), name))


def sets_of(domain: isl.UnionSet) -> list[isl.Set]:
    """The sets of a union, one a statement."""
    found: list[isl.Set] = []
    domain.foreach_set(found.append)
    return found


def label(tree: Tree, path: Path) -> str:
    """What users call the loop at `path`: its name, or `S0:1` by the first statement inside and its depth."""
    loop = at(tree, path)
    assert isinstance(loop, LoopNode)
    return loop.name or f"{statement_names(loop)[0]}:{len(loops_above(tree, path))}"


# To isl and back.


def from_schedule(schedule: isl.Schedule) -> Tree:
    """The records of a schedule tree; marks that only another tool knows are left out."""
    return _read(schedule.get_root().child(0), schedule.get_domain(), ())


def _read(node: isl.ScheduleNode, domain: isl.UnionSet, marks: tuple[LoopMark, ...]) -> Tree:
    """The records of `node`; `marks` are those right above."""
    kind = node.get_type()
    if kind == isl.schedule_node_type.leaf:
        return block([Leaf(isl.UnionSet.from_set(found)) for found in sets_of(domain)] or [Leaf(domain)])
    if kind == isl.schedule_node_type.mark:
        mark = node.mark_get_id().get_name()
        body = _read(node.child(0), domain, loop_marks_of(mark) or marks)
        return Scratch(domain, scratch_of(mark), body) if scratch_of(mark) else body
    if kind == isl.schedule_node_type.band:
        return _read_band(node, domain, marks)
    if kind == isl.schedule_node_type.filter:
        return _read(node.child(0), domain.intersect(node.filter_get_filter()), ())
    if kind in (isl.schedule_node_type.sequence, isl.schedule_node_type.set):
        parts = [node.child(place) for place in range(node.n_children())]
        kept = [part for part in parts if not domain.intersect(part.filter_get_filter()).is_empty()]
        return block([_read(part, domain, ()) for part in kept] or [Leaf(domain)])
    raise ValueError(f"a node of kind {kind} in a schedule tree")


def _read_band(node: isl.ScheduleNode, domain: isl.UnionSet, marks: tuple[LoopMark, ...]) -> Tree:
    tree = _read(node.child(0), domain, ())
    partial = node.band_get_partial_schedule()
    for member in reversed(range(node.band_n_member())):
        plain = LoopMark("parallel" if node.band_member_get_coincident(member) else "loop")
        mark = marks[member] if member < len(marks) else plain
        tree = around(partial.get_union_pw_aff(member), tree, mark.name, _KINDS.get(mark.kind, "loop"))
    options = node.band_get_ast_build_options()
    return replace(tree, ast_options=options) if isinstance(tree, LoopNode) and not options.is_empty() else tree


def to_schedule(tree: Tree) -> isl.Schedule:
    """isl's form of `tree`, with marks for names and kinds."""
    schedule = _to_schedule(tree)
    options = [node.ast_options for _, node in walk(tree) if isinstance(node, LoopNode)]
    return schedule if not any(options) else _with_options(schedule.get_root(), iter(options)).get_schedule()


def _with_options(node: isl.ScheduleNode, options: Iterator[isl.UnionSet | None]) -> isl.ScheduleNode:
    """`node` with options for its bands, one after the other; isl lets no band go around such, so they come last."""
    if node.get_type() == isl.schedule_node_type.band:
        own = next(options)
        node = node if own is None else node.band_set_ast_build_options(own)
    for place in range(node.n_children()):
        node = _with_options(node.child(place), options).parent()
    return node


def _to_schedule(tree: Tree) -> isl.Schedule:
    """As `to_schedule`, without options."""
    if isinstance(tree, Leaf):
        return isl.Schedule.from_domain(tree.domain)
    if isinstance(tree, SequenceNode):
        return reduce(lambda before, after: before.sequence(after), [_to_schedule(item) for item in tree.items])
    if isinstance(tree, Scratch):
        return mark_scratch(_top(_to_schedule(tree.body)), tree.array).get_schedule()
    values = isl.MultiUnionPwAff.from_union_pw_aff(tree.values.gist(tree.domain))
    band = _top(_to_schedule(tree.body).insert_partial_schedule(values))
    if tree.kind in ("unordered", "parallel", "lanes"):
        band = band.band_member_set_coincident(0, True)
    if tree.kind == "unroll_by_isl" or tree.is_separated:
        option = "unroll" if tree.kind == "unroll_by_isl" else "separate"
        band = band.band_set_ast_build_options(isl.UnionSet(f"{{ {option}[i] }}"))
    return mark_band(band, [LoopMark(tree.kind, tree.name)]).get_schedule()


def _top(schedule: isl.Schedule) -> isl.ScheduleNode:
    return schedule.get_root().child(0)
