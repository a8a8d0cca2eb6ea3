"""MatMulNBits and GatherBlockQuantized against onnxruntime: numbers of bits, kinds of zero points, blocks that are not full."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto
from onnx_check import build_model, check, compare, node
from reference_session import reference_session

import dlc
from dlc.dialects import make_context
from dlc.frontends.onnx.importer import import_model

_GENERATOR = np.random.default_rng(21)


def _weight(rows: int, columns: int, block: int, bits: int, zeros: str, dtype: Any) -> dict[str, np.ndarray]:
    blocks = -(-rows // block)
    found = {
        "w": _GENERATOR.integers(0, 256, (columns, blocks, block * bits // 8)).astype(np.uint8),
        "s": (_GENERATOR.standard_normal((columns, blocks)) * 0.1).astype(dtype),
    }
    if zeros == "packed":
        found["z"] = _GENERATOR.integers(0, 256, (columns, -(-blocks * bits // 8))).astype(np.uint8)
    elif zeros:
        found["z"] = _GENERATOR.uniform(0, 2**bits, (columns, blocks)).astype(dtype)
    return found


def _check(rows: int, columns: int, block: int, bits: int, zeros: str, shape: tuple[int, ...], **more: Any) -> None:
    dtype = more.pop("dtype", np.float32)
    known = _weight(rows, columns, block, bits, zeros, dtype)
    product = node("MatMulNBits", ["x", *known], ["y"], domain="com.microsoft", K=rows, N=columns, bits=bits, block_size=block)
    check([product], {"x": _GENERATOR.standard_normal((*shape, rows)).astype(dtype)}, known, rtol=2e-4, **more)


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("zeros", ["", "packed"])
@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("shape", [(1,), (2, 9)])
def test_bits(bits: int, zeros: str, shape: tuple[int, ...]) -> None:
    _check(96, 70, 32, bits, zeros, shape, dynamic=False)


@pytest.mark.parametrize("block", [16, 64, 128])
def test_blocks(block: int) -> None:
    """130 rows leave a part of the last block."""
    _check(130, 48, block, 4, "packed", (3,), dynamic=False)


def test_zero_points_of_floats() -> None:
    _check(64, 20, 32, 4, "floats", (3,), dynamic=False)


def test_dynamic_rows() -> None:
    """The same model for few rows and for many."""
    for rows in (1, 7, 8, 33):
        _check(64, 48, 32, 4, "", (1, rows))


def test_bias() -> None:
    known = {**_weight(64, 48, 32, 4, "", np.float32), "bias": _GENERATOR.standard_normal(48).astype(np.float32)}
    names = ["x", "w", "s", "", "", "bias"]
    product = node("MatMulNBits", names, ["y"], domain="com.microsoft", K=64, N=48, bits=4, block_size=32)
    check([product], {"x": _GENERATOR.standard_normal((4, 64)).astype(np.float32)}, known, rtol=2e-4, dynamic=False)


def test_weights_stay_packed() -> None:
    """The words take half a byte a number; scales come on top."""
    known = _weight(256, 96, 32, 4, "", np.float32)
    product = node("MatMulNBits", ["x", *known], ["y"], domain="com.microsoft", K=256, N=96, bits=4, block_size=32)
    imported = import_model(build_model([product], {"x": np.zeros((1, 256), np.float32)}, known), make_context())
    assert sorted(array.nbytes for array in imported.params.values()) == [8 * 96 * 4, 256 * 96 // 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"block_size": 8}, "in blocks of 8 are not supported"),
        ({"bits": 3}, "numbers of 3 bits"),
        ({"K": 96}, "input 1 has shape|its input is"),
        ({"weight_prepacked": 1}, "weights that are packed for another engine"),
    ],
)
def test_refused(change: dict[str, int], message: str) -> None:
    known = _weight(64, 48, 32, 4, "", np.float32)
    attributes = {"K": 64, "N": 48, "bits": 4, "block_size": 32} | change
    product = node("MatMulNBits", ["x", *known], ["y"], domain="com.microsoft", **attributes)
    with pytest.raises(dlc.UnsupportedError, match=message):
        dlc.compile(build_model([product], {"x": np.zeros((1, 64), np.float32)}, known))


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("shape", [(3,), (2, 4)])
def test_gathered_rows(bits: int, zeros: bool, shape: tuple[int, ...]) -> None:
    known = {
        "w": _GENERATOR.integers(0, 256, (20, 96 * bits // 8)).astype(np.uint8),
        "s": _GENERATOR.standard_normal((20, 3)).astype(np.float32),
    }
    names = ["w", "i", "s"]
    if zeros:
        known["z"] = _GENERATOR.integers(0, 256, (20, -(-3 * bits // 8))).astype(np.uint8)
        names.append("z")
    attributes = {"bits": bits, "block_size": 32, "gather_axis": 0, "quantize_axis": 1}
    gather = node("GatherBlockQuantized", names, ["y"], domain="com.microsoft", **attributes)
    feeds = {"i": _GENERATOR.integers(0, 20, shape)}
    for is_dynamic in (False, True):
        model = build_model([gather], feeds, known, dynamic=is_dynamic)
        model.graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT
        session = reference_session(model)
        compare(dlc.compile(model)(feeds)[0], session.run(None, feeds)[0], "y")
