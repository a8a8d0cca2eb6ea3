"""Results that are written past the caches are the same, aligned or not, and with parallel loops."""

from __future__ import annotations

import numpy as np
import pytest
from test_codegen import run

from dlc.lowering.affine_to_llvm.parallel import affine_stream_stores
from dlc.lowering.policy import policy, using
from dlc.runtime.library import load_library
from dlc.targets.machine import host_facts

ELEMENTS = {"f32": np.float32, "f16": np.float16}
BEFORE = ("linalg-collapse-dims", "convert-linalg-to-affine", "affine-transpose-tiles", "affine-vectorize-loops")


def at_offset(values: np.ndarray, offset: int) -> np.ndarray:
    """A copy of `values` that starts `offset` bytes after a cache line."""
    memory = np.zeros(values.nbytes + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    copy = memory[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    copy[...] = values
    return copy


@pytest.mark.parametrize("offset", [0, 4, 32])
@pytest.mark.parametrize("element", list(ELEMENTS))
@pytest.mark.parametrize("order", ["(i, j) -> (i, j)", "(i, j) -> (j, i)"])
def test_any_alignment(offset: int, element: str, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(affine_stream_stores, "streamed_bytes", lambda facts: 0)
    shapes = (96, 64) if order.endswith("(j, i)") else (64, 96), (64, 96)
    kinds = [f"memref<{a}x{b}x{element}>" for a, b in shapes]
    text = f"""func.func @kernel(%x: {kinds[0]}, %y: {kinds[1]}) attributes {{llvm.emit_c_interface}} {{
      linalg.generic {{indexing_maps = [affine_map<{order}>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}} ins(%x : {kinds[0]}) outs(%y : {kinds[1]}) {{
      ^bb0(%a: {element}, %o: {element}):
        %r = arith.negf %a : {element}
        linalg.yield %r : {element}
      }}
      return
    }}"""
    x = np.random.default_rng(0).standard_normal(shapes[0]).astype(ELEMENTS[element])
    y = at_offset(np.zeros(shapes[1], ELEMENTS[element]), offset)
    affine = run(text, [x, y], (*BEFORE, "affine-stream-stores", "canonicalize"))
    np.testing.assert_array_equal(y, -(x.T if order.endswith("(j, i)") else x))
    fills_line = host_facts().lanes(32) * np.dtype(ELEMENTS[element]).itemsize == host_facts().line_bytes
    assert ("nontemporal" in affine) == (fills_line or order.endswith("(i, j)"))


@pytest.mark.parametrize("threads", [1, 2])
def test_any_number_of_threads(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(affine_stream_stores, "streamed_bytes", lambda facts: 0)
    text = """func.func @kernel(%x: memref<64x96xf32>, %y: memref<64x96xf32>) attributes {llvm.emit_c_interface} {
      linalg.exp ins(%x : memref<64x96xf32>) outs(%y : memref<64x96xf32>)
      return
    }"""
    x = np.random.default_rng(0).standard_normal((64, 96)).astype(np.float32)
    y = at_offset(np.zeros_like(x), 0)
    before = load_library().set_num_threads(threads)
    try:
        with using(policy().override(near_line_cycles=64)):
            affine = run(text, [x, y], ("linalg-generalize-named-ops", *BEFORE, "affine-stream-stores", "canonicalize"))
    finally:
        load_library().set_num_threads(before)
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-6)
    assert "dlc_num_threads" in affine and "nontemporal" in affine
