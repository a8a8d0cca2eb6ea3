"""Sequences that are no more than a tensor are compiled; all others stay, and give the same values on the host."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from reference_session import reference_session

import dlc

Nodes = Sequence[onnx.NodeProto]
_CONSTANTS = {
    "zero": np.array(0),
    "two": np.array(2),
    "last": np.array(-1),
    "sizes": np.array([1, 3, 2]),
    "short": np.array([1, 3]),
    "steps": np.array(4),
}
_node = helper.make_node


def _written_out() -> Nodes:
    return [
        _node("SequenceConstruct", ["x", "x"], ["list"]),
        _node("ConcatFromSequence", ["list"], ["wide"], axis=1),
        _node("ConcatFromSequence", ["list"], ["deep"], axis=-1, new_axis=1),
        _node("SequenceAt", ["list", "last"], ["one"]),
        _node("SequenceLength", ["list"], ["count"]),
    ]


def _cut(split: str) -> Nodes:
    return [
        _node("SplitToSequence", ["x", *([split] if split else [])], ["list"], axis=0),
        _node("SequenceAt", ["list", "i"], ["one"]),
        _node("SequenceAt", ["list", "last"], ["end"]),
        _node("SequenceLength", ["list"], ["count"]),
    ]


def _unbound() -> Nodes:
    return [_node("SplitToSequence", ["x"], ["list"], axis=1, keepdims=0), _node("SequenceAt", ["list", "i"], ["one"])]


def _appended(axis: int = 0, new_axis: int = 1) -> Nodes:
    body = [
        _node("Identity", ["going"], ["more"]),
        _node("Gather", ["x", "number"], ["row"], axis=0),
        _node("Tanh", ["row"], ["value"]),
        _node("SequenceInsert", ["before", "value"], ["after"]),
    ]
    info, kind = helper.make_tensor_value_info, TensorProto.FLOAT
    inputs = [info("number", TensorProto.INT64, []), info("going", TensorProto.BOOL, [])]
    inputs += [helper.make_tensor_sequence_value_info("before", kind, None)]
    outputs = [info("more", TensorProto.BOOL, []), helper.make_tensor_sequence_value_info("after", kind, None)]
    graph = helper.make_graph(body, "body", inputs, outputs)
    return [
        _node("SequenceEmpty", [], ["empty"], dtype=kind),
        _node("Loop", ["steps", "", "empty"], ["list"], body=graph),
        _node("ConcatFromSequence", ["list"], ["all"], axis=axis, new_axis=new_axis),
        _node("SequenceAt", ["list", "two"], ["one"]),
        _node("SequenceLength", ["list"], ["count"]),
    ]


COMPILED = {
    "written_out": (_written_out(), ["wide", "deep", "one", "count"]),
    "cut": (_cut("sizes"), ["one", "end", "count"]),
    "cut_evenly": (_cut("two"), ["one", "end", "count"]),
    "cut_into_slices": (_cut(""), ["one", "end", "count"]),
    "unbound": (_unbound(), ["one"]),
    "appended": (_appended(), ["all", "one", "count"]),
}
HOSTED = {
    "sequence_is_an_output": ([*_cut("sizes"), _node("Identity", ["list"], ["given"])], ["one", "given"]),
    "written_out_at": ([_node("SequenceConstruct", ["x", "x"], ["list"]), _node("SequenceAt", ["list", "i"], ["one"])], ["one"]),
    "joined_end_to_end": (_appended(0, 0), ["all"]),
    "never_joined": ([node for node in _appended() if node.op_type != "ConcatFromSequence"], ["one", "count"]),
}


def _model(nodes: Nodes, outputs: Sequence[str]) -> onnx.ModelProto:
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [6, 5]),
        helper.make_tensor_value_info("i", TensorProto.INT64, []),
    ]
    constants = [numpy_helper.from_array(value, name) for name, value in _CONSTANTS.items()]
    graph = helper.make_graph(nodes, "lists", inputs, [onnx.ValueInfoProto(name=name) for name in outputs], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    inferred = {entry.name: entry for entry in onnx.shape_inference.infer_shapes(model).graph.output}
    for entry in model.graph.output:
        entry.CopyFrom(inferred[entry.name])
    return model


def _check(model: onnx.ModelProto, place: int) -> dlc.CompiledModel:
    feeds = {"x": np.random.default_rng(3).standard_normal((6, 5)).astype(np.float32), "i": np.array(place)}
    compiled, session = dlc.compile(model), reference_session(model)
    for have, want in zip(compiled(feeds), session.run(None, feeds), strict=True):
        pairs = zip(have, want, strict=True) if isinstance(want, list) else [(have, want)]
        for one, other in pairs:
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    return compiled


@pytest.mark.parametrize("name", COMPILED)
def test_compiled(name: str) -> None:
    nodes, outputs = COMPILED[name]
    assert not hasattr(_check(_model(nodes, outputs), 1), "host_ops")


@pytest.mark.parametrize("name", HOSTED)
def test_hosted(name: str) -> None:
    nodes, outputs = HOSTED[name]
    assert _check(_model(nodes, outputs), 1).host_ops


def test_place_that_is_not_there_is_refused() -> None:
    nodes, outputs = COMPILED["cut"]
    compiled = dlc.compile(_model(nodes, outputs))
    with pytest.raises(dlc.DLCError, match="largest index that is given is 3"):
        compiled(np.zeros((6, 5), np.float32), np.array(3))


def test_chunks_that_do_not_add_up_are_refused() -> None:
    compiled = dlc.compile(_model(_cut("short"), ["one"]))
    with pytest.raises(dlc.DLCError, match="SplitToSequence"):
        compiled(np.zeros((6, 5), np.float32), np.array(0))


def test_constant_without_a_value_is_refused() -> None:
    nodes, _ = COMPILED["cut"]
    model = _model([*nodes], ["one"])
    model.graph.node.append(helper.make_node("Constant", [], ["none"], name="empty"))
    with pytest.raises(dlc.DLCError, match="'empty'"):
        dlc.compile(model)


def test_coverage_tells_of_what_is_replaced() -> None:
    nodes, outputs = COMPILED["appended"]
    rows = {row.op: row for row in dlc.coverage(_model(nodes, outputs)).nodes}
    assert rows["ConcatFromSequence"].state == "function"
    assert rows["Loop"].state == "native"


@pytest.mark.parametrize("index", [np.array([0, 1]), np.array([], np.int64), np.array(2**62)])
def test_index_of_a_sequence_that_is_no_number(index: np.ndarray) -> None:
    nodes = [_node("SequenceConstruct", ["x", "x"], ["list"]), _node("SequenceAt", ["list", "index"], ["one"])]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("one", TensorProto.FLOAT, [2])],
        [numpy_helper.from_array(index, "index")],
    )
    with pytest.raises(dlc.DLCError, match="SequenceAt"):
        dlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))(
            {"x": np.zeros(2, np.float32)}
        )
