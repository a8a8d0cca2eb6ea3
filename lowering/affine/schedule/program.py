"""A scop with the schedule tree that it is to get, and whether that tree means the same as the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

import islpy as isl

from dlc._mlir import ir
from dlc.diagnostics import did_you_mean
from dlc.lowering.affine.dependences.dependences import Dependence, kind_of, memory_dependences
from dlc.lowering.affine.dependences.legality import Violation, carried_by_parallel, violations
from dlc.lowering.affine.dependences.reduction_dependences import reductions
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.affine.polyhedral.loop_marks import kinds_of, name_of
from dlc.lowering.affine.polyhedral.model import Scop, union_map
from dlc.lowering.affine.polyhedral.schedule_tree import original_schedule
from dlc.lowering.affine.schedule.loop_tree import (
    Kind,
    Leaf,
    LoopNode,
    Path,
    Scratch,
    Tree,
    at,
    from_schedule,
    label,
    loop_in,
    loops_above,
    put,
    restrict,
    statement_names,
    to_schedule,
    walk,
)


class PrimitiveError(Exception):
    """A change of a schedule that cannot be made: `reason` says why, `remedy` what to do, `location` where."""

    def __init__(self, reason: str, remedy: str = "", location: ir.Location | None = None) -> None:
        self.reason = reason
        self.remedy = remedy
        self.location = location
        super().__init__(f"{reason}; {remedy}" if remedy else reason)


@dataclass(frozen=True, eq=False)
class Program:
    """A scop, the tree of its schedule, and the dependences that a tree must keep."""

    scop: Scop
    tree: Tree
    dependences: Sequence[Dependence]
    reductions: Mapping[tuple[str, int], str]
    """The kinds of those accesses (statement, position) that belong to updates whose order does not matter among themselves."""
    live_ranges: Mapping[str, isl.UnionMap] = field(default_factory=dict)
    """For each buffer, instances that touch it to the values of the loops that it was made in: what it holds lasts so long."""
    tiles: Mapping[str, Tile | None] = field(default_factory=dict)
    """How code is made of the nest whose outermost loop has that name; None leaves it to the search."""

    @classmethod
    def of(cls, scop: Scop, *, reassociate: bool = False) -> Program:
        """The program of the text; loops are called by their attribute `dlc.name`.

        `lowering/affine/dependences/reduction_dependences.py` says what `reassociate` allows.
        """
        whole = from_schedule(original_schedule(scop))
        tree = restrict(whole, whole.domain) or Leaf(whole.domain)
        for path, node in walk(tree):
            if isinstance(node, LoopNode):
                loop = scop.by_name[statement_names(node)[0]].loops[len(loops_above(tree, path))]
                kind: Kind = "unordered" if loop.is_parallel else "loop"
                tree = put(tree, path, replace(loop_in(tree, path), name=name_of(loop.op), kind=kind))
        allowed = [one for one in reductions(scop, reassociate=reassociate) if one.is_allowed]
        kinds = {(one.statement_name, access.position): one.kind for one in allowed for access in (one.read, one.write)}
        return cls(scop, tree, memory_dependences(scop), kinds)

    @cached_property
    def schedule(self) -> isl.Schedule:
        """The tree as isl has it."""
        return to_schedule(self.tree)

    def find(self, name: str) -> Path:
        """The path of the loop called `name`: the name itself, or `S0:1` for the loop at depth 1 around statement S0.

        Raises PrimitiveError, which lists the names that exist.
        """
        loops = [(path, node) for path, node in walk(self.tree) if isinstance(node, LoopNode)]
        named = [path for path, node in loops if node.name == name]
        found = named or _by_depth(self.tree, name)
        if len(found) == 1:
            return found[0]
        known = list(dict.fromkeys(label(self.tree, path) for path, _ in loops))
        if found:
            raise PrimitiveError(f"{len(found)} loops are called '{name}'", f"use one of {', '.join(known)}", self.location)
        remedy = f"use one of {', '.join(known)}{did_you_mean(name, known)}" if known else "there are no loops"
        raise PrimitiveError(f"no loop is called '{name}'", remedy, self.location)

    def loop(self, name: str) -> LoopNode:
        """The loop that `find` finds."""
        return loop_in(self.tree, self.find(name))

    def depth(self, path: Path) -> int:
        """How many loops there are around the node at `path`."""
        return len(loops_above(self.tree, path))

    @property
    def location(self) -> ir.Location:
        """Where the loops begin."""
        return self.scop.items[0].location

    def fresh_name(self, base: str) -> str:
        """`base`, with a number where a loop is called so already."""
        taken = {node.name for _, node in walk(self.tree) if isinstance(node, LoopNode)}
        numbers = (f"{base}.{number}" for number in range(2, len(taken) + 3))
        return next(name for name in (base, *numbers) if name not in taken)

    def base_name(self, path: Path) -> str:
        """What names of loops made from the one at `path` begin with."""
        return label(self.tree, path).replace(":", "_")

    def changed(self, tree: Tree) -> Program:
        """The program with another tree, which must keep every dependence; else PrimitiveError with a pair of iterations."""
        new = replace(self, tree=tree)
        new.check()
        return new

    def check(self) -> None:
        """Raise PrimitiveError unless every dependence goes forward, none lies between iterations without order, and buffers hold
        what they are made for."""
        scopes = _allocation_scopes(self.tree)
        self._require_buffers(scopes)
        dependences = self._dependences_that_count(scopes)
        broken = violations([one for one in dependences if not self._is_reduction(one)], self.schedule)
        if broken:
            raise _refusal(broken[0], "before")
        mixed = carried_by_parallel(dependences, self.schedule, kinds_of)
        if mixed:
            raise _refusal(mixed[0], "at the same time as")

    def ordering(self) -> isl.UnionMap:
        """The pairs of instances that must keep their order, but for those that have a buffer each."""
        return union_map([one.relation for one in self._dependences_that_count(_allocation_scopes(self.tree))], self.scop.context)

    def _is_reduction(self, dependence: Dependence) -> bool:
        """Whether the dependence lies between two updates that may run in either order, one after the other."""
        ends = (self.reductions.get((one.statement_name, one.position)) for one in (dependence.source, dependence.sink))
        source, sink = ends
        return source is not None and source == sink

    def _dependences_that_count(self, scopes: Mapping[str, Sequence[_AllocationScope]]) -> list[Dependence]:
        """All but those through a buffer between iterations of a loop without order around it, which have one each."""
        found = []
        for dependence in self.dependences:
            relation = _in_one_buffer(dependence.relation, scopes.get(dependence.source.array.name, []))
            if not relation.is_empty():
                found.append(replace(dependence, relation=relation))
        return found

    def _require_buffers(self, scopes: Mapping[str, Sequence[_AllocationScope]]) -> None:
        """Raise PrimitiveError where a statement and one that reads what it leaves in a buffer would not share that."""
        for dependence in self.dependences:
            name, ends = dependence.source.array.name, (dependence.source.statement_name, dependence.sink.statement_name)
            if dependence.kind != "flow" or name not in self.live_ranges:
                continue
            same_live_range = self.live_ranges[name].apply_range(self.live_ranges[name].reverse())
            flow = isl.UnionMap.from_map(dependence.relation).intersect(same_live_range)
            if not flow.is_empty() and not _stays_in_buffer(isl.Map.from_union_map(flow), scopes.get(name, [])):
                reason = f"{ends[1]} would not find in {name} what {ends[0]} left there"
                raise PrimitiveError(reason, "pack after this step", self.location)


@dataclass(frozen=True, eq=False)
class _AllocationScope:
    """A place in a tree where a buffer exists: the instances there, and the loops without order around, by path."""

    domain: isl.UnionSet
    loops: Mapping[Path, LoopNode]


def _allocation_scopes(tree: Tree) -> dict[str, list[_AllocationScope]]:
    """The scopes of each buffer. A tree has several where a loop around was cut."""
    found: dict[str, list[_AllocationScope]] = {}
    for path, node in walk(tree):
        if not isinstance(node, Scratch):
            continue
        above = ((path[:length], at(tree, path[:length])) for length in range(len(path)))
        loops = {where: loop for where, loop in above if isinstance(loop, LoopNode) and loop.kind in ("unordered", "parallel")}
        found.setdefault(node.array, []).append(_AllocationScope(node.domain, loops))
    return found


def _in_one_buffer(relation: isl.Map, scopes: Sequence[_AllocationScope]) -> isl.Map:
    """Those of the pairs that no loop without order around both ends' scopes keeps apart; all where there are no scopes."""
    if len(scopes) < 2:
        return _within_iterations(relation, list(scopes[0].loops.values()) if scopes else [])
    kept = relation.subtract(relation)
    for one, other in product(scopes, scopes):
        pairs = _between(relation, one, other)
        kept = kept.union(_within_iterations(pairs, [loop for path, loop in one.loops.items() if path in other.loops]))
    return kept.coalesce()


