"""The order of nodes: ONNX wants each behind those that make what it uses, but some converters append nodes at the end.

onnxruntime's conversion to f16 puts the casts of inputs there. Such graphs mean one thing only, and onnxruntime runs them.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Sequence

import onnx


def sort_nodes(model: onnx.ModelProto) -> None:
    """Bring the nodes of all graphs and functions into order, in place; those of a cycle keep their places at the end."""
    for function in model.functions:
        _sort(function)
    _sort(model.graph)


def _sort(graph: onnx.GraphProto | onnx.FunctionProto) -> None:
    for body in _bodies(graph.node):
        _sort(body)
    nodes = in_order(graph.node)
    if any(node is not old for node, old in zip(nodes, graph.node, strict=True)):
        copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
        graph.ClearField("node")
        graph.node.extend(copies)


def _bodies(nodes: Sequence[onnx.NodeProto]) -> Iterator[onnx.GraphProto]:
    """The graphs directly within `nodes`."""
    for node in nodes:
        yield from (attribute.g for attribute in node.attribute if attribute.HasField("g"))


def in_order(nodes: Sequence[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """The nodes, each behind those that make what it or a graph within it uses, else as they stand; then those of cycles.

    A value that is made twice is the first node's.
    """
    given = list(nodes)
    makers: dict[str, int] = {}
    for place, node in enumerate(given):
        for name in node.output:
            makers.setdefault(name, place)
    makers.pop("", None)
    needed = [{makers[name] for name in _uses(node) if name in makers} for node in given]
    if all(place > last for place, before in enumerate(needed) for last in before):
        return given
    return [given[place] for place in _topological(needed)]


def _uses(node: onnx.NodeProto) -> Iterator[str]:
    """What a node takes, and what graphs within it take from those around them."""
    yield from node.input
    for body in _bodies([node]):
        own = {entry.name for entry in (*body.input, *body.initializer)} | {name for inner in body.node for name in inner.output}
        taken = [*(name for inner in body.node for name in _uses(inner)), *(entry.name for entry in body.output)]
        yield from (name for name in taken if name not in own)


def _topological(needed: Sequence[set[int]]) -> list[int]:
    """Places behind those that they need, the least first; what waits for itself comes last."""
    waiting = [len(before) for before in needed]
    users: defaultdict[int, list[int]] = defaultdict(list)
    for place, before in enumerate(needed):
        for each in before:
            users[each].append(place)
    ready = [place for place, count in enumerate(waiting) if not count]
    order: list[int] = []
    while ready:
        place = heapq.heappop(ready)
        order.append(place)
        for user in users[place]:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, user)
    return order + [place for place, count in enumerate(waiting) if count]
