"""Models run on a GPU: a fake one, whose kernels run thread by thread (`fake_cuda.py`)."""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Iterator

import numpy as np
import onnx.parser
import pytest
from fake_cuda import FakeGpu, fake_gpu
from reference_session import reference_session

import dlc
from bench import nodes
from dlc.runtime.device_array import DeviceArray
from dlc.runtime.library import load_library

pytest.importorskip("onnxruntime")

_CHAIN = """
func.func @main(%x: tensor<?x6xf32> {dl.name = "x", dl.dims = ["n", ""]})
    -> (tensor<?x3xf32> {dl.name = "y", dl.dims = ["n", ""]}) {
  %w = "dl.param"() {key = "w", shape = array<i64: 6, 3>, dtype = f32} : () -> tensor<6x3xf32>
  %0 = "dl.matmul"(%x, %w) : (tensor<?x6xf32>, tensor<6x3xf32>) -> tensor<?x3xf32>
  %1 = "dl.softmax"(%0) {axis = 1 : i64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}
"""
_SCATTER = """
<ir_version: 8, opset_import: ["" : 18]>
scattered (float[4, 5] x, int64[2, 5] ids, float[2, 5] news) => (float[4, 5] y) {
  a = Tanh(x)
  b = ScatterElements<axis = 0>(a, ids, news)
  y = Exp(b)
}
"""
_ROW = """
<ir_version: 8, opset_import: ["" : 18]>
row (float[1, 64] x) => (float[1, 16] y) <float[16] bias = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}> {
  a = MatMul(x, w)
  b = Add(a, bias)
  y = Tanh(b)
}
"""
_GROWING = """
<ir_version: 8, opset_import: ["" : 18]>
growing (float[past, 3] cache, float[new, 3] x) => (float[total, 3] y) {
  a = Tanh(x)
  y = Concat<axis = 0>(cache, a)
}
"""
_HOST_RESULT = """
<ir_version: 8, opset_import: ["" : 18]>
scattered (float[4, 6] x, int64[1, 6] ids, float[1, 6] news) => (float[4, 6] a, float[4, 6] b) {
  a = Tanh(x)
  b = ScatterElements<axis = 0>(x, ids, news)
}
"""
_GATHER = """
<ir_version: 8, opset_import: ["" : 18]>
gathered (float[4, 5] x, int64[3] ids) => (float[3, 5] y) {
  a = Tanh(x)
  y = Gather<axis = 0>(a, ids)
}
"""
_PIECE = 4 << 20
"""Bytes; more than what the arena asks for at least."""
_W = np.random.default_rng(1).standard_normal((6, 3)).astype(np.float32)


@pytest.fixture(scope="module")
def gpu() -> Iterator[FakeGpu]:
    with fake_gpu() as found:
        yield found


@pytest.fixture(scope="module")
def chain(gpu: FakeGpu) -> Iterator[dlc.CompiledModel]:
    """softmax(x @ w), for any number of rows."""
    yield dlc.compile(_CHAIN, "gpu", params={"w": _W}, cache=False)


@pytest.fixture(autouse=True)
def _as_it_was(gpu: FakeGpu) -> Iterator[None]:
    gpu.configure()
    yield
    gpu.configure()


def _rows(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, 6)).astype(np.float32)


def _expected(x: np.ndarray, w: np.ndarray = _W) -> np.ndarray:
    powers = np.exp(x @ w)
    return powers / powers.sum(axis=1, keepdims=True)


def test_no_buffer_crosses_pieces_of_the_arena(gpu: FakeGpu, chain: dlc.CompiledModel) -> None:
    """Here they are neighbours. NVIDIA's driver refuses copies from one to another of its allocations."""
    library, address = load_library(), ctypes.c_void_p
    take = library.function("dlc_gpu_take", (ctypes.c_uint64,), address)
    release = library.function("dlc_gpu_release", (address,), None)
    library.function("dlc_gpu_begin", (address,), None)(chain._session._keepalive.model.address)  # type: ignore[attr-defined]
    first, second = (int(take(_PIECE)) for _ in range(2))
    assert abs(second - first) == _PIECE
    release(first)
    release(second)
    both = int(take(2 * _PIECE))
    library.function("dlc_gpu_finish", (), None)()
    assert both not in (first, second)


