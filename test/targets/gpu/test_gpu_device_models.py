"""Models on the GPU of this machine give what onnxruntime does; skipped where there is none (`make check-gpu`)."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import onnx
import pytest
import test_gpu_tensor_maps as tensor_maps
from cuda_driver import missing
from reference_session import reference_session
from test_gpu_networks import NETWORKS, _inputs
from test_gpu_runtime import _CHAIN, _SCATTER, _W, _expected, _rows

import dlc
from bench.networks import bert, resnet18, squeezenet
from dlc.runtime.device_array import DeviceArray

_REASON = missing()
pytestmark = [pytest.mark.cuda, pytest.mark.skipif(bool(_REASON), reason=_REASON)]
pytest.importorskip("onnxruntime")

_LARGER: Mapping[str, Callable[[], onnx.ModelProto]] = {
    "bert, two layers": partial(bert.build, layers=2),
    "resnet18": resnet18.build,
    "squeezenet": squeezenet.build,
}


@pytest.mark.parametrize("name", [*NETWORKS, *_LARGER])
def test_a_network_gives_what_onnxruntime_does(name: str) -> None:
    """Also the third time, when the calls are one launch of a graph."""
    model = {**NETWORKS, **_LARGER}[name]()
    inputs = _inputs(model, np.random.default_rng(0))
    expected = reference_session(model).run(None, inputs)
    compiled = dlc.compile(model, "gpu")
    for _ in range(4):
        for mine, theirs in zip(compiled(inputs), expected, strict=True):
            scale = max(1.0, float(np.abs(theirs).max()))
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-3 * scale)


def test_products_of_many_batches() -> None:
    """By `wgmma` and TMA where the GPU has them."""
    compiled = tensor_maps.compiled()
    for seed in range(4):
        x = tensor_maps.numbers((2, 72, 80), seed)
        np.testing.assert_array_equal(compiled(x)[0], tensor_maps.expected(x))


def test_the_host_does_what_the_gpu_cannot() -> None:
    model = onnx.parser.parse_model(_SCATTER)
    random = np.random.default_rng(0)
    x, news = (random.standard_normal(shape).astype(np.float32) for shape in ((4, 5), (2, 5)))
    ids = np.array([[0, 1, 2, 3, 0], [2, 3, 1, 1, 3]])
    scattered = np.tanh(x)
    np.put_along_axis(scattered, ids, news, axis=0)
    compiled = dlc.compile(model, "gpu")
    for _ in range(4):
        np.testing.assert_allclose(compiled(x, ids, news)[0], np.exp(scattered), rtol=1e-5)


def test_sizes_and_threads() -> None:
    compiled = dlc.compile(_CHAIN, "gpu", params={"w": _W})
    wrong = []

    def work(seed: int) -> None:
        for count in (1, 7, 300, 7, 7):
            x = _rows(count, seed)
            if not np.allclose(compiled(x)[0], _expected(x), rtol=1e-4, atol=1e-6):
                wrong.append((seed, count))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_results_stay_on_the_gpu() -> None:
    compiled = dlc.compile(_CHAIN, "gpu", params={"w": _W})
    x = compiled.on_device(_rows(5))
    for _ in range(3):
        (result,) = compiled(x)
        assert isinstance(result, DeviceArray)
        np.testing.assert_allclose(result.numpy(), _expected(_rows(5)), rtol=1e-4)
    out = compiled.on_device(np.zeros((5, 3), np.float32))
    for _ in range(3):
        compiled.run([x], [out])
    np.testing.assert_allclose(out.numpy(), _expected(_rows(5)), rtol=1e-4)


def test_torch_gives_and_takes_without_copies() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch finds no GPU")
    compiled = dlc.compile(_CHAIN, "gpu", params={"w": _W})
    x = torch.from_numpy(_rows(5)).cuda()
    result = torch.from_dlpack(compiled(x)[0])
    np.testing.assert_allclose(result.cpu().numpy(), _expected(_rows(5)), rtol=1e-4)
    with pytest.raises(dlc.InvalidInputError, match="row-major"):
        compiled(torch.zeros(6, 5).cuda().T)


def test_more_than_the_gpu_has_is_one_error() -> None:
    compiled = dlc.compile(_CHAIN, "gpu", params={"w": _W})
    address = compiled.on_device(_rows(5))
    with pytest.raises(dlc.OutOfMemoryError, match="the GPU has"):
        address._model.allocate(1 << 50, "far too much")
    np.testing.assert_allclose(compiled(_rows(5))[0], _expected(_rows(5)), rtol=1e-4)


def test_a_profile_and_the_end() -> None:
    compiled = dlc.compile(_CHAIN, "gpu", params={"w": _W})
    profiled = compiled.with_profile()
    np.testing.assert_allclose(profiled(_rows(5))[0], _expected(_rows(5)), rtol=1e-4)
    del compiled, profiled
    gc.collect()
