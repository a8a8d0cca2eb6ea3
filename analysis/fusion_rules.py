"""Which groups of ops may become one kernel, and why others stay apart.

A kernel computes in the loops of its result. Elementwise ops behind a contraction work on its accumulators, and ops before it that
only move or widen elements cost nothing. A reduction shares its rows with the ops that compute them and those that follow.
Elementwise ops go together when their shapes are equal. These rules are about profit alone: a group is legal when it has no path
out and back in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from dlc._mlir import ir
from dlc.analysis.fusion_groups import (
    FusionCandidate,
    GroupEdge,
    GroupPair,
    costs_nothing,
    is_unchanged,
    moves_only,
    seen,
    shape_of,
)
from dlc.analysis.work_graph import Node, WorkGraph

REASONS: Mapping[str, str] = {
    "fused": "both ops are in one kernel",
    "output": "the value is an output of the model, so it is stored whole",
    "uses": "other kernels use the value too, so it is stored whole",
    "types": "the kernel would have results of several types",
    "shape": "the two ops do not share their loops: shapes or reduced axes differ",
    "class": "ops of these classes do not go into one kernel",
    "main": "both go with a product, window or reduction of their own, and a kernel has one of these",
    "cost": "the value would be computed several times, or stored in between anyway",
    "legality": "a third kernel takes from the first op and gives to the second",
    "distance": "too many kernels lie between the two ops to tell whether one of them needs the first and is needed by the second",
    "size": "the kernel would get too large",
    "foreign": "one of the two is a kernel already, or no dl op",
}
"""Every verdict on an edge, and what it says."""

_MAIN = frozenset({"contraction", "window", "reduction"})

MOST_OPS = 48
MOST_VALUES = 64
MOST_RESULTS = 8


def quick_refusal(first: FusionCandidate, second: FusionCandidate) -> str:
    """Why two groups stay apart whatever connects them: a key of `REASONS`, empty when that is not the case."""
    kinds = first.kind, second.kind
    if kinds not in _RULES:
        return "foreign" if "foreign" in kinds else "main" if _MAIN.issuperset(kinds) else "class"
    too_large = len(first.nodes) + len(second.nodes) > MOST_OPS or len(first.reads | second.reads) > MOST_VALUES
    return "size" if too_large else ""


def refusal(pair: GroupPair, graph: WorkGraph) -> str:
    """Why the two groups, of kinds that may go together, stay apart: a key of `REASONS`, empty when they fit."""
    reason = _RULES[pair.first.kind, pair.second.kind](pair, graph)
    if reason == "uses" and any(graph.nodes[node].is_output for node in pair.first.escaping - pair.closed):
        return "output"
    escaping = pair.escaping()
    if not reason and len({kind for node in escaping for kind in graph.nodes[node].kinds}) > 1:
        return "types"
    return reason or ("size" if len(escaping) > MOST_RESULTS else "")


def _maps(pair: GroupPair, graph: WorkGraph) -> str:
    """Injective into injective: equal shapes, or elements that are moved and needed only there."""
    if pair.is_closed and moves_only(pair.first, graph):
        return ""
    return next((reason for crossing in pair.crossings if (reason := _map_refusal(crossing, pair, graph))), "")


def _map_refusal(crossing: GroupEdge, pair: GroupPair, graph: WorkGraph) -> str:
    consumer = graph.nodes[crossing.consumer]
    if not is_unchanged(crossing, graph):
        return "shape"
    if consumer.is_elementwise:
        return "" if seen(crossing) == shape_of(consumer) else "shape"
    if consumer.name not in ("transpose", "concat"):
        return "cost"
    return "" if pair.is_closed else "uses"


def _into_rows(pair: GroupPair, graph: WorkGraph) -> str:
    """Injective into reduction: what computes the elements of rows, or one element for each row."""
    return "" if pair.is_closed and moves_only(pair.first, graph) else _along_rows(pair, graph)


def _along_rows(pair: GroupPair, graph: WorkGraph) -> str:
    """Reductions over the same rows, and ops with one element for each element of a row or one for each row."""
    rows = pair.first.rows or pair.second.rows
    assert rows is not None
    if pair.first.rows and pair.second.rows and pair.first.rows != pair.second.rows:
        return "shape"
    for crossing in pair.crossings:
        consumer = graph.nodes[crossing.consumer]
        if consumer.fusion_class != "reduction" and not consumer.is_elementwise:
            return "class"
        fitting = (rows.whole,) if consumer.fusion_class == "reduction" else (rows.whole, rows.kept)
        if seen(crossing) not in fitting or not is_unchanged(crossing, graph):
            return "shape"
    mapped = (graph.nodes[node] for node in pair.nodes if graph.nodes[node].fusion_class != "reduction")
    return "" if all(shape_of(node) in (rows.whole, rows.kept) for node in mapped) else "shape"


def _after(pair: GroupPair, graph: WorkGraph) -> str:
    """Elementwise ops on the result of a contraction or pooling that nothing else needs, or on a slice of it.

    The result of attention may be transposed, and that of a convolution so that rows of pixels are stored.
    """
    if not pair.is_closed:
        return "uses"
    if not all(is_unchanged(crossing, graph) for crossing in pair.crossings):
        return "shape"
    consumers = [graph.nodes[node] for node in pair.second.nodes]
    if len(consumers) == 1 and _moves_result(graph.nodes[pair.first.main], consumers[0]):
        return ""
    if not all(node.is_elementwise for node in consumers):
        return "class"
    return "" if all(shape_of(node) == pair.first.loops for node in consumers) else "shape"


def _moves_result(main: Node, consumer: Node) -> bool:
    """Whether the op `consumer` only says where the results of the contraction `main` are stored."""
    if consumer.name != "transpose":
        return consumer.name == "slice"
    return main.name == "attention" or (main.name == "conv" and _stores_pixels(main.op, consumer.op))


def _stores_pixels(conv: ir.Operation, transpose: ir.Operation) -> bool:
    """Whether a convolution by blocks of output channels, each a whole number of vectors, is stored by rows of pixels.

    The distance of channels must be known.
    """
    stored = ir.RankedTensorType(transpose.results[0].type)
    is_blocked = ir.RankedTensorType(conv.operands[1].type).rank > stored.rank
    is_known = not any(stored.is_dynamic_dim(axis) for axis in range(1, stored.rank))
    perm = list(ir.DenseI64ArrayAttr(transpose.attributes["perm"]))
    return is_blocked and is_known and perm[-1] == stored.rank - 2


def _before_contraction(pair: GroupPair, graph: WorkGraph) -> str:
    """What a contraction reads at no cost, or what its result meets afterwards; attention also takes what is mapped."""
    is_attention = graph.nodes[pair.second.main].name == "attention"
    return _beside(pair, graph, pair.second.before | {pair.second.main}, _suits_attention if is_attention else costs_nothing)


def _before_window(pair: GroupPair, graph: WorkGraph) -> str:
    """What the result of a pooling meets afterwards; its windows overlap, so they read stored elements."""
    return _beside(pair, graph, {pair.second.main}, lambda node: False)


def _suits_attention(node: Node) -> bool:
    return node.is_elementwise or node.name == "rotary_embedding" or costs_nothing(node)


def _beside(pair: GroupPair, graph: WorkGraph, front: Collection[int], suits: Callable[[Node], bool]) -> str:
    """Operands of the nodes `front`, made by ops that all suit them, or operands of the elementwise ops that come after."""
    if not pair.is_closed:
        return "uses"
    makers = [graph.nodes[node] for node in pair.first.nodes]
    for crossing in pair.crossings:
        if crossing.consumer in front:
            if not all(suits(node) for node in makers):
                return "cost"
            if graph.nodes[crossing.producer].name == "transpose" and not is_unchanged(crossing, graph):
                return "shape"
        elif not moves_only(pair.first, graph):
            if seen(crossing) != shape_of(graph.nodes[crossing.consumer]) or not is_unchanged(crossing, graph):
                return "shape"
            if not all(node.is_elementwise for node in makers):
                return "cost"
    return ""


_RULES: Mapping[tuple[str, str], Callable[[GroupPair, WorkGraph], str]] = {
    ("injective", "injective"): _maps,
    ("injective", "reduction"): _into_rows,
    ("reduction", "injective"): _along_rows,
    ("reduction", "reduction"): _along_rows,
    ("contraction", "injective"): _after,
    ("injective", "contraction"): _before_contraction,
    ("window", "injective"): _after,
    ("injective", "window"): _before_window,
}
"""The rule for each two kinds of groups, first and second, that may go together."""