def test_calls_of_one_size_become_one_launch(gpu: FakeGpu, chain: dlc.CompiledModel) -> None:
    """The first calls launch kernel by kernel; then a graph is recorded, and each call launches it. Another size begins anew."""
    for seed in range(4):
        np.testing.assert_allclose(chain(_rows(5, seed))[0], _expected(_rows(5, seed)), rtol=1e-5)
    before = gpu.calls("cuLaunchKernel"), gpu.calls("cuGraphLaunch"), gpu.calls("cuStreamSynchronize")
    np.testing.assert_allclose(chain(_rows(5, 9))[0], _expected(_rows(5, 9)), rtol=1e-5)
    assert gpu.calls("cuLaunchKernel") == before[0] and gpu.calls("cuGraphLaunch") == before[1] + 1
    assert gpu.calls("cuStreamSynchronize") == before[2] + 1 and gpu.calls("cuMemAlloc_v2") <= 2
    np.testing.assert_allclose(chain(_rows(7))[0], _expected(_rows(7)), rtol=1e-5)
    assert gpu.calls("cuLaunchKernel") > before[0]
    assert chain(_rows(0))[0].shape == (0, 3)


def test_weights_are_copied_once_and_can_be_replaced(gpu: FakeGpu, chain: dlc.CompiledModel) -> None:
    twice = chain.with_params({"w": 2 * _W})
    for _ in range(3):
        np.testing.assert_allclose(twice(_rows(5))[0], _expected(_rows(5), 2 * _W), rtol=1e-5)
        np.testing.assert_allclose(chain(_rows(5))[0], _expected(_rows(5)), rtol=1e-5)
    live = gpu.live()
    del twice
    gc.collect()
    assert gpu.live() < live


def test_threads_share_a_model(chain: dlc.CompiledModel) -> None:
    wrong = []

    def work(seed: int) -> None:
        for count in (3, 5, 8):
            x = _rows(count, seed)
            if not np.allclose(chain(x)[0], _expected(x), rtol=1e-5):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_host_does_what_the_gpu_cannot(gpu: FakeGpu) -> None:
    """Stores at places that data decides run on the CPU, between copies, and `explain` says so."""
    model = onnx.parser.parse_model(_SCATTER)
    found = dlc.explain(model, target="gpu:sm_80")
    assert found.device is not None and set(found.device.on_host) == {
        "kernel_1_scatter_elements",
        "kernel_1_scatter_elements_checks",
    }
    assert any("between kernels" in note for note in found.notes)
    random = np.random.default_rng(0)
    x, news = (random.standard_normal(shape).astype(np.float32) for shape in ((4, 5), (2, 5)))
    ids = np.array([[0, 1, 2, 3, 0], [2, 3, 1, 1, 3]])
    expected = np.tanh(x)
    np.put_along_axis(expected, ids, news, axis=0)
    compiled = dlc.compile(model, "gpu", cache=False)
    for _ in range(4):
        np.testing.assert_allclose(compiled(x, ids, news)[0], np.exp(expected), rtol=1e-5)
    assert gpu.calls("kernel") > 0


def test_a_failed_check_leaves_the_gpu_usable(gpu: FakeGpu) -> None:
    compiled = dlc.compile(onnx.parser.parse_model(_GATHER), "gpu", cache=False)
    x = np.ones((4, 5), np.float32)
    for _ in range(2):
        with pytest.raises(dlc.InvalidInputError, match="index"):
            compiled(x, np.array([0, 9, 1]))
        np.testing.assert_allclose(compiled(x, np.array([0, 3, 1]))[0], np.tanh(np.ones((3, 5))), rtol=1e-5)


def test_arrays_of_the_gpu_stay_there(gpu: FakeGpu, chain: dlc.CompiledModel) -> None:
    """An array that lies on the GPU is not copied to the host, and neither is the result."""
    first = chain._session._keepalive.model  # type: ignore[attr-defined]
    x = DeviceArray.new(first, (5, 6), np.dtype(np.float32), "x")
    _write(x, _rows(5))
    before = gpu.calls("cuMemcpyHtoDAsync_v2"), gpu.calls("cuMemcpyDtoHAsync_v2")
    (result,) = chain(_Foreign(x))
    assert (gpu.calls("cuMemcpyHtoDAsync_v2"), gpu.calls("cuMemcpyDtoHAsync_v2")) == before
    assert isinstance(result, DeviceArray) and result.__dlpack_device__() == (2, 0)
    np.testing.assert_allclose(result.numpy(), _expected(_rows(5)), rtol=1e-5)
    out = DeviceArray.new(first, (5, 3), np.dtype(np.float32), "out")
    assert chain.run([x], [out])[0] is out
    np.testing.assert_allclose(np.asarray(out), _expected(_rows(5)), rtol=1e-5)
    with pytest.raises(dlc.InvalidInputError, match="rank is 1 instead of 2"):
        chain(DeviceArray.new(first, (5,), np.dtype(np.float32), "x"))
    with pytest.raises(dlc.InvalidInputError, match=r"output 'y' is f32\[5, 3\]"):
        chain.run([x], [x])


