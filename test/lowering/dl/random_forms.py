"""Groups of ops as exporters write them: what recomposition, folding and fusion look for."""

from __future__ import annotations

import math

import numpy as np
from graph_maker import GraphMaker, Item, Unfit

from dlc.dialects.dl.types import NUMPY_DTYPES


def scalar(g: GraphMaker, x: Item, number: float) -> Item:
    """A constant of `x`'s element type."""
    return g.constant(np.asarray(number).astype(NUMPY_DTYPES[x.dtype]))


def conv_block(g: GraphMaker) -> None:
    """Convolution, batch norm, residual, rectifier."""
    x = g.floats(lambda item: item.rank == 4 and isinstance(item.type.shape[1], int) and item.array.size > 0)
    channels = x.shape[1]
    y = g.op("conv", x, g.weight(g.array([channels, channels, 3, 3], x.dtype, 0.3)), None, pads=[1, 1, 1, 1])
    scale, bias, mean = (g.array([channels], x.dtype) for _ in range(3))
    variance = np.abs(g.array([channels], x.dtype)) + scale.dtype.type(0.5)
    y = g.op("batch_norm", y, *(g.weight(array) for array in (scale, bias, mean, variance)))
    if g.choose.random() < 0.5:
        y = g.op("add", *g.choose.sample((x, y), 2))
    g.op(g.choose.choice(("relu", "silu", "hard_swish")), y)


def linear(g: GraphMaker) -> None:
    """Matrix products that share their input, with bias, scale and activation."""
    x = g.floats(lambda item: item.rank >= 2 and isinstance(item.type.shape[-1], int))
    size = g.choose.randint(1, 4)
    for _ in range(g.choose.randint(1, 3)):
        y = g.op("matmul", x, g.weight(g.array([x.shape[-1], size], x.dtype, 0.5)))
        y = g.op("add", *g.choose.sample((y, g.weight(g.array([size], x.dtype))), 2))
        if g.choose.random() < 0.3:
            g.op("mul", y, g.weight(g.array([size], x.dtype)))


def layer_norm(g: GraphMaker) -> None:
    """Layer norm or RMS norm from reductions."""
    x = g.floats(lambda item: item.rank >= 2 and isinstance(item.type.shape[-1], int))
    centered = x
    if g.choose.random() < 0.6:
        centered = g.op("sub", x, g.op("reduce_mean", x, axes=[-1], keepdims=True))
    form = g.choose.random()
    square = g.op("pow", centered, scalar(g, x, 2)) if form < 0.5 else g.op("mul", centered, centered)
    variance = g.op("add", g.op("reduce_mean", square, axes=[-1], keepdims=True), scalar(g, x, 0.05))
    if g.choose.random() < 0.5:
        y = g.op("div", centered, g.op("sqrt", variance))
    else:
        y = g.op("mul", centered, g.op("rsqrt", variance))
    y = g.op("mul", y, g.weight(g.array([x.shape[-1]], x.dtype)))
    if g.choose.random() < 0.7:
        g.op("add", y, g.weight(g.array([x.shape[-1]], x.dtype)))


def softmax(g: GraphMaker) -> None:
    """Softmax from exp and sum."""
    x = g.floats(lambda item: item.rank >= 1)
    powers = g.op("exp", g.op("sub", x, g.op("reduce_max", x, axes=[-1], keepdims=True)))
    g.op("div", powers, g.op("reduce_sum", powers, axes=[-1], keepdims=True))


def gelu(g: GraphMaker) -> None:
    """GELU by erf, by tanh or by sigmoid, and SiLU."""
    x = g.floats()
    form = g.choose.choice(("erf", "tanh", "sigmoid", "silu", "hard"))
    if form == "erf":
        root = g.op("erf", g.op("div", x, scalar(g, x, math.sqrt(2))))
        g.op("mul", g.op("mul", x, g.op("add", root, scalar(g, x, 1))), scalar(g, x, 0.5))
    elif form == "tanh":
        cube = g.op("mul", g.op("pow", x, scalar(g, x, 3)), scalar(g, x, 0.044715))
        inner = g.op("mul", g.op("add", x, cube), scalar(g, x, math.sqrt(2 / math.pi)))
        g.op("mul", g.op("mul", scalar(g, x, 0.5), x), g.op("add", scalar(g, x, 1), g.op("tanh", inner)))
    elif form == "hard":
        sixth = g.op("clip", g.op("add", x, scalar(g, x, 3)), low=0.0, high=6.0)
        g.op("div", g.op("mul", x, sixth), scalar(g, x, 6))
    else:
        inner = g.op("mul", x, scalar(g, x, 1.702)) if form == "sigmoid" else x
        g.op("mul", x, g.op("sigmoid", inner))


