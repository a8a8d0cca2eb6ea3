"""Convolutions on Winograd's tiles: whole models against onnxruntime and NumPy, on sizes, batches, threads and accuracy."""

from __future__ import annotations

import itertools

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper, numpy_helper
from reference_session import reference_session
from sweeps import examples

import dlc
from dlc._mlir import ir
from dlc.dialects.dl.conv import Conv
from dlc.dialects.dl.winograd import WinogradConv
from dlc.dialects.dl.winograd_matrices import BY_STRIDE, MATRICES, STRIDED, Matrices
from dlc.lowering.pipeline import Pipeline
from dlc.sources import Source
from dlc.targets.machine import TARGET

_CHOOSES = "cpu:skylake-avx512"


def _model(image: list[int | str], out: int, pads: list[int], residual: bool = False, stride: int = 1) -> onnx.ModelProto:
    """A convolution by 3x3 taps with bias, added to a second input where wanted, and a relu."""
    generator = np.random.default_rng(7)
    inner = image[1]
    assert isinstance(inner, int)
    weight = generator.standard_normal((out, inner, 3, 3)).astype(np.float32) * np.float32((2 / (9 * inner)) ** 0.5)
    bias = generator.standard_normal(out).astype(np.float32)
    sizes = [
        (size + pads[axis] + pads[axis + 2] - 3) // stride + 1 if isinstance(size, int) else None
        for axis, size in enumerate(image[2:])
    ]
    result = [image[0], out, *sizes]
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=pads, strides=[stride] * 2)]
    inputs = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, image)]
    if residual:
        nodes.append(helper.make_node("Add", ["c", "r"], ["s"]))
        inputs.append(helper.make_tensor_value_info("r", onnx.TensorProto.FLOAT, result))
    nodes.append(helper.make_node("Relu", ["s" if residual else "c"], ["y"]))
    outputs = [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, result)]
    weights = [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "b")]
    graph = helper.make_graph(nodes, "conv", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _on_tiles(model: onnx.ModelProto, tile: int, stride: int = 1) -> Source:
    """The model with its convolution on tiles, whether they pay or not; which ones pay more is asked for one target."""
    source = dlc.import_onnx(model)
    with source.module.context, ir.Location.unknown():
        passes = [f"dl-set-target{{target={_CHOOSES}}}", "dl-assign-layouts{force}", f"dl-use-winograd{{force most={tile}}}"]
        Pipeline(passes).run(source.module)
    del source.module.operation.attributes[TARGET]
    found = [line for line in str(source.module).splitlines() if "dl.winograd_conv" in line]
    large, small = (f"tensor<{len(BY_STRIDE[stride][each].kernels)}x" for each in (tile, 2))
    assert len(found) == 1 and (large in found[0] or (small in found[0] and _is_small(model)))
    return source


def _is_small(model: onnx.ModelProto) -> bool:
    """Whether the result may be smaller than two tiles of four by four."""
    return min(dim.dim_value for dim in model.graph.output[0].type.tensor_type.shape.dim[2:]) < 8


def _reference(model: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> np.ndarray:
    session = reference_session(model)
    found: np.ndarray = session.run(None, inputs)[0]
    return found


def _inputs(shapes: dict[str, list[int]]) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(3)
    return {name: generator.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def _check(model: onnx.ModelProto, tile: int, inputs: dict[str, np.ndarray], stride: int = 1) -> None:
    want = _reference(model, inputs)
    have = dlc.compile(_on_tiles(model, tile, stride))(inputs)[0]
    error = np.abs(have - want).max() / max(1.0, np.abs(want).max())
    assert have.shape == want.shape and error < {2: 2e-6, 4: 4e-5}[tile]


_SHAPES = [
    ([1, 64, 56, 56], 64),
    ([1, 128, 28, 28], 128),
    ([2, 64, 14, 14], 32),
    ([1, 64, 7, 7], 64),
    ([1, 32, 13, 31], 48),
    ([1, 3, 9, 10], 16),
    ([2, 64, 3, 699], 32),
    ([1, 32, 200, 190], 32),
    ([2, 16, 151, 262], 16),
]


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("tile", sorted(MATRICES))
@pytest.mark.parametrize(("image", "out"), _SHAPES, ids=[f"{out}x{'x'.join(map(str, image))}" for image, out in _SHAPES])
def test_compiled_matches_onnxruntime(image: list[int], out: int, tile: int) -> None:
    _check(_model([*image], out, [1, 1, 1, 1]), tile, _inputs({"x": image}))


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize(("image", "out"), _SHAPES, ids=[f"{out}x{'x'.join(map(str, image))}" for image, out in _SHAPES])
def test_strided_matches_onnxruntime(image: list[int], out: int) -> None:
    _check(_model([*image], out, [1, 1, 1, 1], stride=2), 2, _inputs({"x": image}), stride=2)


@settings(max_examples=examples(12), deadline=None)
@given(
    st.integers(1, 2),
    st.integers(3, 19),
    st.integers(3, 19),
    st.lists(st.integers(0, 2), min_size=4, max_size=4),
    st.sampled_from([(2, 1), (4, 1), (2, 2)]),
)
def test_any_size_matches_onnxruntime(batch: int, height: int, width: int, pads: list[int], kind: tuple[int, int]) -> None:
    image, (tile, stride) = [batch, 8, height, width], kind
    _check(_model([*image], 16, pads, stride=stride), tile, _inputs({"x": image}), stride)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(("tile", "stride"), [(2, 1), (4, 1), (2, 2)])
def test_residual_and_dynamic_batch(tile: int, stride: int) -> None:
    model = _model(["N", 32, 21, 18], 32, [1, 1, 1, 1], residual=True, stride=stride)
    compiled = dlc.compile(_on_tiles(model, tile, stride))
    height, width = -(-21 // stride), -(-18 // stride)
    for batch in (0, 1, 3):
        inputs = _inputs({"x": [batch, 32, 21, 18], "r": [batch, 32, height, width]})
        have = compiled(inputs)[0]
        assert have.shape == (batch, 32, height, width)
        if batch:
            np.testing.assert_allclose(have, _reference(model, inputs), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("stride", [1, 2])
def test_threads_do_not_change_results(stride: int) -> None:
    source = _on_tiles(_model([1, 64, 40, 36], 64, [1, 1, 1, 1], stride=stride), 2, stride)
    inputs = _inputs({"x": [1, 64, 40, 36]})
    one, two = (dlc.compile(source, num_threads=count)(inputs)[0] for count in (1, 2))
    assert np.array_equal(one, two)


@pytest.mark.parametrize("pads", [[1, 1, 1, 1], [0, 2, 0, 1]])
def test_small_images_have_code_of_their_own(pads: list[int]) -> None:
    """Sizes around the border between taps and tiles, with a known side and with none."""
    for image in (["n", 256, "h", "w"], ["n", 256, 4, "w"]):
        model = _model([*image], 256, pads)
        found = dlc.compile(model)
        assert any(entry.taps_up_to for entry in dlc.explain(model).convolutions)
        for batch, height, width in itertools.product((1, 2), (3, 5, 6, 9) if image[2] == "h" else (4,), range(3, 10)):
            inputs = _inputs({"x": [batch, 256, height, width]})
            want = _reference(model, inputs)
            assert np.abs(found(inputs)[0] - want).max() < 4e-6 * np.abs(want).max()  # taps: sums of 2304 products


def test_epilogue_is_part_of_the_output_transform() -> None:
    """Bias and relu follow on the transformed products: what a tile gives is stored once, for each of its four places."""
    source = _on_tiles(_model([1, 32, 8, 8], 32, [1, 1, 1, 1]), 2)
    function = str(dlc.lower(source, to="affine")).split("func.func private @kernel_0_")[1].split("func.func")[0]
    nests = function.split("\n    affine.for")[1:]
    assert [nest.count("affine.store") for nest in nests][-3:] == [16, 1, 4]
    assert nests[-1].count("arith.maximumf") + nests[-1].count("arith.select") == 4


@pytest.mark.parametrize(("stride", "side"), [(1, 7), (2, 14), (2, 13)])
def test_products_are_one_nest(stride: int, side: int) -> None:
    """Whether tiles use some kernels twice, or reach beyond the image."""
    source = _on_tiles(_model([1, 32, side, side], 32, [1, 1, 1, 1], stride=stride), 2, stride)
    of_tiles = ", ".join(['"parallel"'] * 7 + ['"reduction"'])
    assert str(dlc.lower(source, to="linalg")).count(of_tiles) == 1


def test_compile_takes_the_size_of_tiles() -> None:
    model = _model([1, 64, 56, 56], 64, [1, 1, 1, 1])
    tiles = [dlc.explain(model, winograd=most).convolutions[0] for most in (None, 0, 2, 4)]
    assert [(entry.tile, entry.reason) for entry in tiles] == [(2, "winograd"), (0, "off"), (2, "winograd"), (4, "winograd")]
    with pytest.raises(dlc.InvalidInputError, match="winograd must be one of 0, 2, 4, not 3"):
        dlc.compile(model, winograd=3)


def test_small_tiles_are_as_accurate_as_taps() -> None:
    """Errors against f64 for 128 channels: F(2, 3) like the direct sum, F(4, 3) about ten times that."""
    generator = np.random.default_rng(0)
    x, weight = generator.standard_normal((1, 16, 16, 128)), generator.standard_normal((3, 3, 128, 32)) / 34
    wanted = Conv.reference(x, weight, None, strides=(), pads=(), dilations=(), groups=1, channels_last=True)
    narrow = [array.astype(np.float32) for array in (x, weight)]
    direct = Conv.reference(*narrow, None, strides=(), pads=(), dilations=(), groups=1, channels_last=True)
    errors = {0: np.abs(direct - wanted).max()}
    for tile, matrices in MATRICES.items():
        errors[tile] = np.abs(WinogradConv.reference(narrow[0], _kernel(matrices, weight), None, pads=(), stride=1) - wanted).max()
    strided = WinogradConv.reference(narrow[0], _kernel(STRIDED[2], weight), None, pads=(), stride=2)
    assert errors[2] < 3 * errors[0] and errors[4] < 60 * errors[0]
    assert np.abs(strided - wanted[:, ::2, ::2]).max() < 3 * errors[0]


def _kernel(matrices: Matrices, weight: np.ndarray) -> np.ndarray:
    """The transformed kernel of weights [3, 3, in, out], in blocks of 16 channels."""
    found = (matrices.kernels @ weight.reshape(9, -1)).reshape(-1, weight.shape[2], weight.shape[3] // 16, 16)
    return found.transpose(0, 2, 1, 3).astype(np.float32)
