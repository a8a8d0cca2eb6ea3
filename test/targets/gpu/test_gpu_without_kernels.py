"""Models, and segments of models, of which nothing has a kernel for a GPU: they run on the host, and say so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx.parser
import pytest
from fake_cuda import FakeGpu, fake_gpu

import dlc
from dlc.runtime.device_array import DeviceArray

_SCATTER = """
<ir_version: 8, opset_import: ["" : 18]>
scattered (float[n, 5] x, int64[2, 5] ids, float[2, 5] news) => (float[n, 5] y) {
  y = ScatterElements<axis = 0>(x, ids, news)
}
"""
_SEGMENTS = """
<ir_version: 8, opset_import: ["" : 18]>
segments (float[4] x, int64[1] ids, float[1] news) => (string[4] text, float[4] y) {
  a = ScatterElements<axis = 0>(x, ids, news)
  text = Cast<to = 8>(a)
  b = Cast<to = 1>(text)
  y = Exp(b)
}
"""


@pytest.fixture(scope="module")
def gpu() -> Iterator[FakeGpu]:
    with fake_gpu() as found:
        yield found


def _arrays(rows: int) -> list[np.ndarray]:
    random = np.random.default_rng(rows)
    ids = np.array([[0, 1, 2, 0, 1], [1, 2, 0, 1, 2]])
    return [random.random((rows, 5), np.float32), ids, random.random((2, 5), np.float32)]


def _scattered(x: np.ndarray, ids: np.ndarray, news: np.ndarray) -> np.ndarray:
    found = x.copy()
    np.put_along_axis(found, ids, news, 0)
    return found


def test_a_model_without_kernels_runs_on_the_host(gpu: FakeGpu) -> None:
    """Of the GPU it gets arrays alone, which it copies, and gives such back; nothing is left when it goes."""
    live = gpu.live()
    model = dlc.compile(onnx.parser.parse_model(_SCATTER), "gpu", cache=False)
    for rows in (3, 7):
        given = _arrays(rows)
        np.testing.assert_array_equal(model(*given)[0], _scattered(*given))
        downloads = gpu.calls("cuMemcpyDtoHAsync_v2")
        result = model(*map(model.on_device, given))[0]
        assert isinstance(result, DeviceArray) and gpu.calls("cuMemcpyDtoHAsync_v2") >= downloads + len(given)
        np.testing.assert_array_equal(result.numpy(), _scattered(*given))
    with pytest.raises(dlc.InvalidInputError, match="index"):
        model(given[0], given[1] + 9, given[2])
    del model, result
    assert gpu.live() == live and gpu.calls("kernel") == 0


def test_segments_without_kernels_run_beside_those_with(gpu: FakeGpu) -> None:
    model = dlc.compile(onnx.parser.parse_model(_SEGMENTS), "gpu", cache=False)
    text, y = model(np.array([1, 2, 3, 4], np.float32), np.array([2]), np.array([0.5], np.float32))
    assert [float(each) for each in text] == [1, 2, 0.5, 4] and gpu.calls("kernel") == 1
    np.testing.assert_allclose(y, np.exp(np.array([1, 2, 0.5, 4], np.float32)), rtol=1e-6)


def test_the_report_says_so() -> None:
    report = dlc.explain(onnx.parser.parse_model(_SCATTER), target="gpu:sm_90")
    assert report.device is not None and not report.device.kernels
    assert any("all of it runs on the host" in note for note in report.notes)
    assert "cf.assert" in report.device.on_host["kernel_0_scatter_elements"]


def test_an_engine_of_it_runs(gpu: FakeGpu, tmp_path: Path) -> None:
    model = dlc.compile(onnx.parser.parse_model(_SCATTER), "gpu", cache=False)
    model.save(tmp_path / "m.dlce")
    given, kernels = _arrays(4), gpu.calls("kernel")
    np.testing.assert_array_equal(dlc.load(tmp_path / "m.dlce")(*given)[0], _scattered(*given))
    assert gpu.calls("kernel") == kernels


def test_a_constant_comes_from_the_host(gpu: FakeGpu) -> None:
    """Nothing of the GPU is in the code then; a result still lies where the caller asks for it."""
    text = '<ir_version: 8, opset_import: ["" : 18]> constant () => (float[3] y) { y = Constant<value = float[3] {1, 2, 4}>() }'
    model = dlc.compile(onnx.parser.parse_model(text), "gpu", cache=False)
    out = model.on_device(np.zeros(3, np.float32))
    for _ in range(3):
        np.testing.assert_array_equal(model()[0], [1, 2, 4])
        model.run([], [out])
        np.testing.assert_array_equal(out.numpy(), [1, 2, 4])
