"""Variants of models that read inputs as values: how many are kept, how long, and what they share."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from specialized_models import FLOAT, INT, W, X, build, node, product, reduction

import dlc
from dlc.variants import Variants, variant_limit


def test_the_least_recently_used_goes_first() -> None:
    compiled = dlc.compile(reduction(), max_specializations=2)
    axes = [np.array([axis]) for axis in range(3)]
    for axis in (0, 1, 0, 2, 0, 1):  # 2 takes the place of 1, then 1 that of 2
        compiled(X, axes[axis])
    counters = compiled.build_report.variants
    assert counters is not None
    assert (counters.built, counters.hits, counters.evicted, counters.kept, counters.limit) == (4, 2, 2, 2, 2)


def test_what_is_evicted_goes() -> None:
    compiled = dlc.compile(reduction(), max_specializations=1)
    assert isinstance(compiled, dlc.SpecializingModel)
    first = weakref.ref(compiled.specialize(X, np.array([0])))
    assert first() is not None
    compiled(X, np.array([1]))
    gc.collect()
    assert first() is None


def test_the_bound_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert variant_limit(None) == 16
    monkeypatch.setenv("DLC_MAX_SPECIALIZATIONS", "3")
    assert (variant_limit(None), variant_limit(5)) == (3, 5)
    monkeypatch.setenv("DLC_MAX_SPECIALIZATIONS", "none")
    with pytest.raises(dlc.InvalidInputError, match="DLC_MAX_SPECIALIZATIONS is none; give a whole number from 1 on"):
        variant_limit(None)
    with pytest.raises(dlc.InvalidInputError, match="max_specializations is 0"):
        dlc.compile(reduction(), max_specializations=0)


def test_threads_compile_each_value_once() -> None:
    compiled = dlc.compile(reduction())
    expected = {axis: np.maximum(X.sum(axis), 0) for axis in range(3)}

    def call(number: int) -> bool:
        axis = number % 3
        return np.allclose(compiled(X, np.array([axis]))[0], expected[axis], rtol=1e-5)

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(call, range(48)))
    counters = compiled.build_report.variants
    assert counters is not None
    assert counters.built == 3


def test_other_weights() -> None:
    proto = product()
    compiled = dlc.compile(proto)
    axes = [np.array([axis]) for axis in range(3)]
    first = compiled(X, axes[1])[0]
    other = compiled.with_params({"w": 2 * W})
    built = other.build_report.compiled
    np.testing.assert_allclose(other(X, axes[1])[0], 2 * first, rtol=1e-4)
    assert other.build_report.compiled == built, "the code of a value that was seen is taken over"
    np.testing.assert_allclose(other(X, axes[2])[0], 2 * (X @ W).mean(2), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(compiled(X, axes[1])[0], first)
    with pytest.raises(dlc.InvalidInputError, match="the model has no parameter 'v'"):
        compiled.with_params({"v": W})(X, axes[0])


@pytest.mark.parametrize("params", [{}, {"w": 2 * W}])
def test_variants_share_their_weights(params: Mapping[str, np.ndarray]) -> None:
    compiled = dlc.compile(product())
    compiled(X, np.array([0]))
    other = compiled.with_params(params) if params else compiled
    assert isinstance(other, dlc.SpecializingModel)
    first, second = (other.specialize(X, np.array([axis]))._session._param_arrays for axis in (0, 1))
    assert first and len(first) == len(second)
    assert all(np.shares_memory(one, two) for one, two in zip(first, second, strict=True))


def test_weights_that_values_make_are_not_shared() -> None:
    """A long list is a weight of its own in each variant."""
    nodes = [node("Pad", ["x", "pads"], "p"), node("Tile", ["long", "times"], "t"), node("Add", ["p", "t"], "y")]
    proto = build(nodes, {"x": (FLOAT, [1]), "pads": (INT, [2]), "long": (FLOAT, [24]), "times": (INT, [1])})
    compiled = dlc.compile(proto, values={"times": [2]})
    long = np.arange(24, dtype=np.float32)
    for scale in (1, 2):
        found = compiled({"x": np.ones(1, np.float32), "pads": np.array([0, 47]), "long": scale * long})
        assert found[0][25] == scale


def test_params_of_a_compilation() -> None:
    compiled = dlc.compile(product(), params={"w": 3 * W})
    np.testing.assert_allclose(compiled(X, np.array([0]))[0], 3 * (X @ W).mean(0), rtol=1e-4, atol=1e-5)


def test_variants_are_found_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLC_CACHE_DIR", str(tmp_path))
    proto = reduction()
    dlc.compile(proto)(X, np.array([0, 1]))
    again = dlc.compile(proto)
    again(X, np.array([0, 1]))
    assert again.build_report.whole
    again(X, np.array([2]))
    assert not again.build_report.whole


class _Slow:
    """A build that waits at each step until it may go on."""

    def __init__(self) -> None:
        self.started, self.may_end = threading.Event(), threading.Event()

    def __call__(self, progress: Callable[[str], None]) -> Any:
        self.started.set()
        for step in range(200):
            progress(f"step {step}")
            if self.may_end.wait(0.05):
                break
        return dlc.compile(reduction(), values={"axes": [0]})


def test_cancel_ends_a_compilation() -> None:
    variants, slow = Variants(2), _Slow()
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(variants.find, "key", slow) for _ in range(2)]
        slow.started.wait(10)
        time.sleep(0.1)
        variants.cancel()
        for call in calls:
            with pytest.raises(dlc.CancelledError, match="cancelled while its code was compiled"):
                call.result(20)
    slow.may_end.set()
    assert variants.find("key", slow)(X)[0].shape == (3, 4), "a call that begins later is not touched"


def test_an_interrupt_leaves_no_one_waiting() -> None:
    variants = Variants(2)

    def interrupted(progress: Callable[[str], None]) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        variants.find("key", interrupted)
    assert variants.kept() == []
    assert variants.find("key", lambda progress: dlc.compile(reduction(), values={"axes": [0]}))(X)[0].shape == (3, 4)
