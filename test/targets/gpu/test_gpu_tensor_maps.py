"""Models whose products are by TMA and `wgmma` on a fake GPU: the runtime encodes tensor maps, kernels get them by value."""

from __future__ import annotations

from collections.abc import Iterator

import ml_dtypes
import numpy as np
import pytest
from fake_cuda import FakeGpu, fake_gpu

import dlc
from dlc.lowering.policy import policy, using

_TEXT = """
func.func @main(%x: tensor<2x72x80xbf16> {dl.name = "x"}) -> (tensor<2x72x48xbf16> {dl.name = "y"}) {
  %w = "dl.param"() {key = "w", shape = array<i64: 80, 64>, dtype = bf16} : () -> tensor<80x64xbf16>
  %v = "dl.param"() {key = "v", shape = array<i64: 64, 48>, dtype = bf16} : () -> tensor<64x48xbf16>
  %0 = "dl.matmul"(%x, %w) : (tensor<2x72x80xbf16>, tensor<80x64xbf16>) -> tensor<2x72x64xbf16>
  %1 = "dl.relu"(%0) : (tensor<2x72x64xbf16>) -> tensor<2x72x64xbf16>
  %2 = "dl.matmul"(%1, %v) : (tensor<2x72x64xbf16>, tensor<64x48xbf16>) -> tensor<2x72x48xbf16>
  return %2 : tensor<2x72x48xbf16>
}
"""
_MAPS = 4
"""Two for each product."""
_MOST = 1024
"""Maps that the runtime keeps (`tensor_maps.cpp`)."""


@pytest.fixture(scope="module")
def gpu() -> Iterator[FakeGpu]:
    with fake_gpu() as found:
        yield found


def numbers(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Small whole numbers, whose sums bf16 holds as they are."""
    return np.random.default_rng(seed).integers(-1, 2, shape).astype(ml_dtypes.bfloat16)


_WEIGHTS = {"w": numbers((80, 64), 1), "v": numbers((64, 48), 2)}


def expected(x: np.ndarray) -> np.ndarray:
    w, v = (weight.astype(np.float32) for weight in _WEIGHTS.values())
    hidden = np.maximum(x.astype(np.float32) @ w, 0).astype(x.dtype)
    return (hidden.astype(np.float32) @ v).astype(x.dtype)


def compiled() -> dlc.CompiledModel:
    """Both products by `wgmma`: no tile of `mma.sync` fits."""
    tiles = {"mma_gain": 1e6, "mma_block_sides": (16,), "mma_warp_sides": (32,)}
    with using(policy().override(**tiles, warpgroup_rows=(64,), warpgroup_columns=(64,))):
        return dlc.compile(_TEXT, "gpu", params=_WEIGHTS, cache=False)


def test_maps_are_encoded_once(gpu: FakeGpu) -> None:
    """Calls that are launched one by one, recorded, and replayed as a graph."""
    model = compiled()
    for seed in range(4):
        x = numbers((2, 72, 80), seed)
        (y,) = model(x)
        assert gpu.error is None
        np.testing.assert_array_equal(y, expected(x))
    assert gpu.calls("cuTensorMapEncodeTiled") == _MAPS and gpu.calls("cuGraphLaunch") > 0


def test_an_error_of_the_driver_leaves_the_model_usable(gpu: FakeGpu) -> None:
    model, x = compiled(), numbers((2, 72, 80), 5)
    gpu.fail("cuTensorMapEncodeTiled", 1)
    with pytest.raises(dlc.TargetError, match="the GPU cannot describe an array"):
        model(x)
    gpu.configure()
    np.testing.assert_array_equal(model(x)[0], expected(x))


def test_arrays_of_the_gpu_get_maps_of_their_own(gpu: FakeGpu) -> None:
    """One for each; those of weights and of memory between kernels stay."""
    model = compiled()
    gpu.configure()
    arrays = [numbers((2, 72, 80), seed) for seed in range(3)]
    for x, on_device in [(x, model.on_device(x)) for x in arrays] * 2:
        (y,) = model(on_device)
        np.testing.assert_array_equal(y.numpy(), expected(x))
    assert gpu.calls("cuTensorMapEncodeTiled") == _MAPS + len(arrays) - 1


def test_too_many_maps_are_forgotten(gpu: FakeGpu) -> None:
    """And encoded again when they are asked for: those of weights and of memory between kernels, once in so many inputs."""
    model, arrays = compiled(), [numbers((2, 72, 80), seed) for seed in range(2)]
    first, other = (model.on_device(x) for x in arrays)
    gpu.configure()
    for _ in range(3):
        model(first)
    gpu.library.fake_on_launch(None)
    held = []
    for _ in range(_MOST):
        held.append(model.on_device(arrays[0]))
        model(held[-1])
    gpu.library.fake_on_launch(gpu._callback)
    assert gpu.calls("cuTensorMapEncodeTiled") == _MAPS + _MOST + _MAPS - 1
    for on_device, x in ((first, arrays[0]), (other, arrays[1])):
        np.testing.assert_array_equal(model(on_device)[0].numpy(), expected(x))


def test_a_driver_without_tensor_maps_is_too_old() -> None:
    with fake_gpu("-DBEFORE_CUDA_12"):
        model = compiled()
        with pytest.raises(dlc.TargetError, match=r"it has no cuTensorMapEncodeTiled, which came with CUDA 12\.0; update it"):
            model(numbers((2, 72, 80), 0))
