"""Malformed models whose functions, calls of functions, or graphs of branches and loops are wrong."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from malformed.one_rule import INT64, constant, malformed, model, node, simple, value
from onnx import TensorProto, helper

_OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)]
_CALL = helper.make_node("f", ["x"], ["y"], name="n", domain="my")


def _function(*nodes: onnx.NodeProto, name: str = "f", inputs: Sequence[str] = ("a",)) -> onnx.FunctionProto:
    return helper.make_function("my", name, list(inputs), ["b"], list(nodes), _OPSETS)


def calling(name: str, pattern: str, *functions: onnx.FunctionProto, call: onnx.NodeProto = _CALL) -> None:
    """Register a model with a call and functions."""

    @malformed(name, pattern)
    def _() -> onnx.ModelProto:
        made = model([call], domains=["my"])
        made.functions.extend(functions)
        return made


_NEG = _function(node("Neg", ["a"], ["b"]))


def _to(name: str) -> onnx.NodeProto:
    return helper.make_node(name, ["a"], ["b"], domain="my")


calling("function_of_itself", r"function 'my\.f': calls itself", _function(_to("f")))
calling(
    "functions_of_each_other",
    r"function 'my\.g': calls itself, or a function that does",
    _function(_to("g")),
    _function(_to("f"), name="g"),
)
calling("two_functions_of_one_name", r"two functions are called 'my\.f'", _NEG, _NEG)
calling("function_without_its_output", r"function 'my\.f': nothing defines its output 'b'", _function(node("Neg", ["a"], ["c"])))
calling(
    "function_of_two_inputs_of_one_name",
    "two of its inputs have one name",
    _function(node("Neg", ["a"], ["b"]), inputs=["a", "a"]),
)
calling(
    "call_with_too_many_inputs",
    r"node 'n' \(my\.f\): has 2 inputs; the function has 1",
    _NEG,
    call=helper.make_node("f", ["x", "x"], ["y"], name="n", domain="my"),
)
calling(
    "call_with_too_many_outputs",
    r"node 'n' \(my\.f\): has 2 outputs; the function has 1",
    _NEG,
    call=helper.make_node("f", ["x"], ["y", "z"], name="n", domain="my"),
)


@malformed("attribute_of_no_function", "attribute 'alpha' refers to 'slope' of a function, but is in none")
def _() -> onnx.ModelProto:
    made = model([node("LeakyRelu")])
    made.graph.node[0].attribute.add(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT)
    return made


# Branches and loops


def _body(nodes: Sequence[onnx.NodeProto], inputs: Sequence[onnx.ValueInfoProto], *outputs: str) -> onnx.GraphProto:
    return helper.make_graph(list(nodes), "b", list(inputs), [onnx.ValueInfoProto(name=name) for name in outputs])


_BRANCH = _body([node("Neg", ["x"], ["t"])], [], "t")
_TAKING = _body([node("Neg", ["u"], ["t"])], [value("u", None)], "t")
_NUMBER, _GOING = value("i", [], INT64), value("going", [], TensorProto.BOOL)
_STATE = value("s", None)


def looping(name: str, pattern: str, op: str, body: onnx.GraphProto, outputs: Sequence[str] = ("y",), **attributes: object) -> None:
    """Register a loop of three steps, or a scan of x, with a body."""
    inputs = ["m", "c", "x"] if op == "Loop" else ["start", "x"]
    constants = [constant("m", 3), constant("c", True), constant("start", np.ones(1, np.float32))]
    simple(name, pattern, [node(op, inputs, outputs, body=body, **attributes)], *constants)


simple(
    "branch_that_takes_values",
    r"node 'n' \(If\): its then_branch takes 1 values; a branch takes none",
    [node("If", ["c"], ["y"], then_branch=_TAKING, else_branch=_BRANCH)],
    constant("c", True),
)
looping("body_that_takes_too_few", "its body takes 1 values but the node hands 3", "Loop", _body([], [_NUMBER], "i", "x"))
looping("body_that_gives_too_few", "its body gives 1 values", "Loop", _body([], [_NUMBER, _GOING, _STATE], "going"))
looping(
    "condition_that_is_a_number",
    r"node 'n' \(Loop\): the condition that its body gives has elements of i64; it must be a truth value",
    "Loop",
    _body([node("Identity", ["i"], ["more"]), node("Neg", ["s"], ["after"])], [_NUMBER, _GOING, _STATE], "more", "after"),
)
looping(
    "scan_output_axis_out_of_range",
    r"node 'n' \(Scan\): scan output axis 9 is out of range for an output of rank 2",
    "Scan",
    _body([node("Add", ["a", "b"], ["sum"]), node("Neg", ["sum"], ["kept"])], [value("a", [1]), value("b", [])], "sum", "kept"),
    ["z", "y"],
    num_scan_inputs=1,
    scan_output_axes=[9],
)
looping(
    "scan_in_no_direction",
    r"node 'n' \(Scan\): its directions are \[7\]; each may be 0 \(forward\) or 1 \(backward\)",
    "Scan",
    _body([node("Add", ["a", "b"], ["sum"]), node("Neg", ["sum"], ["kept"])], [value("a", [1]), value("b", [])], "sum", "kept"),
    ["z", "y"],
    num_scan_inputs=1,
    scan_input_directions=[7],
)
looping(
    "slice_declared_larger",
    r"node 'n' \(Scan\): its body is given 'b' as tensor<f32> but declares tensor<3xf32>",
    "Scan",
    _body([node("Add", ["a", "b"], ["sum"]), node("Neg", ["sum"], ["kept"])], [value("a", [1]), value("b", [3])], "sum", "kept"),
    ["z", "y"],
    num_scan_inputs=1,
)
looping(
    "carried_value_of_another_type",
    r"node 'n' \(Loop\): its body is given 's' as tensor<4xf32> but declares tensor<...xi64>",
    "Loop",
    _body(
        [node("Identity", ["going"], ["more"]), node("Neg", ["s"], ["after"])],
        [_NUMBER, _GOING, value("s", [9], INT64)],
        "more",
        "after",
    ),
)
