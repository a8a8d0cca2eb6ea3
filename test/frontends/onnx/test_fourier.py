"""ONNX Fourier transforms against onnxruntime, NumPy and the onnx package's node tests."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator
from onnx_check import build_model, check, check_backend_cases, compare, node

import dlc

_GENERATOR = np.random.default_rng(31)


def _random(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return _GENERATOR.uniform(-1, 1, shape).astype(dtype)


@pytest.mark.parametrize("components", [1, 2])
@pytest.mark.parametrize("inverse", [0, 1])
def test_transforms(components: int, inverse: int) -> None:
    nodes = [node("DFT", ["x", "", axis], inverse=inverse) for axis in ("first", "second")]
    feeds = {"x": _random(3, 5, 4, components)}
    check(nodes, feeds, {"first": np.array(1), "second": np.array(-2)}, opset=20, dynamic=False, rtol=1e-4)


@pytest.mark.parametrize("length", [4, 6, 9])
def test_lengths_that_cut_or_fill_up(length: int) -> None:
    x = _random(2, 6, 2)
    nodes = [node("DFT", ["x", "length"], axis=1, inverse=inverse) for inverse in (0, 1)]
    models = dlc.compile(build_model(nodes, {"x": x}, {"length": np.array(length)}, opset=17))(x)
    numbers = x[..., 0] + 1j * x[..., 1]
    for found, transform in zip(models, (np.fft.fft, np.fft.ifft), strict=True):
        want = transform(numbers, n=length, axis=1)
        compare(found, np.stack([want.real, want.imag], -1).astype(np.float32), "y", 1e-4, 1e-5)


@pytest.mark.parametrize("length", [5, 8])
def test_one_side_and_back(length: int) -> None:
    x = _random(3, length, 1, dtype=np.float64)
    nodes = [node("DFT", ["x"], ["half"], axis=1, onesided=1), node("DFT", ["half", "n"], ["y"], axis=1, onesided=1, inverse=1)]
    (found,) = dlc.compile(build_model(nodes, {"x": x}, {"n": np.array(length)}, opset=17))(x)
    compare(found, x, "y")


@pytest.mark.parametrize("dtype", [np.float64, np.float16, ml_dtypes.bfloat16])
def test_element_types(dtype: Any) -> None:
    x = _random(2, 7, 1, dtype=dtype)
    (found,) = dlc.compile(build_model([node("DFT", ["x"], axis=1)], {"x": x}, opset=17))(x)
    want = np.fft.fft(x[..., 0].astype(np.float64), axis=1)
    compare(found, np.stack([want.real, want.imag], -1).astype(dtype), "y")


def test_vector() -> None:
    x = _random(6, 2)
    (found,) = dlc.compile(build_model([node("DFT", ["x"], axis=0)], {"x": x}, opset=17))(x)
    want = np.fft.fft(x[:, 0] + 1j * x[:, 1])
    compare(found, np.stack([want.real, want.imag], -1).astype(np.float32), "y", 1e-4)


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("length", [*(int(each) for each in _GENERATOR.integers(2, 400, 3)), 37, 74, 101, 202, 256])
def test_any_length(length: int) -> None:
    numbers, reals = _random(2, length, 2, dtype=np.float64), _random(2, length, 1, dtype=np.float64)
    half = _random(2, length // 2 + 1, 2, dtype=np.float64)
    nodes = [
        node("DFT", ["numbers"], ["forward"], axis=1),
        node("DFT", ["numbers"], ["back"], axis=1, inverse=1),
        node("DFT", ["reals"], ["frequencies"], axis=1, onesided=1),
        node("DFT", ["half", "n"], ["signal"], axis=1, onesided=1, inverse=1),
    ]
    feeds = {"numbers": numbers, "reals": reals, "half": half}
    found = dlc.compile(build_model(nodes, feeds, {"n": np.array(length)}, opset=17), num_threads=1)(feeds)
    given, frequencies = (each[..., 0] + 1j * each[..., 1] for each in (numbers, half))
    transforms = (np.fft.fft(given), np.fft.ifft(given), np.fft.rfft(reals[..., 0]))
    wanted = [np.stack([each.real, each.imag], -1) for each in transforms]
    wanted.append(np.fft.irfft(frequencies, n=length)[..., None])
    for have, want in zip(found, wanted, strict=True):
        assert np.abs(have - want).max() <= 4e-15 * np.abs(want).max()


@pytest.mark.parametrize("shape", [(2, 20, 1, 2), (20, 3, 7, 2), (1, 12, 32, 2), (40, 12, 1)])
def test_layouts(shape: tuple[int, ...]) -> None:
    nodes = [node("DFT", ["x", "", axis], [f"y{axis}"]) for axis in ("first", "second")[: len(shape) - 2]]
    x, constants = _random(*shape), {"first": np.array(0), "second": np.array(1)}
    found = dlc.compile(build_model(nodes, {"x": x}, constants, opset=20), num_threads=1)(x)
    numbers = x[..., 0] + 1j * (x[..., 1] if shape[-1] == 2 else 0)
    for axis, have in enumerate(found):
        want = np.fft.fft(numbers, axis=axis)
        compare(have, np.stack([want.real, want.imag], -1), "y", 1e-5, 1e-5)


def test_axes_of_any_size() -> None:
    """Two axes before the transform and two behind it that only run time knows."""
    model = build_model([node("DFT", ["x"], axis=2)], {"x": _random(1, 1, 6, 1, 1, 2)}, opset=17)
    for at, name in ((0, "a"), (1, "b"), (3, "c"), (4, "d")):
        for entry in (model.graph.input[0], model.graph.output[0]):
            entry.type.tensor_type.shape.dim[at].dim_param = name
    del model.graph.value_info[:]
    compiled = dlc.compile(model, num_threads=1)
    for sizes in ((2, 3, 6, 4, 5, 2), (1, 1, 6, 1, 1, 2)):
        x = _random(*sizes)
        want = np.fft.fft(x[..., 0] + 1j * x[..., 1], axis=2)
        compare(compiled(x)[0], np.stack([want.real, want.imag], -1), "y", 1e-5, 1e-5)


def test_rounding_is_that_of_numpy() -> None:
    """Each product is rounded, as in NumPy: results near 0 are what that gives, not what a fused product would."""
    numbers = np.arange(100, dtype=np.complex64).reshape(10, 10)
    x = np.stack([numbers.real, numbers.imag], -1)
    (found,) = dlc.compile(build_model([node("DFT", ["x"], axis=0, inverse=1)], {"x": x}, opset=17), num_threads=1)(x)
    want = np.fft.ifft(numbers, axis=0)
    np.testing.assert_array_equal(found, np.stack([want.real, want.imag], -1))


@pytest.mark.parametrize("length", [9, 10])
def test_frequencies_of_reals_are_conjugates(length: int) -> None:
    """Exactly, so that the middle one of an even length is real."""
    x = _random(2, length, 1)
    (found,) = dlc.compile(build_model([node("DFT", ["x"], axis=1)], {"x": x}, opset=17), num_threads=1)(x)
    numbers = found[..., 0] + 1j * found[..., 1]
    np.testing.assert_array_equal(numbers[:, 1:], numbers[:, :0:-1].conj())
    compare(found, np.stack([(want := np.fft.fft(x[..., 0])).real, want.imag], -1), "y", 1e-5, 1e-5)


@pytest.mark.parametrize("step", [4, 3])
def test_frames_by_slices_and_by_places(step: int) -> None:
    """Frames whose length is a multiple of the step are put together from slices, others of 32 numbers are gathered."""
    x, window = _random(2, 101, 1), np.hanning(32).astype(np.float32)
    model = build_model([node("STFT", ["x", "step", "window"])], {"x": x}, {"step": np.array(step), "window": window}, opset=17)
    (found,) = dlc.compile(model, num_threads=1)(x)
    frames = np.lib.stride_tricks.sliding_window_view(x[..., 0], 32, axis=1)[:, ::step] * window
    want = np.fft.rfft(frames.astype(np.float64))
    compare(found, np.stack([want.real, want.imag], -1).astype(np.float32), "y", 1e-5, 1e-5)


@pytest.mark.parametrize("onesided", [0, 1])
def test_short_transforms(onesided: int) -> None:
    constants = {"step": np.array(3), "window": np.hanning(8).astype(np.float32), "length": np.array(8)}
    nodes = [node("STFT", ["x", "step", *rest], onesided=onesided) for rest in (["window"], ["", "length"], ["window", "length"])]
    check(nodes, {"x": _random(2, 40, 1)}, constants, opset=17, dynamic=False, rtol=1e-4)


def test_short_transform_of_any_length() -> None:
    constants = {"step": np.array(3), "window": np.hanning(8).astype(np.float32)}
    model = build_model([node("STFT", ["x", "step", "window"], onesided=1)], {"x": _random(2, 40, 1)}, constants, opset=17)
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "n"
    model.graph.output[0].type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    compiled = dlc.compile(model)
    for size in (8, 9, 41):
        x = _random(2, size, 1)
        compare(compiled(x)[0], ReferenceEvaluator(model).run(None, {"x": x})[0], "y", 1e-4)


def test_window_that_is_an_input() -> None:
    feeds = {"x": _random(2, 40, 1), "window": _random(8)}
    check([node("STFT", ["x", "step", "window"])], feeds, {"step": np.array(4)}, opset=17, dynamic=False, rtol=1e-4)


@pytest.mark.parametrize(("low", "high"), [(0.0, 8192 / 2), (20.0, 300.0)])
def test_mel_weights(low: float, high: float) -> None:
    names = ["bins", "length", "rate", "low", "high"]
    values = (np.array(8), np.array(16), np.array(8192), np.array(low, np.float32), np.array(high, np.float32))
    nodes = [helper.make_node("MelWeightMatrix", names, ["weights"]), node("Add", ["x", "weights"], ["y"])]
    feeds = {"x": np.zeros((9, 8), np.float32)}
    model = build_model(nodes, feeds, dict(zip(names, values, strict=True)), 17)
    compare(dlc.compile(model)(feeds)[0], ReferenceEvaluator(model).run(None, feeds)[0], "y")


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (node("DFT", ["x"], axis=2), "axis 2 is no axis of numbers"),
        (node("STFT", ["x", "step", "window", "length"]), "the window has 4 elements but frames have 6"),
        (node("STFT", ["x", "none", "window"]), "frame_step is 0, but must be 1 or more"),
        (node("DFT", ["x", "long"], axis=1), "a transform of 33554432 points is too long; 16777216 is the most"),
    ],
)
def test_what_is_not_supported_is_reported(item: Any, reason: str) -> None:
    constants = {"step": np.array(2), "window": np.ones(4, np.float32), "length": np.array(6)}
    constants |= {"none": np.array(0), "long": np.array(1 << 25)}
    model = build_model([item], {"x": _random(1, 8, 1)}, constants, opset=17)
    model.graph.output[0].type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    with pytest.raises(dlc.UnsupportedError, match=reason):
        dlc.compile(model)


@pytest.mark.slow
@pytest.mark.parametrize(("op", "count"), [("DFT", 10), ("STFT", 2)])
def test_node_tests_of_onnx(op: str, count: int) -> None:
    assert check_backend_cases(op) == count
