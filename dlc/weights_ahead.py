"""Weights that are computed while code is generated for them."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from dlc.compiled_model import Evaluate
from dlc.sources import ParamTable
from dlc.weight_memory import give_free_memory_back
from dlc.weights import WeightRecipe


@dataclass
class WeightsAhead:
    """The arrays that `evaluate` makes of `params` by a recipe, perhaps begun before they are asked for."""

    evaluate: Evaluate
    params: ParamTable
    _begun: tuple[WeightRecipe, Future[dict[str, np.ndarray]]] | None = None

    def begin(self, recipe: WeightRecipe) -> None:
        """Evaluate `recipe` in a thread; what that raises is raised by `by`. Its module may be read meanwhile, and not changed."""
        give_free_memory_back()
        executor = ThreadPoolExecutor(1, "dlc-weights")
        self._begun = recipe, executor.submit(self.evaluate, recipe, self.params)
        executor.shutdown(wait=False)

    def by(self, recipe: WeightRecipe) -> dict[str, np.ndarray]:
        """The arrays by `recipe`, which are awaited where it is the one that was begun."""
        if self._begun is None or self._begun[0] is not recipe:
            return self.evaluate(recipe, self.params)
        return self._begun[1].result()