def attention(g: GraphMaker) -> None:
    """Heads split, scores scaled and masked, softmax, heads merged."""
    x = g.floats(lambda item: item.rank == 3 and item.shape[2] == 4 and item.type.shape[2] == 4)
    heads = []
    for _ in range(3):
        y = g.op("matmul", x, g.weight(g.array([4, 4], x.dtype, 0.5)))
        y = g.op("reshape", y, None, shape=[-1, -1, 2, 2], copied=[0, 1, -1, -1], how="keeps")
        heads.append(g.op("transpose", y, perm=[0, 2, 1, 3], how="keeps"))
    query, key, value = heads
    scores = g.op("matmul", query, g.op("transpose", key, perm=[0, 1, 3, 2], how="keeps"))
    weights = g.op("softmax", g.op("div", scores, scalar(g, x, math.sqrt(2))), axis=-1)
    merged = g.op("transpose", g.op("matmul", weights, value), perm=[0, 2, 1, 3], how="keeps")
    g.op("reshape", merged, None, shape=[-1, -1, 4], copied=[0, 1, -1], how="keeps")


def sizes(g: GraphMaker) -> None:
    """A reshape to sizes that are computed from a shape."""
    x = g.pick(lambda item: item.rank >= 2 and item.array.size > 0)
    shape = g.op("shape_of", x, how="keeps")
    first = g.op("gather", shape, g.constant(np.array(0)), how="keeps")
    first = g.op("unsqueeze", first, axes=[0], how="keeps")
    tail = [-1] if g.choose.random() < 0.5 else [x.array.size // x.shape[0]]
    target = g.op("concat", first, g.constant(np.array(tail)), axis=0, how="keeps")
    g.op("reshape", x, target, shape=[-1, -1], how="keeps")


def broadcast_to_shape(g: GraphMaker) -> None:
    """A value expanded to the shape of another, then combined with it."""
    y = g.floats(lambda item: item.rank >= 1)
    x = g.weight(g.array([1], y.dtype))
    spread = g.op("expand", x, g.op("shape_of", y, how="keeps"), shape=[-1] * y.rank, how="keeps")
    g.op("mul", spread, y)


def turned(g: GraphMaker) -> None:
    """Elementwise ops between a transpose and the way back."""
    x = g.floats(lambda item: item.rank >= 3)
    perm = [0, *range(2, x.rank), 1]
    y = g.op("transpose", x, perm=perm, how="keeps")
    for _ in range(g.choose.randint(1, 2)):
        y = g.op(g.choose.choice(("relu", "sigmoid", "tanh")), y)
    g.op("transpose", y, perm=[perm.index(axis) for axis in range(x.rank)], how="keeps")


def split(g: GraphMaker) -> None:
    """A tensor cut in parts, some of them changed, and joined again."""
    x = g.floats(lambda item: item.rank >= 1 and isinstance(item.type.shape[-1], int) and item.shape[-1] >= 2)
    middle = x.shape[-1] // 2
    bounds = [(0, middle), (middle, x.shape[-1])]
    parts = [g.op("slice", x, None, axes=[x.rank - 1], starts=[start], ends=[end], steps=[1], how="keeps") for start, end in bounds]
    if g.choose.random() < 0.5:
        parts = [g.op("neg", parts[1], how="keeps"), parts[0]]
    g.op("concat", *parts, axis=-1, how="keeps")


def branches(g: GraphMaker) -> None:
    """Convolutions of one input, joined along channels."""
    x = g.floats(lambda item: item.rank == 4 and isinstance(item.type.shape[1], int) and item.array.size > 0)
    if x.array.size > 100:
        raise Unfit
    parts = []
    for size in (1, 1, 3)[: g.choose.randint(2, 3)]:
        weight = g.weight(g.array([g.choose.randint(1, 3), x.shape[1], size, size], x.dtype, 0.4))
        parts.append(g.op("relu", g.op("conv", x, weight, None, pads=[size // 2] * 4), how="keeps"))
    joined = parts[0]
    for part in parts[1:]:
        joined = g.op("concat", joined, part, axis=1, how="keeps")


FORMS = [conv_block, linear, layer_norm, softmax, gelu, attention, sizes, broadcast_to_shape, turned, split, branches]
