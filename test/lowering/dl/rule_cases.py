"""The functions of lit tests as cases of rewrite rules: what a rule makes of one gives the same results on random inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.dialects.dl.types import NUMPY_DTYPES, TensorType, tensor_type

_FOLDER = Path(__file__).parent
_SPECIAL = (0.0, -0.0, float("nan"), float("inf"), float("-inf"))
_SIZES = (3, 2, 5, 4, 6)
_CONTEXT = make_context()


@dataclass(frozen=True)
class RuleCase:
    """One function of a lit test, alone in its module as text."""

    name: str
    text: str

    def module(self) -> ir.Module:
        """A fresh module with the function."""
        return _parsed(self.text)

    def inputs(self, special: bool) -> list[np.ndarray]:
        """Random inputs, whole numbers among them; with `special`, zeros of both signs, infinities and NaN, too."""
        module = self.module()
        function = module.body.operations[0].operation
        random = np.random.default_rng(len(self.text))
        sizes: dict[str, int] = {}
        names = _dim_names(function)
        found = []
        for index, argument in enumerate(function.regions[0].blocks[0].arguments):
            kind = tensor_type(argument.type)
            assert kind is not None
            found.append(_array(random, kind, _shape(kind, names[index], sizes), special))
        return found


def _parsed(text: str) -> ir.Module:
    with _CONTEXT:
        return ir.Module.parse(text)


def cases(pattern: str) -> list[RuleCase]:
    """The functions of the lit tests of the graph passes whose file names match a pattern."""
    return [case for file in sorted(_FOLDER.rglob(pattern)) for case in _cases_of(file)]


def _cases_of(file: Path) -> Iterator[RuleCase]:
    for part in file.read_text("utf-8").split("// -----\n"):
        module = _parsed(part)
        for op in module.body.operations:
            yield RuleCase(op.operation.attributes["sym_name"].value, str(op.operation))


def _dim_names(function: ir.Operation) -> list[list[str]]:
    count = len(function.regions[0].blocks[0].arguments)
    if "arg_attrs" not in function.attributes:
        return [[]] * count
    entries = [ir.DictAttr(entry) for entry in ir.ArrayAttr(function.attributes["arg_attrs"])]
    return [[item.value for item in entry["dl.dims"]] if "dl.dims" in entry else [] for entry in entries]


def _shape(kind: TensorType, names: list[str], sizes: dict[str, int]) -> list[int]:
    """A size for each dim; one for each name, and others for open dims without."""
    shape = []
    for axis, dim in enumerate(kind.shape):
        name = names[axis] if axis < len(names) and names[axis] else f"{len(sizes)}"
        shape.append(dim if isinstance(dim, int) else sizes.setdefault(name, _SIZES[len(sizes) % len(_SIZES)]))
    return shape


def _array(random: np.random.Generator, kind: TensorType, shape: list[int], special: bool) -> np.ndarray:
    dtype = NUMPY_DTYPES[kind.dtype]
    if kind.dtype[0] in "iu":
        low, high = (0, 2) if kind.dtype == "i1" else (0, 256) if kind.dtype == "ui8" else (-128, 128)
        return random.integers(low, high, shape).astype(dtype)
    array = np.asarray(random.normal(0, 4, shape))
    array = np.where(random.random(shape) < 0.3, np.round(array), array)
    if special:
        array = np.where(random.random(shape) < 0.5, random.choice(_SPECIAL, shape), array)
    return array.astype(dtype)
