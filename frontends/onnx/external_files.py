"""The files beside an ONNX model that hold its external data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import onnx
from onnx.external_data_helper import ExternalDataInfo, uses_external_data


def external_files(model: Path) -> list[str]:
    """Their names, relative to the model's folder, each once, in order. Raises what `onnx.load` does."""
    proto = onnx.load(model, load_external_data=False)
    nodes = [node for function in proto.functions for node in function.node]
    tensors = [*_of_graph(proto.graph), *_of_nodes(nodes)]
    return sorted({str(ExternalDataInfo(tensor).location) for tensor in tensors if uses_external_data(tensor)})


def _of_graph(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    yield from _of_nodes(graph.node)


def _of_nodes(nodes: list[onnx.NodeProto]) -> Iterator[onnx.TensorProto]:
    for attribute in (each for node in nodes for each in node.attribute):
        yield from (attribute.t, *attribute.tensors)
        for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
            yield from (sparse.values, sparse.indices)
        for graph in (attribute.g, *attribute.graphs):
            yield from _of_graph(graph)
