"""Element types that ops seldom come with, against ONNX's reference evaluator: each is taken, and gives the same numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import dlc
from dlc.dtypes import NUMPY_DTYPES

RANDOM = np.random.default_rng(11)
SMALL = ("f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU", "f4E2M1FN", "i4", "ui4", "i2", "ui2")
INTEGERS = ("ui8", "i8", "i16", "ui16", "i32", "ui32", "i64", "ui64")


def model_of(
    nodes: Sequence[onnx.NodeProto], feeds: Mapping[str, np.ndarray], given: int, constants: Mapping[str, np.ndarray], opset: int
) -> onnx.ModelProto:
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in feeds.items()
    ]
    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    result = [helper.make_tensor_value_info("y", given, None)]
    graph = helper.make_graph(list(nodes), "types", infos, result, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def kind_of(array: np.ndarray) -> int:
    return int(helper.np_dtype_to_tensor_dtype(array.dtype))


def run(
    op: str | Sequence[onnx.NodeProto],
    feeds: Mapping[str, np.ndarray],
    given: Any = None,
    constants: Mapping[str, np.ndarray] | None = None,
    opset: int = 24,
    **attributes: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """What dlc and the reference give; the result has the element type `given`, or x's."""
    nodes = [helper.make_node(op, [*feeds, *(constants or {})], ["y"], **attributes)] if isinstance(op, str) else op
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(given) if given is not None else next(iter(feeds.values())).dtype)
    model = model_of(nodes, feeds, kind, constants or {}, opset)
    (have,), (want,) = dlc.compile(model)(dict(feeds)), ReferenceEvaluator(model).run(None, dict(feeds))
    assert have.dtype == want.dtype
    return have, want


def assert_same(pair: tuple[np.ndarray, np.ndarray], slack: float = 0.0) -> None:
    have, want = (each.astype(np.float64) for each in pair)
    np.testing.assert_allclose(have, want, rtol=1e-6, atol=slack)


def small(dtype: str, *shape: int) -> np.ndarray:
    """Numbers that all of the types hold."""
    numbers = RANDOM.integers(0, 2, shape).astype(np.float32) + (1 if dtype in ("f8E8M0FNU", "ui4", "ui2") else 0)
    return numbers.astype(NUMPY_DTYPES[dtype])


@pytest.mark.parametrize("dtype", SMALL)
def test_pads(dtype: str) -> None:
    """By a constant, and by elements of x."""
    x, counts = small(dtype, 3, 4), np.array([1, 0, 0, 2])
    assert_same(run("Pad", {"x": x}, constants={"p": counts, "v": x[0, 0]}))
    assert_same(run("Pad", {"x": x}, constants={"p": counts}, mode="edge"))


@pytest.mark.parametrize("dtype", SMALL[:8])
def test_updates_of_caches(dtype: str) -> None:
    assert_same(
        run("TensorScatter", {"x": small(dtype, 2, 1, 4, 3), "u": small(dtype, 2, 1, 2, 3)}, constants={"s": np.array([2, 0])})
    )


@pytest.mark.parametrize("dtype", SMALL)
def test_scans(dtype: str) -> None:
    """Steps take slices, and give them stacked."""
    kind = helper.np_dtype_to_tensor_dtype(NUMPY_DTYPES[dtype])
    infos = [helper.make_tensor_value_info(name, kind, [3]) for name in ("row", "same")]
    body = helper.make_graph([helper.make_node("Identity", ["row"], ["same"])], "body", infos[:1], infos[1:])
    node = helper.make_node("Scan", ["x"], ["y"], body=body, num_scan_inputs=1, scan_input_directions=[1])
    x = small(dtype, 4, 3)
    model = model_of([node], {"x": x}, kind, {}, 24)
    np.testing.assert_array_equal(dlc.compile(model)(x)[0].astype(np.float32), x[::-1].astype(np.float32))


@pytest.mark.parametrize("dtype", SMALL[:4])
def test_what_is_no_number(dtype: str) -> None:
    x = np.arange(256, dtype=np.uint8).view(NUMPY_DTYPES[dtype])
    for op, find in (("IsNaN", np.isnan), ("IsInf", np.isinf)):
        model = model_of([helper.make_node(op, ["x"], ["y"])], {"x": x}, TensorProto.BOOL, {}, 20)
        np.testing.assert_array_equal(dlc.compile(model)(x)[0], find(x.astype(np.float32)))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_shrink(dtype: str) -> None:
    """The fraction of what floats give is cut off."""
    x = np.arange(0 if dtype.startswith("u") else -6, 7).astype(NUMPY_DTYPES[dtype])
    bias = -1.5 if dtype.startswith("u") else 0.5
    assert_same(run("Shrink", {"x": x}, opset=9, lambd=1.5, bias=bias))


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_between_places(mode: str, dtype: str) -> None:
    """They are rounded: by Resize of the reference, too, whose GridSample has numbers for floats alone."""
    x = RANDOM.integers(20, 100, (1, 1, 5, 4)).astype(NUMPY_DTYPES[dtype])
    nodes = [helper.make_node("Resize", ["x", "", "s"], ["y"], mode=mode)]
    have, want = run(nodes, {"x": x}, constants={"s": np.array([1, 1, 1.7, 2.3], np.float32)}, opset=19)
    assert_same((have, want), slack=1)
    assert (have == want).mean() > 0.9
    grid = RANDOM.uniform(-0.9, 0.9, (1, 3, 4, 2)).astype(np.float32)
    (have,) = dlc.compile(
        model_of([helper.make_node("GridSample", ["x", "g"], ["y"], mode=mode)], {"x": x, "g": grid}, kind_of(x), {}, 20)
    )(x, grid)
    _, want = run("GridSample", {"x": x.astype(np.float32), "g": grid}, opset=20, mode=mode)
    np.testing.assert_allclose(have.astype(np.float64), np.round(want), atol=1)
    assert (have == np.round(want)).mean() > 0.9


