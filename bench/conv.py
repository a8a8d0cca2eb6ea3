"""Convolutions of networks as single nodes on NCHW images, layouts included.

python -m bench conv [name-part ...] [--vs onnxruntime,openvino]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import onnx
from onnx import helper

from bench import nodes
from bench.cases import Case
from bench.comparing import run_table
from bench.networks import inception, mobilenet_v2, resnet50, unet
from bench.options import read_settings
from dlc.measuring.contenders import Effort

NETWORKS: Mapping[str, Callable[[], onnx.ModelProto]] = {
    "resnet50": resnet50.build,
    "mobilenet_v2": mobilenet_v2.build,
    "inception": inception.build,
    "unet": unet.build,
}


@dataclass(frozen=True)
class Transposed:
    """A transposed convolution of square images and kernels, by a network that has it."""

    network: str
    inner: int
    out: int
    image: int
    kernel: int
    pad: int = 0
    extra: int = 0
    stride: int = 2
    groups: int = 1


TRANSPOSED = (
    Transposed("unet", 512, 256, 16, 2),
    Transposed("unet", 256, 128, 32, 2),
    Transposed("unet", 128, 64, 64, 2),
    Transposed("unet", 64, 32, 128, 2),
    Transposed("cyclegan", 256, 128, 64, 3, pad=1, extra=1),
    Transposed("cyclegan", 128, 64, 128, 3, pad=1, extra=1),
    Transposed("dcgan", 512, 256, 8, 4, pad=1),
    Transposed("dcgan", 256, 128, 16, 4, pad=1),
    Transposed("dcgan", 128, 3, 32, 4, pad=1),
    Transposed("odd", 64, 64, 28, 3),
    Transposed("odd", 128, 64, 14, 5, pad=2, extra=1),
    Transposed("fsrcnn", 56, 1, 56, 9, pad=4, extra=2, stride=3),
    Transposed("fcn", 21, 21, 32, 4, pad=1, groups=21),
)
"""Shapes whose taps the step divides, whose it does not, with few channels and with groups."""


def cases() -> list[Case]:
    """Each distinct convolution of the networks once, named after the first network that has it, then transposed ones."""
    found: dict[str, Case] = {}
    for network, build in NETWORKS.items():
        for text, made in convolutions(build()):
            found.setdefault(text, Case(f"{network} {text}", made.build, made.flops, made.moved))
    return [*found.values(), *map(_transposed_case, TRANSPOSED)]


def convolutions(model: onnx.ModelProto) -> Iterator[tuple[str, Case]]:
    """Each Conv of a model with static shapes, by a text that says all of it, as a model of its own."""
    graph = onnx.shape_inference.infer_shapes(model).graph
    shapes = {entry.name: _dims(entry) for entry in (*graph.input, *graph.value_info, *graph.output)}
    shapes |= {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Conv":
            attributes = {entry.name: helper.get_attribute_value(entry) for entry in node.attribute}
            yield _case(shapes[node.input[0]], shapes[node.input[1]], shapes[node.output[0]], attributes)


def _case(x: tuple[int, ...], weight: tuple[int, ...], y: tuple[int, ...], attributes: dict[str, Any]) -> tuple[str, Case]:
    strides = attributes.get("strides", [1, 1])
    taps = f"{weight[2]}x{weight[3]}/{strides[0]}"
    groups = attributes.get("group", 1)
    kind = "depthwise" if groups == x[1] > 1 else f"g{groups}" if groups > 1 else ""
    text = " ".join(part for part in (taps, f"{x[1]}->{y[1]}", f"@{y[2]}", kind) if part)
    flops = 2.0 * math.prod(y) * math.prod(weight[1:])
    return text, Case(text, partial(nodes.conv, x, weight, y, attributes), flops, nodes.size_of(x, weight, y))


def _transposed_case(entry: Transposed) -> Case:
    size = (entry.image - 1) * entry.stride + entry.kernel + entry.extra - 2 * entry.pad
    x, y = (1, entry.inner, entry.image, entry.image), (1, entry.out, size, size)
    weight = (entry.inner, entry.out // entry.groups, entry.kernel, entry.kernel)
    attributes = {
        "strides": [entry.stride] * 2,
        "pads": [entry.pad] * 4,
        "output_padding": [entry.extra] * 2,
        "group": entry.groups,
    }
    kind = f" g{entry.groups}" if entry.groups > 1 else ""
    text = f"transposed {entry.kernel}x{entry.kernel}/{entry.stride} {entry.inner}->{entry.out} @{size}{kind}"
    flops = 2.0 * math.prod(x) * math.prod(weight[1:])
    build = partial(nodes.conv_transpose, x, weight, y, attributes)
    return Case(f"{entry.network} {text}", build, flops, nodes.size_of(x, weight, y))


def _dims(entry: onnx.ValueInfoProto) -> tuple[int, ...]:
    return tuple(dim.dim_value for dim in entry.type.tensor_type.shape.dim)


def main() -> int:
    """Print the table; status 1 when a result is wrong."""
    about = (__doc__ or "").split("\n")[0]
    effort = Effort(rounds=15, slot=0.01, seconds=3.0)
    return run_table(cases(), read_settings("conv", about, "onnxruntime,openvino", effort, sys.argv[1:]), with_peak=True, net=True)


if __name__ == "__main__":
    raise SystemExit(main())
