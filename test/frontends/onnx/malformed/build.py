"""Builds the malformed models of this folder: `python test/frontends/onnx/malformed/build.py`.

Each breaks one rule. `MODELS` says by file name how it is built, and what the error must say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

HERE = Path(__file__).parent
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


@dataclass(frozen=True)
class Malformed:
    """A model, or the bytes of a file, and a pattern of the error that refuses it."""

    build: Callable[[], onnx.ModelProto | bytes]
    pattern: str


MODELS: dict[str, Malformed] = {}


def malformed(name: str, pattern: str) -> Callable[[Callable[[], onnx.ModelProto | bytes]], None]:
    """Register a builder under the name of its file."""

    def register(build: Callable[[], onnx.ModelProto | bytes]) -> None:
        assert name not in MODELS, name
        MODELS[name] = Malformed(build, pattern)

    return register


def value(name: str, shape: Sequence[int | str] | None, kind: int = FLOAT) -> onnx.ValueInfoProto:
    """The declaration of an input or output."""
    return helper.make_tensor_value_info(name, kind, shape)


def constant(name: str, array: Any) -> TensorProto:
    """An initializer."""
    return numpy_helper.from_array(np.asarray(array), name)


def model(
    nodes: Sequence[onnx.NodeProto],
    *initializers: TensorProto,
    inputs: Sequence[onnx.ValueInfoProto] | None = None,
    outputs: Sequence[onnx.ValueInfoProto] | None = None,
    opset: int = 17,
    domains: Sequence[str] = (),
) -> onnx.ModelProto:
    """A model of `x` (4 floats) and `y` unless other inputs or outputs are given."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        [value("x", [4])] if inputs is None else list(inputs),
        [value("y", None)] if outputs is None else list(outputs),
        list(initializers),
    )
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def node(op: str, inputs: Sequence[str] = ("x",), outputs: Sequence[str] = ("y",), **attributes: Any) -> onnx.NodeProto:
    """A node called `n`."""
    return helper.make_node(op, list(inputs), list(outputs), name="n", **attributes)


RELU = node("Relu")
IMAGE = [value("x", [1, 3, 8, 8])]


def simple(name: str, pattern: str, *arguments: Any, **keywords: Any) -> None:
    """Register a model that `model` builds from these arguments."""
    malformed(name, pattern)(lambda: model(*arguments, **keywords))


def tensor(name: str, pattern: str, **fields: Any) -> None:
    """Register a sum with an initializer `w` of these fields."""

    @malformed(name, pattern)
    def _() -> onnx.ModelProto:
        return model([node("Add", ["x", "w"])], TensorProto(name="w", **fields))


def edited(name: str, pattern: str, edit: Callable[[onnx.ModelProto], object]) -> None:
    """Register a valid model after `edit`."""

    @malformed(name, pattern)
    def _() -> onnx.ModelProto:
        made = model([node("Relu")])
        edit(made)
        return made


def damaged(name: str, pattern: str, old: bytes, middle: bytes) -> None:
    """Register the bytes of a valid model with two bytes of `old` replaced."""

    @malformed(name, pattern)
    def _() -> bytes:
        graph = model(
            [helper.make_node("Relu", ["inputname0"], ["y"], name="nodename00")], inputs=[value("inputname0", ["dimname000"])]
        )
        content: bytes = graph.SerializeToString()
        assert old in content
        return content.replace(old, old[:2] + middle + old[4:])


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
simple("nodes_out_of_order", "uses 'h', which nothing defines before it", [node("Relu", ["h"]), node("Exp", ["x"], ["h"])])
simple(
    "cycle",
    "uses 'b', which nothing defines before it",
    [node("Add", ["x", "b"], ["a"]), node("Add", ["a", "x"], ["b"]), node("Relu", ["b"])],
)
simple("own_result", "uses 'y', which nothing defines before it", [node("Add", ["x", "y"])])

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

# Tensors

