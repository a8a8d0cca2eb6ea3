"""The weights that compiled code reads, and how they come from those of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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
from dlc.weight_memory import LINE, gather

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
        kept = _placed({key: array for key, array in found.items() if key in self.read}, found.values(), known)
        if self.module is None:
            return kept
        try:
            computed = precomputed(self.module, found)
        except (ValueError, IndexError, ArithmeticError) as error:
            raise InvalidInputError(f"weights cannot be computed from these: {error}") from None
        for spec in self._computed():
            if (shape := computed[spec.name].shape) != spec.shape:
                have = show_type(spec.dtype, shape)
                raise InvalidInputError(f"weights cannot be computed from these: '{spec.name}' would be {have} instead of {spec}")
        return kept | _placed(computed, found.values(), known)

    def _computed(self) -> list[TensorSpec]:
        """The weights that `module` computes."""
        precompute = Precompute.of(self.module.operation) if self.module else None
        if precompute is None:
            return []
        kinds = map(tensor_type, ir.FunctionType(ir.TypeAttr(precompute.function.attributes["function_type"]).value).results)
        pairs = zip(precompute.keys(), kinds, strict=True)
        return [TensorSpec(key, kind.shape, kind.dtype) for key, kind in pairs if kind is not None]


def _placed(arrays: dict[str, np.ndarray], given: Iterable[np.ndarray], known: Known) -> dict[str, np.ndarray]:
    """Copies of `arrays`, which is emptied, in memory made for weights; what lies well in memory of `given` ones stays there.

    What is `known` needs no copy.
    """
    owners = {id(_owner(array)) for array in given}
    staying = [key for key, array in arrays.items() if id(_owner(array)) in owners and _lies_well(array)]
    kept = {key: arrays.pop(key) for key in staying}
    for key in list(arrays):
        if (earlier := known(key, arrays[key])) is not None:
            kept[key] = earlier
            del arrays[key]
    return kept | gather(arrays)


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
