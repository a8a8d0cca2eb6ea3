"""Malformed models whose files, versions, names or types of inputs and outputs are wrong."""

from __future__ import annotations

import onnx
from malformed.one_rule import FLOAT, INT64, RELU, constant, damaged, edited, malformed, model, node, simple, value
from onnx import helper

# Files

malformed("empty_file", "not an ONNX model")(lambda: b"")
malformed("text", "not an ONNX model")(lambda: b"this is no model at all\n")
malformed("truncated", "not an ONNX model|cannot read")(lambda: model([RELU]).SerializeToString()[:-9])
malformed("no_graph", "not an ONNX model: the file holds no graph")(lambda: onnx.ModelProto(ir_version=8).SerializeToString())
damaged("node_name_not_utf8", "name of a node .*not UTF-8", b"nodename00", b"\xff\xfe")
damaged("value_name_not_utf8", "name of an? (input|value) .*not UTF-8", b"inputname0", b"\xff\xfe")
damaged("dim_name_not_utf8", "name of a dim .*not UTF-8", b"dimname000", b"\xff\xfe")
damaged("op_not_utf8", "op of a node .*not UTF-8", b"Relu", b"\xff\xfe")
damaged("node_name_with_nul", "name of a node .*NUL", b"nodename00", b"\0a")

edited("output_without_name", "nothing defines the model's output ''", lambda m: m.graph.output.append(value("", None)))

simple(
    "split_axis_out_of_range", r"node 'n' \(Split\): axis 3 is out of range for rank 1", [node("Split", ["x"], ["y", "z"], axis=3)]
)

# Versions

edited("ir_version_999", "IR version 999 is not known; export the model with 1 to", lambda m: setattr(m, "ir_version", 999))
edited("ir_version_0", "IR version 0 is not known", lambda m: setattr(m, "ir_version", 0))
edited("ir_version_negative", "IR version -1 is not known", lambda m: setattr(m, "ir_version", -1))
simple("opset_999", "opset 999 is not known; export the model with 1 to", [RELU], opset=999)
simple("opset_0", "opset 0 is not known", [RELU], opset=0)
simple("opset_negative", "opset -3 is not known", [RELU], opset=-3)
edited("no_opset", "opset_import names no version", lambda m: m.ClearField("opset_import"))
edited("opset_of_another_domain", "opset_import names no version", lambda m: setattr(m.opset_import[0], "domain", "my.domain"))

# Names

simple("two_inputs_of_one_name", "two inputs are called 'x'", [RELU], inputs=[value("x", [4]), value("x", [4])])
simple("two_outputs_of_one_name", "two outputs are called 'y'", [RELU], outputs=[value("y", None)] * 2)
simple(
    "two_initializers_of_one_name",
    "two initializers are called 'w'",
    [node("Add", ["x", "w"])],
    constant("w", 1.0),
    constant("w", 2.0),
)
simple("no_outputs", "the model has no outputs", [RELU], outputs=[])
simple("output_of_nobody", "nothing defines the model's output 'z'", [RELU], outputs=[value("z", None)])
simple("input_of_nobody", r"node 'n' \(Relu\): uses 'z', which nothing defines", [node("Relu", ["z"])])
simple("value_made_twice", "defines 'y' a second time", [RELU, node("Exp")])
simple("input_made_again", "defines 'x' a second time", [node("Relu", ["x"], ["x"])], outputs=[value("x", None)])
simple(
    "cycle",
    "uses 'b', which is in a cycle of nodes",
    [node("Add", ["x", "b"], ["a"]), node("Add", ["a", "x"], ["b"]), node("Relu", ["b"])],
)
simple("own_result", "uses 'y', which is in a cycle of nodes", [node("Add", ["x", "y"])])

# Types of inputs and outputs

simple("input_of_unknown_type", "input 'x': element type 99 does not exist", [RELU], inputs=[value("x", [4], 99)])
simple("input_of_undefined_type", "'x'.*element type undefined", [RELU], inputs=[value("x", [4], 0)])
simple("input_with_negative_dim", "input 'x': has a dim of -3", [RELU], inputs=[value("x", [-3])])
simple("output_of_unknown_type", "output 'y': element type -1 does not exist", [RELU], outputs=[value("y", [4], -1)])
simple(
    "output_of_another_type",
    "makes 'y' as tensor<4xf32> but the model declares tensor<4xi64>",
    [RELU],
    outputs=[value("y", [4], INT64)],
)
simple(
    "output_of_another_size", "makes 'y' as tensor<4xf32> but the model declares tensor<5xf32>", [RELU], outputs=[value("y", [5])]
)
simple(
    "output_of_another_rank",
    "makes 'y' as tensor<4xf32> but the model declares tensor<4x1xf32>",
    [RELU],
    outputs=[value("y", [4, 1])],
)
edited(
    "value_of_another_size",
    "makes 'y' as .* but the model declares tensor<9xf32>",
    lambda m: m.graph.value_info.append(value("y", [9])),
)
simple("input_without_rank", "'x'.*its rank is unknown", [RELU], inputs=[value("x", None)])
edited("input_without_type", "'x'.*no type inputs are not compiled|'x'", lambda m: m.graph.input[0].ClearField("type"))
edited(
    "input_is_a_sequence",
    r"node 'n' \(Relu\): the op is not supported for sequence\(f32\[4\]\)",
    lambda m: m.graph.input[0].type.CopyFrom(helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, [4]))),
)