tensor("tensor_negative_dims", r"initializer 'w': dims \[-4\] are negative", data_type=FLOAT, dims=[-4])
tensor("tensor_of_unknown_type", "initializer 'w': element type 77 does not exist", data_type=77, dims=[4], raw_data=bytes(16))
tensor("tensor_of_undefined_type", "initializer 'w': element type 0 does not exist", dims=[4], raw_data=bytes(16))
tensor("tensor_raw_too_short", "has 7 bytes of data but its dims .* need 16", data_type=FLOAT, dims=[4], raw_data=bytes(7))
tensor("tensor_raw_too_long", "has 32 bytes of data but its dims .* need 16", data_type=FLOAT, dims=[4], raw_data=bytes(32))
tensor("tensor_raw_empty", "has 0 bytes of data but its dims .* need 16", data_type=FLOAT, dims=[4], raw_data=b"")
tensor("tensor_typed_too_short", "has 2 numbers in float_data but its dims .* need 4", data_type=FLOAT, dims=[4], float_data=[1, 2])
tensor("tensor_typed_too_long", "has 6 numbers in float_data but its dims .* need 4", data_type=FLOAT, dims=[4], float_data=[1] * 6)
tensor("tensor_in_wrong_field", "has 0 numbers in float_data", data_type=FLOAT, dims=[4], int32_data=[1] * 4)
tensor(
    "tensor_data_twice",
    "has data twice, in raw_data and in float_data",
    data_type=FLOAT,
    dims=[1],
    raw_data=bytes(4),
    float_data=[1],
)
tensor("tensor_without_data", "has 0 numbers in float_data", data_type=FLOAT, dims=[4])
tensor("tensor_too_many_elements", "more than any machine can address", data_type=FLOAT, dims=[2**40, 2**40])
tensor("tensor_huge_dim", "more than any machine can address", data_type=FLOAT, dims=[2**62], raw_data=bytes(4))
tensor("tensor_dims_overflow", "more than any machine can address", data_type=FLOAT, dims=[2**32, 2**32], raw_data=b"")
tensor(
    "tensor_int4_too_short", "has 1 bytes of data but its dims .* need 2", data_type=TensorProto.INT4, dims=[4], raw_data=bytes(1)
)
tensor(
    "tensor_float6_too_short",
    "has 2 bytes of data but its dims .* need 3",
    data_type=TensorProto.FLOAT6E2M3,
    dims=[4],
    raw_data=bytes(2),
)
tensor("tensor_bool_too_long", "has 5 bytes of data", data_type=TensorProto.BOOL, dims=[4], raw_data=bytes(5))
tensor("tensor_strings_too_few", "has 1 numbers in string_data", data_type=TensorProto.STRING, dims=[4], string_data=[b"a"])
simple(
    "attribute_tensor_too_short",
    "attribute 'value': has 3 bytes",
    [node("Constant", [], ["c"], value=TensorProto(data_type=FLOAT, dims=[4], raw_data=bytes(3))), node("Add", ["x", "c"])],
)