def _stays_in_buffer(flow: isl.Map, scopes: Sequence[_AllocationScope]) -> bool:
    """Whether both ends of all pairs use the same memory."""
    if not flow.is_subset(_in_one_buffer(flow, scopes)):
        return False
    others = ((one, other) for one, other in product(scopes, scopes) if one.loops.keys() != other.loops.keys())
    return all(_between(flow, one, other).is_empty() for one, other in others)


def _between(relation: isl.Map, one: _AllocationScope, other: _AllocationScope) -> isl.Map:
    """The pairs from an instance in one scope to one in the other."""
    space = relation.get_space()
    first, second = one.domain.extract_set(space.domain()), other.domain.extract_set(space.range())
    return relation.intersect_domain(first).intersect_range(second)


def _within_iterations(relation: isl.Map, loops: Sequence[LoopNode]) -> isl.Map:
    """The pairs that lie in the same iteration of `loops`."""
    for loop in loops:
        values = isl.UnionMap.from_union_pw_aff(loop.values)
        same = values.apply_range(values.reverse()).intersect(isl.UnionMap.from_map(relation))
        if same.is_empty():
            return relation.subtract(relation)
        relation = isl.Map.from_union_map(same)
    return relation


def _refusal(violation: Violation, when: str) -> PrimitiveError:
    witness = violation.witness
    return PrimitiveError(witness.text("the new order", when), "", witness.location)


