"""Malformed models whose values contradict each other."""

from __future__ import annotations

import numpy as np
from malformed.one_rule import IMAGE, INT64, RELU, constant, edited, node, simple, value
from onnx import TensorProto, helper

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
    "gemm_of_batches",
    r"\(Gemm\): input 0 is tensor<1x3x8x8xf32>, no matrix; MatMul multiplies other ranks",
    [node("Gemm", ["x", "x"])],
    inputs=IMAGE,
)
simple(
    "gemm_of_a_larger_summand",
    r"\(Gemm\): C \(input 2\) is tensor<2x4xf32>, which does not broadcast to the product, tensor<1x4xf32>",
    [node("Gemm", ["x", "w", "c"])],
    constant("w", np.zeros((4, 4), np.float32)),
    constant("c", np.zeros((2, 4), np.float32)),
    inputs=[value("x", [1, 4])],
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
simple(
    "zero_point_of_another_type",
    r"node 'n' \(QLinearMatMul\): input 5 has elements of f32 but input 3 of i8; cast one of them",
    [node("QLinearMatMul", ["a", "s", "z", "b", "s", "s", "s", "z"])],
    constant("s", np.ones((), np.float32)),
    constant("z", np.zeros((), np.int8)),
    constant("b", np.ones((3, 2), np.int8)),
    inputs=[value("a", [4, 3], TensorProto.INT8)],
    opset=21,
)
