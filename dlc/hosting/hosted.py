"""Makes a hosted model of an ONNX model that compiled code alone cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dlc.compiler import compile_model
from dlc.errors import InvalidInputError
from dlc.frontends.onnx.input_shapes import dims_of_several_sizes, input_shapes
from dlc.frontends.onnx.loader import load_model, prepare_model
from dlc.frontends.onnx.validation.problems import untold
from dlc.hosting.graph import HostGraph
from dlc.hosting.model import HostedModel
from dlc.hosting.partition import partition
from dlc.hosting.types import type_of_proto
from dlc.lowering.deadline import Progress, timed
from dlc.request import ReadOptions

if TYPE_CHECKING:
    import onnx

    from dlc.compiled_model import CompiledModel
    from dlc.request import Request


def find_hosted(model: Any, request: Request, progress: Progress | None, reading: ReadOptions) -> CompiledModel | None:
    """The hosted model of a source that was refused; None where no op of it is one of the host.

    Raises `UnsupportedError` with the nodes that neither the host nor compiled code computes.
    """
    name, graph = read_host_graph(model, reading)
    if graph is None:
        return None
    if request.donate:
        raise InvalidInputError("donate: the model runs partly on the host, which keeps its inputs; leave it out")

    def compile_segment(segment: onnx.ModelProto, told: Progress | None) -> CompiledModel:
        with untold():
            return compile_model(segment, request, told, ReadOptions(lenient=True))

    hosted = HostedModel(name, graph, request.options, compile_segment, request.most_versions)
    hosted.prepare(timed(request.timeout, name, progress))
    return hosted if reading.params is None else hosted.with_params(reading.params)


def read_host_graph(model: Any, reading: ReadOptions) -> tuple[str, HostGraph | None]:
    """The name of an ONNX model and what it is as a program of the host, None where nothing in it is the host's."""
    proto, name = load_model(model)
    with untold():
        prepared = prepare_model(proto, name, input_shapes(proto, reading.shapes), True, reading.values)
    infos = (*proto.graph.value_info, *proto.graph.output)
    declared = {} if reading.lenient else {entry.name: type_of_proto(entry.type) for entry in infos}
    graph = partition(prepared, name, declared)
    if graph is not None and (several := dims_of_several_sizes(proto, reading.shapes)):
        raise InvalidInputError(f"shapes: the model runs partly on the host; give dim '{several[0]}' one size, or leave it out")
    return name, graph
