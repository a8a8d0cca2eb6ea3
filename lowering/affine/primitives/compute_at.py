"""Computing a producer inside a loop of its consumer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated

import islpy as isl

from dlc.lowering.affine.dependences.dependences import Dependence
from dlc.lowering.affine.polyhedral.model import Statement
from dlc.lowering.affine.primitives.common import loop_at
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.primitives.shrink import shrink
from dlc.lowering.affine.schedule.iterations import on_instances, stride_of, value_map, values_of
from dlc.lowering.affine.schedule.loop_tree import (
    LoopNode,
    Path,
    Tree,
    at,
    block,
    loop_in,
    loops_above,
    put,
    restrict,
    sets_of,
    walk,
)
from dlc.lowering.affine.schedule.program import PrimitiveError, Program, Result

_TARGET = "@target"
"""Name of the consumer's loop while the tree around it changes."""


@primitive
def compute_at(
    program: Program,
    statements: Annotated[tuple[str, ...], "the producer, with statements that prepare its result"] = (),
    loop: Annotated[str, "a loop around a consumer"] = "",
) -> Result:
    """Compute what a statement produces inside a loop of its consumer, right before it is needed.

    before: affine.for %i = 0 to 100 { S0(%i) }   affine.for %i = 1 to 99 { S1(%i), which reads what S0 wrote at %i - 1 and %i + 1 }
    after:  affine.for %i = .. { S0(%i + 1)  S1(%i) }

    Each instance runs once, in the iteration of its first use or before. Local arrays that the statements fill shrink to what one
    iteration needs, or, where later iterations read them, too, to a window that moves along.
    """
    path = program.find(loop)
    target = loop_at(program, path)
    moved = _instances_of(program, statements)
    if not moved.intersect(target.domain).is_empty():
        raise PrimitiveError(f"{', '.join(statements)} runs in loop '{loop}' already", "name a loop of the consumer")
    chain = [*loops_above(program.tree, path), target]
    shared = sum(moved.is_subset(one.domain) for one in chain)
    values = [_use_values(program, moved, chain[shared:], depth, loop) for depth in range(len(chain) - shared)]
    start = _path_of(program.tree, path, shared)
    new = put(program.tree, start, _moved_into(at(program.tree, start), path[len(start) :], moved, values))
    name = target.name or program.fresh_name(program.base_name(path))
    found = next(where for where, node in walk(new) if isinstance(node, LoopNode) and node.name == _TARGET)
    changed = program.changed(put(new, found, replace(loop_in(new, found), name=name)))
    return shrink(changed, statements, found), (name,)


def _instances_of(program: Program, statements: Sequence[str]) -> isl.UnionSet:
    known = {found.get_tuple_name(): found for found in sets_of(program.tree.domain)}
    missing = [name for name in statements if name not in known]
    if missing or not statements:
        what = f"no statement is called '{missing[0]}'" if missing else "no statement is named"
        raise PrimitiveError(what, f"use one of {', '.join(sorted(known))}", program.location)
    whole = isl.UnionSet.from_set(known[statements[0]])
    for name in statements[1:]:
        whole = whole.union(isl.UnionSet.from_set(known[name]))
    return whole


def _path_of(tree: Tree, path: Path, count: int) -> Path:
    """The part of `path` that leads to the body of its loop number `count` (the root for none)."""
    lengths = [length for length in range(len(path) + 1) if isinstance(at(tree, path[:length]), LoopNode)]
    return path[: lengths[count - 1] + 1] if count else ()


def _moved_into(tree: Tree, path: Path, moved: isl.UnionSet, values: Sequence[isl.UnionPwAff]) -> Tree:
    """`tree` with the instances `moved` at the head of the body of the loop at `path`, at those values of the loops above."""
    marked = put(tree, path, replace(loop_in(tree, path), name=_TARGET))
    producer, rest = restrict(tree, moved), restrict(marked, tree.domain.subtract(moved))
    assert producer is not None and rest is not None
    target = next(where for where, node in walk(rest) if isinstance(node, LoopNode) and node.name == _TARGET)
    return _with_head(rest, target, producer, iter(values))


def _with_head(tree: Tree, path: Path, head: Tree, values: Iterator[isl.UnionPwAff]) -> Tree:
    """`tree` with `head` before the body of the loop at `path`; each loop down to it gets the next of `values`."""
    if not isinstance(tree, LoopNode):
        inner = _with_head(at(tree, path[:1]), path[1:], head, values)
        return put(tree, path[:1], inner)
    own = tree.values.union_add(next(values).intersect_domain(head.domain))
    body = _with_head(tree.body, path[1:], head, values) if path else block([head, tree.body])
    return replace(tree, domain=body.domain, values=own, body=body, is_separated=True)


