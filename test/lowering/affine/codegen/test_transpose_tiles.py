"""Transposes of any rank, element type and machine through the affine passes and the JIT, compared with NumPy."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import guard_pages
import numpy as np
import pytest
from guard_pages import SUPPORTED
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sweeps import examples
from test_codegen import run

from dlc.targets.machine import Machine

WORDS = {
    "f64": np.uint64, "f32": np.uint32, "f16": np.uint16, "bf16": np.uint16, "i1": np.uint8,
    "i8": np.uint8, "i16": np.uint16, "i32": np.uint32, "i64": np.uint64,
}  # fmt: skip
"""Element types, and the type of the same size whose bits a copy must keep."""
Make = Callable[[np.ndarray], np.ndarray]
PASSES = (
    "linalg-collapse-dims",
    "convert-linalg-to-affine",
    "affine-transpose-tiles",
    "affine-vectorize-loops",
    "canonicalize",
    "cse",
)
SIZES = st.sampled_from([1, 2, 3, 4, 5, 8, 12, 15, 16, 17, 20, 33, 37])
FAST = settings(
    max_examples=examples(30), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
)


def transpose(shape: Sequence[int], order: Sequence[int], element: str, dynamic: bool) -> str:
    """A module whose @kernel transposes its first argument into the second."""
    kinds = [
        "x".join([*(("?" if dynamic else str(size)) for size in sizes), element]) for sizes in (shape, [shape[a] for a in order])
    ]
    return f"""func.func @kernel(%x: memref<{kinds[0]}>, %y: memref<{kinds[1]}>) attributes {{llvm.emit_c_interface}} {{
      linalg.transpose ins(%x : memref<{kinds[0]}>) outs(%y : memref<{kinds[1]}>) permutation = [{", ".join(map(str, order))}]
      return
    }}"""


def check(shape: Sequence[int], order: Sequence[int], element: str, dynamic: bool, make: Make) -> None:
    """Transpose random bit patterns of `element` in arrays that `make` gives."""
    kind = WORDS[element]
    raw = np.random.default_rng(0).integers(0, 1 if element == "i1" else np.iinfo(kind).max, tuple(shape), kind, endpoint=True)
    source, target = make(raw), make(np.zeros([shape[axis] for axis in order], kind))
    text = run(transpose(shape, order, element, dynamic), [source, target], PASSES)
    np.testing.assert_array_equal(target, np.transpose(source, order), err_msg=text)


@FAST
@given(
    st.lists(SIZES, min_size=2, max_size=5).flatmap(lambda shape: st.tuples(st.just(shape), st.permutations(range(len(shape))))),
    st.sampled_from(list(WORDS)),
    st.booleans(),
)
def test_any_order_of_axes(case: tuple[list[int], list[int]], element: str, dynamic: bool) -> None:
    shape, order = case
    if math.prod(shape) < 1 << 18:
        check(shape, order, element, dynamic, np.array)


@pytest.mark.parametrize("element", list(WORDS))
@pytest.mark.parametrize("vector_bits", [128, 256, 512])
@pytest.mark.parametrize("dynamic", [False, True])
def test_vectors_of_every_width(element: str, vector_bits: int, dynamic: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "vector_bits", vector_bits)
    check([37, 70], [1, 0], element, dynamic, np.array)


_BESIDE_GUARD_PAGES = """
import itertools
from guard_pages import EDGES, guarded
from test_transpose_tiles import check
for edge, element, dynamic in itertools.product(EDGES, ("f32", "i8"), (False, True)):
    for shape in ([16, 16], [33, 17], [5, 40], [40, 5]):
        check(shape, [1, 0], element, dynamic, lambda values: guarded(values, edge))
print("done")
"""


@pytest.mark.skipif(not SUPPORTED, reason="needs mprotect as on Linux")
def test_no_access_outside_the_buffers() -> None:
    folders = [str(Path(__file__).parent), str(Path(guard_pages.__file__).parent)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(folders)}
    command = [sys.executable, "-c", _BESIDE_GUARD_PAGES]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr


def test_arithmetic_in_the_tile() -> None:
    """A cast, a row and a column of other operands take part."""
    text = """func.func @kernel(%x: memref<37x50xi8>, %r: memref<37xf32>, %c: memref<50xf32>, %y: memref<50x37xf32>)
        attributes {llvm.emit_c_interface} {
      linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>,
          affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
          ins(%x, %r, %c : memref<37x50xi8>, memref<37xf32>, memref<50xf32>) outs(%y : memref<50x37xf32>) {
      ^bb0(%a: i8, %b: f32, %d: f32, %o: f32):
        %f = arith.sitofp %a : i8 to f32
        %p = arith.mulf %f, %b : f32
        %s = arith.addf %p, %d : f32
        linalg.yield %s : f32
      }
      return
    }"""
    random = np.random.default_rng(0)
    x = random.integers(-100, 100, (37, 50), np.int8)
    rows, columns = random.integers(-9, 9, 37).astype(np.float32), random.integers(-9, 9, 50).astype(np.float32)
    y = np.zeros((50, 37), np.float32)
    affine = run(text, [x, rows, columns, y], PASSES)
    np.testing.assert_array_equal(y, (x * rows[:, None] + columns).T)
    assert "vector.shuffle" in affine
