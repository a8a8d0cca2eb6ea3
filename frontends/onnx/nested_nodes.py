"""The nodes of a graph with those of the graphs within them: branches of an If, bodies of a Loop or Scan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx


def with_bodies(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """The nodes, each followed by those of the graphs within it, at any depth."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from with_bodies(attribute.g.node)