class _Foreign:
    """An array of another library: it offers DLPack alone."""

    def __init__(self, array: DeviceArray) -> None:
        self._array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, stream: int | None = None) -> object:
        assert stream
        return self._array.__dlpack__()


def _write(target: DeviceArray, values: np.ndarray) -> None:
    """The fake GPU's memory is the host's."""
    import ctypes

    ctypes.memmove(target.address, values.ctypes.data, values.nbytes)


def test_a_profile_has_the_time_of_the_gpu(gpu: FakeGpu, chain: dlc.CompiledModel) -> None:
    """The fake GPU takes a millisecond for each step."""
    profiled = chain.with_profile()
    library = load_library()
    library.profile_reset()
    profiled(_rows(5))
    rows = library.profile_rows()
    assert len(rows) == 1 + len(profiled.profiled)
    assert all(nanoseconds >= 1e6 for _, nanoseconds in rows[1:])


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        ({"devices": 0}, "the driver finds no GPU on this machine"),
        ({"capability": (7, 0)}, "the code is for compute capability 8.0, and Fake GPU has 7.0"),
        ({"driver": 10020}, "the driver of Fake GPU knows CUDA 10.2, and PTX 7.0 takes CUDA 11.0; update it"),
    ],
)
def test_what_cannot_run_is_one_clear_error(gpu: FakeGpu, configuration: dict[str, object], message: str) -> None:
    gpu.configure(**configuration)  # type: ignore[arg-type]
    with pytest.raises(dlc.TargetError, match=message) as raised:
        dlc.compile(_CHAIN, "gpu:sm_80", params={"w": _W}, cache=False)
    assert "\n" not in str(raised.value) and "--emit=ptx" in str(raised.value)


def test_without_a_driver_the_error_says_what_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLC_CUDA_LIBRARY", "libnothing-at-all.so")
    with pytest.raises(dlc.TargetError, match=r"no driver of NVIDIA's.*--emit=ptx.*--target cpu runs the model"):
        dlc.compile(_CHAIN, "gpu", params={"w": _W}, cache=False)


def test_memory_that_runs_out_names_it(gpu: FakeGpu) -> None:
    chain = dlc.compile(_CHAIN, "gpu", params={"w": _W}, cache=False)
    gpu.fail("cuMemAlloc_v2", 2)
    with pytest.raises(dlc.OutOfMemoryError, match=r"bytes, of which the GPU has \d+ of \d+ free"):
        chain.with_params({"w": 3 * _W})
    chain(_rows(4000))
    gpu.configure(memory=4 << 20)
    gpu.fail("cuMemAlloc_v2", 2)
    with pytest.raises(dlc.OutOfMemoryError, match="the GPU has"):
        chain(_rows(400000))
    gpu.configure()
    np.testing.assert_allclose(chain(_rows(5))[0], _expected(_rows(5)), rtol=1e-5)


def test_arrays_take_memory_that_others_gave_back(gpu: FakeGpu, chain: dlc.CompiledModel) -> None:
    """The driver is asked again only where the sizes differ, and gets spare memory back where its own runs out."""
    x = chain.on_device(_rows(5))
    for _ in range(3):
        chain(x)
    before = gpu.calls("cuMemAlloc_v2"), gpu.live()
    for _ in range(3):
        np.testing.assert_allclose(chain(x)[0].numpy(), _expected(_rows(5)), rtol=1e-5)
    assert (gpu.calls("cuMemAlloc_v2"), gpu.live()) == before
    gpu.fail("cuMemAlloc_v2", 2)
    larger = chain.on_device(_rows(4000))
    assert larger.shape == (4000, 6) and gpu.live() <= before[1]


def test_memory_that_others_saw_goes_back_to_the_driver(gpu: FakeGpu, chain: dlc.CompiledModel) -> None:
    """Somebody's GPU may still read it, which the driver waits for."""
    gc.collect()
    result = chain(chain.on_device(_rows(5)))[0]
    assert result.__cuda_array_interface__["shape"] == (5, 3)
    before = gpu.live()
    del result
    gc.collect()
    assert gpu.live() == before - 1


