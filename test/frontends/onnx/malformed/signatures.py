"""Malformed models whose nodes have wrong inputs, outputs or attributes."""

from __future__ import annotations

from malformed.one_rule import RELU, edited, node, simple, value
from onnx import AttributeProto, helper

# Numbers of inputs and outputs

simple("too_many_inputs", r"node 'n' \(Relu\): has 3 inputs; the op has 1", [node("Relu", ["x"] * 3)])
simple("too_few_inputs", r"node 'n' \(Add\): has 1 inputs; the op has 2", [node("Add")])
simple("no_inputs", "has 0 inputs; the op has 1", [node("Relu", [])])
simple("concat_of_nothing", "has 0 inputs; the op has 1 or more", [node("Concat", [], axis=0)])
simple("empty_input", "input 'B' is missing", [node("Add", ["x", ""])])
simple("too_many_outputs", "has 2 outputs; the op has 1", [node("Relu", ["x"], ["y", "z"])])
simple("no_results", "has 0 outputs; the op has 1", [node("Relu", ["x"], []), RELU])

# Attributes

simple("attribute_float_for_int", "attribute 'axis' is of kind float; it has to be of kind int", [node("Softmax", axis=1.5)])
simple("attribute_string_for_int", "attribute 'axis' is of kind string; it has to be of kind int", [node("Softmax", axis="last")])
simple("attribute_ints_for_int", "attribute 'axis' is of kind ints; it has to be of kind int", [node("Softmax", axis=[0])])
simple("attribute_int_for_ints", "attribute 'perm' is of kind int; it has to be of kind ints", [node("Transpose", perm=0)])
simple("attribute_int_for_float", "attribute 'alpha' is of kind int; it has to be of kind float", [node("LeakyRelu", alpha=1)])
simple("attribute_unknown", "has no attribute 'axis'; it has: none", [node("Relu", axis=1)])
simple("attribute_missing", "attribute 'to' is missing", [node("Cast")])
simple("attribute_missing_axis", "attribute 'axis' is missing", [node("Concat", ["x", "x"])])
edited(
    "attribute_twice",
    "has the attribute 'alpha' twice",
    lambda m: (
        setattr(m.graph.node[0], "op_type", "Elu"),
        m.graph.node[0].attribute.extend([helper.make_attribute("alpha", 1.0)] * 2),
    ),
)
edited(
    "attribute_of_no_kind",
    "attribute 'alpha' is of kind undefined",
    lambda m: (setattr(m.graph.node[0], "op_type", "Elu"), m.graph.node[0].attribute.append(AttributeProto(name="alpha", f=1.0))),
)
simple("cast_to_unknown_type", r"node 'n' \(Cast\)", [node("Cast", to=99)])
simple("softmax_axis_out_of_range", r"node 'n' \(Softmax\): .*axis 7 is out of range", [node("Softmax", axis=7)])
simple("transpose_perm_repeats", r"node 'n' \(Transpose\)", [node("Transpose", perm=[0, 0])], inputs=[value("x", [2, 3])])
simple("transpose_perm_too_short", r"node 'n' \(Transpose\)", [node("Transpose", perm=[0])], inputs=[value("x", [2, 3])])
