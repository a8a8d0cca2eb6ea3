"""Models whose data decide how large their values are: no memory stays behind, and what is too large is one error."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import dlc
from dlc.runtime.library import load_library

_CALLS = 500


def _model(nodes: list[onnx.NodeProto], inputs: dict[str, tuple[int, list[object]]], outputs: list[str]) -> onnx.ModelProto:
    values = [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()]
    constants = [numpy_helper.from_array(np.array(value), name) for name, value in _CONSTANTS.items()]
    graph = helper.make_graph(nodes, "sizes", values, [onnx.ValueInfoProto(name=name) for name in outputs], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


_CONSTANTS = {"most": [9], "limit": np.float32(0.5), "least": np.float32(0.3), "two": 2, "first": [0]}


def _selecting() -> onnx.ModelProto:
    """Rows where a mask holds, their distinct values and the greatest ones."""
    nodes = [
        helper.make_node("Compress", ["x", "mask"], ["rows"], axis=0),
        helper.make_node("NonZero", ["mask"], ["places"]),
        helper.make_node("Cast", ["places"], ["numbers"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Transpose", ["numbers"], ["column"], perm=[1, 0]),
        helper.make_node("Add", ["rows", "column"], ["moved"]),
        helper.make_node("Unique", ["moved"], ["values", "at", "of", "counts"]),
        helper.make_node("TopK", ["values", "k"], ["best", "order"]),
        helper.make_node("Tile", ["best", "k"], ["repeated"]),
        helper.make_node("Pad", ["values", "pads"], ["padded"]),
    ]
    inputs: dict[str, tuple[int, list[object]]] = {"x": (onnx.TensorProto.FLOAT, ["n", 3])}
    inputs |= {"mask": (onnx.TensorProto.BOOL, ["n"]), "k": (onnx.TensorProto.INT64, [1])}
    inputs["pads"] = (onnx.TensorProto.INT64, [2])
    return _model(nodes, inputs, ["repeated", "padded", "counts", "moved"])


def _detecting() -> onnx.ModelProto:
    nodes = [
        helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "limit", "least"], ["found"]),
        helper.make_node("Gather", ["found", "two"], ["at"], axis=1),
        helper.make_node("Squeeze", ["boxes", "first"], ["all"]),
        helper.make_node("Gather", ["all", "at"], ["kept"], axis=0),
        helper.make_node("Mul", ["kept", "limit"], ["halves"]),
    ]
    inputs: dict[str, tuple[int, list[object]]] = {"boxes": (onnx.TensorProto.FLOAT, [1, "n", 4])}
    return _model(nodes, inputs | {"scores": (onnx.TensorProto.FLOAT, [1, 2, "n"])}, ["halves", "found"])


def _resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("name", ["selecting", "detecting"])
def test_calls_with_changing_sizes_leave_memory_flat(name: str) -> None:
    model, library = dlc.compile(_selecting() if name == "selecting" else _detecting()), load_library()
    generator = np.random.default_rng(3)
    before, resident = library.memory_live(), 0
    for call in range(_CALLS):
        count = int(generator.integers(0, 800))
        if name == "selecting":
            mask = generator.uniform(0, 1, count) < generator.choice([0, 0.3, 1])
            k = np.array([min(int(mask.sum()) // 2, 5)])
            x = generator.uniform(-9, 9, (count, 3)).astype(np.float32)
            model(x, mask, k, generator.integers(0, 50, 2))
        else:
            boxes = generator.uniform(0, 9, (1, count, 4)).astype(np.float32)
            model(boxes, generator.uniform(0, 1, (1, 2, count)).astype(np.float32))
        if call == _CALLS // 5:
            resident = _resident()
    assert library.memory_live() == before
    assert _resident() - resident < 8 << 20


def test_results_are_those_of_numpy() -> None:
    model, generator = dlc.compile(_selecting()), np.random.default_rng(7)
    for count in (0, 1, 37, 200):
        x, mask = generator.integers(0, 4, (count, 3)).astype(np.float32), generator.uniform(0, 1, count) < 0.5
        moved = x[mask] + np.flatnonzero(mask)[:, None].astype(np.float32)
        values, counts = np.unique(moved, return_counts=True)
        k = min(len(values), 3)
        want = [np.tile(values[::-1][:k], k), np.pad(values, (2, 1)), counts, moved]
        for have, expected in zip(model(x, mask, np.array([k]), np.array([2, 1])), want, strict=True):
            np.testing.assert_array_equal(have, expected)


def test_sizes_that_do_not_fit_are_one_error_and_leave_the_model_usable() -> None:
    model = dlc.compile(_selecting(), memory_limit=64 << 20)
    x, mask, k = np.ones((4, 3), np.float32), np.ones(4, bool), np.array([1])
    good = model(x, mask, k, np.array([0, 0]))
    for pads in ([1 << 40, 0], [1 << 62, 1 << 62]):
        with pytest.raises(dlc.DLCError):
            model(x, mask, k, np.array(pads))
    with pytest.raises(dlc.DLCError, match="the least count of axis 0 is -4 but counts"):
        model(x, mask, k, np.array([-(1 << 63), -(1 << 63)]))
    with pytest.raises(dlc.DLCError, match=r"count is -3"):
        model(x, mask, np.array([-3]), np.array([0, 0]))
    for have, want in zip(model(x, mask, k, np.array([0, 0])), good, strict=True):
        np.testing.assert_array_equal(have, want)
