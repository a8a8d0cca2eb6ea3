"""Convolutions over images of [batch, channels, 1 to 3 spatial axes], or with the channels last."""

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from dlc.dialects.dl.attributes import BoolAttr, IntAttr, IntsAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.numerics import wide, widen
from dlc.dialects.dl.types import (
    FLOATS,
    NUMERIC,
    Dim,
    TensorType,
    require,
    require_equal_dims,
    require_same_dtype,
)
from dlc.dialects.dl.window import Layout, Window


class Conv(DLOp, name="conv"):
    """Convolution (cross-correlation) with groups. ONNX Conv.

    result[n, oc, o] = bias[oc] +
        sum over ic, t of x[n, g * C + ic, o * strides + t * dilations - pads_begin] * weight[oc, ic, t]

    where o and t run over all spatial axes, weight is [out channels, C, kernel...], g = oc / (out channels / groups),
    and x is 0 outside. f16 and bf16 accumulate in f32; integers wrap. With channels_last the same axes stand in another
    order: x[n, i, c], result[n, o, oc] and weight[t, ic, oc]. A weight of one rank more is in blocks of output channels
    then, weight[oc / block, t, ic, oc mod block], so that what one block reads lies together; a block is of one group.

    x may be bf16 beside operands of f32, and is widened as it is read: an image takes half the memory then.

    c1: operands have one element type, but for that.
    c2: x has rank 3 to 5 and weight the same, or one more with channels_last.
    c3: groups divides the output channels, or their blocks.    c4: the channels of x are groups times C.
    c5: bias is [out channels].
    c6: strides and dilations have one positive value per spatial axis, pads two that are not negative.
    c7: the dilated kernel fits the padded input.
    """

    fusion_class = "contraction"
    accepts = NUMERIC
    x: Operand[Tensor]
    weight: Operand[Tensor]
    result: Result[Tensor]
    bias: Optional[Operand[Tensor]] = None
    strides = IntsAttr(default=(), doc="step per spatial axis; empty: 1")
    pads = IntsAttr(default=(), doc="zeros before each spatial axis, then those after each; empty: none")
    dilations = IntsAttr(default=(), doc="distance of taps per spatial axis; empty: 1")
    groups = IntAttr(default=1, doc="number of channel groups that do not mix")
    channels_last = BoolAttr(
        default=False, doc="whether channels are the last axis of x and result, and in and out those of weight"
    )

    @staticmethod
    def infer(
        x: TensorType,
        weight: TensorType,
        bias: Optional[TensorType],
        *,
        strides: tuple[int, ...],
        pads: tuple[int, ...],
        dilations: tuple[int, ...],
        groups: int,
        channels_last: bool,
    ) -> TensorType:
        blocked = channels_last and weight.rank == x.rank + 1
        kernel = unblocked_kernel(weight) if blocked else weight
        dtype = _check_operands(TensorType(x.shape, "f32") if _is_widened(x, weight) else x, kernel, bias, groups)
        layout = Layout(x.rank - 2, channels_last)
        channels = kernel.dim(layout.kernel_out)
        split = 0 if blocked else layout.kernel_out
        _require_multiple("c3", weight.dim(split), groups, f"weight dim {split}")
        _check_channels(x, kernel, groups, layout, f"weight dim {layout.kernel_in + blocked}")
        _check_bias(bias, channels)
        window = Window.of("c6", layout.taps_of(kernel.shape), strides, pads, dilations)
        positions = window.output_dims("c7", layout.spatial_of(x.shape), layout.spatial.start)
        return TensorType(tuple(layout.image(x.dim(0), [channels], positions)), dtype)

    @staticmethod
    def reference(
        x: np.ndarray,
        weight: np.ndarray,
        bias: Optional[np.ndarray],
        *,
        strides: tuple[int, ...],
        pads: tuple[int, ...],
        dilations: tuple[int, ...],
        groups: int,
        channels_last: bool,
    ) -> np.ndarray:
        window = {"strides": strides, "pads": pads, "dilations": dilations}
        x = x if x.dtype == weight.dtype else widen(x)
        return _convolved(x, weight, bias, **window, groups=groups, channels_last=channels_last)


