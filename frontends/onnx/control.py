"""Importers of branches and loops: If, Loop, Scan."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import onnx

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import type_of_value
from dlc.frontends.onnx.importers import Imported, importer
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.regions import BodyStep, build_if, build_loop
from dlc.frontends.onnx.stacks import Placement, as_tensor, size_along

_BATCHED_SCAN = 8
"""The opset in which Scan has a batch, and lengths of the sequences."""


@importer("If")
def import_if(node: NodeContext) -> Sequence[Imported]:
    """The branch that is taken where that is known, else both."""
    graphs = [_graph(node, "then_branch"), _graph(node, "else_branch")]
    for graph in graphs:
        if len(graph.output) != node.num_outputs:
            node.unsupported(f"graph '{graph.name}' gives {len(graph.output)} values but the node has {node.num_outputs} outputs")
    known = node.constant(0)
    if known is None:
        return build_if(node, _one(node, 0, "the condition"), [partial(node.import_body, graph, ()) for graph in graphs])
    if known.size != 1:
        node.unsupported(f"the condition (input 0) has {known.size} elements; it must have one")
    return node.import_body(graphs[0 if known.reshape(-1)[0] else 1], [])


@importer("Loop")
def import_loop(node: NodeContext) -> Sequence[Imported]:
    """The body as often as the trip count (input 0) says and as long as the condition (input 1) holds; both may be absent."""
    graph, carried = _graph(node, "body"), [node.value(index) for index in range(2, node.num_inputs)]
    _check_counts(node, graph, len(carried) + 2, len(carried) + 1)
    steps, start = _trip_count(node), _start(node)
    shape = [dim if isinstance(dim, int) else 1 for dim in node.type(1).shape] if node.has_input(1) else []

    def body(number: ir.Value, values: Sequence[ir.Value]) -> BodyStep:
        # A body runs only where the condition holds.
        given = node.import_body(graph, [as_tensor(number, _number_shape(graph)), np.ones(shape, np.bool_), *values])
        if isinstance(given[0], ir.Value) and type_of_value(given[0]).num_elements != 1:
            node.unsupported(f"the condition that its body gives is {type_of_value(given[0])}; it must be one truth value")
        _check_truth(node, given[0])
        return BodyStep(given[0], given[1 : len(values) + 1], given[len(values) + 1 :])

    return build_loop(node, steps, start, carried, body)


@importer("Scan")
def import_scan(node: NodeContext) -> Sequence[Imported]:
    """The body over slices of the scan inputs, with states handed on from step to step."""
    if node.opset <= _BATCHED_SCAN:
        return _batched_scan(node)
    scan = _ScanForm(node, node.num_inputs)
    inputs = node.values()
    return _scan(node, scan, inputs[: scan.states], inputs[scan.states :])


def _batched_scan(node: NodeContext) -> Sequence[Imported]:
    """Of opset 8: input 0 gives lengths, states and scan inputs begin with the batch; a loop over that around the scan."""
    if node.has_input(0):
        node.unsupported("sequence_lens (input 0) is not supported; give sequences of one length")
    scan, inputs = _ScanForm(node, node.num_inputs - 1), [node.value(index) for index in range(1, node.num_inputs)]

    batches = {kind.shape[0] if kind.rank else 0 for kind in map(type_of_value, inputs)}
    if any(type_of_value(value).rank == 0 for value in inputs) or len(batches - {None}) > 1:
        shown = ", ".join(str(type_of_value(value)) for value in inputs)
        node.unsupported(f"its states and scan inputs are {shown}, but all must begin with the same batch")

    def body(number: ir.Value, _: Sequence[ir.Value]) -> BodyStep:
        of_batch = [dl.gather(value, as_tensor(number), axis=0) for value in inputs]
        return BodyStep(None, [], _scan(node, scan, of_batch[: scan.states], of_batch[scan.states :]))

    return build_loop(node, size_along(inputs[0], 0), None, [], body)


class _ScanForm:
    """The attributes of a Scan: its graph, how many states it has, and for inputs and outputs where their steps lie."""

    def __init__(self, node: NodeContext, inputs: int) -> None:
        self.graph = _graph(node, "body")
        scanned = int(node.attribute("num_scan_inputs", 0))
        if not 0 < scanned <= inputs:
            node.unsupported(f"num_scan_inputs is {scanned} but the node has {inputs} inputs; it must be 1 to that")
        self.states = inputs - scanned
        kept = node.num_outputs - self.states
        _check_counts(node, self.graph, inputs, node.num_outputs)
        directions = node.attribute("directions") or node.attribute("scan_input_directions")
        self.sources = _placements(node, scanned, node.attribute("scan_input_axes"), directions)
        self.targets = _placements(node, kept, node.attribute("scan_output_axes"), node.attribute("scan_output_directions"))


def _placements(node: NodeContext, count: int, axes: Sequence[int] | None, directions: Sequence[int] | None) -> list[Placement]:
    axes, directions = axes or [0] * count, directions or [0] * count
    if len(axes) != count or len(directions) != count:
        node.unsupported(f"its axes and directions are {len(axes)} and {len(directions)}, but there are {count} values to scan")
    if not set(directions) <= {0, 1}:
        node.unsupported(f"its directions are {list(directions)}; each may be 0 (forward) or 1 (backward)")
    return [Placement(axis, bool(back)) for axis, back in zip(axes, directions, strict=True)]


def _scan(node: NodeContext, scan: _ScanForm, states: Sequence[ir.Value], inputs: Sequence[ir.Value]) -> list[ir.Value]:
    for value, source in zip(inputs, scan.sources, strict=True):
        rank = type_of_value(value).rank
        if not -rank <= source.axis < rank:
            node.unsupported(f"scan axis {source.axis} is none of an input of rank {rank}")
    sizes = [size_along(value, source.axis) for value, source in zip(inputs, scan.sources, strict=True)]
    known = {size for size in sizes if isinstance(size, int)}
    if len(known) > 1:
        node.unsupported(
            f"its scan inputs have {' and '.join(map(str, sorted(known)))} steps; they must have as many as each other"
        )
    steps = known.pop() if known else sizes[0]

    def body(number: ir.Value, values: Sequence[ir.Value]) -> BodyStep:
        slices = [_slice(value, source, number, steps) for value, source in zip(inputs, scan.sources, strict=True)]
        given = node.import_body(scan.graph, [*values, *slices])
        _check_output_axes(node, scan, given[len(values) :])
        return BodyStep(None, given[: len(values)], given[len(values) :])

    return build_loop(node, steps, None, states, body, scan.targets)


def _check_output_axes(node: NodeContext, scan: _ScanForm, kept: Sequence[Imported]) -> None:
    for value, target in zip(kept, scan.targets, strict=False):
        rank = value.ndim + 1 if isinstance(value, np.ndarray) else type_of_value(value).rank + 1
        if not -rank <= target.axis < rank:
            node.unsupported(f"scan output axis {target.axis} is out of range for an output of rank {rank}")


def _slice(value: ir.Value, source: Placement, number: ir.Value, steps: ir.Value | int) -> ir.Value:
    place = as_tensor(number)
    if source.is_reversed:
        count = dl.constant(value=np.array(steps, np.int64)) if isinstance(steps, int) else dl.reshape(steps, shape=[])
        place = dl.sub(dl.sub(count, dl.constant(value=np.array(1, np.int64))), place)
    found: ir.Value = dl.gather(value, place, axis=source.axis)
    return found


def _graph(node: NodeContext, name: str) -> onnx.GraphProto:
    graph = node.attribute(name)
    if not isinstance(graph, onnx.GraphProto):
        node.unsupported(f"the graph '{name}' is missing")
    return graph


def _check_truth(node: NodeContext, condition: Imported) -> None:
    """The condition of a further step must be i1."""
    kind = condition.dtype if isinstance(condition, np.ndarray) else type_of_value(condition).dtype
    if kind not in ("i1", np.bool_):
        node.unsupported(f"the condition that its body gives has elements of {kind}; it must be a truth value")


def _check_counts(node: NodeContext, graph: onnx.GraphProto, inputs: int, least_outputs: int) -> None:
    if len(graph.input) != inputs:
        node.unsupported(f"its body takes {len(graph.input)} values but the node hands {inputs} to it")
    wanted = max(least_outputs, node.num_outputs + (node.node.op_type == "Loop"))
    if len(graph.output) < wanted:
        node.unsupported(f"its body gives {len(graph.output)} values but the node needs {wanted}")


def _trip_count(node: NodeContext) -> ir.Value | int | None:
    if not node.has_input(0):
        return None
    value, known = _one(node, 0, "the trip count"), node.constant(0)
    return value if known is None else int(known.reshape(-1)[0])


def _start(node: NodeContext) -> ir.Value | None:
    """Whether a loop begins; None where it does."""
    if not node.has_input(1):
        return None
    value, known = _one(node, 1, "the condition"), node.constant(1)
    return None if known is not None and known.all() else value


def _one(node: NodeContext, index: int, what: str) -> ir.Value:
    kind = node.type(index)
    if kind.num_elements != 1 and (kind.is_static or kind.rank > 1):
        node.unsupported(f"{what} (input {index}) is {kind}; it must have one element")
    return node.value(index)


def _number_shape(graph: onnx.GraphProto) -> Sequence[int]:
    """The shape in which a body wants the step's number: a scalar, or a list of one."""
    kind = graph.input[0].type.tensor_type
    return (1,) if kind.HasField("shape") and len(kind.shape.dim) == 1 else ()
