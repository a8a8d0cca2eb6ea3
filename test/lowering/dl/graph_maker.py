"""A random graph while it grows: values with their arrays, and ways to add more."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.base import DLOp
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.types import NUMPY_DTYPES, ConstraintError, TensorType, type_of_array

EPSILON = {"f64": 1e-7, "f32": 1e-6, "f16": 2e-3, "bf16": 1.6e-2}
"""Relative disturbance of a twin per op, by element type: a few units in the last place (f64: what f32 constants have)."""
_LARGEST = 1e3
_MOST_ELEMENTS = 600


How = Literal["rounds", "keeps", "jumps"]


class Unfit(Exception):
    """An op does not suit the values that were picked for it; another one is tried."""


@dataclass(frozen=True)
class Item:
    """A value of the graph: its type with symbols, its array, its disturbed twin, and whether roundings can't touch it."""

    value: ir.Value
    type: TensorType
    array: np.ndarray
    twin: np.ndarray
    exact: bool
    number: int = -1
    """Its place among the values that a later op may take."""

    @property
    def rank(self) -> int:
        return self.type.rank

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes that the dims have in this run."""
        return self.array.shape

    @property
    def dtype(self) -> str:
        return self.type.dtype


@dataclass
class GraphMaker:
    """A graph while it grows: the generator of choices, the values so far, and ways to add more."""

    choose: random.Random
    graph: Graph
    numbers: np.random.Generator
    items: list[Item] = field(default_factory=list)
    inputs: list[np.ndarray] = field(default_factory=list)
    used: set[int] = field(default_factory=set)

    def pick(self, fits: Callable[[Item], bool] = lambda item: True) -> Item:
        """A value so far that fits, recent ones rather than old ones; `Unfit` where there is none."""
        found = [item for item in self.items if fits(item)]
        if not found:
            raise Unfit
        return found[-1 - min(int(min(self.choose.expovariate(0.4), 100)), len(found) - 1)]

    def floats(self, fits: Callable[[Item], bool] = lambda item: True) -> Item:
        """A float value that fits."""
        return self.pick(lambda item: item.dtype in EPSILON and fits(item))

    def array(self, shape: Sequence[int], dtype: str = "f32", scale: float = 1.0) -> np.ndarray:
        """Random numbers; whole ones for integers, both truth values for i1."""
        kind = NUMPY_DTYPES[dtype]
        if dtype == "i1":
            return self.numbers.integers(0, 2, shape).astype(kind)
        if dtype[0] in "iu":
            return self.numbers.integers(0 if dtype == "ui8" else -4, 5, shape).astype(kind)
        return np.asarray(self.numbers.normal(0, scale, shape)).astype(kind)

    def constant(self, array: np.ndarray) -> Item:
        """A `dl.constant`."""
        return Item(dl.constant(value=array), type_of_array(array), array, array, True)

    def weight(self, array: np.ndarray) -> Item:
        """A `dl.param`, sometimes a constant."""
        if self.choose.random() < 0.25:
            return self.constant(array)
        return Item(self.graph.param(f"w{len(self.graph.params)}", array), type_of_array(array), array, array, True)

    def op(self, name: str, *operands: Item | None, how: How = "rounds", **attributes: object) -> Item:
        """Add an op and its first result to the values; `Unfit` where its operands or result do not suit.

        An op rounds, or `keeps` its operands' roundings as they are, or `jumps`: a small change of an operand may be a large
        one of the result, so the operands must not depend on roundings.
        """
        return self.ops(name, *operands, how=how, **attributes)[0]

    def ops(self, name: str, *operands: Item | None, how: How = "rounds", **attributes: object) -> list[Item]:
        """Like `op`, with all results."""
        given = [item for item in operands if item is not None]
        exact = how != "rounds" and all(item.exact for item in given)
        if how == "jumps" and not exact:
            raise Unfit
        found = dl.ops()[name]
        try:
            values = found.bind_attributes(attributes)
            types = found.inferred_types(*(item and item.type for item in operands), **values)
            arrays = _evaluate(found, [item and item.array for item in operands], values)
            twins = arrays if exact else _evaluate(found, [item and item.twin for item in operands], values)
        except (ConstraintError, ValueError, IndexError, ZeroDivisionError):
            raise Unfit from None
        if how == "rounds":
            twins = [self._disturbed(twin) for twin in twins]
        if not all(map(_sane, arrays, twins)):
            raise Unfit
        location = ir.Location.name(f"op{len(self.items)}")
        operation = found.create(*(item and item.value for item in operands), loc=location, **values)
        self.used.update(item.number for item in given)
        return [self._added(*made, exact) for made in zip(operation.results, types, arrays, twins, strict=True)]

    def add_input(self, shape: Sequence[int | str], sizes: dict[str, int], dtype: str) -> None:
        """An argument of the function, and its array."""
        array = self.array([size if isinstance(size, int) else sizes[size] for size in shape], dtype)
        value = self.graph.input(f"x{len(self.inputs)}", shape, dtype)
        self.inputs.append(array)
        self._added(value, TensorType(tuple(shape), dtype), array, array, True)

    def _added(self, value: ir.Value, kind: TensorType, array: np.ndarray, twin: np.ndarray, exact: bool) -> Item:
        self.items.append(Item(value, kind, array, twin, exact, len(self.items)))
        return self.items[-1]

    def _disturbed(self, array: np.ndarray) -> np.ndarray:
        epsilon = EPSILON.get(type_of_array(array).dtype)
        if epsilon is None:
            return array
        noise = self.numbers.uniform(-epsilon, epsilon, array.shape)
        return np.asarray(array * (1 + noise)).astype(array.dtype)


def _evaluate(found: type[DLOp], arrays: Sequence[np.ndarray | None], attributes: dict[str, object]) -> list[np.ndarray]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the mean of no elements
        result = found.reference(*arrays, **attributes)
    return [np.asarray(item) for item in (result if isinstance(result, tuple) else (result,))]


def _sane(array: np.ndarray, twin: np.ndarray) -> bool:
    """Whether a result is small, finite, and near its twin."""
    if array.shape != twin.shape or array.size > _MOST_ELEMENTS:
        return False
    epsilon = EPSILON.get(type_of_array(array).dtype)
    if epsilon is None:
        return bool((array == twin).all())
    wide, other = array.astype(np.float64), twin.astype(np.float64)
    if not np.isfinite(wide).all() or not np.isfinite(other).all() or np.abs(wide).max(initial=0) > _LARGEST:
        return False
    return bool(np.abs(wide - other).max(initial=0) <= 200 * epsilon * (1 + np.abs(wide).max(initial=0)))
