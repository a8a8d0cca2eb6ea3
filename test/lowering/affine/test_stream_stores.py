"""Results that are written past the caches are the same, aligned or not, and with parallel loops."""

from __future__ import annotations

import numpy as np
import pytest
from test_codegen import run

from dlc.lowering.affine import stream_stores
from dlc.targets.cpu.facts import host_facts

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
    monkeypatch.setattr(stream_stores, "_least_bytes", lambda facts: 0)
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
