"""Convolutions: spatial ranks, strides, pads, dilations, groups, pointwise and depthwise forms."""

from typing import Any

from case import Case, spec

_F32 = ("f32",)
_LOW = ("f32", "f16", "bf16")


def conv(x: Any, weight: Any, bias: Any = None, dtypes: Any = _F32, **attributes: Any) -> Case:
    return Case("conv", (x, weight, bias), attributes, dtypes)


def transposed(x: Any, weight: Any, bias: Any = None, dtypes: Any = _F32, **attributes: Any) -> Case:
    return Case("conv_transpose", (x, weight, bias), attributes, dtypes)


def channels_last(case: Case) -> Case:
    """The same convolution of images and kernels with channels last."""
    x, weight, bias = case.inputs
    # [out, in, taps...] becomes [taps..., in, out]; a transposed one's [in, out, taps...] too
    out, inner = (1, 0) if case.op == "conv_transpose" else (0, 1)
    inputs = ((x[0], *x[2:], x[1]), (*weight[2:], weight[inner], weight[out]), bias)
    return Case(case.op, inputs, {**case.attributes, "channels_last": True}, case.dtypes)


_CHANNELS_FIRST = [
    conv((2, 3, 8, 7), (4, 3, 3, 3), (4,), dtypes=None, strides=[2, 1], pads=[1, 0, 2, 1]),
    conv((1, 2, 5, 5), (3, 2, 3, 3)),
    conv((1, 2, 5, 5), (3, 2, 3, 3), (3,), pads=[1, 1, 1, 1]),
    conv((2, 2, 9, 9), (3, 2, 3, 2), dilations=[2, 3], strides=[1, 2]),
    conv((1, 3, 16, 16), (17, 3, 7, 7), (17,), pads=[3, 3, 3, 3], strides=[2, 2], dtypes=_LOW),
    conv((2, 3, 11), (4, 3, 4), (4,), strides=[3], pads=[2, 1]),
    conv((1, 2, 4, 5, 3), (3, 2, 2, 3, 1), (3,), pads=[1, 0, 0, 0, 1, 0], strides=[1, 2, 1]),
    conv((2, 5, 4, 6), (7, 5, 1, 1), (7,), dtypes=_LOW),
    conv((1, 5, 4, 6), (7, 5, 1, 1), pads=[1, 0, 0, 2]),
    conv((1, 5, 9), (2, 5, 1)),
    conv((1, 5, 7, 6), (7, 5, 1, 1), strides=[2, 2]),
    conv((2, 4, 6, 6), (6, 2, 3, 3), (6,), groups=2, pads=[1, 1, 1, 1], dtypes=(*_LOW, "i8")),
    conv((1, 6, 4, 4), (3, 2, 1, 1), (3,), groups=3),
    conv((2, 5, 7, 7), (5, 1, 3, 3), (5,), groups=5, pads=[1, 1, 1, 1], dtypes=_LOW),
    conv((1, 3, 8), (6, 1, 3), groups=3, strides=[2]),
    conv((1, 4, 6, 6), (4, 1, 5, 5), groups=4, dilations=[1, 1], pads=[2, 2, 2, 2], strides=[2, 2]),
    conv((2, 3, 6, 7), (4, 3, 3, 3), (4,), dilations=[4, 3], pads=[4, 3, 4, 3], dtypes=_LOW),
    conv((1, 4, 9, 8), (6, 2, 3, 2), (6,), groups=2, dilations=[4, 5], pads=[3, 4, 5, 4], strides=[2, 1]),
    conv((0, 2, 5, 5), (3, 2, 3, 3), (3,)),
    conv((1, 0, 4, 4), (3, 0, 2, 2), (3,)),
    conv((1, 1, 1, 1), (1, 1, 1, 1)),
    transposed((2, 3, 4, 5), (3, 2, 3, 3), (2,), dtypes=None, strides=[2, 1], pads=[1, 0, 1, 2]),
    transposed((1, 2, 5), (2, 3, 4), strides=[3], output_padding=[2], pads=[1, 0]),
    transposed((1, 2, 3, 3), (2, 1, 3, 3), dilations=[2, 1], strides=[2, 2], output_padding=[1, 1]),
    transposed((2, 4, 3, 3), (4, 3, 2, 2), (6,), groups=2, strides=[2, 2]),
    transposed((1, 3, 4, 4), (3, 1, 3, 3), groups=3, pads=[1, 1, 1, 1]),
    transposed((1, 2, 6, 6), (2, 3, 1, 2), pads=[1, 2, 0, 2]),
    transposed((1, 2, 2, 3, 2), (2, 2, 2, 2, 2), (2,), strides=[2, 1, 2], pads=[0, 0, 1, 0, 1, 0]),
]

_BLOCKED = [
    conv((2, 8, 7, 3), (2, 3, 3, 3, 4), (8,), dtypes=None, strides=[2, 1], pads=[1, 0, 2, 1], channels_last=True),
    conv((1, 16, 16, 3), (3, 7, 7, 3, 16), (48,), pads=[3, 3, 3, 3], strides=[2, 2], dtypes=_LOW, channels_last=True),
    conv((2, 4, 6, 5), (2, 1, 1, 5, 3), (6,), dtypes=_LOW, channels_last=True),
    conv((1, 7, 6, 5), (2, 1, 1, 5, 3), strides=[2, 2], channels_last=True),
    conv((2, 11, 3), (2, 4, 3, 2), strides=[3], pads=[2, 1], channels_last=True),
    conv((2, 8, 7, 6), (4, 3, 3, 3, 5), (20,), groups=2, dtypes=_LOW, pads=[1, 0, 2, 1], channels_last=True),
    conv((2, 3, 5, 6), (3, 1, 1, 2, 4), (12,), groups=3, channels_last=True),
    conv((2, 5, 5, 3), (2, 3, 3, 3, 4), (8,), dtypes=_LOW, dilations=[3, 3], pads=[3, 3, 3, 3], channels_last=True),
    conv((1, 4, 5, 3, 2), (1, 2, 3, 1, 2, 3), (3,), pads=[1, 0, 0, 0, 1, 0], channels_last=True),
]

_WIDENED = [
    conv(spec((1, 6, 7, 48), dtype="bf16"), (3, 3, 1, 48), (48,), groups=48, pads=[1, 1, 1, 1], channels_last=True),
    conv(spec((1, 9, 7, 20), dtype="bf16"), (3, 3, 1, 20), groups=20, pads=[1, 1, 1, 1], strides=[2, 2], channels_last=True),
    conv(spec((2, 5, 5, 7), dtype="bf16"), (3, 3, 7, 6), (6,), pads=[0, 1, 1, 0], channels_last=True),
    conv(spec((1, 4, 6, 8), dtype="bf16"), (3, 1, 1, 8, 16), channels_last=True),
    conv(spec((1, 4, 6, 6), dtype="bf16"), (5, 4, 3, 3), (5,), pads=[1, 1, 1, 1]),
]
"""Images in bf16 beside kernels in f32."""

CASES = [*_CHANNELS_FIRST, *map(channels_last, _CHANNELS_FIRST), *_BLOCKED, *_WIDENED]