def external(name: str, pattern: str, **entries: str) -> None:
    """Register a model whose weight lies in a file."""

    @malformed(name, pattern)
    def _() -> onnx.ModelProto:
        weight = TensorProto(name="w", data_type=FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
        for key, text in entries.items():
            weight.external_data.add(key=key, value=text)
        return model([node("Add", ["x", "w"])], weight)


external("external_missing", "missing.bin|cannot read", location="missing.bin")
external("external_with_nul", "cannot read|external", location="a\0b")
external("external_that_escapes", "cannot read|external", location="../../../../etc/passwd")
external("external_absolute", "cannot read|external", location="/etc/passwd")
external("external_without_location", "cannot read|external")
external("external_offset_beyond", "cannot read|external|bytes of data", location="empty_file.onnx", offset="4096", length="16")
external("external_offset_negative", "cannot read|external|bytes of data", location="text.onnx", offset="-8", length="16")
external("external_offset_no_number", "cannot read|external", location="text.onnx", offset="eight")
external("external_too_short", "cannot read|external|bytes of data", location="text.onnx", length="4")
external("external_folder", "cannot read|external", location=".")

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

# Values that contradict each other

simple(
    "gather_index_out_of_range", r"node 'n' \(Gather\): index 7 is out of range", [node("Gather", ["x", "i"])], constant("i", [7])
)
simple("gather_index_too_negative", "index -5 is out of range", [node("Gather", ["x", "i"])], constant("i", [-5]))
simple("gather_elements_out_of_range", "index 4 is out of range", [node("GatherElements", ["x", "i"])], constant("i", [0, 4]))
simple(
    "gather_float_index", "input 1 is of kind float but the op takes integer", [node("Gather", ["x", "i"])], constant("i", [1.0])
)
simple(
    "split_sizes_too_small",
    r"split sizes \[1, 2\] add up to 3 but the axis has 4",
    [node("Split", ["x", "s"], ["y", "z"])],
    constant("s", [1, 2]),
)
simple("split_sizes_negative", r"split sizes \[5, -1\] do not fit", [node("Split", ["x", "s"], ["y", "z"])], constant("s", [5, -1]))
simple(
    "split_sizes_too_few", r"split sizes \[4\] do not fit 2 outputs", [node("Split", ["x", "s"], ["y", "z"])], constant("s", [4])
)
simple("split_attribute", r"split sizes \[1, 2\] add up to 3", [node("Split", ["x"], ["y", "z"], split=[1, 2])], opset=11)
simple(
    "kernel_shape_of_conv",
    r"kernel_shape \[5, 5\] contradicts the weight",
    [node("Conv", ["x", "w"], kernel_shape=[5, 5])],
    constant("w", np.zeros((1, 3, 3, 3), np.float32)),
    inputs=IMAGE,
)
simple(
    "kernel_shape_of_another_rank",
    "kernel_shape .* contradicts the weight",
    [node("Conv", ["x", "w"], kernel_shape=[3])],
    constant("w", np.zeros((1, 3, 3, 3), np.float32)),
    inputs=IMAGE,
)
simple(
    "conv_channels",
    r"node 'n' \(Conv\)",
    [node("Conv", ["x", "w"])],
    constant("w", np.zeros((1, 5, 3, 3), np.float32)),
    inputs=IMAGE,
)
simple(
    "conv_groups",
    r"node 'n' \(Conv\)",
    [node("Conv", ["x", "w"], group=2)],
    constant("w", np.zeros((2, 1, 3, 3), np.float32)),
    inputs=IMAGE,
)
simple(
    "conv_groups_0",
    r"node 'n' \(Conv\)",
    [node("Conv", ["x", "w"], group=0)],
    constant("w", np.zeros((2, 3, 3, 3), np.float32)),
    inputs=IMAGE,
)
simple(
    "conv_stride_0",
    r"node 'n' \(Conv\): .*strides \[0, 0\] are not positive",
    [node("Conv", ["x", "w"], strides=[0, 0])],
    constant("w", np.zeros((1, 3, 3, 3), np.float32)),
    inputs=IMAGE,
)
simple(
    "conv_huge_pads",
    r"node 'n' \(Conv\): .*more than any machine can address",
    [node("Conv", ["x", "w"], pads=[2**33] * 4)],
    constant("w", np.zeros((1, 3, 3, 3), np.float32)),
    inputs=IMAGE,
)
simple(
    "max_pool_huge_pads",
    r"node 'n' \(MaxPool\): .*hold a whole window",
    [node("MaxPool", kernel_shape=[3, 3], pads=[2**33] * 4)],
    inputs=IMAGE,
)
simple("max_pool_without_kernel", "attribute 'kernel_shape' is missing", [node("MaxPool")], inputs=IMAGE)
simple("auto_pad_unknown", "auto_pad 'SAME' is unknown", [node("MaxPool", kernel_shape=[3, 3], auto_pad="SAME")], inputs=IMAGE)
simple(
    "range_step_0",
    r"node 'n' \(Range\): the step \(input 2\) is 0",
    [node("Range", ["a", "b", "c"]), node("Relu", ["x"], ["z"])],
    constant("a", 0),
    constant("b", 5),
    constant("c", 0),
)
simple(
    "range_huge",
    "more than any machine can address",
    [node("Range", ["a", "b", "c"])],
    constant("a", 0),
    constant("b", 2**50),
    constant("c", 1),
    inputs=[],
)
simple("float_shape", "input 1 is of kind float but the op takes integer", [node("Reshape", ["x", "s"])], constant("s", [2.0, 2.0]))
simple("reshape_of_another_count", r"node 'n' \(Reshape\)", [node("Reshape", ["x", "s"])], constant("s", [3, 2]))
simple("reshape_two_unknown", r"node 'n' \(Reshape\)", [node("Reshape", ["x", "s"])], constant("s", [-1, -1]))
simple(
    "expand_huge",
    "more than any machine can address",
    [node("Expand", ["x", "s"])],
    constant("s", [2**50]),
    inputs=[value("x", [1])],
)
simple("expand_misfit", r"node 'n' \(Expand\)", [node("Expand", ["x", "s"])], constant("s", [3]))
simple("tile_huge", "more than any machine can address", [node("Tile", ["x", "s"])], constant("s", [2**50]))
simple("tile_negative", r"node 'n' \(Tile\)", [node("Tile", ["x", "s"])], constant("s", [-2]))
simple("pad_huge", "more than any machine can address", [node("Pad", ["x", "s"])], constant("s", [2**50, 0]))
simple("pad_too_few", r"node 'n' \(Pad\)", [node("Pad", ["x", "s"])], constant("s", [1]))
simple(
    "constant_of_huge_shape",
    "more than any machine can address",
    [node("ConstantOfShape", ["s"])],
    constant("s", [2**60]),
    inputs=[],
)
simple(
    "constant_of_negative_shape", r"node 'n' \(ConstantOfShape\)", [node("ConstantOfShape", ["s"])], constant("s", [-2]), inputs=[]
)
simple(
    "division_of_constants_by_0",
    r"node 'n' \(Div\): integer division by zero",
    [node("Div", ["a", "b"])],
    constant("a", [3]),
    constant("b", [0]),
    inputs=[],
)
simple(
    "remainder_of_constants_by_0",
    r"node 'n' \(Mod\): integer division by zero",
    [node("Mod", ["a", "b"])],
    constant("a", [3]),
    constant("b", [0]),
    inputs=[],
)
simple("product_of_unfit_shapes", r"node 'n' \(MatMul\)", [node("MatMul", ["x", "w"])], constant("w", np.zeros((5, 2), np.float32)))
simple("sum_of_unfit_shapes", r"node 'n' \(Add\)", [node("Add", ["x", "w"])], constant("w", np.zeros(3, np.float32)))
simple("sum_of_unlike_types", r"node 'n' \(Add\)", [node("Add", ["x", "w"])], constant("w", np.zeros(4, np.int64)))
simple("top_k_of_too_many", r"node 'n' \(TopK\): .*k is 9", [node("TopK", ["x", "k"], ["y", "z"])], constant("k", [9]))
simple(
    "slice_step_0",
    r"node 'n' \(Slice\)",
    [node("Slice", ["x", "a", "b", "", "s"])],
    constant("a", [0]),
    constant("b", [2]),
    constant("s", [0]),
)
simple("relu_of_bool", r"node 'n' \(Relu\): input 0 is of kind bool", [RELU], inputs=[value("x", [4], TensorProto.BOOL)])
simple("and_of_floats", r"node 'n' \(And\): input 0 is of kind float", [node("And", ["x", "x"])])
simple(
    "one_unknown_op",
    r"1 unsupported node:\n.*'bad' \(my.domain.NoSuch\): the op is not supported$",
    [
        helper.make_node("NoSuch", ["x"], ["a"], name="bad", domain="my.domain"),
        node("Gather", ["a", "i"], ["b"]),
        node("MatMul", ["b", "x"]),
    ],
    constant("i", [0]),
    domains=["my.domain"],
)
simple(
    "domain_not_imported",
    r"node 'n' \(my.domain.NoSuch\): opset_import names no version of 'my.domain'; add one",
    [helper.make_node("NoSuch", ["x"], ["y"], name="n", domain="my.domain")],
)
simple(
    "op_of_a_later_opset",
    r"node 'n' \(Gelu\): the op is new in opset 20 but the model imports 17; export the model with 20 or later",
    [node("Gelu", ["x"])],
)
simple(
    "output_of_another_complex_type",
    r"makes 'y' as tensor<4xf32> but the model declares tensor<4xcomplex64>",
    [RELU],
    outputs=[value("y", [4], TensorProto.COMPLEX64)],
)
simple(
    "output_of_no_type_and_another_rank",
    r"makes 'y' as tensor<4xf32> but the model declares tensor<4x4x\?>",
    [RELU],
    outputs=[value("y", [4, 4], TensorProto.UNDEFINED)],
)
simple(
    "hidden_size_of_lstm",
    r"node 'n' \(LSTM\): hidden_size is 7 but the weights of the recurrence \(input 2\) have 3 columns",
    [helper.make_node("LSTM", ["x", "w", "r"], ["y"], name="n", hidden_size=7)],
    constant("w", np.zeros((1, 12, 2), np.float32)),
    constant("r", np.zeros((1, 12, 3), np.float32)),
    inputs=[value("x", [2, 1, 2])],
)
simple(
    "reshape_to_a_huge_rank",
    r"node 'n' \(Reshape\): the result's rank would be 4398046511104, but may be 4096 at most",
    [node("Reshape", ["x", "s"])],
    inputs=[value("x", [4]), value("s", [2**42], INT64)],
)
simple(
    "tile_declared_huge",
    r"node 'n' \(Tile\): .*tensor<4x4611686018427387904xf32> takes \d+ bytes, more than any machine can address",
    [node("Tile", ["x", "r"])],
    inputs=[value("x", [4, 2]), value("r", [2], INT64)],
    outputs=[value("y", [4, 2**62])],
)
simple(
    "eye_like_of_three_axes",
    r"node 'n' \(EyeLike\): its input is tensor<2x2x2xf32>, no matrix",
    [node("EyeLike")],
    inputs=[value("x", [2, 2, 2])],
)
simple(
    "conv_transpose_of_odd_pads",
    r"node 'n' \(ConvTranspose\): pads \[1\] has 1 entries but the window needs 4",
    [node("ConvTranspose", ["x", "w"], output_shape=[10, 8], strides=[3, 2], pads=[1])],
    constant("w", np.zeros((3, 2, 3, 3), np.float32)),
    inputs=IMAGE,
)
simple(
    "prelu_declared_larger_than_slopes",
    r"node 'n' \(PRelu\): makes 'y' as tensor<3x5xf32> but the model declares tensor<3x8589934592xf32>",
    [node("PRelu", ["x", "s"])],
    constant("s", np.zeros((3, 5), np.float32)),
    inputs=[value("x", [3, "m"])],
    outputs=[value("y", [3, 2**33])],
)
simple(
    "einsum_without_an_end",
    r"node 'n' \(Einsum\)",
    [node("Einsum", ["x", "w"], equation="bij, bjk -")],
    constant("w", np.zeros((5, 3, 4), np.float32)),
    inputs=[value("x", [5, 2, 3])],
)
edited(
    "version_of_another_domain_huge",
    r"version 4611686018427387904 of 'my.domain' is none",
    lambda made: made.opset_import.append(helper.make_opsetid("my.domain", 2**62)),
)


def content_of(name: str) -> bytes:
    """What the file of a model holds."""
    made = MODELS[name].build()
    return made if isinstance(made, bytes) else bytes(made.SerializeToString(deterministic=True))


def main() -> None:
    """Write every model to its file."""
    for name in MODELS:
        (HERE / f"{name}.onnx").write_bytes(content_of(name))


if __name__ == "__main__":
    main()