def test_masks_between_places() -> None:
    x, grid = RANDOM.integers(0, 2, (1, 1, 4, 4)).astype(bool), RANDOM.uniform(-0.9, 0.9, (1, 3, 3, 2)).astype(np.float32)
    have, want = run("GridSample", {"x": x, "g": grid}, opset=20, mode="nearest")
    np.testing.assert_array_equal(have, want)


@pytest.mark.parametrize("scale", [np.array(4, ml_dtypes.float8_e8m0fnu), np.array([0.5, 2, 4], ml_dtypes.float8_e8m0fnu)])
def test_scales_that_are_powers_of_two(scale: np.ndarray) -> None:
    x = RANDOM.uniform(-100, 100, (2, 3)).astype(np.float32)
    wide = scale.astype(np.float32)
    for op, given, source in (("QuantizeLinear", np.int8, x), ("DequantizeLinear", np.float32, x.astype(np.int8))):
        nodes = [helper.make_node(op, ["x", "s"], ["y"], output_dtype=helper.np_dtype_to_tensor_dtype(np.dtype(given)))]
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(given))
        (have,) = dlc.compile(model_of(nodes, {"x": source}, kind, {"s": scale}, 24))(source)
        (want,) = ReferenceEvaluator(model_of(nodes, {"x": source}, kind, {"s": wide}, 24)).run(None, {"x": source})
        np.testing.assert_array_equal(have, want)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_scales_that_are_integers(dtype: type) -> None:
    x = RANDOM.integers(-300, 300, (2, 3)).astype(dtype)
    assert_same(run("QuantizeLinear", {"x": x}, np.int8, {"s": np.array(3, np.int32), "z": np.array(1, np.int8)}))


def test_statistics_of_a_norm_have_the_type_that_is_stashed() -> None:
    x, scale = RANDOM.standard_normal((2, 4)), np.ones(4)
    nodes = [helper.make_node("LayerNormalization", ["x", "s"], ["n", "m", "y"])]
    model = model_of(nodes, {"x": x}, TensorProto.FLOAT, {"s": scale}, 17)
    (have,), (want,) = dlc.compile(model)(x), ReferenceEvaluator(model).run(None, {"x": x})
    assert have.dtype == np.float32
    np.testing.assert_allclose(have, want, rtol=1e-5)


def test_values_of_another_type_than_queries() -> None:
    q, k = (RANDOM.standard_normal((1, 2, 3, 4)).astype(np.float16) for _ in range(2))
    v = RANDOM.standard_normal((1, 2, 3, 4)).astype(np.float32)
    model = model_of([helper.make_node("Attention", ["q", "k", "v"], ["y"])], {"q": q, "k": k, "v": v}, TensorProto.FLOAT16, {}, 23)
    (have,) = dlc.compile(model)(q, k, v)
    (want,) = ReferenceEvaluator(model).run(None, {"q": q, "k": k, "v": v})
    np.testing.assert_allclose(have.astype(np.float32), want.astype(np.float32), rtol=4e-3, atol=4e-3)


def test_sizes_of_i32_crop_and_pad() -> None:
    x = RANDOM.standard_normal((4, 5)).astype(np.float32)
    for known in (True, False):
        sizes = {"s": np.array([2, 8], np.int32)}
        node = [helper.make_node("CenterCropPad", ["x", "s"], ["y"])]
        model = model_of(node, {"x": x} if known else {"x": x, **sizes}, TensorProto.FLOAT, sizes if known else {}, 18)
        (have,) = dlc.compile(model)({"x": x} if known else {"x": x, **sizes})
        np.testing.assert_array_equal(have, np.pad(x[1:3], ((0, 0), (1, 2))))


@pytest.mark.parametrize(("source", "to"), [("f8E5M2", "ui8"), ("i4", "ui4"), ("ui4", "f4E2M1FN"), ("ui2", "i2"), ("ui8", "i1")])
def test_bits(source: str, to: str) -> None:
    count = {"f8E5M2": 256, "ui2": 4, "ui8": 2}.get(source, 16)
    codes = np.arange(count, dtype=np.uint8)
    x = codes.view(NUMPY_DTYPES[source]) if source.startswith("f") else codes.astype(NUMPY_DTYPES[source])
    given = helper.np_dtype_to_tensor_dtype(NUMPY_DTYPES[to])
    model = model_of([helper.make_node("BitCast", ["x"], ["y"], to=given)], {"x": x}, given, {}, 26)
    (have,) = dlc.compile(model)(x)
    assert have.dtype == NUMPY_DTYPES[to]
    mask = (1 << {"i4": 4, "ui4": 4, "f4E2M1FN": 4, "i2": 2}.get(to, 8)) - 1
    np.testing.assert_array_equal(have.view(np.uint8) & mask, codes)