class ConvTranspose(DLOp, name="conv_transpose"):
    """Transposed convolution: the gradient of `dl.conv` with respect to its input. ONNX ConvTranspose.

    result[n, g * F + f, i * strides + t * dilations - pads_begin] += x[n, g * C + ic, i] * weight[g * C + ic, f, t]

    starting from bias, summed over ic, t and i, where weight is [in channels, F, kernel...] and
    C = in channels / groups. With channels_last the same axes stand in another order: x[n, i, c], result[n, i, f] and
    weight[t, c, f]. An axis of size s gives
    (s - 1) * stride + (kernel - 1) * dilation + 1 + output_padding - pad_begin - pad_end.

    c1: operands have one element type.    c2: x has rank 3 to 5 and weight the same.
    c3: groups divides the input channels.    c4: x and weight have as many input channels.    c5: bias is [groups * F].
    c6: strides and dilations have one positive value per spatial axis, pads two that are not negative.
    c7: output_padding has one value per spatial axis, not negative.    c8: no axis of the result is negative.
    """

    fusion_class = "contraction"
    accepts = FLOATS
    x: Operand[Tensor]
    weight: Operand[Tensor]
    result: Result[Tensor]
    bias: Optional[Operand[Tensor]] = None
    strides = IntsAttr(default=(), doc="distance of the input's elements in the result per spatial axis; empty: 1")
    pads = IntsAttr(default=(), doc="elements cut before each spatial axis, then those after each; empty: none")
    dilations = IntsAttr(default=(), doc="distance of taps per spatial axis; empty: 1")
    output_padding = IntsAttr(default=(), doc="elements added after each spatial axis; empty: none")
    groups = IntAttr(default=1, doc="number of channel groups that do not mix")
    channels_last = BoolAttr(
        default=False, doc="whether channels are the last axis of x and result, and in and out those of weight"
    )

    @staticmethod
    def infer(
        x: TensorType,
        weight: TensorType,
        bias: Optional[TensorType],
        *,
        strides: tuple[int, ...],
        pads: tuple[int, ...],
        dilations: tuple[int, ...],
        output_padding: tuple[int, ...],
        groups: int,
        channels_last: bool,
    ) -> TensorType:
        dtype = _check_operands(x, weight, bias, groups)
        layout = Layout(x.rank - 2, channels_last)
        inner, out = (layout.kernel_in, layout.kernel_out) if channels_last else (0, 1)
        _require_multiple("c3", weight.dim(inner), groups, f"weight dim {inner}")
        require_equal_dims("c4", x.dim(layout.channel), weight.dim(inner), f"x dim {layout.channel}", f"weight dim {inner}")
        channels = _times(weight.dim(out), groups)
        _check_bias(bias, channels)
        window = Window.of("c6", layout.taps_of(weight.shape), strides, pads, dilations)
        extra = output_padding or (0,) * window.rank
        fits = len(extra) == window.rank and min(extra, default=0) >= 0
        require("c7", fits, f"output_padding {list(extra)} needs one value of 0 or more per spatial axis, {window.rank}")
        positions = _transposed_dims(layout.spatial_of(x.shape), window, extra, layout.spatial.start)
        return TensorType(tuple(layout.image(x.dim(0), [channels], positions)), dtype)

    @staticmethod
    @wide
    def reference(
        x: np.ndarray,
        weight: np.ndarray,
        bias: Optional[np.ndarray],
        *,
        strides: tuple[int, ...],
        pads: tuple[int, ...],
        dilations: tuple[int, ...],
        output_padding: tuple[int, ...],
        groups: int,
        channels_last: bool,
    ) -> np.ndarray:
        layout = Layout(x.ndim - 2, channels_last)
        x = layout.first(x)
        weight = np.moveaxis(weight, (-2, -1), (0, 1)) if channels_last else weight
        window = Window.of("c6", weight.shape[2:], strides, pads, dilations)
        extra = output_padding or (0,) * window.rank
        inputs = x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])
        kernels = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
        spans = [(size - 1) * stride + 1 for size, stride in zip(x.shape[2:], window.strides, strict=True)]
        full = [span + (window.reach(axis) or 1) - 1 + extra[axis] for axis, span in enumerate(spans)]
        result = np.zeros((x.shape[0], groups, weight.shape[1], *full), x.dtype)
        for tap in np.ndindex(*weight.shape[2:]):
            starts = [place * dilation for place, dilation in zip(tap, window.dilations, strict=True)]
            pairs = zip(starts, spans, window.strides, strict=True)
            part: Any = (..., *(slice(start, start + span, stride) for start, span, stride in pairs))
            result[part] += np.einsum("bgc...,gcf->bgf...", inputs, kernels[(..., *tap)])
        ends = [size - end for size, end in zip(full, window.pads_end, strict=True)]
        cut: Any = (..., *(slice(begin, end) for begin, end in zip(window.pads_begin, ends, strict=True)))
        result = result[cut]
        return layout.restored(_with_bias(result.reshape(x.shape[0], groups * weight.shape[1], *result.shape[3:]), bias))


