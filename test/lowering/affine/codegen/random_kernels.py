"""Random kernels: one op with random shapes, dtype and attributes, and maybe an elementwise op on its result.

`FAMILIES` are hypothesis strategies. Sizes lie at and beside multiples of vectors and tiles, weights are constants or inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dlc.dialects import dl
from dlc.dialects.dl import ops
from dlc.dialects.dl.types import FLOATS, NUMPY_DTYPES

Draw = Callable[[st.SearchStrategy[Any]], Any]

EDGES = (1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 49, 63, 64, 65, 96, 100, 127, 129)
_MOST_ELEMENTS = 60_000


@dataclass(frozen=True)
class Kernel:
    """An op on arrays of these shapes; `constants` are the positions of operands that are weights, `tail` follows on its result."""

    op: str
    dtype: str
    shapes: tuple[tuple[int, ...], ...]
    attributes: tuple[tuple[str, Any], ...] = ()
    constants: tuple[int, ...] = ()
    tail: str = ""

    def arrays(self, generator: np.random.Generator) -> list[np.ndarray]:
        """Operands: floats in [-1, 1), integers that are small."""
        kind = NUMPY_DTYPES[self.dtype]
        if self.dtype in FLOATS:
            return [np.asarray(generator.uniform(-1, 1, shape)).astype(kind) for shape in self.shapes]
        low = 0 if self.dtype == "ui8" else -4
        return [np.asarray(generator.integers(low, 5, shape)).astype(kind) for shape in self.shapes]

    def build(self, operands: Sequence[Any]) -> Any:
        """The op and its tail on values of the graph that is open."""
        value = getattr(dl, self.op)(*operands, **dict(self.attributes))
        return getattr(dl, self.tail)(value) if self.tail else value

    def __str__(self) -> str:
        shapes = ", ".join("x".join(map(str, shape)) or "scalar" for shape in self.shapes)
        attributes = "".join(f", {key}={value}" for key, value in self.attributes)
        tail = f" then {self.tail}" if self.tail else ""
        return f"{self.op}({shapes}{attributes}) in {self.dtype}, constants {self.constants}{tail}"


def _size(draw: Draw, most: int = 129) -> int:
    return int(draw(st.one_of(st.integers(1, min(most, 40)), st.sampled_from([edge for edge in EDGES if edge <= most]))))


def _shape(draw: Draw, ranks: tuple[int, int], most: int = 129) -> tuple[int, ...]:
    """Sizes whose product is not too large."""
    shape: list[int] = []
    left = _MOST_ELEMENTS
    for _ in range(draw(st.integers(*ranks))):
        shape.append(_size(draw, min(most, left)))
        left //= shape[-1]
    return tuple(draw(st.permutations(shape)))


def _dtype(draw: Draw, op: str) -> str:
    """f32 in half of the cases, else another one that the op accepts."""
    found = ops()[op]
    accepted = [kind for kind in found.accepted_dtypes(found.operand_fields[0].name) if kind != "i1"]
    return str(draw(st.one_of(st.just("f32"), st.sampled_from(accepted))))


def _kernel(draw: Draw, op: str, shapes: Sequence[tuple[int, ...]], constants: Sequence[int] = (), **attributes: Any) -> Kernel:
    dtype = _dtype(draw, op)
    tails = ["", "", "relu", "abs", "neg", *(["sigmoid", "tanh"] if dtype in FLOATS else [])]
    tail = "" if op.startswith("arg_") else draw(st.sampled_from(tails))
    tail = "" if tail and dtype not in ops()[tail].accepted_dtypes("x") else tail
    return Kernel(op, dtype, tuple(shapes), tuple(attributes.items()), tuple(constants) if draw(st.booleans()) else (), tail)


@st.composite
def _product(draw: Draw) -> Kernel:
    """matmul: vectors of one row, batches that broadcast, all kinds of tails."""
    rows, columns, depth = _size(draw), _size(draw), _size(draw)
    batch = draw(st.sampled_from([(), (), (1,), (2,), (3,), (2, 3)]))
    other = draw(st.sampled_from([(), batch, tuple(1 for _ in batch)]))
    return _kernel(draw, "matmul", [(*batch, rows, depth), (*other, depth, columns)], [1])


def _windows(draw: Draw, rank: int) -> dict[str, tuple[int, ...]]:
    """Kernel sizes, strides, dilations and pads along `rank` axes, for images of 12 pixels or more."""
    kernel = tuple(draw(st.integers(1, 4)) for _ in range(rank))
    dilations = tuple(draw(st.sampled_from([1, 1, 2])) for _ in range(rank))
    pads = tuple(draw(st.integers(0, min(2, size - 1))) for size in kernel * 2)
    return {"kernel": kernel, "strides": tuple(draw(st.integers(1, 3)) for _ in range(rank)), "dilations": dilations, "pads": pads}


def _image(draw: Draw, rank: int, channels: int) -> tuple[int, ...]:
    return (
        draw(st.integers(1, 2)),
        channels,
        *(draw(st.sampled_from([12, 13, 14, 16, 17, 28 if rank < 3 else 12])) for _ in range(rank)),
    )


@st.composite
def _convolution(draw: Draw) -> Kernel:
    """conv along one to three axes, with stride, dilation, pads and groups (depthwise among them)."""
    rank = draw(st.sampled_from([1, 2, 2, 2, 3]))
    groups = draw(st.sampled_from([1, 1, 1, 2, 3, 16, 33]))
    depth = draw(st.sampled_from([1, 1, 2])) if groups > 3 else draw(st.sampled_from([1, 3, 8, 16, 20]))
    each = 1 if groups > 3 else draw(st.sampled_from([1, 5, 8, 16, 17]))
    windows = _windows(draw, rank)
    kernel = windows.pop("kernel")
    shapes = [_image(draw, rank, groups * depth), (groups * each, depth, *kernel)]
    shapes += [(groups * each,)] if draw(st.booleans()) else []
    return _kernel(draw, "conv", shapes, [1, 2][: len(shapes) - 1], groups=groups, **windows)


@st.composite
def _transposed_convolution(draw: Draw) -> Kernel:
    rank = draw(st.sampled_from([1, 2, 2]))
    groups = draw(st.sampled_from([1, 1, 2]))
    depth, each = draw(st.sampled_from([1, 3, 8, 16])), draw(st.sampled_from([1, 4, 16, 17]))
    windows = _windows(draw, rank)
    kernel = windows.pop("kernel")
    output = tuple(draw(st.integers(0, stride - 1)) for stride in windows["strides"])
    shapes = [_image(draw, rank, groups * depth), (groups * depth, each, *kernel)]
    return _kernel(draw, "conv_transpose", shapes, [1], groups=groups, output_padding=output, **windows)


@st.composite
def _pooling(draw: Draw) -> Kernel:
    op = draw(st.sampled_from(["max_pool", "avg_pool"]))
    rank = draw(st.sampled_from([1, 2, 2, 3]))
    counted = {"count_include_pad": draw(st.booleans())} if op == "avg_pool" else {}
    return _kernel(draw, op, [_image(draw, rank, _size(draw, 33))], **_windows(draw, rank), **counted)


@st.composite
def _row(draw: Draw) -> Kernel:
    """Softmax and norms along any axis."""
    op = draw(st.sampled_from(["softmax", "log_softmax", "layer_norm", "rms_norm"]))
    shape = _shape(draw, (1, 4))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    if op.endswith("softmax"):
        return _kernel(draw, op, [shape], axis=axis)
    scale = shape[axis:]
    return _kernel(
        draw, op, [shape, scale, *([scale] if op == "layer_norm" else [])], [1, 2][: 1 + (op == "layer_norm")], axis=axis
    )


@st.composite
def _reduction(draw: Draw) -> Kernel:
    names = ["reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "arg_max", "arg_min", "cumsum"]
    op = draw(st.sampled_from(names))
    shape = _shape(draw, (1, 4))
    axis = st.integers(-len(shape), len(shape) - 1)
    if op == "cumsum":
        return _kernel(draw, op, [shape], axis=draw(axis), exclusive=draw(st.booleans()), reverse=draw(st.booleans()))
    if op.startswith("arg"):
        return _kernel(draw, op, [shape], axis=draw(axis), keepdims=draw(st.booleans()))
    axes = draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, max_size=len(shape), unique=True))
    return _kernel(draw, op, [shape], axes=tuple(axes), keepdims=draw(st.booleans()))


@st.composite
def _movement(draw: Draw) -> Kernel:
    """transpose, concat and pad."""
    op = draw(st.sampled_from(["transpose", "transpose", "concat", "pad"]))
    shape = _shape(draw, (1, 5), 65)
    if op == "transpose":
        return _kernel(draw, op, [shape], perm=tuple(draw(st.permutations(range(len(shape))))))
    if op == "pad":
        low, high = (tuple(draw(st.integers(0, 3)) for _ in shape) for _ in range(2))
        return _kernel(draw, op, [shape], low=low, high=high)
    axis = draw(st.integers(0, len(shape) - 1))
    other = (*shape[:axis], _size(draw, 33), *shape[axis + 1 :])
    return _kernel(draw, op, [shape, other], [1], axis=axis)


@st.composite
def _elementwise(draw: Draw) -> Kernel:
    """Operands that broadcast against each other."""
    op = draw(st.sampled_from(["add", "sub", "mul", "max", "min", "exp", "gelu", "silu", "erf", "tanh"]))
    shape = _shape(draw, (0, 4))
    if op in ("exp", "gelu", "silu", "erf", "tanh"):
        return _kernel(draw, op, [shape])
    kept = [draw(st.booleans()) for _ in shape]
    other = tuple(size if keep else 1 for size, keep in zip(shape, kept, strict=True))
    start = draw(st.integers(0, len(shape)))
    return _kernel(draw, op, [shape, other[start:]], [1])


FAMILIES: dict[str, st.SearchStrategy[Kernel]] = {
    "products": _product(),
    "convolutions": st.one_of(_convolution(), _convolution(), _transposed_convolution()),
    "rows": st.one_of(_row(), _reduction(), _pooling()),
    "moves": st.one_of(_movement(), _elementwise()),
}