def test_results_of_unknown_sizes_stay_on_the_gpu(gpu: FakeGpu) -> None:
    """A cache that grows does not come to the host."""
    model = onnx.parser.parse_model(_GROWING)
    grown = dlc.compile(model, "gpu", cache=False)
    cache, news = np.zeros((0, 3), np.float32), np.ones((2, 3), np.float32)
    on_gpu = grown.on_device(cache)
    for count in (2, 4, 6):
        (on_gpu,) = grown(on_gpu, grown.on_device(news))
        assert isinstance(on_gpu, DeviceArray) and on_gpu.shape == (count, 3)
    np.testing.assert_allclose(on_gpu.numpy(), np.repeat(np.tanh([[1.0], [1.0], [1.0]]), 2, axis=0) @ np.ones((1, 3)), rtol=1e-5)


def test_results_that_the_host_computes_are_given_on_the_gpu(gpu: FakeGpu) -> None:
    """No kernel touches the second one."""
    model = onnx.parser.parse_model(_HOST_RESULT)
    compiled = dlc.compile(model, "gpu", cache=False)
    x, ids, news = _rows(4), np.array([[0, 1, 2, 3, 0, 1]]), np.ones((1, 6), np.float32)
    scattered = x.copy()
    np.put_along_axis(scattered, ids, news, axis=0)
    on_gpu = compiled.on_device(x)
    given = [compiled.on_device(np.zeros_like(x)) for _ in range(2)]
    for results in (compiled(on_gpu, ids, news), compiled.run([on_gpu, ids, news], given)):
        np.testing.assert_allclose(results[0].numpy(), np.tanh(x), rtol=1e-5)
        np.testing.assert_array_equal(results[1].numpy(), scattered)


def test_a_launch_that_fails_is_told_and_lost(gpu: FakeGpu, chain: dlc.CompiledModel) -> None:
    gpu.fail("kernel", 700)
    with pytest.raises(dlc.TargetError, match=r"illegal memory access .*start a new one"):
        chain(_rows(5))
    with pytest.raises(dlc.TargetError, match="start a new one"):
        chain(_rows(5))
    gpu.configure()
    gpu.fail("cuLaunchKernel", 1)
    with pytest.raises(dlc.TargetError, match="the GPU cannot launch a kernel"):
        chain(_rows(11))
    np.testing.assert_allclose(chain(_rows(5))[0], _expected(_rows(5)), rtol=1e-5)


def test_nothing_is_left_behind(gpu: FakeGpu) -> None:
    gc.collect()
    before = gpu.live()
    model = dlc.compile(_CHAIN, "gpu", params={"w": _W}, cache=False)
    for count in (3, 3, 3, 9):
        model(_rows(count))
    assert gpu.live() > before
    del model
    gc.collect()
    assert gpu.live() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["bert-tiny", "residual block", "depthwise block", "lstm", "lstm in a loop", "gpt2 decode", "gpt2 decode, growing", "mlp"],
)
def test_a_network_runs_from_end_to_end(gpu: FakeGpu, name: str) -> None:
    """As compiled for a GPU, launched one by one and as a graph."""
    from test_gpu_networks import NETWORKS, _inputs

    model = NETWORKS[name]()
    inputs = _inputs(model, np.random.default_rng(0))
    expected = reference_session(model).run(None, inputs)
    compiled = dlc.compile(model, "gpu:sm_80", cache=False)
    for _ in range(4):
        for mine, theirs in zip(compiled(inputs), expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-4)
    assert gpu.calls("cuGraphLaunch") >= 2


def test_kernels_on_tensor_cores_hold_their_constants(gpu: FakeGpu) -> None:
    """A bias that the compiler puts into the code would be an address of the host's; the fake GPU refuses such arguments."""
    model = nodes.conv((3, 21, 12, 12), (15, 21, 3, 3), (3, 15, 6, 6), {"pads": [1] * 4, "strides": [2, 2]})
    x = np.random.default_rng(0).standard_normal((3, 21, 12, 12)).astype(np.float32)
    (want,) = reference_session(model).run(None, {"x": x})
    gpu.configure(multiprocessors=132)
    have = dlc.compile(model, "gpu", precision="tf32", cache=False)(x)[0]
    assert np.linalg.norm(have - want) < 2e-3 * np.linalg.norm(want)


def test_products_of_few_rows_hold_their_constants(gpu: FakeGpu) -> None:
    model = onnx.parser.parse_model(_ROW)
    weight = onnx.numpy_helper.from_array(np.random.default_rng(0).standard_normal((64, 16)).astype(np.float32), "w")
    model.graph.initializer.append(weight)
    x = np.random.default_rng(1).standard_normal((1, 64)).astype(np.float32)
    want = np.tanh(x @ onnx.numpy_helper.to_array(weight) + np.arange(1, 17, dtype=np.float32))
    np.testing.assert_allclose(dlc.compile(model, "gpu", cache=False)(x)[0], want, rtol=1e-4, atol=1e-5)
