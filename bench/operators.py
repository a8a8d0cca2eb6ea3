"""One node of every other operator: what `bench.ops` sweeps besides softmax, norms, activations, reductions and transposes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from bench import nodes
from bench.cases import Case
from bench.nodes import Operand, Tensor

ROWS = (128, 768)
IMAGE = (1, 64, 56, 56)
SMALL_IMAGE = (1, 512, 7, 7)
_RANDOM = np.random.default_rng(0)

UNARY = (
    "Abs Acos Atan Ceil Cos Elu Floor HardSigmoid HardSwish LeakyRelu Log Mish Neg Reciprocal Relu Round Sign Sin Softplus Sqrt Tan"
)
BINARY = "Add Div Max Mul Pow Sub"
BROADCASTS = ((768,), (128, 1), (1,))
CASTS = (
    "f32:f16 f16:f32 f32:f64 f64:f32 f32:i32 i32:f32 f32:i64 i64:f32 i64:i32 i32:i64 u8:f32 f32:i8 i8:f32 f32:bool bool:f32 "
    "bool:i64 u8:i32"
)
TYPED = (
    ("Add", "f64 f16 i64 i32 u8"),
    ("Mul", "f64 i64 i32"),
    ("Div", "f64 i32"),
    ("Max", "f64 i64 i32"),
    ("And", "bool"),
    ("Xor", "bool"),
    ("Equal", "f32 i64 bool"),
    ("Less", "f32 i64 i32"),
)
TYPED_UNARY = (("Exp", "f64"), ("Sqrt", "f64"), ("Tanh", "f64"), ("Abs", "f64 i64 i32 i8"), ("Relu", "f64"), ("Not", "bool"))
TYPED_REDUCTIONS = (("ReduceSum", "f64 i64 i32"), ("ReduceMax", "f64 i64 i32 i8 u8"), ("ReduceMean", "f64 i32"))
REDUCTIONS = "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMean ReduceMin ReduceProd ReduceSumSquare"
PLACES = (((1536, 128), 1), ((1536, 128), 0), (IMAGE, 1))
POOLS = (
    (IMAGE, 2, 2, 0),
    (IMAGE, 3, 1, 1),
    ((1, 64, 112, 112), 3, 2, 1),
    ((1, 512, 14, 14), 3, 2, 1),
    ((1, 192, 35, 35), 3, 1, 1),
    ((1, 2048, 7, 7), 7, 1, 0),
)
TRANSFORMS = ((1, 8), (1, 64), (1, 512), (1, 1000), (1, 1009), (1, 4096), (64, 8), (64, 64), (64, 512), (16, 4096))
_NEAREST = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
RESIZES = (
    ("nearest x2", (1, 64, 56, 56), 2.0, _NEAREST),
    ("nearest x1.5", (1, 64, 56, 56), 1.5, _NEAREST),
    ("nearest x0.5", (1, 64, 56, 56), 0.5, _NEAREST),
    ("linear x2", (1, 64, 56, 56), 2.0, {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}),
    ("linear x2 corners", (1, 64, 28, 28), 2.0, {"mode": "linear", "coordinate_transformation_mode": "align_corners"}),
    ("linear x0.5", (1, 3, 448, 448), 0.5, {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}),
    ("cubic x2", (1, 3, 224, 224), 2.0, {"mode": "cubic", "coordinate_transformation_mode": "half_pixel"}),
)


def cases() -> Iterator[Case]:
    """Every operator once or at a few sizes."""
    yield from _elementwise()
    yield from _typed()
    yield from _reductions()
    yield from _norms()
    yield from _pools()
    yield from _moves()
    yield from _indexed()
    yield from _attention()
    yield from _transforms()


def _case(name: str, kind: str, operands: Sequence[Operand], results: Sequence[Tensor], **attributes: Any) -> Case:
    """One node; `moved` counts what is read and written once."""
    moved = float(sum(nodes.bytes_of(each) for each in (*operands, *results)))
    return Case(name, partial(nodes.node, kind, operands, results, **attributes), moved=moved)


def _f32(*shape: int) -> Tensor:
    return Tensor(shape)


def _elementwise() -> Iterator[Case]:
    for kind in UNARY.split():
        yield _case(f"{kind} {_text(ROWS)}", kind, [Tensor(ROWS)], [Tensor(ROWS)])
    for kind in BINARY.split():
        yield _case(f"{kind} {_text(ROWS)}", kind, [Tensor(ROWS), Tensor(ROWS)], [Tensor(ROWS)])
    for shape in BROADCASTS:
        yield _case(f"Add {_text(ROWS)} and {_text(shape)}", "Add", [Tensor(ROWS), Tensor(shape)], [Tensor(ROWS)])
    yield _case("Mul channels 1x64x56x56", "Mul", [Tensor(IMAGE), _f32(1, 64, 1, 1)], [Tensor(IMAGE)])
    yield _case("PRelu 1x64x56x56", "PRelu", [Tensor(IMAGE), _f32(64, 1, 1)], [Tensor(IMAGE)])
    yield _case("Clip 128x768", "Clip", [Tensor(ROWS), np.float32(-1), np.float32(1)], [Tensor(ROWS)])
    yield _case("Pow 128x768 to 3", "Pow", [Tensor(ROWS), np.float32(3)], [Tensor(ROWS)])
    yield _case("Where 128x768", "Where", [Tensor(ROWS, "bool"), Tensor(ROWS), Tensor(ROWS)], [Tensor(ROWS)])
    yield _case("Where mask 12x128x128", "Where", [_bool(1, 128, 128), _f32(12, 128, 128), _f32(1)], [_f32(12, 128, 128)])


def _bool(*shape: int) -> Tensor:
    return Tensor(shape, "bool")


def _typed() -> Iterator[Case]:
    for pair in CASTS.split():
        source, target = pair.split(":")
        to = nodes.ELEMENTS[target]
        yield _case(f"Cast {source} to {target} {_text(ROWS)}", "Cast", [Tensor(ROWS, source)], [Tensor(ROWS, target)], to=to)
    for kind, names in TYPED:
        for name in names.split():
            result = Tensor(ROWS, "bool" if kind in ("Equal", "Less") else name)
            divisors = _RANDOM.integers(1, 9, ROWS).astype(nodes.DTYPES[name])
            operands = [Tensor(ROWS, name), divisors if kind == "Div" else Tensor(ROWS, name)]
            yield _case(f"{kind} {name} {_text(ROWS)}", kind, operands, [result])
    for kind, names in TYPED_UNARY:
        for name in names.split():
            yield _case(f"{kind} {name} {_text(ROWS)}", kind, [Tensor(ROWS, name)], [Tensor(ROWS, name)])
    for kind, names in TYPED_REDUCTIONS:
        for name in names.split():
            for axis in (1, 0):
                kept = (1536, 128)[1 - axis]
                axes = np.asarray([axis])
                title = f"{kind} {name} 1536x128 over {axis}"
                yield _case(title, kind, [Tensor((1536, 128), name), axes], [Tensor((kept,), name)], keepdims=0)


def _reductions() -> Iterator[Case]:
    for kind in REDUCTIONS.split():
        for axis in (1, 0):
            kept = _f32((1536, 128)[1 - axis])
            yield _case(f"{kind} 1536x128 over {axis}", kind, [_f32(1536, 128), np.asarray([axis])], [kept], keepdims=0)
    for kind in ("ReduceSum", "ReduceMax", "ReduceMean"):
        yield _case(f"{kind} 2048x2048 over all", kind, [_f32(2048, 2048), np.asarray([0, 1])], [_f32()], keepdims=0)
    for kind in ("ArgMax", "ArgMin"):
        for shape, axis in (*PLACES, ((1, 50257), 1)):
            kept = Tensor(tuple(size for at, size in enumerate(shape) if at != axis), "i64")
            yield _case(f"{kind} {_text(shape)} over {axis}", kind, [Tensor(shape)], [kept], axis=axis, keepdims=0)
    for shape, axis in PLACES:
        yield _case(f"CumSum {_text(shape)} over {axis}", "CumSum", [Tensor(shape), np.asarray(axis)], [Tensor(shape)])
    yield _case("CumSum i64 128x768 over 1", "CumSum", [Tensor(ROWS, "i64"), np.asarray(1)], [Tensor(ROWS, "i64")])
    yield _case("Softmax 1x21x128x128 over 1", "Softmax", [_f32(1, 21, 128, 128)], [_f32(1, 21, 128, 128)], axis=1)
    for k in (1, 5, 50):
        results = [_f32(8, k), Tensor((8, k), "i64")]
        yield _case(f"TopK {k} of 8x1000", "TopK", [_f32(8, 1000), np.asarray([k])], results, axis=-1)


def _norms() -> Iterator[Case]:
    for shape in (IMAGE, SMALL_IMAGE):
        text, channels = _text(shape), shape[1]
        scales = [np.abs(_RANDOM.standard_normal(channels, np.float32)) + 0.5 for _ in range(4)]
        yield _case(f"BatchNormalization {text}", "BatchNormalization", [Tensor(shape), *scales], [Tensor(shape)])
        yield _case(f"InstanceNormalization {text}", "InstanceNormalization", [Tensor(shape), *scales[:2]], [Tensor(shape)])
        yield Case(f"group_norm {text}", partial(nodes.group_norm, shape, 32), moved=nodes.size_of(shape, shape))
        yield _case(f"LRN {text}", "LRN", [Tensor(shape)], [Tensor(shape)], size=5)
    yield _case("LpNormalization 128x768", "LpNormalization", [Tensor(ROWS)], [Tensor(ROWS)], axis=-1)
    yield _case("MeanVarianceNormalization 1x64x56x56", "MeanVarianceNormalization", [Tensor(IMAGE)], [Tensor(IMAGE)])


def _pools() -> Iterator[Case]:
    for shape, size, step, pad in POOLS:
        out = (*shape[:2], *((extent + 2 * pad - size) // step + 1 for extent in shape[2:]))
        geometry = {"kernel_shape": [size] * 2, "strides": [step] * 2, "pads": [pad] * 4}
        text = f"{_text(shape)} {size}x{size} by {step} pad {pad}"
        yield _case(f"MaxPool {text}", "MaxPool", [Tensor(shape)], [Tensor(out)], **geometry)
        yield _case(f"AveragePool {text}", "AveragePool", [Tensor(shape)], [Tensor(out)], **geometry)
    for shape in (SMALL_IMAGE, (1, 2048, 7, 7), IMAGE, (1, 64, 112, 112)):
        for kind in ("GlobalAveragePool", "GlobalMaxPool"):
            yield _case(f"{kind} {_text(shape)}", kind, [Tensor(shape)], [Tensor((*shape[:2], 1, 1))])


def _moves() -> Iterator[Case]:
    for shapes, axis in (
        ([IMAGE, IMAGE], 1),
        ([(1, 64, 56, 56), (1, 32, 56, 56), (1, 16, 56, 56)], 1),
        ([(128, 768), (128, 768)], 1),
        ([(128, 768), (128, 768)], 0),
        ([(128, 63), (128, 1)], 1),
        ([(8, 64, 14, 14), (8, 32, 14, 14)], 1),
        ([(1, 56, 56, 24), (1, 56, 56, 40)], 3),
    ):
        sizes = [sum(parts) if at == axis else parts[0] for at, parts in enumerate(zip(*shapes, strict=True))]
        name = f"Concat {' '.join(map(_text, shapes))} over {axis}"
        yield _case(name, "Concat", [Tensor(shape) for shape in shapes], [Tensor(tuple(sizes))], axis=axis)
    for shape, pads, mode in (
        (IMAGE, (0, 0, 1, 1, 0, 0, 1, 1), "constant"),
        (IMAGE, (0, 0, 1, 1, 0, 0, 1, 1), "reflect"),
        (IMAGE, (0, 0, 3, 3, 0, 0, 3, 3), "edge"),
        (ROWS, (0, 5, 0, 3), "constant"),
    ):
        rank = len(shape)
        out = Tensor(tuple(size + pads[at] + pads[at + rank] for at, size in enumerate(shape)))
        yield _case(f"Pad {mode} {_text(shape)} by {max(pads)}", "Pad", [Tensor(shape), np.asarray(pads)], [out], mode=mode)
    for start, end, axis, step in (
        (0, 64, 1, 1),
        (1, 767, 1, 1),
        (0, 768, 1, 2),
        (767, -769, 1, -1),
        (32, 96, 0, 1),
        (0, 128, 0, 2),
    ):
        count = len(range(ROWS[axis])[slice(start, None if end < 0 else end, step)])
        out = Tensor(tuple(count if at == axis else size for at, size in enumerate(ROWS)))
        bounds = [np.asarray([value]) for value in (start, end, axis, step)]
        yield _case(f"Slice 128x768 {start}:{end}:{step} over {axis}", "Slice", [Tensor(ROWS), *bounds], [out])
    yield _case("Split 128x2304 in 3", "Split", [_f32(128, 2304)], [Tensor(ROWS)] * 3, axis=1, num_outputs=3)
    yield _case("Tile 128x768 by 2x1", "Tile", [Tensor(ROWS), np.asarray([2, 1])], [_f32(256, 768)])
    yield _case("Tile 128x768 by 1x2", "Tile", [Tensor(ROWS), np.asarray([1, 2])], [_f32(128, 1536)])
    yield _case("Tile 128x3 by 1x16", "Tile", [_f32(128, 3), np.asarray([1, 16])], [_f32(128, 48)])
    yield _case("Expand 1x768 to 128x768", "Expand", [_f32(1, 768), np.asarray(ROWS)], [Tensor(ROWS)])
    yield _case("Expand 128x1 to 128x768", "Expand", [_f32(128, 1), np.asarray(ROWS)], [Tensor(ROWS)])
    yield _case("Trilu 12x128x128", "Trilu", [_f32(12, 128, 128)], [_f32(12, 128, 128)], upper=0)
    yield _case("DepthToSpace 1x64x56x56", "DepthToSpace", [Tensor(IMAGE)], [_f32(1, 16, 112, 112)], blocksize=2)
    yield _case("SpaceToDepth 1x64x56x56", "SpaceToDepth", [Tensor(IMAGE)], [_f32(1, 256, 28, 28)], blocksize=2)
    for name, shape, factor, attributes in RESIZES:
        scales = np.asarray([1, 1, factor, factor], np.float32)
        out = Tensor((*shape[:2], *(int(size * factor) for size in shape[2:])))
        yield _case(f"Resize {name} {_text(shape)}", "Resize", [Tensor(shape), None, scales], [out], **attributes)


def _indexed() -> Iterator[Case]:
    picks = _RANDOM.integers(0, 128, 64)
    yield _case(
        "Gather 30522x768 at 128 rows", "Gather", [_f32(30522, 768), _RANDOM.integers(0, 30522, (1, 128))], [_f32(1, 128, 768)]
    )
    yield _case("Gather 128x768 at 64 columns", "Gather", [Tensor(ROWS), picks], [_f32(128, 64)], axis=1)
    yield _case("Gather 8x128x768 at 64 over 1", "Gather", [_f32(8, 128, 768), picks], [_f32(8, 64, 768)], axis=1)
    every = _RANDOM.integers(0, 128, ROWS)
    yield _case("GatherElements 128x768 over 0", "GatherElements", [Tensor(ROWS), every], [Tensor(ROWS)], axis=0)
    yield _case("GatherElements 128x768 over 1", "GatherElements", [Tensor(ROWS), every], [Tensor(ROWS)], axis=1)
    pairs = np.stack([_RANDOM.integers(0, 128, 4096), _RANDOM.integers(0, 768, 4096)], axis=1)
    yield _case("GatherND 128x768 at 4096", "GatherND", [Tensor(ROWS), pairs], [_f32(4096)])
    order = np.stack([_RANDOM.permutation(128) for _ in range(768)], axis=1)
    yield _case("ScatterElements 128x768 over 0", "ScatterElements", [Tensor(ROWS), order, Tensor(ROWS)], [Tensor(ROWS)], axis=0)
    rows = _RANDOM.permutation(128)[:64, None]
    yield _case("ScatterND 128x768 at 64 rows", "ScatterND", [Tensor(ROWS), rows, _f32(64, 768)], [Tensor(ROWS)])
    points = np.unique(pairs, axis=0)
    yield _case(f"ScatterND 128x768 at {len(points)}", "ScatterND", [Tensor(ROWS), points, _f32(len(points))], [Tensor(ROWS)])
    indices, depth = Tensor((4096,), "i64"), np.asarray(128)
    yield _case("OneHot 4096 of 128", "OneHot", [indices, depth, np.asarray([0, 1], np.float32)], [_f32(4096, 128)])
    yield _case("QuantizeLinear 128x768", "QuantizeLinear", [Tensor(ROWS), np.float32(0.02), np.uint8(128)], [Tensor(ROWS, "u8")])
    yield _case(
        "DequantizeLinear 128x768", "DequantizeLinear", [Tensor(ROWS, "u8"), np.float32(0.02), np.uint8(128)], [Tensor(ROWS)]
    )


def _attention() -> Iterator[Case]:
    for heads, queries, keys, width in (
        (12, 16, 16, 64),
        (12, 128, 128, 64),
        (12, 197, 197, 64),
        (12, 512, 512, 64),
        (12, 1, 512, 64),
    ):
        flops = 4.0 * heads * queries * keys * width
        build = partial(nodes.attention, heads, queries, keys, width)
        moved = nodes.size_of((2, heads, queries, width), (2, heads, keys, width))
        yield Case(f"attention {heads}x{queries}x{keys}x{width}", build, flops, moved)


def _text(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))


def _transforms() -> Iterator[Case]:
    """DFT of complex numbers, and of reals to one side."""
    for batch, length in TRANSFORMS:
        half = _f32(batch, length // 2 + 1, 2)
        yield _case(f"DFT {batch}x{length}", "DFT", [_f32(batch, length, 2)], [_f32(batch, length, 2)])
        yield _case(f"DFT of reals {batch}x{length}", "DFT", [_f32(batch, length, 1)], [half], onesided=1)
