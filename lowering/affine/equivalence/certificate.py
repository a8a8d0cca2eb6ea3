"""What a comparison found, as a certificate that others can read and check again: JSON, and text for people.

Values are named by the number of their op in the text and what of it they are (`op 12 result 0`); the dims of sets and maps are
the loops around the op from the outside in, then the lanes. `relation` is the proof: pairs of instances with equal values, closed
under operands, with all results in it. `dlc-check-proof` checks that from the two files of IR.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import islpy as isl

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.dependences.witness import coordinates, place_text
from dlc.lowering.affine.equivalence.equivalence import Equivalence
from dlc.lowering.affine.equivalence.explain import dependences, statement_of
from dlc.lowering.affine.equivalence.value_flow import time_of
from dlc.lowering.affine.equivalence.value_graph import MemoryUse, SharedSymbols, ValueGraph

VERSION = 1


def certificate(name: str, what: str, comparison: Equivalence) -> dict[str, Any]:
    """The certificate of one function."""
    refusal = comparison.refusal
    return {
        "function": name,
        "what": what,
        "verdict": "refused" if refusal else "accepted",
        "reason": refusal.message if refusal else "",
        "checks": comparison.checks,
        "reassociated": comparison.is_reassociated,
        "assumptions": {"no_alias": comparison.assumed.no_alias, "non_negative": comparison.assumed.non_negative},
        "parameters": {name: key for key, name in comparison.before.shared.parameters.items()},
        "before": _side(comparison.before),
        "dependences": _dependences(comparison.before),
        "after": _side(comparison.after),
        "relation": _relation(comparison),
    }


def write_certificates(certificates: Sequence[dict[str, Any]], file: Path) -> None:
    """Write `FILE.json` and `FILE.txt`. Raises OSError."""
    whole = {"version": VERSION, "functions": list(certificates)}
    file.with_name(f"{file.name}.json").write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    file.with_name(f"{file.name}.txt").write_text("\n".join(_text(one) for one in certificates), encoding="utf-8")


def _side(graph: ValueGraph) -> dict[str, Any]:
    length = max((len(use.times) for use in graph.uses), default=0)
    uses = [use for use in graph.uses if use.node.op != graph.function and use.node.role != "frees"]
    return {
        "statements": [_statement(graph, use, uses) for use in uses if use.writes],
        "schedule": [str(_named(time_of(graph, use, length), graph, use)) for use in uses if use.writes],
    }


def _statement(graph: ValueGraph, store: MemoryUse, uses: Sequence[MemoryUse]) -> dict[str, Any]:
    name = statement_of(graph, store.node.op)
    reads = [use for use in uses if not use.writes and use.node.op.block == store.node.op.block]
    own = [use for use in reads if statement_of(graph, use.node.op) == name]
    return {
        "name": name,
        "location": place_text(store.node.op.location),
        "domain": str(store.node.domain.set_tuple_name(name)),
        "writes": str(_named(store.elements, graph, store)),
        "reads": [str(_named(use.elements, graph, use)) for use in own],
    }


def _named(relation: isl.Map, graph: ValueGraph, use: MemoryUse) -> isl.Map:
    """A map from a node's instances as one from those of its statement, to memory by its name."""
    relation = relation.set_tuple_name(isl.dim_type.in_, statement_of(graph, use.node.op))
    name = relation.get_tuple_name(isl.dim_type.out)
    return relation.set_tuple_name(isl.dim_type.out, name.removesuffix("_cells")) if name else relation


def _dependences(graph: ValueGraph) -> list[dict[str, Any]]:
    found = []
    for kind, source, sink, relation in dependences(graph):
        if relation.is_empty():
            continue
        ends = statement_of(graph, source.node.op), statement_of(graph, sink.node.op)
        named = relation.set_tuple_name(isl.dim_type.in_, ends[0]).set_tuple_name(isl.dim_type.out, ends[1])
        places = [place_text(use.node.op.location) for use in (source, sink)]
        found.append(
            {"kind": kind, "source": places[0], "sink": places[1], "relation": str(named), "distance": _distance(relation)}
        )
    return found


def _distance(relation: isl.Map) -> str:
    """Sink minus source, where both have as many loops; else empty."""
    dims = [relation.dim(kind) for kind in (isl.dim_type.in_, isl.dim_type.out)]
    if dims[0] != dims[1]:
        return ""
    distances = relation.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out).deltas().coalesce()
    return f"({', '.join(map(str, coordinates(distances)))})" if distances.is_singleton() else str(distances)


def _relation(comparison: Equivalence) -> list[dict[str, str]]:
    numbers = [{op: at for at, op in enumerate(nested_ops(graph.function))} for graph in (comparison.after, comparison.before)]
    found = []
    for (after, before), relation in comparison.related.items():
        ends = _end(comparison.after, after, numbers[0]), _end(comparison.before, before, numbers[1])
        found.append({"after": ends[0], "before": ends[1], "map": str(relation)})
    return found


def _end(graph: ValueGraph, name: str, numbers: dict[ir.Operation, int]) -> str:
    """`op 12 result 0` for a node; a terminal by what it is."""
    if name in graph.nodes:
        node = graph.nodes[name]
        role = node.role
        for key, name in graph.shared.globals.items():
            role = f"keeps {key}" if role == f"keeps {name}" else role
        return f"op {numbers[node.op]} {role}"
    return terminal_text(graph.shared, name)


def terminal_text(shared: SharedSymbols, name: str) -> str:
    """What a terminal is, in words that need no table."""
    for key, constant in shared.constants.items():
        if constant == name:
            return f"constant {key}"
    for key, number in shared.globals.items():
        if name == f"before_{number}":
            return f"contents of {key}"
    return f"contents of {name.removeprefix('before_')}" if name.startswith("before_") else name


def _text(one: dict[str, Any]) -> str:
    lines = [f"function @{one['function']}: {one['what']} is {one['verdict']}"]
    lines += [f"  {one['reason']}"] if one["reason"] else []
    lines += ["", "checks"] + [f"  {name}: {verdict}" for name, verdict in one["checks"].items()]
    lines += ["", "parameters"] + [f"  {name} = {key}" for name, key in one["parameters"].items()] if one["parameters"] else []
    lines += ["", "before", *_side_text(one["before"])]
    lines += ["", "dependences"]
    for dependence in one["dependences"]:
        lines.append(f"  {dependence['kind']} {dependence['source']} -> {dependence['sink']}: {dependence['relation']}")
        lines += [f"    distance {dependence['distance']}"] if dependence["distance"] else []
    lines += ["", "after", *_side_text(one["after"])]
    lines += ["", "equal values, after -> before"]
    lines += [f"  {pair['after']} = {pair['before']}: {pair['map']}" for pair in one["relation"]]
    return "\n".join(lines) + "\n"


def _side_text(side: dict[str, Any]) -> list[str]:
    lines = []
    for statement, schedule in zip(side["statements"], side["schedule"], strict=True):
        lines.append(f"  {statement['name']} ({statement['location']}): {statement['domain']}")
        lines += [f"    writes {statement['writes']}"] + [f"    reads {read}" for read in statement["reads"]]
        lines.append(f"    runs at {schedule}")
    return lines
