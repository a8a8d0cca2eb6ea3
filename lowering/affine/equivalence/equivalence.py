"""Whether a function computes after a change what it computed before: the checks, and what to say when one fails."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import islpy as isl

from dlc._mlir import ir
from dlc.lowering.affine.dependences.dependences import Kind
from dlc.lowering.affine.dependences.witness import Witness, coordinates, first_point, place_text
from dlc.lowering.affine.equivalence.explain import ReversedDependences, element_text, witness_between
from dlc.lowering.affine.equivalence.matching import Matching, Mismatch, RelatedInstances, Unmatched
from dlc.lowering.affine.equivalence.reassociation import Reassociation, may_reassociate
from dlc.lowering.affine.equivalence.value_graph import INDEX, UNDEFINED, SharedSymbols, ValueGraph, ValueNode, initial
from dlc.lowering.affine.equivalence.value_ops import read_function
from dlc.lowering.affine.equivalence.value_races import conflicts, inside, outside
from dlc.lowering.affine.polyhedral.source_names import memref_name
from dlc.lowering.policy import policy


@dataclass(frozen=True)
class Assumptions:
    """What is taken for granted: that memref arguments share no memory, and that index arguments are not negative.

    That the function before stays inside of its memrefs always is.
    """

    no_alias: bool = False
    non_negative: bool = False
    reassociate: bool = False
    """Sums and products of floats may be taken in any order, though their ops do not say so."""


@dataclass(frozen=True, eq=False)
class Refusal:
    """Why the change is not accepted; `witness` is the dependence that it breaks, where one was found.

    Else `element` is one that comes out otherwise (`%A[2, 5]`), unless that is not sure.
    """

    message: str
    location: ir.Location
    witness: Witness | None = None
    element: str = ""
    is_outside: bool = False
    """Whether an access would leave its memref."""


@dataclass(eq=False)
class Equivalence:
    """The outcome: `checks` maps each check to its verdict, in the order in which they were made."""

    before: ValueGraph
    after: ValueGraph
    assumed: Assumptions
    related: Mapping[tuple[str, str], isl.Map] = field(default_factory=dict)
    checks: dict[str, str] = field(default_factory=dict)
    is_reassociated: bool = False
    """Whether equal values are so in exact arithmetic: chains of one op combine the same in another order."""
    refusal: Refusal | None = None


_VALUES = "every result has the value that it had"
_RACES = "no parallel loop carries a dependence"
_BOUNDS = "no access leaves its memref"


def compare(
    before: ir.Operation,
    after: ir.Operation,
    origins: Mapping[ir.Operation, ir.Operation],
    what: str,
    assumed: Assumptions,
    most: int | None = None,
) -> Equivalence:
    """Compare two functions; `origins` takes ops of `after` to ops of `before`, `what` is who made the change, for messages.

    isl may do `most` operations, by default `limits.equivalence_operations`; a comparison that needs more is a refusal.
    Raises ExtractionError where one of them is no function of affine loops.
    """
    most = policy().limits.equivalence_operations if most is None else most
    context = isl.DEFAULT_CONTEXT
    limit = context.get_max_operations()
    context.set_max_operations(most)
    context.reset_operations()
    try:
        return _compare(before, after, origins, what, assumed)
    except isl.Error as error:
        reason = f"isl does not finish within {most:,} operations ({str(error).split(' in /')[0]})"
        refusal = Refusal(f"the result of {what} could not be compared: {reason}", after.location)
        return Equivalence(
            ValueGraph("b", before, SharedSymbols()), ValueGraph("a", after, SharedSymbols()), assumed, refusal=refusal
        )
    finally:
        context.set_max_operations(limit)
        context.reset_operations()


def _compare(
    before: ir.Operation, after: ir.Operation, origins: Mapping[ir.Operation, ir.Operation], what: str, assumed: Assumptions
) -> Equivalence:
    shared = SharedSymbols()
    graph = read_function(before, "b", shared, assume_no_alias=assumed.no_alias)
    changed = read_function(after, "a", shared, assume_no_alias=assumed.no_alias)
    if assumed.non_negative:
        shared.non_negative.update(name for key, name in shared.parameters.items() if key.startswith("arg"))
    shared.assumed = inside(graph)
    comparison = Equivalence(graph, changed, assumed)
    if shared.context().is_empty():
        comparison.refusal = Refusal("the function leaves its memrefs before the change already", before.location)
        return comparison
    for name, check in ((_VALUES, _check_values), (_RACES, _check_races), (_BOUNDS, _check_bounds)):
        comparison.refusal = check(comparison, origins, what)
        comparison.checks[name] = "refused: " + comparison.refusal.message if comparison.refusal else "holds"
        if comparison.refusal:
            break
    return comparison


def _check_values(comparison: Equivalence, origins: Mapping[ir.Operation, ir.Operation], what: str) -> Refusal | None:
    before, after = comparison.before, comparison.after
    if before.returns != after.returns:
        return Refusal(f"{what} would return other memrefs", after.function.location)
    matching = Matching(after, before)
    try:
        matching.run()
    except Unmatched as error:
        return Refusal(f"the result of {what} could not be compared: {error}", after.function.location)
    comparison.related = matching.related
    if matching.mismatches and _may_reassociate(before, comparison.assumed):
        freed = Matching(after, before, reassociation=Reassociation(after, before, comparison.assumed.reassociate))
        with suppress(Unmatched):
            freed.run()
            if not freed.mismatches:
                comparison.related, comparison.is_reassociated = freed.related, True
                return None
    if not matching.mismatches:
        return None
    witness = ReversedDependences(before, after, origins).witness()
    if witness is not None:
        return Refusal(witness.text(what), witness.location, witness)
    return _mismatch(comparison, matching.mismatches[0], what)


def _may_reassociate(graph: ValueGraph, assumed: Assumptions) -> bool:
    return any(node.signature and may_reassociate(node.op, assumed.reassociate) for node in graph.nodes.values())


def _mismatch(comparison: Equivalence, mismatch: Mismatch, what: str) -> Refusal:
    """Says which element of which result comes out otherwise, and an example of where it comes from."""
    pair = mismatch.pair
    example = first_point(pair.relation.wrap()).unwrap()
    ends = _described(comparison.after, pair.after, example.domain()), _described(comparison.before, pair.before, example.range())
    location = _location(comparison.after, pair.after)
    root: isl.Map | None = example
    while pair.parent is not None:
        root = None if root is None else _parent_of(comparison, pair.parent, root)
        location = location or _location(comparison.after, pair.parent.after)
        pair = pair.parent
    use = comparison.before.nodes[pair.before].reads
    element = (
        "what it returns"
        if use is None
        else element_text(use, use.elements.intersect_domain((root or pair.relation).range()).range())
    )
    doubt = "" if root is not None else "; the relation between the iterations was guessed here, so they may be equal"
    message = f"{what} would change {element}: a value would come from {ends[0]}, and not from {ends[1]}{doubt}"
    return Refusal(message, location or comparison.after.function.location, element=element if root is not None else "")


def _parent_of(comparison: Equivalence, parent: RelatedInstances, point: isl.Map) -> isl.Map | None:
    """A pair of `parent` whose operands, or what it copies, are those of `point`; None when widening made it up."""
    nodes = comparison.after.nodes.get(parent.after), comparison.before.nodes.get(parent.before)
    copies = [node is not None and not node.signature for node in nodes]
    pairs = parent.relation
    if nodes[0] is not None and (copies[0] or not copies[1]):
        pairs = pairs.intersect_domain(_users(nodes[0], point.domain()))
    if nodes[1] is not None and (copies[1] or not copies[0]):
        pairs = pairs.intersect_range(_users(nodes[1], point.range()))
    return None if pairs.is_empty() else first_point(pairs.wrap()).unwrap()


def _users(node: ValueNode, point: isl.Set) -> isl.Set:
    """The instances of `node` that take a value from `point`."""
    found = isl.Set.empty(node.domain.get_space())
    for operand in node.operands:
        for source in operand.sources:
            if source.get_tuple_name(isl.dim_type.out) == point.get_tuple_name():
                found = found.union(source.intersect_range(point).domain())
    return found


def _location(graph: ValueGraph, name: str) -> ir.Location | None:
    """Where the op of a node is, unless that stands for the whole function."""
    op = graph.nodes[name].op if name in graph.nodes else None
    return op.location if op is not None and op != graph.function else None


def _described(graph: ValueGraph, name: str, point: isl.Set) -> str:
    """A node or terminal for a message, at one instance."""
    place = ", ".join(map(str, coordinates(point)))
    if name in graph.nodes:
        node = graph.nodes[name]
        where = place_text(node.op.location)
        return f"'{node.op.name}'[{place}]" + (f" ({where})" if where else "")
    if name == INDEX:
        return f"the index {place}"
    if name == UNDEFINED:
        return "memory that nothing wrote"
    memory = next((memory for memory in graph.memory_objects if initial(memory) == name), None)
    if memory is not None:
        return f"{memref_name(memory.value) if memory.value is not None else memory.key}[{place}] as the function found it"
    return next((f"the constant {key}" for key, constant in graph.shared.constants.items() if constant == name), f"argument {name}")


def _check_races(comparison: Equivalence, origins: Mapping[ir.Operation, ir.Operation], what: str) -> Refusal | None:
    for conflict in conflicts(comparison.after):
        kinds: dict[tuple[bool, bool], Kind] = {(True, False): "flow", (False, True): "anti", (True, True): "output"}
        kind = kinds[conflict.first.writes, conflict.second.writes]
        witness = witness_between(comparison.after, kind, conflict.first, conflict.second, conflict.pairs)
        return Refusal(witness.text(what, "at the same time as"), witness.location, witness)
    return None


def _check_bounds(comparison: Equivalence, origins: Mapping[ir.Operation, ir.Operation], what: str) -> Refusal | None:
    """Accesses outside of memrefs, for parameters for which the function before has none."""
    for found in outside(comparison.after):
        element = element_text(found.use, first_point(found.elements.range()))
        verb = "write" if found.use.writes else "read"
        op = found.use.node.op
        return Refusal(f"{what} would {verb} {element}, which is outside of the memref", op.location, is_outside=True)
    return None