@wide
def _convolved(
    x: np.ndarray,
    weight: np.ndarray,
    bias: Optional[np.ndarray],
    *,
    strides: tuple[int, ...],
    pads: tuple[int, ...],
    dilations: tuple[int, ...],
    groups: int,
    channels_last: bool,
) -> np.ndarray:
    """The meaning of `Conv` for operands of one element type."""
    layout = Layout(x.ndim - 2, channels_last)
    x = layout.first(x)
    if weight.ndim > x.ndim:
        weight = np.moveaxis(weight, 0, -2).reshape(*weight.shape[1:-1], -1)
    weight = np.moveaxis(weight, (-1, -2), (0, 1)) if channels_last else weight
    patches = Window.of("c6", weight.shape[2:], strides, pads, dilations).view(x, 0)
    patches = patches.reshape(x.shape[0], groups, weight.shape[1], *patches.shape[2:])
    kernels = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
    outs, taps = "xyz"[: x.ndim - 2], "hij"[: x.ndim - 2]
    result = np.einsum(f"bgc{outs}{taps},gfc{taps}->bgf{outs}", patches, kernels)
    return layout.restored(_with_bias(result.reshape(x.shape[0], weight.shape[0], *result.shape[3:]), bias))


def _is_widened(x: TensorType, weight: TensorType) -> bool:
    return (x.dtype, weight.dtype) == ("bf16", "f32")


def unblocked_kernel(weight: TensorType) -> TensorType:
    """The type [taps..., in, out] of a kernel [out / block, taps..., in, block]."""
    block = weight.shape[-1]
    channels = _times(weight.shape[0], block) if isinstance(block, int) else None
    return weight.with_shape((*weight.shape[1:-1], channels))


def _check_operands(x: TensorType, weight: TensorType, bias: Optional[TensorType], groups: int) -> str:
    """Constraints c1, c2 and the sign of groups (c3); the common dtype."""
    given = {"x": x, "weight": weight} | ({"bias": bias} if bias is not None else {})
    dtype = require_same_dtype("c1", **given)
    require("c2", 3 <= x.rank <= 5, f"x has rank {x.rank} but must have 3 to 5")
    require("c2", x.rank == weight.rank, f"x has rank {x.rank} but weight has rank {weight.rank}")
    require("c3", groups > 0, f"groups is {groups}")
    return dtype


def _require_multiple(label: str, dim: Dim, groups: int, what: str) -> None:
    if isinstance(dim, int):
        require(label, dim % groups == 0, f"{what} is {dim}, not a multiple of groups {groups}")


def _check_channels(x: TensorType, weight: TensorType, groups: int, layout: Layout, what: str) -> None:
    channels, per_group = x.dim(layout.channel), weight.dim(layout.kernel_in)
    if isinstance(channels, int) and isinstance(per_group, int):
        needed = f"groups {groups} times {what} is {groups * per_group}"
        require("c4", channels == groups * per_group, f"x dim {layout.channel} is {channels} but {needed}")


def _check_bias(bias: Optional[TensorType], channels: Dim) -> None:
    if bias is not None:
        require("c5", bias.rank == 1, f"bias has rank {bias.rank} but must have 1")
        require_equal_dims("c5", bias.dim(0), channels, "bias dim 0", "the number of output channels")


def _times(dim: Dim, factor: int) -> Dim:
    if factor == 1:
        return dim
    return dim * factor if isinstance(dim, int) else None


def _transposed_dims(dims: Sequence[Dim], window: Window, extra: Sequence[int], first: int) -> list[Dim]:
    results: list[Dim] = []
    for axis, dim in enumerate(dims):
        reach = window.reach(axis)
        if not isinstance(dim, int) or reach is None:
            results.append(None)
            continue
        size = (dim - 1) * window.strides[axis] + reach + extra[axis] - window.pads_begin[axis] - window.pads_end[axis]
        require("c8", size >= 0, f"axis {axis + first} of the result has size {size}")
        results.append(size)
    return results


def _with_bias(result: np.ndarray, bias: Optional[np.ndarray]) -> np.ndarray:
    return result if bias is None else result + bias.reshape(-1, *[1] * (result.ndim - 2))
