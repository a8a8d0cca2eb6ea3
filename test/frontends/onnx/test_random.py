"""ONNX random numbers: the same in every call, and distributed as they should be."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from onnx_check import build_model, node

import dlc
from dlc.dialects.dl.random import threefry

_DTYPES = {1: np.float32, 10: np.float16, 11: np.float64}


def _run(item: Any, **feeds: np.ndarray) -> np.ndarray:
    return np.asarray(dlc.compile(build_model([item], feeds, opset=20))(feeds)[0])


def test_generator_gives_what_its_authors_publish() -> None:
    assert [int(word[0]) for word in threefry(0, np.zeros(1, np.uint64))] == [0x6B200159, 0x99BA4EFE]


@pytest.mark.parametrize("dtype", list(_DTYPES))
def test_uniform(dtype: int) -> None:
    found = _run(node("RandomUniform", [], ["y"], shape=[100, 300], low=-1.0, high=3.0, seed=5.0, dtype=dtype))
    assert found.dtype == _DTYPES[dtype] and found.shape == (100, 300)
    wide = found.astype(np.float64)
    assert wide.min() >= -1 and wide.max() <= 3
    counts = np.histogram(wide, bins=20, range=(-1, 3))[0]
    expected = found.size / 20
    assert ((counts - expected) ** 2 / expected).sum() < 50  # chi squared of 19 degrees: 1 in 10,000


@pytest.mark.parametrize("dtype", list(_DTYPES))
def test_normal(dtype: int) -> None:
    found = _run(node("RandomNormal", [], ["y"], shape=[100, 300], mean=2.0, scale=3.0, seed=5.0, dtype=dtype))
    assert found.dtype == _DTYPES[dtype]
    standard = (found.astype(np.float64) - 2) / 3
    assert abs(standard.mean()) < 4 / np.sqrt(found.size) and abs(standard.var() - 1) < 4 * np.sqrt(2 / found.size)
    assert abs((standard**3).mean()) < 0.06 and abs((standard**4).mean() - 3) < 0.12
    assert abs((np.abs(standard) < 1).mean() - 0.6827) < 0.011


def test_like_an_input_of_any_shape() -> None:
    items = [node("RandomUniformLike", ["x"], ["u"]), node("RandomNormalLike", ["x"], ["n"], dtype=11)]
    model = dlc.compile(build_model(items, {"x": np.zeros((2, 3), np.float16)}, opset=20, dynamic=True))
    for shape in ((2, 3), (40, 50)):
        uniform, normal = model(np.zeros(shape, np.float16))
        assert uniform.shape == normal.shape == shape and (uniform.dtype, normal.dtype) == (np.float16, np.float64)


def test_bernoulli() -> None:
    chances = np.repeat(np.array([[0.0], [0.25], [0.5], [1.0]], np.float32), 10000, axis=1)
    found = _run(node("Bernoulli", ["p"], ["y"], dtype=6, seed=1.0), p=chances)
    assert found.dtype == np.int32
    np.testing.assert_allclose(found.mean(axis=1), [0, 0.25, 0.5, 1], atol=0.02)


def test_multinomial() -> None:
    chances = np.array([[0.1, 0.2, 0.7], [0.5, 0.0, 0.5]], np.float32)
    with np.errstate(divide="ignore"):
        found = _run(node("Multinomial", ["x"], ["y"], sample_size=10000, dtype=7, seed=1.0), x=np.log(chances))
    assert found.dtype == np.int64 and found.shape == (2, 10000)
    counts = np.stack([np.bincount(row, minlength=3) for row in found]) / 10000
    np.testing.assert_allclose(counts, chances, atol=0.02)
    assert counts[1, 1] == 0


def test_seeds_decide() -> None:
    draw = functools.partial(node, "RandomUniform", [], shape=[50])
    items = [draw(["a"], seed=1.0), draw(["b"], seed=1.0), draw(["c"], seed=2.0), draw(["d"]), draw(["e"])]
    model = dlc.compile(build_model(items, {}, opset=20))
    first, again = model({}), model({})
    for left, right in zip(first, again, strict=True):
        np.testing.assert_array_equal(left, right)
    a, b, *others = first
    np.testing.assert_array_equal(a, b)
    rows = [a, *others]
    assert all((rows[i] != rows[j]).any() for i in range(4) for j in range(i))


def test_integers_are_reported() -> None:
    with pytest.raises(dlc.UnsupportedError, match="random numbers of i32 are not supported"):
        _run(node("RandomUniformLike", ["x"], ["y"]), x=np.zeros(3, np.int32))
