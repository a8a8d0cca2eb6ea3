"""What a served model takes and gives, and the checks of a request against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import RuntimeLoadError
from ..runtime.signature import TensorSpec
from .datatypes import DATATYPES
from .errors import InvalidRequestError
from .request import InferRequest, RawInput, RequestHead

VERSION = "1"
"""The one version that each model has."""
_MOST_RANK = 32


Given = RawInput | np.ndarray
"""An input as the head of a request gives it."""


@dataclass(frozen=True, eq=False)
class ModelInterface:
    """Inputs and outputs of the model `name`. Equal to itself alone: a model that is loaded again has another one."""

    name: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]

    @classmethod
    def of(cls, name: str, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> ModelInterface:
        """`RuntimeLoadError` if the protocol has no name for a type."""
        for spec in (*inputs, *outputs):
            if spec.dtype not in DATATYPES:
                raise RuntimeLoadError(f"model '{name}': the protocol has no datatype for {spec}; cast it in the model")
        return cls(name, tuple(inputs), tuple(outputs))

    @cached_property
    def inputs_by_name(self) -> dict[str, TensorSpec]:
        return {spec.name: spec for spec in self.inputs}

    @cached_property
    def output_numbers(self) -> dict[str, int]:
        return {spec.name: number for number, spec in enumerate(self.outputs)}

    @cached_property
    def _donated(self) -> tuple[int, ...]:
        return tuple(number for number, spec in enumerate(self.inputs) if spec.donated)

    def metadata(self) -> dict[str, Any]:
        """The protocol's model metadata; -1 is a dynamic dim."""
        tensors = {
            kind: [{"name": spec.name, "datatype": DATATYPES[spec.dtype], "shape": _shape(spec)} for spec in specs]
            for kind, specs in (("inputs", self.inputs), ("outputs", self.outputs))
        }
        return {"name": self.name, "versions": [VERSION], "platform": "dlc_engine", **tensors}

    def checked_input(self, name: str, datatype: str, shape: Sequence[Any]) -> tuple[TensorSpec, tuple[int, ...]]:
        """The input `name` and the shape that a request gives it, before any element is read."""
        spec = self.inputs_by_name.get(name)
        if spec is None:
            known = ", ".join(f"'{each.name}'" for each in self.inputs)
            raise InvalidRequestError(f"model '{self.name}' has no input {name!r}; it has {known}")
        if datatype != DATATYPES[spec.dtype]:
            raise InvalidRequestError(f"input '{name}' is {DATATYPES[spec.dtype]}, not {datatype!r}")
        sizes = tuple(shape)
        if len(sizes) > _MOST_RANK or not all(type(size) is int and 0 <= size < 1 << 63 for size in sizes):
            raise InvalidRequestError(f"input '{name}': the shape must be at most {_MOST_RANK} sizes of 0 or more")
        if len(sizes) != spec.rank or any(
            isinstance(dim, int) and dim != size for dim, size in zip(spec.shape, sizes, strict=True)
        ):
            raise InvalidRequestError(f"input '{name}' has shape {list(sizes)}; the model takes {_shape(spec)}")
        return spec, sizes

    def checked_order(self, given: Mapping[str, Given]) -> tuple[Given, ...]:
        """All inputs in the model's order; equal names of dims are equal sizes."""
        missing = [spec.name for spec in self.inputs if spec.name not in given]
        if missing:
            raise InvalidRequestError(f"input '{missing[0]}' is missing")
        sizes: dict[str, tuple[int, str]] = {}
        for spec in self.inputs:
            for dim, size in zip(spec.shape, given[spec.name].shape, strict=True):
                if not isinstance(dim, str):
                    continue
                known, where = sizes.setdefault(dim, (size, spec.name))
                if known != size:
                    raise InvalidRequestError(f"dim '{dim}' is {known} in input '{where}' and {size} in input '{spec.name}'")
        return tuple(given[spec.name] for spec in self.inputs)

    def request(self, head: RequestHead, contents: Sequence[bytes | memoryview]) -> InferRequest:
        """The request of `head` whose binary contents are `contents`; `InvalidRequestError` if their sizes do not fit."""
        arrays = head.arrays(contents)
        for number in self._donated:  # what a call may write to is not the memory of a request
            arrays[number] = arrays[number].copy()
        return InferRequest(head, arrays)

    def numbers_of(self, names: Sequence[str]) -> list[int]:
        """Numbers of the outputs `names`; of all of them if there are none."""
        if not names:
            return list(range(len(self.outputs)))
        for name in names:
            if name not in self.output_numbers:
                known = ", ".join(f"'{each.name}'" for each in self.outputs)
                raise InvalidRequestError(f"model '{self.name}' has no output {name!r}; it has {known}")
        if len(set(names)) != len(names):
            raise InvalidRequestError("an output is asked for twice")
        return [self.output_numbers[name] for name in names]


def _shape(spec: TensorSpec) -> list[int]:
    return [dim if isinstance(dim, int) else -1 for dim in spec.shape]
