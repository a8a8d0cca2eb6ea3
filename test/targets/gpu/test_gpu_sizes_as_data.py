"""Models in which sizes are data, too: the host computes sizes, kernels what depends on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import onnx
import pytest
from fake_cuda import FakeGpu, fake_gpu
from onnx import TensorProto, helper, numpy_helper
from open_size_checks import check_sizes

import dlc

_NUMBERS = {"zero": np.int64(0), "one": np.int64(1), "first": np.array([0]), "second": np.array([1])}


@pytest.fixture(scope="module")
def gpu() -> Iterator[FakeGpu]:
    with fake_gpu() as found:
        yield found


def _model(
    nodes: Sequence[tuple[str, str, str]],
    inputs: dict[str, tuple[int, list[int | str]]],
    outputs: dict[str, tuple[int, list[int | str]]],
) -> onnx.ModelProto:
    """A model of (op, inputs, output), in words; casts are to f32."""
    attributes = {"Cast": {"to": TensorProto.FLOAT}, "Gather": {"axis": 0}}
    made = [helper.make_node(op, given.split(), [out], **attributes.get(op, {})) for op, given, out in nodes]
    values = [[helper.make_tensor_value_info(name, *kind) for name, kind in kinds.items()] for kinds in (inputs, outputs)]
    used = {name for node in made for name in node.input}
    weights = [numpy_helper.from_array(value, name) for name, value in _NUMBERS.items() if name in used]
    return helper.make_model(helper.make_graph(made, "g", *values, weights), opset_imports=[helper.make_opsetid("", 17)])


def _check(model: onnx.ModelProto, sizes: Sequence[dict[str, int]], gpu: FakeGpu) -> dict[str, str]:
    """Compare for all sizes; what `dlc explain` says of the functions on the host."""
    check_sizes(model, sizes, lambda _random, given, name, shape: np.full(shape, given[name]), 1e-5)
    assert gpu.launched
    report = dlc.explain(model, target="gpu:sm_90").device
    assert report is not None
    return report.on_host


_F32, _I64 = TensorProto.FLOAT, TensorProto.INT64
_RANGE = [("Shape", "x", "shape"), ("Gather", "shape zero", "n"), ("Range", "zero n one", "r")]
_ROWS = [*_RANGE, ("Cast", "r", "f"), ("Unsqueeze", "f second", "c"), ("Add", "x c", "y"), ("Relu", "y", "z")]


def test_a_range_is_added_to_rows(gpu: FakeGpu) -> None:
    on_host = _check(_model(_ROWS, {"x": (_F32, ["s", 8])}, {"z": (_F32, ["s", 8])}), [{"s": size} for size in (1, 33, 0, 7)], gpu)
    assert list(on_host) == ["kernel_0_slice_range_cast_sizes"]


def test_a_range_is_a_result_too(gpu: FakeGpu) -> None:
    outputs: dict[str, tuple[int, list[int | str]]] = {"z": (_F32, ["s", 8]), "r": (_I64, ["s"]), "f": (_F32, ["s"])}
    on_host = _check(_model(_ROWS, {"x": (_F32, ["s", 8])}, outputs), [{"s": size} for size in (2, 65)], gpu)
    assert list(on_host) == ["kernel_0_slice_range_sizes"]


def test_a_length_is_a_size_and_a_factor(gpu: FakeGpu) -> None:
    nodes = [*_RANGE, ("Cast", "r", "f"), ("Unsqueeze", "n first", "k"), ("Expand", "half k", "h"), ("Cast", "k", "g")]
    nodes += [("Mul", "h g", "hg"), ("Add", "f hg", "y")]
    kinds: dict[str, tuple[int, list[int | str]]] = {"x": (_F32, ["s", 8]), "half": (_F32, [1])}
    _check(_model(nodes, kinds, {"y": (_F32, ["m"])}), [{"s": size} for size in (1, 2, 40)], gpu)


def test_a_kernel_reads_the_length_that_is_its_size(gpu: FakeGpu) -> None:
    """One element of the shape, by a view of one element."""
    nodes = [*_RANGE, ("Sub", "n r", "left"), ("Cast", "left", "f"), ("Unsqueeze", "f second", "c"), ("Mul", "x c", "y")]
    on_host = _check(_model(nodes, {"x": (_F32, ["s", 8])}, {"y": (_F32, ["s", 8])}), [{"s": size} for size in (1, 40)], gpu)
    assert list(on_host) == ["kernel_0_slice_range_sub_cast_sizes"]


def test_a_mask_of_two_ranges(gpu: FakeGpu) -> None:
    """What decoders hide: later words than the one that looks."""
    nodes = [*_RANGE, ("Unsqueeze", "r first", "row"), ("Unsqueeze", "r second", "column"), ("LessOrEqual", "row column", "mask")]
    nodes += [("Where", "mask x low", "m"), ("Softmax", "m", "y")]
    model = _model(nodes, {"x": (_F32, ["s", "s"]), "low": (_F32, [])}, {"y": (_F32, ["s", "s"])})
    _check(model, [{"s": size} for size in (1, 5, 33)], gpu)


def test_the_host_computes_the_start_of_a_range(gpu: FakeGpu) -> None:
    """Memory that functions of the host return, and numbers that they compute, are data of a kernel."""
    nodes = [("Shape", "past", "before"), ("Gather", "before zero", "p"), ("Shape", "x", "shape"), ("Gather", "shape zero", "n")]
    nodes += [
        ("Add", "p n", "t"),
        ("Range", "p t one", "r"),
        ("Cast", "r", "f"),
        ("Unsqueeze", "f second", "c"),
        ("Mul", "x c", "y"),
    ]
    kinds: dict[str, tuple[int, list[int | str]]] = {"x": (_F32, ["s", 8]), "past": (_F32, ["q", 8])}
    model = _model(nodes, kinds, {"y": (_F32, ["s", 8]), "r": (_I64, ["s"])})
    _check(model, [{"s": size, "q": past} for size, past in ((1, 0), (3, 9), (40, 1))], gpu)


def test_a_range_of_an_input(gpu: FakeGpu) -> None:
    nodes = [("Range", "zero n step", "r"), ("Cast", "r", "f"), ("Relu", "f", "y")]
    model = _model(nodes, {"n": (_I64, []), "step": (_I64, [])}, {"y": (_F32, ["m"])})
    _check(model, [{"n": size, "step": step} for size, step in ((1, 1), (50, 3), (0, 2))], gpu)
    with pytest.raises(dlc.InvalidInputError, match="step"):
        dlc.compile(model, "gpu", cache=False).run({"n": np.int64(4), "step": np.int64(0)})
