"""Rows that are merged: the same bits as apart, the same function by proof, and vectors that cross from row to row."""

from __future__ import annotations

import numpy as np
import pytest

from bench.generic import Array, Nest, bound, channels_first
from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline

_AFTER = "canonicalize,cse,affine-promote-buffers,affine-contract-products,canonicalize,cse,affine-to-llvm"
_APART = f"affine-polyhedral-schedule,{_AFTER}"


def _dilated(size: int, inner: int, outer: int, dtype: str) -> Nest:
    """A convolution whose 2x3 taps are two rows and three columns apart, of a batch of two."""
    loops = (("n", 2), ("f", outer), ("h", size), ("w", size), ("c", inner), ("r", 2), ("s", 3))
    image = Array((2, inner, size + 3, size + 7), "%n, %c, %h + 2 * %r + 1, %w + 3 * %s + 1")
    kernel = Array((outer, inner, 2, 3), "%f, %c, %r, %s")
    return Nest("dilated", dtype, loops, image, kernel, Array((2, outer, size, size), "%n, %f, %h, %w"))


_NESTS = (channels_first(5, 5, 40), channels_first(9, 3, 33, "f64"), _dilated(6, 3, 70, "f32"))


def _merged(nest: Nest, passes: str) -> str:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(nest.text())
        Pipeline.parse(passes).run(module)
        return str(module)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("nest", _NESTS, ids=lambda nest: nest.name)
def test_same_bits(nest: Nest) -> None:
    assert "memref.collapse_shape" in _merged(nest, "affine-merge-rows")
    found = []
    for passes in (_APART, f"affine-merge-rows,{_APART}"):
        arguments = nest.arguments()
        bound(nest, passes, arguments)()
        found.append(arguments[2])
    assert found[0].any()
    np.testing.assert_array_equal(found[1], found[0])


def test_merge_is_certified() -> None:
    assert "memref.collapse_shape" in _merged(channels_first(6, 1, 32), 'affine-check-legality{pass="affine-merge-rows"}')


def test_vectors_cross_rows() -> None:
    """The view's subscripts are quotients and remainders in the model, and yet lie side by side."""
    passes = "dl-set-target{target=cpu:skylake-avx512},affine-merge-rows,affine-polyhedral-schedule"
    text = _merged(channels_first(7, 5, 40), passes)
    stores = [line for line in text.splitlines() if "affine.vector_store" in line and "%collapse_shape" in line]
    assert stores
    assert "vector.from_elements" not in text
