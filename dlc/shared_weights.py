"""Weights of models that are variants of one: what is equal in them is in memory once."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dlc.model_cache import bytecode_of
from dlc.runtime.signature import TensorSpec
from dlc.sources import ParamTable
from dlc.weights import WeightRecipe

_Recipe = tuple[tuple[TensorSpec, ...], frozenset[str], bytes]


@dataclass(frozen=True)
class _Evaluated:
    """What a recipe gave for some weights, as long as others keep both."""

    needed: Sequence[weakref.ref[np.ndarray]]
    results: Mapping[str, weakref.ref[np.ndarray]]

    @property
    def is_alive(self) -> bool:
        """Whether anybody still has the arrays."""
        return all(ref() is not None for ref in (*self.needed, *self.results.values()))

    def arrays(self, given: Sequence[np.ndarray]) -> dict[str, np.ndarray] | None:
        """The results, if they are of the arrays `given` and all of them are still there."""
        if len(given) != len(self.needed) or any(ref() is not array for ref, array in zip(self.needed, given, strict=True)):
            return None
        found = {key: ref() for key, ref in self.results.items()}
        kept = {key: array for key, array in found.items() if array is not None}
        return kept if len(kept) == len(found) else None


@dataclass
class SharedWeights:
    """Keeps no array itself. Threads may use it at the same time."""

    _sources: weakref.WeakValueDictionary[str, np.ndarray] = field(default_factory=weakref.WeakValueDictionary)
    _evaluated: dict[_Recipe, list[_Evaluated]] = field(default_factory=dict)
    _made: weakref.WeakValueDictionary[tuple[str, tuple[int, ...], str], np.ndarray] = field(
        default_factory=weakref.WeakValueDictionary
    )
    """The last array by key, shape and dtype that a recipe gave."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def same(self, params: ParamTable) -> dict[str, np.ndarray]:
        """The arrays of a model, those of an earlier one where it has equal ones of these keys."""
        with self._lock:
            found = {key: self._same(key, array) for key, array in params.items()}
            self._sources.update(found)
        return found

    def _same(self, key: str, array: np.ndarray) -> np.ndarray:
        earlier = self._sources.get(key)
        if earlier is None or earlier.dtype != array.dtype or earlier.shape != array.shape:
            return array
        return earlier if earlier is array or earlier.tobytes() == array.tobytes() else array

    def _known(self, key: str, array: np.ndarray) -> np.ndarray | None:
        """The array that another recipe gave for the same key, if it is equal."""
        with self._lock:
            earlier = self._made.get((key, array.shape, array.dtype.str))
        return earlier if earlier is not None and _has_bits_of(earlier, array) else None

    def evaluate(self, recipe: WeightRecipe, params: ParamTable) -> dict[str, np.ndarray]:
        """What `recipe` makes of `params`, in the memory of a variant with an equal recipe for the same arrays.

        Of a variant with another recipe, the arrays that are equal are taken.
        """
        given = [params[spec.name] for spec in recipe.needed if spec.name in params]
        key = (recipe.needed, recipe.read, bytecode_of(recipe.module) if recipe.module else b"")
        with self._lock:
            living = {each: [one for one in made if one.is_alive] for each, made in self._evaluated.items()}
            self._evaluated = {each: made for each, made in living.items() if made}
            candidates = list(self._evaluated.get(key, ()))
        earlier = next((found for each in candidates if (found := each.arrays(given)) is not None), None)
        if earlier is not None:
            return earlier
        made = recipe.evaluate(params, self._known)
        references = {name: weakref.ref(array) for name, array in made.items()}
        with self._lock:
            self._made.update({(name, array.shape, array.dtype.str): array for name, array in made.items()})
            self._evaluated.setdefault(key, []).append(_Evaluated([weakref.ref(array) for array in given], references))
        return made


def _has_bits_of(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays of one shape and dtype have the same bits; other threads may run meanwhile."""
    words = np.uint64 if one.nbytes % np.dtype(np.uint64).itemsize == 0 else np.uint8
    left, right = (np.ascontiguousarray(each).reshape(-1).view(words) for each in (one, other))
    return bool(np.array_equal(left, right))
