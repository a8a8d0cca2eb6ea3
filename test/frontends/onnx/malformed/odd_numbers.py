"""Malformed models with numbers that their op cannot take: axes, sizes, scales, and lists where one number is needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from malformed.one_rule import constant, node, simple, value
from onnx import TensorProto

_IMAGE = [value("x", [1, 4, 8, 8])]


def image(name: str, pattern: str, op: str, *initializers: TensorProto, opset: int = 20, **attributes: Any) -> None:
    """Register an op of an image, whose other inputs are `initializers`."""
    inputs = ["x", *(each.name for each in initializers)]
    simple(name, pattern, [node(op, inputs, **attributes)], *initializers, inputs=_IMAGE, opset=opset)


def resized(name: str, pattern: str, inputs: Sequence[str], *initializers: TensorProto, **attributes: Any) -> None:
    """Register a Resize of an image."""
    simple(name, pattern, [node("Resize", inputs, **attributes)], *initializers, inputs=_IMAGE, opset=18)


# Axes

image("flatten_axis_out_of_range", r"\(Flatten\): axis 9 is out of range for rank 4", "Flatten", axis=9)
image("hardmax_axis_out_of_range", r"\(Hardmax\): axis 9 is out of range for rank 4", "Hardmax", axis=9)
simple(
    "layer_norm_of_a_scalar",
    r"\(LayerNormalization\): axis -1 is out of range for rank 0",
    [node("LayerNormalization", ["x", "x"])],
    inputs=[value("x", [])],
)
image(
    "quantize_axis_out_of_range",
    r"axis 9 of its scales \(input 1\) is out of range for rank 4",
    "QuantizeLinear",
    constant("scales", np.ones(4, np.float32)),
    axis=9,
)
resized(
    "resize_axis_out_of_range",
    r"\(Resize\): axes \[2, 9\] are out of range for rank 4",
    ["x", "", "scales"],
    constant("scales", np.full(2, 2.0, np.float32)),
    axes=[2, 9],
)

# Blocks, groups, strides, powers

image("blocks_of_0", r"\(DepthToSpace\): blocks of 0 \(blocksize\) do not fit", "DepthToSpace", blocksize=0)
image("blocks_of_minus_2", r"\(SpaceToDepth\): blocks of -2 \(blocksize\) do not fit", "SpaceToDepth", blocksize=-2)
image("blocks_in_no_order", "mode ABC is not supported; it may be DCR or CRD", "DepthToSpace", blocksize=2, mode="ABC")
image(
    "groups_of_norm_0",
    "num_groups is 0, which does not divide the channels",
    "GroupNormalization",
    constant("scale", np.ones(4, np.float32)),
    constant("bias", np.ones(4, np.float32)),
    num_groups=0,
)
image("norm_of_power_0", "p is 0, of which there is no norm", "LpNormalization", p=0)
image(
    "stride_0_of_same_pool",
    r"strides \[0, 0\] must be 1 or more",
    "MaxPool",
    kernel_shape=[2, 2],
    auto_pad="SAME_UPPER",
    strides=[0, 0],
)
image(
    "output_shape_of_one_entry",
    r"output_shape \[9\] has 1 entries but the window needs 2",
    "ConvTranspose",
    constant("w", np.ones((4, 1, 2, 2), np.float32)),
    output_shape=[9],
)

simple(
    "global_pool_of_a_matrix",
    r"\(GlobalMaxPool\): its input has rank 2; it must have a batch, channels and spatial axes",
    [node("GlobalMaxPool")],
    inputs=[value("x", [2, 4])],
)
simple(
    "softmax_of_no_float",
    r"softmax_precision is 99; it may be 1 \(FLOAT\), 10 \(FLOAT16\), 11 \(DOUBLE\), 16 \(BFLOAT16\)",
    [node("Attention", ["x", "x", "x"], softmax_precision=99)],
    inputs=_IMAGE,
    opset=23,
)

# One number

image("cumsum_of_two_axes", r"the axis \(input 1\) has 2 numbers", "CumSum", constant("axis", [0, 1]))
image("trilu_of_two_diagonals", r"the diagonal \(input 1\) has 2 numbers", "Trilu", constant("k", [0, 1]))
simple(
    "one_hot_of_infinite_depth",
    r"the depth \(input 1\) is inf",
    [node("OneHot", ["x", "depth", "values"])],
    constant("depth", np.array(np.inf, np.float32)),
    constant("values", np.array([0, 1], np.float32)),
)

image(
    "zero_points_of_one_scale",
    r"its zero point \(input 2\) is tensor<4xui8> but its scale \(input 1\) is tensor<f32>; give both one shape",
    "QuantizeLinear",
    constant("scale", np.float32(0.5)),
    constant("zero", np.zeros(4, np.uint8)),
)
simple(
    "zero_point_of_many_scales",
    r"its zero point \(input 2\) is tensor<i8> but its scale \(input 1\) is tensor<4xf32>",
    [node("DequantizeLinear", ["x", "scale", "zero"])],
    constant("scale", np.ones(4, np.float32)),
    constant("zero", np.int8(1)),
    inputs=[value("x", [1, 4, 8, 8], TensorProto.INT8)],
)

# Sizes and scales

_REGION = constant("region", np.array([0, 0, 0, 0, 1, 1, 1, 1], np.float32))
_SIZES = constant("sizes", [1, 4, 1 << 28, 8])
resized(
    "crop_to_a_huge_size",
    "axis 2 would have 268435456 elements from 8, too many",
    ["x", "region", "", "sizes"],
    _REGION,
    _SIZES,
    coordinate_transformation_mode="tf_crop_and_resize",
)
resized(
    "crop_to_no_number",
    r"its region \(roi, input 1\) is \[0.0, nan, .*\]; give finite numbers",
    ["x", "region", "", "sizes"],
    constant("region", np.array([0, np.nan, 0, 0, 1, 1, 1, 1], np.float32)),
    constant("sizes", [1, 4, 16, 16]),
    coordinate_transformation_mode="tf_crop_and_resize",
)
resized(
    "sizes_beside_scales",
    r"it has scales and sizes \(inputs 2 and 3\); give one of them",
    ["x", "", "scales", "sizes"],
    constant("scales", np.ones(4, np.float32)),
    _SIZES,
)
resized(
    "aspect_ratio_of_no_policy",
    "keep_aspect_ratio_policy any needs dims other than 0 and may be one of stretch",
    ["x", "", "", "sizes"],
    _SIZES,
    keep_aspect_ratio_policy="any",
)
simple(
    "window_beyond_memory",
    "its result has 1152921504606846976 elements|out of memory|more than any machine can address",
    [node("HannWindow", ["size"])],
    constant("size", 1 << 60),
    inputs=[],
)