def _by_depth(tree: Tree, name: str) -> list[Path]:
    """The loops that `S0:1` may mean."""
    statement, colon, depth = name.partition(":")
    if not colon or not depth.isdecimal():
        return []
    found = []
    for path, node in walk(tree):
        if isinstance(node, LoopNode) and len(loops_above(tree, path)) == int(depth) and statement in statement_names(node):
            found.append((path, node.name))
    nameless = [path for path, own in found if not own]
    return nameless if len(nameless) == 1 else [path for path, _ in found]


def dependences_of(scop: Scop, tree: Tree) -> list[Dependence]:
    """Every pair of accesses to one element of which one writes, in the order of `tree`; transitive pairs included.

    Statements that never run have none.

    As `memory_dependences`, for a scop some of whose statements have no place in the text.
    """
    times = _times_by_statement(to_schedule(tree))
    accesses = [access for statement in scop.statements for access in statement.accesses]
    found = []
    for source, sink in product(accesses, accesses):
        ends = source.statement_name, sink.statement_name
        if source.array is not sink.array or not (source.writes or sink.writes) or not all(name in times for name in ends):
            continue
        order = times[source.statement_name].lex_lt_map(times[sink.statement_name])
        if source.statement_name == sink.statement_name and source.position < sink.position:
            order = order.union(scop.by_name[source.statement_name].domain.identity())
        relation = source.relation.apply_range(sink.relation.reverse()).intersect(order).coalesce()
        if not relation.is_empty():
            found.append(Dependence(kind_of(source, sink), source, sink, relation))
    return found


def _times_by_statement(schedule: isl.Schedule) -> dict[str, isl.Map]:
    found: dict[str, isl.Map] = {}

    def note(times: isl.Map) -> None:
        found[times.get_tuple_name(isl.dim_type.in_)] = times

    schedule.get_map().foreach_map(note)
    return found


Result = tuple[Program, tuple[str, ...]]
"""What a primitive gives: the changed program, and names of loops to go on with."""
