"""Models of QuantizeLinear and DequantizeLinear around float ops: they multiply bytes, and agree with the reference to a step."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator
from onnx_check import build_model, node, weight_limits
from reference_session import reference_session

import dlc
from dlc._mlir import ir
from dlc.lowering.pipeline import Pipeline
from dlc.sources import read_source
from dlc.targets.machine import host_facts

PASSES = ["dl-fold-shapes", "dl-canonicalize", "dl-fold-constants", "cse", "dl-fuse-quantization", "dl-use-byte-products"]
RANDOM = np.random.default_rng(0)
Arrays = dict[str, np.ndarray]


def quantized(x: str, scale: float, zero: int, dtype: type[np.integer], constants: Arrays) -> list[onnx.NodeProto]:
    """`x` as bytes `x_q` and back as `x_d`."""
    constants |= {f"{x}_s": np.array(scale, np.float32), f"{x}_z": np.array(zero, dtype)}
    return [
        node("QuantizeLinear", [x, f"{x}_s", f"{x}_z"], [f"{x}_q"]),
        node("DequantizeLinear", [f"{x}_q", f"{x}_s", f"{x}_z"], [f"{x}_d"]),
    ]


def weight(shape: Sequence[int], axis: int | None, dtype: type[np.integer], zero: int, constants: Arrays) -> onnx.NodeProto:
    """Bytes of a weight as floats `w_d`, with one scale, or one for each index of `axis`."""
    (low, high), count = weight_limits(dtype), () if axis is None else (shape[axis],)
    constants |= {
        "w": RANDOM.integers(low, high, shape, endpoint=True).astype(dtype),
        "w_s": RANDOM.uniform(0.002, 0.01, count).astype(np.float32),
        "w_z": np.full(count, zero, dtype),
    }
    return node("DequantizeLinear", ["w", "w_s", "w_z"], ["w_d"], **({} if axis is None else {"axis": axis}))


def check(nodes: Sequence[onnx.NodeProto], feeds: Mapping[str, np.ndarray], constants: Arrays, products: int) -> None:
    """The model has so many products of bytes, and its bytes differ by a step at most from what the ops say, and onnxruntime."""
    model = build_model(nodes, feeds, constants)
    assert products_of_bytes(model) == products
    (have,) = dlc.compile(model)(dict(feeds))
    session = reference_session(model)
    for want in (ReferenceEvaluator(model).run(None, dict(feeds))[0], session.run(None, dict(feeds))[0]):
        assert (have.dtype, have.shape) == (want.dtype, want.shape)
        apart = np.abs(have.astype(int) - want.astype(int))
        assert apart.max() <= 1
        assert np.count_nonzero(apart) <= 0.01 * apart.size + 1, "only where floats are halves but for their rounding"
        assert want.std() > 1, "the bytes say something"


def products_of_bytes(model: onnx.ModelProto) -> int:
    source = read_source(model)
    with source.module.context, ir.Location.unknown():
        Pipeline(PASSES).run(source.module)
    return len(re.findall(r'"dl\.(vnni|pair_winograd)_', str(source.module)))


FORMS = [(np.uint8, 118, np.int8, 0), (np.int8, -3, np.int8, 0), (np.uint8, 0, np.uint8, 128), (np.uint8, 255, np.uint8, 117)]
"""Element type and zero point of activations and weights."""


def _sums(weight_zero: int) -> int:
    """Products of bytes for one: weights with a zero point take sums of the image, but not 128 where they become signed."""
    return 2 if weight_zero % (128 if host_facts().prefers_vnni else 256) else 1


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize(("kind", "zero", "weights", "weight_zero"), FORMS)
def test_conv(kind: type[np.integer], zero: int, weights: type[np.integer], weight_zero: int, per_channel: bool) -> None:
    constants: Arrays = {}
    nodes = [
        *quantized("x", 0.02, zero, kind, constants),
        weight((20, 6, 3, 3), 0 if per_channel else None, weights, weight_zero, constants),
        node("Conv", ["x_d", "w_d", "b"], ["y"], pads=[1, 1, 1, 1], strides=[2, 1]),
        node("Relu", ["y"], ["r"]),
        *quantized("r", 0.1, 3, np.uint8, constants)[:1],
    ]
    constants["b"] = RANDOM.normal(0, 1, 20).astype(np.float32)
    sums = _sums(weight_zero)
    check(nodes, {"x": RANDOM.normal(0, 1.5, (2, 6, 9, 10)).astype(np.float32)}, constants, sums)


def test_conv_with_a_bias_of_i32() -> None:
    constants: Arrays = {}
    nodes = [
        *quantized("x", 0.02, 100, np.uint8, constants),
        weight((8, 5, 1, 1), 0, np.int8, 0, constants),
        node("DequantizeLinear", ["b", "b_s", "b_z"], ["b_d"], axis=0),
        node("Conv", ["x_d", "w_d", "b_d"], ["y"]),
        *quantized("y", 0.02, 128, np.uint8, constants)[:1],
    ]
    constants["b"] = RANDOM.integers(-2000, 2000, 8).astype(np.int32)
    constants["b_s"], constants["b_z"] = constants["w_s"] * constants["x_s"], np.zeros(8, np.int32)
    check(nodes, {"x": RANDOM.normal(0, 1.5, (1, 5, 7, 7)).astype(np.float32)}, constants, 1)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize(("kind", "zero", "weights", "weight_zero"), FORMS)
def test_matmul(kind: type[np.integer], zero: int, weights: type[np.integer], weight_zero: int, per_column: bool) -> None:
    constants: Arrays = {"b": RANDOM.normal(0, 1, 21).astype(np.float32)}
    nodes = [
        *quantized("x", 0.02, zero, kind, constants),
        weight((70, 21), 1 if per_column else None, weights, weight_zero, constants),
        node("MatMul", ["x_d", "w_d"], ["p"]),
        node("Add", ["p", "b"], ["y"]),
        *quantized("y", 0.2, -7, np.int8, constants)[:1],
    ]
    sums = _sums(weight_zero)
    check(nodes, {"x": RANDOM.normal(0, 1.5, (10, 70)).astype(np.float32)}, constants, sums)


def test_gemm_with_transposed_weights() -> None:
    constants: Arrays = {"b": RANDOM.normal(0, 1, 12).astype(np.float32)}
    nodes = [
        *quantized("x", 0.02, 128, np.uint8, constants),
        weight((12, 33), 0, np.int8, 0, constants),
        node("Gemm", ["x_d", "w_d", "b"], ["y"], transB=1),
        *quantized("y", 0.1, 128, np.uint8, constants)[:1],
    ]
    check(nodes, {"x": RANDOM.normal(0, 1.5, (5, 33)).astype(np.float32)}, constants, 1)


MOVED = {
    "add": ([node("Add", ["x_d", "y_d"], ["z"])], 0.053),
    "add and relu": ([node("Add", ["x_d", "y_d"], ["a"]), node("Relu", ["a"], ["z"])], 0.053),
    "concat": ([node("Concat", ["x_d", "y_d"], ["z"], axis=1)], 0.037),
    "max_pool": ([node("MaxPool", ["x_d"], ["z"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])], 0.02),
    "average_pool": ([node("GlobalAveragePool", ["x_d"], ["z"])], 0.005),
    "reshape": ([node("Transpose", ["x_d"], ["t"], perm=[0, 2, 3, 1]), node("Flatten", ["t"], ["z"])], 0.02),
    "clip": ([node("Mul", ["x_d", "y_d"], ["m"]), node("Clip", ["m", "low", "high"], ["z"])], 0.02),
}


@pytest.mark.parametrize("name", MOVED)
def test_what_multiplies_no_weights(name: str) -> None:
    inner, scale = MOVED[name]
    constants: Arrays = {"low": np.array(0, np.float32), "high": np.array(2, np.float32)}
    nodes = [
        *quantized("x", 0.02, 128, np.uint8, constants),
        *quantized("y", 0.03, 100, np.uint8, constants),
        *inner,
        *quantized("z", scale, 128, np.uint8, constants)[:1],
    ]
    used = {name for item in inner for name in item.input}
    nodes = [item for item in nodes if not item.input[0].startswith("y") or "y_d" in used]
    constants = {key: array for key, array in constants.items() if any(key in item.input for item in nodes)}
    feeds = {key: RANDOM.normal(0, 1, (2, 3, 8, 9)).astype(np.float32) for key in ("x", "y") if f"{key}_d" in used}
    check(nodes, feeds, constants, 0)


def test_a_depthwise_convolution_stays_in_floats() -> None:
    constants: Arrays = {}
    nodes = [
        *quantized("x", 0.02, 128, np.uint8, constants),
        weight((6, 1, 3, 3), 0, np.int8, 0, constants),
        node("Conv", ["x_d", "w_d"], ["y"], group=6),
        *quantized("y", 0.02, 128, np.uint8, constants)[:1],
    ]
    check(nodes, {"x": RANDOM.normal(0, 1.5, (1, 6, 7, 7)).astype(np.float32)}, constants, 0)


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("per_channel", [False, True])
def test_what_onnxruntime_quantizes(per_channel: bool, tmp_path: Path) -> None:
    """A small network through its static quantisation, all ops by default."""
    quantization = pytest.importorskip("onnxruntime.quantization")
    from bench.networks import resnet18

    onnx.save(resnet18.build(image=32, width=16, classes=20), tmp_path / "float.onnx")
    images = [RANDOM.standard_normal((1, 3, 32, 32)).astype(np.float32) for _ in range(3)]

    class Reader(quantization.CalibrationDataReader):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            self.left = [{"image": image} for image in images]

        def get_next(self) -> dict[str, np.ndarray] | None:
            return self.left.pop() if self.left else None

    form = {"quant_format": quantization.QuantFormat.QDQ, "per_channel": per_channel}
    quantization.quantize_static(tmp_path / "float.onnx", tmp_path / "bytes.onnx", Reader(), **form)
    model = onnx.load(tmp_path / "bytes.onnx")
    assert products_of_bytes(model) == sum(item.op_type in ("Conv", "Gemm") for item in model.graph.node)
    session = reference_session(model)
    (have,), (want,) = dlc.compile(model)(images[0]), session.run(None, {"image": images[0]})
    assert np.abs(have - want).max() <= 0.1 * np.abs(want).max()
