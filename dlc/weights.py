"""The weights that compiled code reads, and how they come from those of the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, replace

import numpy as np

from dlc._mlir import ir
from dlc.dialects.dl.interpreter import precomputed
from dlc.dialects.dl.types import tensor_type, type_of_value
from dlc.errors import InvalidInputError
from dlc.lowering.dl.matching import dl_ops
from dlc.lowering.dl.weights.precompute import Precompute, keys_read
from dlc.runtime.arguments import bind_arguments
from dlc.runtime.signature import TensorSpec, show_type
from dlc.sources import ParamTable
from dlc.targets.signature import has_signature
from dlc.weight_memory import LINE, WeightMemory

_MOST_COPIED = 16 << 20
"""Bytes from which on a weight that is read as it is stays where the model has it, mapped from a file perhaps."""

OPTIMIZED = "bind"
"""The stage at which graph passes are done, and functions take their weights as arguments next."""


Known = Callable[[str, np.ndarray], "np.ndarray | None"]


def _unknown(key: str, array: np.ndarray) -> np.ndarray | None:
    return None


@dataclass(frozen=True)
class WeightRecipe:
    """How the arrays that a module's entry reads come from the weights of the model.

    `known` are the keys of all weights of the model, `needed` those that take part, `read` the keys that the entry reads, and
    `module` holds the function `@precompute` that computes others, if there is one.
    """

    known: tuple[str, ...] = ()
    needed: tuple[TensorSpec, ...] = ()
    read: frozenset[str] = frozenset()
    module: ir.Module | None = None

    @classmethod
    def take(cls, module: ir.Module, known: tuple[str, ...]) -> WeightRecipe:
        """The recipe of a dl module, which loses its `@precompute`; one whose weights are bound keeps it."""
        precompute = Precompute.of(module.operation)
        needed = tuple(params_of(module))
        read = frozenset(keys_read(module.operation)[1])
        if precompute is None or has_signature(module):
            return cls(known, needed, read)
        return cls(known, needed, read, _moved_alone(precompute.function))

    def including(self, weights: Iterable[TensorSpec]) -> WeightRecipe:
        """The recipe that also takes these weights, which the lowered module asks for."""
        names = {spec.name for spec in (*self.needed, *self._computed())}
        more = tuple(spec for spec in weights if spec.name not in names)
        if not more:
            return self
        known = tuple(dict.fromkeys((*self.known, *(spec.name for spec in more))))
        return replace(self, known=known, needed=(*self.needed, *more), read=self.read | {spec.name for spec in more})

    def evaluate(self, params: ParamTable, known: Known = _unknown) -> dict[str, np.ndarray]:
        """The arrays that the entry reads by key, those that are computed and those that are not.

        They start at cache lines, unless they are large and only read as they are. `known` may give an array that is there already
        for a key and an equal array.

        `InvalidInputError` names a weight of the model that is missing or unfit, or says what cannot be computed.
        """
        given = {spec.name: params[spec.name] for spec in self.needed if spec.name in params}
        names = [spec.name for spec in self.needed]
        found = dict(zip(names, bind_arguments(self.needed, [given]), strict=True))
        computed = {spec.name: spec for spec in self._computed()}
        read = {key: array for key, array in found.items() if key in self.read}
        place = _Placement.of(found.values(), read.values(), computed.values(), known)
        kept = {key: place(key, array) for key, array in read.items()}
        if self.module is None:
            return kept

        def made(key: str, array: np.ndarray) -> np.ndarray:
            if array.shape != computed[key].shape:
                have = show_type(computed[key].dtype, array.shape)
                raise ValueError(f"'{key}' would be {have} instead of {computed[key]}")
            return place(key, array)

        try:
            return kept | precomputed(self.module, found, made)
        except (ValueError, IndexError, ArithmeticError) as error:
            raise InvalidInputError(f"weights cannot be computed from these: {error}") from None

    def _computed(self) -> list[TensorSpec]:
        """The weights that `module` computes."""
        precompute = Precompute.of(self.module.operation) if self.module else None
        if precompute is None:
            return []
        kinds = map(tensor_type, ir.FunctionType(ir.TypeAttr(precompute.function.attributes["function_type"]).value).results)
        pairs = zip(precompute.keys(), kinds, strict=True)
        return [TensorSpec(key, kind.shape, kind.dtype) for key, kind in pairs if kind is not None]


@dataclass(frozen=True)
class _Placement:
    """Puts arrays where weights lie: into `memory`, unless they lie well in that of `owners`, or are `known`."""

    memory: WeightMemory
    owners: frozenset[int]
    known: Known

    @classmethod
    def of(
        cls, given: Iterable[np.ndarray], read: Iterable[np.ndarray], computed: Iterable[TensorSpec], known: Known
    ) -> _Placement:
        """For the arrays `read`, of `given` ones, and those of `computed`."""
        owners = frozenset(id(_owner(array)) for array in given)
        moving = [array.nbytes for array in read if not _stays(array, owners)]
        return cls(WeightMemory([*moving, *map(_size, computed)]), owners, known)

    def __call__(self, key: str, array: np.ndarray) -> np.ndarray:
        if _stays(array, self.owners):
            return array
        earlier = self.known(key, array)
        return self.memory.copy(array) if earlier is None else earlier


def _stays(array: np.ndarray, owners: Set[int]) -> bool:
    """Whether an array is in memory of `owners`, and lies well there."""
    return id(_owner(array)) in owners and _lies_well(array)


def _size(spec: TensorSpec) -> int:
    """The bytes of a weight whose sizes are numbers, or none where it cannot be computed."""
    return math.prod(dim for dim in spec.shape if isinstance(dim, int)) * spec.numpy_dtype.itemsize


def _owner(array: np.ndarray) -> np.ndarray:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _lies_well(array: np.ndarray) -> bool:
    return array.flags.c_contiguous and (array.ctypes.data % LINE == 0 or not LINE <= array.nbytes <= _MOST_COPIED)


def params_of(module: ir.Module) -> Iterator[TensorSpec]:
    """The weights of a dl module that it does not compute itself, each once, in order."""
    precompute = Precompute.of(module.operation)
    seen = set(precompute.keys() if precompute else ())
    for op in dl_ops(module.operation):
        key = op.attributes["key"].value if op.name == "dl.param" else None
        if key is not None and key not in seen:
            kind = type_of_value(op.results[0])
            seen.add(key)
            yield TensorSpec(key, kind.shape, kind.dtype)


def _moved_alone(function: ir.Operation) -> ir.Module:
    """A module of its own for a function, which leaves the one it is in."""
    with function.context, ir.Location.unknown():
        module = ir.Module.create()
        function.clone(ip=ir.InsertionPoint(module.body))
    function.erase()
    return module
