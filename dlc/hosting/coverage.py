"""What becomes of each node of a model that runs partly on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import onnx

from dlc.errors import DLCError, UnsupportedError
from dlc.frontends.onnx.coverage import NodeCoverage, State, Survey
from dlc.frontends.onnx.importers import find_importer
from dlc.frontends.onnx.loader import opset_of
from dlc.frontends.onnx.node import key_of, label_of, op_of
from dlc.hosting.graph import GraphSegment, HostGraph
from dlc.hosting.hosted import read_host_graph
from dlc.hosting.segments import declared_types, model_of
from dlc.request import ReadOptions

_LATER = "its types are those of a call"
SurveyModel = Callable[[onnx.ModelProto, str, ReadOptions], Survey]


def survey_hosted(model: Any, reading: ReadOptions, look: SurveyModel) -> Survey | None:
    """The nodes of the host and, as `look` sees them, those of the segments; None where nothing is the host's."""
    try:
        _, graph = read_host_graph(model, reading)
    except UnsupportedError as error:
        nodes = (NodeCoverage(each.name, each.op, None, (), (), (), "unsupported", each.reason) for each in error.nodes)
        return Survey(tuple(nodes))
    except DLCError:
        return None  # what was found before says why
    return None if graph is None else _survey(graph, look)


def _survey(graph: HostGraph, look: SurveyModel) -> Survey:
    nodes = [NodeCoverage(step.label, step.op, None, (), (), (), "host", step.reason) for step in graph.host_steps()]
    problems: list[str] = []
    for segment in graph.segments():
        types = declared_types(segment)
        if types is None:
            nodes += _unchecked(segment)
            continue
        found = look(model_of(segment, types), segment.name, ReadOptions(lenient=True))
        nodes += found.nodes
        problems += found.problems
    return Survey(tuple(nodes), tuple(problems))


def _unchecked(segment: GraphSegment) -> Iterator[NodeCoverage]:
    """The nodes of a segment that is compiled at its calls."""
    for index, node in enumerate(segment.model.graph.node):
        opset, is_known = opset_of(segment.model, key_of(node)[0]), find_importer(key_of(node)) is not None
        state: State = "unchecked" if is_known else "unsupported"
        reason = _LATER if is_known else "the op is not supported"
        yield NodeCoverage(label_of(node, index), op_of(node), opset, (), (), (), state, reason)
