"""Donated inputs: results lie in their memory, what is not the caller's to give is refused, and numbers stay the same."""

from __future__ import annotations

import numpy as np
import pytest

import dlc
from dlc.errors import InvalidInputError
from dlc.runtime.library import load_library

CACHED = """
func.func @main(%c: tensor<2x64x16xf32> {dl.name = "cache"}, %u: tensor<2x1x16xf32> {dl.name = "new"},
                %s: tensor<1xi64> {dl.name = "at"})
    -> (tensor<2x64x16xf32> {dl.name = "cache_out"}, tensor<2x16xf32> {dl.name = "sums"}) {
  %e = "dl.exp"(%u) : (tensor<2x1x16xf32>) -> tensor<2x1x16xf32>
  %0 = "dl.update_slice"(%c, %e, %s) : (tensor<2x64x16xf32>, tensor<2x1x16xf32>, tensor<1xi64>) -> tensor<2x64x16xf32>
  %1 = "dl.reduce_sum"(%0) {axes = array<i64: 1>, keepdims = false} : (tensor<2x64x16xf32>) -> tensor<2x16xf32>
  return %0, %1 : tensor<2x64x16xf32>, tensor<2x16xf32>
}
"""
READ_AFTER = """
func.func @main(%c: tensor<8x4xf32> {dl.name = "cache"}, %u: tensor<1x4xf32> {dl.name = "new"}, %s: tensor<1xi64> {dl.name = "at"})
    -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = "dl.update_slice"(%c, %u, %s) : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<1xi64>) -> tensor<8x4xf32>
  %1 = "dl.add"(%c, %0) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}
"""


def _inputs() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    cache = generator.standard_normal((2, 64, 16), np.float32)
    return cache, generator.standard_normal((2, 1, 16), np.float32), np.array([5])


@pytest.fixture(scope="module")
def donating() -> dlc.CompiledModel:
    return dlc.compile(CACHED, donate=["cache"])


def test_result_is_a_view_of_the_donated_array(donating: dlc.CompiledModel) -> None:
    cache, new, at = _inputs()
    want = dlc.compile(CACHED)(cache, new, at)
    before = load_library().memory_live()
    have = donating(cache, new, at)
    assert np.shares_memory(have[0], cache)
    assert load_library().memory_live() - before <= have[1].nbytes  # nothing for the cache
    for one, other in zip(have, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    np.testing.assert_allclose(cache[:, 5], np.exp(new[:, 0]), rtol=1e-6)


def test_view_outlives_the_callers_name(donating: dlc.CompiledModel) -> None:
    cache, new, at = _inputs()
    kept = cache.copy()
    result = donating(cache, new, at)[0]
    del cache
    np.testing.assert_array_equal(result[:, 6:], kept[:, 6:])


def test_without_donation_arguments_stay_as_they_are() -> None:
    cache, new, at = _inputs()
    kept = cache.copy()
    result = dlc.compile(CACHED)(cache, new, at)[0]
    assert not np.shares_memory(result, cache)
    np.testing.assert_array_equal(cache, kept)


def test_old_contents_that_are_still_needed_are_kept() -> None:
    cache, new = np.ones((8, 4), np.float32), np.full((1, 4), 3, np.float32)
    updated, total = dlc.compile(READ_AFTER, donate=["cache"])(cache, new, np.array([2]))
    want = np.ones((8, 4), np.float32)
    want[2] = 3
    np.testing.assert_array_equal(updated, want)
    np.testing.assert_array_equal(total, want + 1)


def test_read_only_array_is_refused(donating: dlc.CompiledModel) -> None:
    cache, new, at = _inputs()
    cache.flags.writeable = False
    with pytest.raises(InvalidInputError, match="'cache' is donated but read-only; pass a copy of it"):
        donating(cache, new, at)


def test_strided_array_is_refused(donating: dlc.CompiledModel) -> None:
    cache, new, at = _inputs()
    with pytest.raises(InvalidInputError, match=r"donated but not a row-major array .*ascontiguousarray"):
        donating(cache[:, :, ::-1], new, at)


def test_memory_of_two_inputs_is_refused() -> None:
    model = dlc.compile(READ_AFTER, donate=["cache"])
    cache = np.ones((8, 4), np.float32)
    with pytest.raises(InvalidInputError, match="'cache' is donated but shares memory with 'new'"):
        model(cache, cache[:1], np.array([2]))


def test_unknown_name_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"donate: the model has no input 'cashe'.*cache"):
        dlc.compile(CACHED, donate=["cashe"])


def test_donation_is_part_of_what_is_compiled(donating: dlc.CompiledModel) -> None:
    assert [spec.donated for spec in donating.inputs] == [True, False, False]
    assert not any(spec.donated for spec in dlc.compile(CACHED).inputs)
