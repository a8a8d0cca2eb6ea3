"""Ways to add ops of every family to a random graph; `random_forms` adds the forms that exporters write."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from graph_maker import GraphMaker, Item, Unfit
from random_forms import FORMS

from dlc.dialects.dl.types import FLOATS, INTS, NUMERIC, NUMPY_DTYPES

Maker = Callable[[GraphMaker], None]

_ROUNDING = (
    "abs",
    "neg",
    "relu",
    "leaky_relu",
    "elu",
    "sigmoid",
    "hard_sigmoid",
    "hard_swish",
    "silu",
    "softplus",
    "softsign",
    "mish",
    "gelu",
    "tanh",
    "exp",
    "log1p",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "erf",
    "sin",
    "cos",
    "atan",
    "asinh",
    "sinh",
    "cosh",
    "tan",
)
_JUMPING = ("floor", "ceil", "round", "trunc", "sign")


def unary(g: GraphMaker) -> None:
    g.op(g.choose.choice(_ROUNDING), g.floats())


def jump(g: GraphMaker) -> None:
    g.op(g.choose.choice(_JUMPING), g.floats(lambda item: item.exact), how="jumps")


def repeated(g: GraphMaker) -> None:
    """neg(neg(x)) and the like."""
    name = g.choose.choice(("neg", "relu", "abs", "not"))
    x = g.pick(lambda item: item.dtype in ((*INTS, "i1") if name == "not" else NUMERIC))
    g.op(name, g.op(name, x, how="keeps"), how="keeps")


def clip(g: GraphMaker) -> None:
    low, high = g.choose.choice(((0.0, 6.0), (-1.0, 1.0), (float("-inf"), 2.0), (0.0, float("inf")), (-1.0, 2.0)))
    x = g.pick(lambda item: item.dtype in NUMERIC and item.dtype != "ui8")
    g.op("clip", x, low=low, high=high, how="keeps")


def cast(g: GraphMaker) -> None:
    to = g.choose.choice(("f32", "f32", "f64", "f16", "bf16", "i64", "i32", "i8", "ui8", "i1"))
    x = g.pick()
    if to in FLOATS:
        g.op("cast", x, to=to)
    elif x.exact and to == "ui8" and x.dtype in FLOATS:
        g.op("cast", g.op("abs", x, how="keeps"), to=to, how="jumps")
    else:
        g.op("cast", x, to=to, how="jumps")


def binary(g: GraphMaker) -> None:
    name = g.choose.choice(("add", "add", "sub", "mul", "mul", "div", "max", "min"))
    x = g.pick(lambda item: item.dtype in NUMERIC)
    y = _partner(g, x)
    if name == "div" and x.dtype in INTS:
        name = "mul"
    g.op(name, *g.choose.sample((x, y), 2), how="rounds" if x.dtype in FLOATS else "keeps")


def _partner(g: GraphMaker, x: Item) -> Item:
    """A value that broadcasts with `x`: one of the graph or a weight."""
    if g.choose.random() < 0.6:
        return g.pick(lambda item: item.dtype == x.dtype and _broadcast(item.shape, x.shape))
    shape = [dim if isinstance(dim, int) and g.choose.random() < 0.6 else 1 for dim in x.type.shape]
    return g.weight(g.array(shape[g.choose.randint(0, len(shape)) :], x.dtype))


def _broadcast(left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    return all(a == b or 1 in (a, b) for a, b in zip(left[::-1], right[::-1], strict=False))


def neutral(g: GraphMaker) -> None:
    """Ops with 0, 1, 2 and other numbers that mean something to them."""
    name = g.choose.choice(("add", "sub", "mul", "div", "pow", "max", "min"))
    x = g.pick(lambda item: item.dtype in NUMERIC)
    number = g.choose.choice((0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 4.0, 3.0))
    if x.dtype in INTS and (name == "pow" or x.dtype == "ui8" or number == 0.5):
        raise Unfit
    array = np.full([1] * g.choose.randint(0, x.rank), number).astype(NUMPY_DTYPES[x.dtype])
    operands = [x, g.constant(array)]
    if name != "pow" and g.choose.random() < 0.3:
        operands.reverse()
    g.op(name, *operands, how="rounds" if x.dtype in FLOATS else "keeps")


def compare(g: GraphMaker) -> None:
    name = g.choose.choice(("equal", "not_equal", "less", "less_equal"))
    x = g.pick(lambda item: item.exact)
    g.op(name, x, g.pick(lambda item: item.exact and item.dtype == x.dtype and _broadcast(item.shape, x.shape)), how="jumps")


def where(g: GraphMaker) -> None:
    condition = g.pick(lambda item: item.dtype == "i1")
    x = g.pick(lambda item: _broadcast(item.shape, condition.shape))
    g.op("where", condition, x, _partner(g, x) if x.dtype in NUMERIC else x, how="keeps")


def chosen(g: GraphMaker) -> None:
    """Selections and conditions that constants decide, or that choose between constants."""
    condition = g.pick(lambda item: item.dtype == "i1")
    form = g.choose.choice(("constant", "numbers", "neutral"))
    if form == "constant":
        x = g.pick()
        truth = g.constant(np.array(g.choose.random() < 0.5))
        g.op("where", truth, x, _partner(g, x) if x.dtype in NUMERIC else x, how="keeps")
    elif form == "numbers":
        one, zero = (g.constant(np.array(number, np.float32)) for number in (1, 0))
        g.op("where", g.op("not", condition, how="keeps"), one, zero, how="keeps")
    else:
        name = g.choose.choice(("and", "or", "xor", "equal", "not_equal"))
        g.op(name, condition, g.constant(np.array(g.choose.random() < 0.5)), how="keeps")


def logic(g: GraphMaker) -> None:
    x = g.pick(lambda item: item.dtype in (*INTS, "i1"))
    name = g.choose.choice(("and", "or", "xor"))
    g.op(name, x, g.pick(lambda item: item.dtype == x.dtype and _broadcast(item.shape, x.shape)), how="keeps")


def reduce(g: GraphMaker) -> None:
    name = g.choose.choice(("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"))
    x = g.floats(lambda item: item.rank > 0)
    axes = g.choose.sample(range(-x.rank, 0), g.choose.randint(0, x.rank))
    g.op(name, x, axes=axes, keepdims=g.choose.random() < 0.5)


def running(g: GraphMaker) -> None:
    x = g.floats(lambda item: item.rank > 0)
    g.op("cumsum", x, axis=g.choose.randrange(x.rank), exclusive=g.choose.random() < 0.3, reverse=g.choose.random() < 0.3)


def arg(g: GraphMaker) -> None:
    x = g.pick(lambda item: item.exact and item.rank > 0 and item.dtype in NUMERIC)
    g.op(g.choose.choice(("arg_max", "arg_min")), x, axis=g.choose.randrange(x.rank), how="jumps")


def norm(g: GraphMaker) -> None:
    name = g.choose.choice(("softmax", "log_softmax", "layer_norm", "rms_norm", "instance_norm", "batch_norm"))
    x = g.floats(lambda item: item.rank >= (3 if name == "instance_norm" else 2 if name == "batch_norm" else 1))
    if name in ("softmax", "log_softmax"):
        g.op(name, x, axis=g.choose.randrange(-x.rank, x.rank))
        return
    size = x.type.shape[1] if name in ("instance_norm", "batch_norm") else x.type.shape[-1]
    if not isinstance(size, int):
        raise Unfit
    count = {"layer_norm": 2, "rms_norm": 1, "instance_norm": 2, "batch_norm": 4}[name]
    weights = [g.array([size], x.dtype) for _ in range(count)]
    weights[-1] = np.abs(weights[-1]) + weights[-1].dtype.type(0.5)
    g.op(name, x, *map(g.weight, weights), epsilon=0.05)


def matmul(g: GraphMaker) -> None:
    x = g.floats(lambda item: item.rank >= 2)
    if g.choose.random() < 0.4:
        y = g.floats(lambda item: item.rank >= 2 and item.dtype == x.dtype and item.shape[-2] == x.shape[-1])
    elif isinstance(x.type.shape[-1], int):
        y = g.weight(g.array([x.type.shape[-1], g.choose.randint(1, 5)], x.dtype, 0.5))
    else:
        raise Unfit
    g.op("matmul", x, y)


def _padded_image(g: GraphMaker, x: Item) -> Item:
    """`x` with zeros around it along its spatial axes."""
    low, high = ([0, 0, *(g.choose.choice((0, 1)) for _ in range(x.rank - 2))] for _ in range(2))
    return g.op("pad", x, None, low=low, high=high, how="keeps")


def conv(g: GraphMaker) -> None:
    x = g.floats(lambda item: 3 <= item.rank <= 4 and isinstance(item.type.shape[1], int) and item.array.size > 0)
    if g.choose.random() < 0.2:
        x = _padded_image(g, x)
    channels, spatial = x.shape[1], x.rank - 2
    groups = g.choose.choice((1, channels))
    kernel = [g.choose.choice((1, 2, 3)) for _ in range(spatial)]
    pads = [g.choose.choice((0, 1)) for _ in range(2 * spatial)]
    out = groups * g.choose.randint(1, 3)
    weight = g.weight(g.array([out, channels // groups, *kernel], x.dtype, 0.5))
    bias = g.weight(g.array([out], x.dtype)) if g.choose.random() < 0.5 else None
    strides = [g.choose.choice((1, 1, 2)) for _ in range(spatial)]
    g.op("conv", x, weight, bias, strides=strides, pads=pads, groups=groups)


def pool(g: GraphMaker) -> None:
    x = g.floats(lambda item: 3 <= item.rank <= 4)
    if g.choose.random() < 0.3:
        x = _padded_image(g, x)
    spatial = x.rank - 2
    pads = [g.choose.choice((0, 0, 1)) for _ in range(2 * spatial)]
    window = {"kernel": [g.choose.choice((1, 2, 3)) for _ in range(spatial)], "pads": pads}
    window["strides"] = [g.choose.choice((1, 2)) for _ in range(spatial)]
    if g.choose.random() < 0.5:
        g.op("avg_pool", x, **window, count_include_pad=g.choose.random() < 0.5)
    else:
        g.op("max_pool", x, **window, how="keeps")


def reshape(g: GraphMaker) -> None:
    x = g.pick(lambda item: item.array.size > 0)
    shape: list[int] = []
    rest = x.array.size
    for _ in range(g.choose.randint(0, 3)):
        shape.append(g.choose.choice([size for size in (1, 2, 3, 4) if rest % size == 0]))
        rest //= shape[-1]
    shape.insert(g.choose.randint(0, len(shape)), -1 if not x.type.is_static or g.choose.random() < 0.3 else rest)
    copied = [axis if dim == "n" and axis < len(shape) else -1 for axis, dim in enumerate(x.type.shape)]
    if copied[:1] == [0] and g.choose.random() < 0.7 and len(shape) > 1:
        g.op("reshape", x, None, shape=[-1, *[1] * (len(shape) - 2), -1], copied=[0, *[-1] * (len(shape) - 1)], how="keeps")
        return
    g.op("reshape", x, None, shape=shape, how="keeps")


def squeeze(g: GraphMaker) -> None:
    x = g.pick(lambda item: 1 in item.type.shape)
    axes = [axis for axis, dim in enumerate(x.type.shape) if dim == 1]
    g.op("squeeze", x, axes=g.choose.sample(axes, g.choose.randint(1, len(axes))), how="keeps")


def unsqueeze(g: GraphMaker) -> None:
    x = g.pick(lambda item: item.rank < 4)
    added = g.choose.randint(1, 2)
    g.op("unsqueeze", x, axes=g.choose.sample(range(x.rank + added), added), how="keeps")


def transpose(g: GraphMaker) -> None:
    x = g.pick(lambda item: item.rank > 1)
    g.op("transpose", x, perm=g.choose.sample(range(x.rank), x.rank), how="keeps")


def cut(g: GraphMaker) -> None:
    x = g.pick(lambda item: item.rank > 0)
    axes = g.choose.sample(range(x.rank), g.choose.randint(1, min(2, x.rank)))
    steps = [g.choose.choice((1, 1, 1, 2, -1)) for _ in axes]
    starts = [g.choose.choice((0, 0, 1, -2)) if step > 0 else -1 for step in steps]
    ends = [g.choose.choice((2, 3, -1, 2**31 - 1)) if step > 0 else -(2**31) for step in steps]
    g.op("slice", x, None, axes=axes, starts=starts, ends=ends, steps=steps, how="keeps")


def concat(g: GraphMaker) -> None:
    x = g.pick(lambda item: item.rank > 0)
    axis = g.choose.randrange(x.rank)

    def fits(item: Item) -> bool:
        if item.dtype != x.dtype or item.rank != x.rank:
            return False
        return all(at == axis or item.shape[at] == x.shape[at] for at in range(x.rank))

    g.op("concat", *g.choose.sample((x, g.pick(fits)), 2), axis=axis, how="keeps")


def pad(g: GraphMaker) -> None:
    x = g.floats(lambda item: item.rank > 0)
    low, high = ([g.choose.choice((0, 0, 0, 1, -1)) for _ in range(x.rank)] for _ in range(2))
    mode = g.choose.choice(("constant", "constant", "constant", "edge", "reflect", "wrap"))
    value = g.constant(g.array([], x.dtype)) if mode == "constant" and g.choose.random() < 0.3 else None
    g.op("pad", x, value, low=low, high=high, mode=mode, how="keeps")


def expand(g: GraphMaker) -> None:
    x = g.pick()
    lead = [g.choose.choice((1, 2, 3))] if g.choose.random() < 0.4 and x.rank < 4 else []
    own = [g.choose.choice((1, 2, 3)) if dim == 1 else 1 for dim in x.type.shape]
    g.op("expand", x, None, shape=[*lead, *own], how="keeps")


def tile(g: GraphMaker) -> None:
    x = g.pick(lambda item: item.rank > 0)
    g.op("tile", x, repeats=[g.choose.choice((1, 1, 2)) for _ in range(x.rank)], how="keeps")


def positions(g: GraphMaker) -> None:
    """Elements read or written at constant positions, and one-hot vectors."""
    x = g.pick(lambda item: item.rank > 0 and item.array.size > 0 and item.type.is_static)
    axis = g.choose.randrange(x.rank)
    name = g.choose.choice(("gather_elements", "scatter_elements", "gather_nd", "one_hot"))
    if name == "one_hot":
        indices = g.pick(lambda item: item.dtype == "i64" and item.rank < 4)
        g.op(name, indices, g.constant(np.array([0, 1], np.float32)), None, depth=3, how="keeps")
        return
    indices = g.constant(g.numbers.integers(-x.shape[axis], x.shape[axis], x.shape))
    if name == "gather_elements":
        g.op(name, x, indices, axis=axis, how="keeps")
    elif name == "gather_nd":
        g.op(name, x, g.constant(np.zeros((2, 1), np.int64)), how="keeps")
    else:
        g.op(name, x, g.constant(np.zeros(x.shape, np.int64)), x, axis=axis, how="keeps")


def counted(g: GraphMaker) -> None:
    """Numbers that are counted from a size."""
    x = g.pick(lambda item: item.rank > 0)
    size = g.op("gather", g.op("shape_of", x, how="keeps"), g.constant(np.array(0)), how="keeps")
    g.op("range", g.constant(np.array(0)), size, g.constant(np.array(1)), how="keeps")


def gather(g: GraphMaker) -> None:
    x = g.pick(lambda item: item.rank > 0 and item.array.size > 0)
    axis = g.choose.randrange(x.rank)
    size = x.shape[axis]
    start = g.choose.randrange(size)
    indices = g.choose.choice((range(start, size), [start], [g.choose.randrange(-size, size) for _ in range(3)]))
    array = np.array(indices, np.int64) if g.choose.random() < 0.7 else np.array(start, np.int64)
    g.op("gather", x, g.constant(array), axis=axis, how="keeps")


def lookup(g: GraphMaker) -> None:
    """An embedding: rows of a weight at indices that are values."""
    indices = g.pick(lambda item: item.dtype in ("i64", "i32"))
    g.op("gather", g.weight(g.array([5, 3])), indices, how="keeps")


def rare(g: GraphMaker) -> None:
    x = g.floats(lambda item: item.rank >= 2)
    name = g.choose.choice(("trilu", "top_k", "resize", "attention"))
    if name == "trilu":
        g.op(name, x, upper=g.choose.random() < 0.5, k=g.choose.randint(-1, 1), how="keeps")
    elif name == "top_k" and x.array.shape[-1] > 0:
        g.ops(name, x, None, k=1, axis=-1, how="jumps")
    elif name == "resize":
        g.op(name, x, axes=[x.rank - 1], scales=[2.0], mode="nearest", how="keeps")
    elif x.rank == 4 and x.array.size > 0:
        g.op(name, x, x, x, None)


MAKERS: tuple[list[Maker], list[float]] = (
    [
        *(
            unary,
            binary,
            neutral,
            repeated,
            clip,
            cast,
            compare,
            where,
            chosen,
            logic,
            jump,
            reduce,
            running,
            arg,
            norm,
            matmul,
            conv,
        ),
        *(
            pool,
            reshape,
            squeeze,
            unsqueeze,
            transpose,
            cut,
            concat,
            pad,
            expand,
            tile,
            gather,
            lookup,
            rare,
            positions,
            counted,
            *FORMS,
        ),
    ],
    [
        *(6, 6, 3, 1, 1, 2, 1, 1, 0.7, 0.5, 0.5, 2, 0.3, 0.5, 2, 2.5, 3),
        *(1, 2, 1, 1, 3, 2, 2, 1, 1, 0.5, 1.5, 0.5, 0.7, 0.5, 0.3, *(0.5 for _ in FORMS)),
    ],
)
"""Makers and how likely each is."""
