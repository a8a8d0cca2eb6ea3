"""Compiles the segments of a hosted model: at once where their types are known, else for the types of a call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import onnx

from dlc.dtypes import NUMPY_DTYPES, dtype_of_numpy
from dlc.errors import InvalidInputError, ParseError
from dlc.hosting.graph import GraphSegment
from dlc.hosting.types import HostTensor, HostType
from dlc.lowering.deadline import Progress
from dlc.runtime.signature import Dim, TensorSpec
from dlc.variants import Variants

if TYPE_CHECKING:
    from dlc.compiled_model import CompiledModel

TensorTypes = tuple[tuple[str, tuple[Dim, ...]], ...]
"""Element type and shape of each input."""
_MOST_TYPES = 64
CompileModel = Callable[["onnx.ModelProto", "Progress | None"], "CompiledModel"]


@dataclass
class CompiledSegment:
    """A segment and its code by the types of its inputs."""

    segment: GraphSegment
    compile: CompileModel
    variants: Variants
    params: Mapping[str, np.ndarray] = field(default_factory=dict)
    _types: dict[tuple[object, ...], TensorTypes] = field(default_factory=dict)
    """Those of the inputs of late calls, by their dtypes and shapes."""

    def prepare(self, progress: Progress | None) -> None:
        """Compile it if its types are known before any call."""
        types = declared_types(self.segment)
        if types is not None:
            self.variants.find(types, lambda check: self._built(types, progress or check))

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs for `arrays`."""
        types = self._types_of(arrays)
        variant = self.variants.get(types) or self.variants.find(types, functools.partial(self._built, types))
        return variant(arrays)

    def _types_of(self, arrays: Sequence[np.ndarray]) -> TensorTypes:
        try:
            key = tuple([(array.dtype, array.shape) for array in arrays])
        except AttributeError:  # a list, or no value: `_type_in_call` says which
            key = ()
        types = self._types.get(key)
        if types is None:
            types = tuple(map(_type_in_call, self.segment.inputs.items(), arrays))
            if len(self._types) >= _MOST_TYPES:
                self._types.clear()
            self._types[key] = types
        return types

    def _built(self, types: TensorTypes, progress: Progress) -> CompiledModel:
        compiled = self.compile(model_of(self.segment, types), progress)
        _check_declared(self.segment, compiled.outputs)
        params = self._own(self.params)
        return compiled.with_params(params) if params else compiled

    def with_params(self, params: Mapping[str, np.ndarray]) -> CompiledSegment:
        """The same code with other weights."""
        own = self._own(params)
        variants = self.variants.mapped(lambda variant: variant.with_params(own) if own else variant)
        return CompiledSegment(self.segment, self.compile, variants, {**self.params, **own})

    def _own(self, params: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        names = self.weights()
        return {name: array for name, array in params.items() if name in names}

    def weights(self) -> set[str]:
        """Names of the initializers that it reads."""
        return {tensor.name for tensor in self.segment.model.graph.initializer}


def _check_declared(segment: GraphSegment, made: Sequence[TensorSpec]) -> None:
    """`ParseError` where a segment makes another element type or rank than the file declares."""
    for name, spec in zip(segment.outputs, made, strict=True):
        declared = segment.declared.get(name)
        if not isinstance(declared, HostTensor):
            continue
        is_any_rank = declared.shape is None or spec.unranked
        if declared.dtype not in (None, spec.dtype) or not (is_any_rank or len(declared.shape or ()) == len(spec.shape)):
            what = f"makes {spec} but the model declares {declared}"
            raise ParseError(f"{segment.name}: error: {what}; correct the declaration, or export the model again")


def model_of(segment: GraphSegment, types: TensorTypes) -> onnx.ModelProto:
    """The segment as a model with inputs of these types."""
    model = onnx.ModelProto()
    model.CopyFrom(segment.model)
    for name, (dtype, shape) in zip(segment.inputs, types, strict=True):
        element = onnx.helper.np_dtype_to_tensor_dtype(NUMPY_DTYPES[dtype])
        model.graph.input.append(onnx.helper.make_tensor_value_info(name, element, shape))
    return model


def declared_types(segment: GraphSegment) -> TensorTypes | None:
    """The types of a segment's inputs as the model declares them; None where one is not known before a call."""
    found = []
    for kind in segment.inputs.values():
        if not isinstance(kind, HostTensor) or kind.dtype not in NUMPY_DTYPES or kind.dtype is None or kind.shape is None:
            return None
        found.append((kind.dtype, kind.shape))
    return tuple(found)


def _type_in_call(declared: tuple[str, HostType], array: object) -> tuple[str, tuple[Dim, ...]]:
    """The declared type of an input where the array fits it, else its own, of any size."""
    name, kind = declared
    if not isinstance(array, np.ndarray | np.generic):
        raise InvalidInputError(f"value '{name}' is a {type(array).__name__} where compiled code takes a tensor; unpack it first")
    dtype = dtype_of_numpy(array.dtype)
    if not isinstance(kind, HostTensor) or kind.shape is None or (kind.dtype, len(kind.shape)) != (dtype, array.ndim):
        return dtype, (None,) * array.ndim
    fits = all(not isinstance(want, int) or want == have for want, have in zip(kind.shape, array.shape, strict=True))
    return dtype, kind.shape if fits else (None,) * array.ndim
