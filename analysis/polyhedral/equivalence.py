"""Whether a function computes after a change what it computed before: the checks, and what to say when one fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import islpy as isl

from dlc._mlir import ir
from dlc.analysis.polyhedral.dependences import Kind
from dlc.analysis.polyhedral.explain import Explanation, element_text, witness_between
from dlc.analysis.polyhedral.matching import Matching, Mismatch, Unmatched
from dlc.analysis.polyhedral.value_graph import Graph, Shared
from dlc.analysis.polyhedral.value_ops import read_function
from dlc.analysis.polyhedral.value_races import conflicts, outside
from dlc.analysis.polyhedral.witness import Witness, first_point, place_text


@dataclass(frozen=True)
class Assumptions:
    """What is taken for granted: that memref arguments share no memory, and that index arguments are not negative."""

    no_alias: bool = False
    non_negative: bool = False


@dataclass(frozen=True, eq=False)
class Refusal:
    """Why the change is not accepted; `witness` is the dependence that it breaks, where one was found."""

    message: str
    location: ir.Location
    witness: Witness | None = None


@dataclass(eq=False)
class Comparison:
    """The outcome: `checks` maps each check to its verdict, in the order in which they were made."""

    before: Graph
    after: Graph
    assumed: Assumptions
    related: Mapping[tuple[str, str], isl.Map] = field(default_factory=dict)
    checks: dict[str, str] = field(default_factory=dict)
    refusal: Refusal | None = None


_VALUES = "every result has the value that it had"
_RACES = "no parallel loop carries a dependence"
_BOUNDS = "no access leaves its memref"


def compare(
    before: ir.Operation, after: ir.Operation, origins: Mapping[ir.Operation, ir.Operation], what: str, assumed: Assumptions
) -> Comparison:
    """Compare two functions; `origins` takes ops of `after` to ops of `before`, `what` is who made the change, for messages.

    Raises ExtractionError where one of them is no function of affine loops.
    """
    shared = Shared()
    graph = read_function(before, "b", shared, assume_no_alias=assumed.no_alias)
    changed = read_function(after, "a", shared, assume_no_alias=assumed.no_alias)
    if assumed.non_negative:
        shared.non_negative.update(name for key, name in shared.parameters.items() if key.startswith("arg"))
    comparison = Comparison(graph, changed, assumed)
    for name, check in ((_VALUES, _check_values), (_RACES, _check_races), (_BOUNDS, _check_bounds)):
        comparison.refusal = check(comparison, origins, what)
        comparison.checks[name] = "refused: " + comparison.refusal.message if comparison.refusal else "holds"
        if comparison.refusal:
            break
    return comparison


def _check_values(comparison: Comparison, origins: Mapping[ir.Operation, ir.Operation], what: str) -> Refusal | None:
    before, after = comparison.before, comparison.after
    if before.returns != after.returns:
        return Refusal(f"{what} would return other memrefs", after.function.location)
    matching = Matching(after, before)
    try:
        matching.run()
    except Unmatched as error:
        return Refusal(f"the result of {what} could not be compared: {error}", after.function.location)
    comparison.related = matching.related
    if not matching.mismatches:
        return None
    witness = Explanation(before, after, origins).witness()
    if witness is not None:
        return Refusal(witness.text(what), witness.location, witness)
    return _mismatch(comparison, matching.mismatches[0], what)


def _mismatch(comparison: Comparison, mismatch: Mismatch, what: str) -> Refusal:
    """Says which element comes out otherwise, from the root of the chain of pairs."""
    pair = mismatch.pair
    ends = _described(comparison.after, pair.after), _described(comparison.before, pair.before)
    doubt = "; the relation between them was guessed, so they may be equal" if pair.is_widened else ""
    while pair.parent is not None:
        pair = pair.parent
    node = comparison.before.nodes[pair.before]
    use = node.reads
    result = f"what {memref_of(comparison, pair.before)} holds" if use is not None else "what the function returns"
    node_at = _node_of(comparison.after, mismatch.pair.after)
    location = node_at or comparison.after.function.location
    return Refusal(f"{what} would change {result}: it would come from {ends[0]}, and comes from {ends[1]}{doubt}", location)


def memref_of(comparison: Comparison, name: str) -> str:
    """An example of an element that the result node `name` stands for."""
    use = comparison.before.nodes[name].reads
    assert use is not None
    return element_text(use, first_point(use.elements.range())).split("[")[0]


def _node_of(graph: Graph, name: str) -> ir.Location | None:
    return graph.nodes[name].op.location if name in graph.nodes else None


def _described(graph: Graph, name: str) -> str:
    """A node or terminal for a message."""
    if name in graph.nodes:
        op = graph.nodes[name].op
        return f"'{op.name}' ({place_text(op.location)})" if place_text(op.location) else f"'{op.name}'"
    constants = {tuple_name: key for key, tuple_name in graph.shared.constants.items()}
    if name in constants:
        return f"the constant {constants[name]}"
    known = {"undefined": "memory that nothing wrote", "index": "an index"}
    return known.get(name, "what was there before the function ran" if name.startswith("before_") else f"argument {name}")


def _check_races(comparison: Comparison, origins: Mapping[ir.Operation, ir.Operation], what: str) -> Refusal | None:
    for conflict in conflicts(comparison.after):
        kinds: dict[tuple[bool, bool], Kind] = {(True, False): "flow", (False, True): "anti", (True, True): "output"}
        kind = kinds[conflict.first.writes, conflict.second.writes]
        witness = witness_between(comparison.after, kind, conflict.first, conflict.second, conflict.pairs)
        return Refusal(witness.text(what, "at the same time as"), witness.location, witness)
    return None


def _check_bounds(comparison: Comparison, origins: Mapping[ir.Operation, ir.Operation], what: str) -> Refusal | None:
    """Accesses outside of memrefs, unless the function before had such: sizes that are not known allow them."""
    if next(outside(comparison.before), None) is not None:
        return None
    for found in outside(comparison.after):
        element = element_text(found.use, first_point(found.elements.range()))
        verb = "write" if found.use.writes else "read"
        op = found.use.node.op
        return Refusal(f"{what} would {verb} {element}, which is outside of the memref", op.location)
    return None