def _use_values(program: Program, moved: isl.UnionSet, chain: Sequence[LoopNode], depth: int, loop: str) -> isl.UnionPwAff:
    """For each of the instances `moved`, a value of the loop number `depth` of `chain` at or before that of its first use."""
    found = None
    for instances in sets_of(moved):
        producer = program.scop.by_name[instances.get_tuple_name()]
        uses = _uses(program, instances, chain[-1].domain)
        if not any(_feeds(dependence, producer, chain[-1].domain) for dependence in program.dependences):
            reason = f"nothing in loop '{loop}' reads what {producer.name} computes"
            raise PrimitiveError(reason, "name a loop around its consumer", producer.location)
        value = _near_a_dim(instances, uses, chain[depth]) or _exact(instances, uses, chain, depth)
        if value is None:
            reason = f"no value of loop '{chain[depth].name or loop}' follows the iterations of {producer.name}"
            raise PrimitiveError(reason, "choose a loop further out", producer.location)
        found = value if found is None else found.union_add(value)
    assert found is not None
    return found


def _uses(program: Program, instances: isl.Set, inside: isl.UnionSet) -> isl.UnionMap:
    """Instances to those of `inside` that depend on them."""
    whole = isl.UnionMap.empty(instances.get_space().params())
    for dependence in program.dependences:
        if dependence.source.statement_name == instances.get_tuple_name():
            whole = whole.union(isl.UnionMap.from_map(dependence.relation))
    return whole.intersect_domain(isl.UnionSet.from_set(instances)).intersect_range(inside)


def _feeds(dependence: Dependence, producer: Statement, inside: isl.UnionSet) -> bool:
    """Whether instances of `inside` read what `producer` writes."""
    if dependence.kind != "flow" or dependence.source.statement_name != producer.name:
        return False
    return not isl.UnionMap.from_map(dependence.relation).intersect_range(inside).is_empty()


def _near_a_dim(instances: isl.Set, uses: isl.UnionMap, loop: LoopNode) -> isl.UnionPwAff | None:
    """One of the statement's own loops, shifted and in steps as those of `loop`, that stays close to the uses; None for none."""
    values = isl.Map.from_union_map(uses.apply_range(isl.UnionMap.from_union_pw_aff(loop.values)))
    stride, candidates = stride_of(loop) or 1, []
    for dim in range(instances.dim(isl.dim_type.set)):
        own = isl.PwAff.from_aff(isl.Aff.var_on_domain(isl.LocalSpace.from_space(instances.get_space()), isl.dim_type.set, dim))
        distance = values.sum(isl.Map.from_pw_aff(own.neg())).range().project_out_all_params()
        if distance.is_bounded():
            least, most = (int(str(bound)) for bound in (distance.dim_min_val(0), distance.dim_max_val(0)))
            candidates.append((most - least, dim, least, own))
    if not candidates:
        return None
    _, _, least, own = min(candidates, key=lambda one: one[:2])
    domain = isl.UnionSet.from_set(instances)
    shifted = isl.UnionPwAff.from_pw_aff(own.intersect_domain(instances)).add(on_instances(domain, least + stride - 1))
    if stride == 1:
        return shifted
    used = isl.Set.from_union_set(isl.UnionMap.from_union_pw_aff(loop.values).range())
    offset = on_instances(domain, int(str(used.get_stride_info(0).get_offset().get_constant_val())))
    return shifted.sub(offset).scale_down_val(isl.Val(stride)).floor().scale_val(isl.Val(stride)).add(offset)


def _exact(instances: isl.Set, uses: isl.UnionMap, chain: Sequence[LoopNode], depth: int) -> isl.UnionPwAff | None:
    """The value at the first use; None where some instances have no use."""
    first = isl.Map.from_union_map(uses.apply_range(value_map(chain, chain[-1].domain))).lexmin()
    if not instances.is_subset(first.domain()):
        return None
    count = first.dim(isl.dim_type.out)
    own = first.project_out(isl.dim_type.out, depth + 1, count - depth - 1).project_out(isl.dim_type.out, 0, depth)
    return values_of(isl.UnionMap.from_map(own.coalesce()))
