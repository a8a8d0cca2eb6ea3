"""Copies taken out of the graph of values: operands come straight from the ops that compute them."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from dlc.lowering.affine.equivalence.value_graph import ValueGraph, ValueNode, ValueOperand


def resolve_copies(graph: ValueGraph) -> None:
    """Replace each copy, where something comes from it, by what it copies.

    A copy of itself, at an iteration before, is followed to where the chain starts, by the transitive closure; the copy stays
    where isl does not find that exactly.
    """
    users: dict[str, list[ValueNode]] = {}
    for node in graph.nodes.values():
        for name in _targets(node):
            users.setdefault(name, []).append(node)
    for copy in [node for node in graph.nodes.values() if not node.signature]:
        if copy.name not in users or not _without_itself(copy):
            continue
        for user in users.pop(copy.name):
            if user is not copy:
                _substitute(user, copy)
                _note(users, user, copy)


def _targets(node: ValueNode) -> set[str]:
    return {_target(source) for operand in node.operands for source in operand.sources}


def _target(source: isl.Map) -> str:
    return str(source.get_tuple_name(isl.dim_type.out))


def _note(users: dict[str, list[ValueNode]], user: ValueNode, copy: ValueNode) -> None:
    for name in _targets(copy):
        known = users.setdefault(name, [])
        if user not in known:
            known.append(user)


def _substitute(user: ValueNode, copy: ValueNode) -> None:
    """Let `user` take from the sources of `copy` what it takes from `copy`."""
    operands = []
    for operand in user.operands:
        sources: list[isl.Map] = []
        for source in operand.sources:
            through = _through(source, copy) if _target(source) == copy.name else [source]
            sources += through
        operands.append(ValueOperand(tuple(_merged(sources)), operand.joined) if not operand.joined else operand)
    user.operands[:] = operands


def _through(source: isl.Map, copy: ValueNode) -> list[isl.Map]:
    found = (source.apply_range(further) for further in copy.operands[0].sources)
    return [one for one in found if not one.is_empty()]


def _merged(sources: Sequence[isl.Map]) -> list[isl.Map]:
    """One map a target."""
    found: dict[str, isl.Map] = {}
    for source in sources:
        name = _target(source)
        found[name] = found[name].union(source).coalesce() if name in found else source
    return list(found.values())


def _without_itself(copy: ValueNode) -> bool:
    """Make `copy` no copy of itself; false where that is not possible."""
    sources = _merged(copy.operands[0].sources)
    own = next((source for source in sources if _target(source) == copy.name), None)
    others = [source for source in sources if _target(source) != copy.name]
    if own is not None:
        closure = _closure(own)
        if closure is None:
            return False
        others = _merged([*others, *(one for source in others if not (one := closure.apply_range(source)).is_empty())])
    copy.operands[:] = [ValueOperand(tuple(others))]
    return True


def _closure(step: isl.Map) -> isl.Map | None:
    """The transitive closure of `step`, which leads to earlier iterations only; None where it is not found.

    Such a step has just one relation T with T = step + step;T, so that what isl is unsure of can be checked.
    """
    closure, is_exact = step.transitive_closure()
    if is_exact or closure.is_equal(step.union(step.apply_range(closure))):
        return closure.coalesce()
    return None
