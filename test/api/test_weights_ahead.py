"""Weights are computed while workers generate code, and once."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import dlc
from bench.networks.bert import build as bert
from bench.networks.mlp import build as mlp
from dlc.compile_options import CompileOptions
from dlc.errors import InvalidInputError
from dlc.request import Request
from dlc.sources import ParamTable
from dlc.targets import object_store
from dlc.targets.cpu import build
from dlc.weights import WeightRecipe
from dlc.weights_ahead import WeightsAhead


class Spy:
    """Evaluates recipes, and keeps in which threads."""

    def __init__(self, error: Exception | None = None) -> None:
        self.threads: list[str] = []
        self.error = error

    def __call__(self, recipe: WeightRecipe, params: ParamTable) -> dict[str, np.ndarray]:
        self.threads.append(threading.current_thread().name)
        if self.error is not None:
            raise self.error
        return recipe.evaluate(params)


@pytest.fixture(autouse=True)
def empty_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_store, "_MEMORY", object_store._Memory(1 << 20))
    monkeypatch.setattr(build, "worker_limit", lambda: 2)


def compiled(source: dlc.sources.Source, spy: Spy) -> dlc.CompiledModel:
    return Request(CompileOptions(cache=False), evaluate=spy).compile_alone(source)


def test_a_large_model_has_its_weights_from_a_thread_beside_the_workers() -> None:
    source, spy = dlc.import_onnx(bert(layers=1, hidden=32, heads=2, vocab=50, seq=8)), Spy()
    model = compiled(source, spy)
    assert [name.startswith("dlc-weights") for name in spy.threads] == [True]
    inputs = dlc.random_inputs(model.inputs)
    for left, right in zip(model(inputs), dlc.compile(source, cache=False)(inputs), strict=True):
        np.testing.assert_array_equal(left, right)


def test_a_small_model_starts_no_thread() -> None:
    spy = Spy()
    compiled(dlc.import_onnx(mlp()), spy)
    assert spy.threads == [threading.current_thread().name]


def test_what_is_wrong_with_weights_is_raised_as_without_the_thread() -> None:
    source = dlc.import_onnx(bert(layers=1, hidden=32, heads=2, vocab=50, seq=8))
    with pytest.raises(InvalidInputError, match="weights cannot be computed from these: no"):
        compiled(source, Spy(InvalidInputError("weights cannot be computed from these: no")))


def test_another_recipe_than_the_one_that_was_begun_is_evaluated() -> None:
    spy = Spy()
    weights = WeightsAhead(spy, {})
    weights.begin(WeightRecipe())
    assert weights.by(WeightRecipe()) == {}
    assert len(spy.threads) == 2
