"""Numerics cases: the tables in `cases/<family>.py` say what is tested, `test_numerics.py` compiles and compares."""

from __future__ import annotations

import importlib.util
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dlc.dialects.dl import ops
from dlc.dialects.dl.storage import SMALL_INTS, STORAGE
from dlc.dialects.dl.types import FLOATS, NUMPY_DTYPES, UNSIGNED_INTS

_CASES = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class InputSpec:
    """One input array: random values in [low, high) of `dtype` (None: the case's dtype), or fixed `values`."""

    shape: tuple[int, ...] = ()
    low: float = -3.0
    high: float = 3.0
    dtype: str | None = None
    values: Any = None

    def array(self, dtype: str, generator: np.random.Generator) -> np.ndarray:
        """The input for a run of the case in `dtype`."""
        dtype = self.dtype or dtype
        numpy_dtype = NUMPY_DTYPES[dtype]
        if self.values is not None:
            with np.errstate(all="ignore"):
                return np.asarray(self.values).astype(numpy_dtype)
        if dtype == "i1":
            return generator.integers(0, 2, self.shape).astype(numpy_dtype)
        if dtype in STORAGE:
            codes = generator.integers(0, 1 << int(dtype[1]) if dtype.startswith("f") else 256, self.shape).astype(np.uint8)
            return codes.view(np.int8).astype(np.int8).astype(numpy_dtype) if dtype in SMALL_INTS else codes.view(numpy_dtype)
        if dtype in FLOATS:
            return np.asarray(generator.uniform(self.low, self.high, self.shape)).astype(numpy_dtype)
        low = max(int(self.low), 0) if dtype in UNSIGNED_INTS else int(self.low)
        return generator.integers(low, max(int(self.high), low + 1), self.shape).astype(numpy_dtype)


def spec(shape: Sequence[int], low: float = -3.0, high: float = 3.0, dtype: str | None = None) -> InputSpec:
    """A random input with a range, or with a dtype that does not follow the case's."""
    return InputSpec(tuple(shape), low, high, dtype)


def array(values: Any, dtype: str | None = None) -> InputSpec:
    """A fixed input."""
    return InputSpec(np.shape(values), dtype=dtype, values=values)


@dataclass(frozen=True)
class Case:
    """One op with inputs and attributes, run in each of `dtypes` (None: every dtype the op accepts).

    An input is a shape, an `InputSpec`, None (absent optional operand) or a list of them (variadic operand). `rtol` and `atol`
    override the tolerances by dtype. `dynamic=False` skips the run with dynamic dims; `reason` says why.
    """

    op: str
    inputs: tuple[Any, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    dtypes: tuple[str, ...] | None = None
    name: str = ""
    rtol: Mapping[str, float] = field(default_factory=dict)
    atol: Mapping[str, float] = field(default_factory=dict)
    dynamic: bool = True
    reason: str = ""

    @property
    def label(self) -> str:
        """Name of the test."""
        return f"{self.op}-{self.name or _described(self)}"

    def run_dtypes(self) -> tuple[str, ...]:
        """The dtypes the case runs in."""
        if self.dtypes is not None:
            return self.dtypes
        op = ops()[self.op]
        for operand, given in zip(op.operand_fields, self.inputs, strict=False):
            first = given[0] if isinstance(given, list) else given
            if first is not None and not (isinstance(first, InputSpec) and first.dtype):
                return tuple(op.accepted_dtypes(operand.name))
        return ("f32",)

    def arrays(self, dtype: str) -> list[Any]:
        """Input arrays by operand field; the same on every run."""
        generator = np.random.default_rng(zlib.crc32(f"{self.label}/{dtype}".encode()))
        return [_arrays(given, dtype, generator) for given in self.inputs]


def all_cases() -> list[Case]:
    """The cases of every family file."""
    found: list[Case] = []
    for file in sorted(_CASES.glob("*.py")):
        module_spec = importlib.util.spec_from_file_location(f"dl_cases_{file.stem}", file)
        assert module_spec is not None and module_spec.loader is not None
        module = importlib.util.module_from_spec(module_spec)
        module_spec.loader.exec_module(module)
        found.extend(module.CASES)
    return found


def _arrays(given: Any, dtype: str, generator: np.random.Generator) -> Any:
    if given is None:
        return None
    if isinstance(given, list):
        return [_arrays(item, dtype, generator) for item in given]
    return (given if isinstance(given, InputSpec) else InputSpec(tuple(given))).array(dtype, generator)


def _described(case: Case) -> str:
    shapes = ["x".join(map(str, given.shape if isinstance(given, InputSpec) else given)) for given in _flat(case.inputs)]
    attributes = [f"{key}={value}" for key, value in case.attributes.items() if np.ndim(value) < 2]
    return ",".join([*shapes, *attributes]).replace(" ", "")


def _flat(inputs: Sequence[Any]) -> list[Any]:
    return [item for given in inputs for item in (given if isinstance(given, list) else [given]) if item is not None]
