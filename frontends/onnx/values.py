"""Values of graph inputs that are given for the import: these inputs become constants of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx

from dlc.diagnostics import did_you_mean
from dlc.dialects.dl.types import TensorType
from dlc.dtypes import NUMPY_DTYPES
from dlc.errors import InvalidInputError

_TRIAL_SIZE = 8
"""A dynamic dim in a trial: enough for small windows and axes that are split."""

InputValues = Mapping[str, Any]
"""An array, a number or a list of numbers by the name of the input."""


def bind_values(model: onnx.ModelProto, values: InputValues) -> dict[str, np.ndarray]:
    """Make inputs of `model` initializers, forget what was inferred or declared without them, and return their arrays.

    `InvalidInputError` names an input that is not there, and a value that does not fit its type.
    """
    graph = model.graph
    weights = {tensor.name for tensor in graph.initializer}
    inputs = {entry.name: entry for entry in graph.input if entry.name not in weights}
    for name in values:
        if name not in inputs:
            hint = did_you_mean(str(name), inputs) or f" (inputs: {', '.join(inputs) or 'none'})"
            raise InvalidInputError(f"values: the model has no input '{name}'{hint}")
    arrays = {name: checked_value(inputs[name], given) for name, given in values.items()}
    kept = [entry for entry in graph.input if entry.name not in arrays]
    del graph.input[:], graph.value_info[:]
    graph.input.extend(kept)
    graph.initializer.extend(onnx.numpy_helper.from_array(array, name) for name, array in arrays.items())
    for entry in graph.output:
        entry.type.tensor_type.ClearField("shape")
    return arrays


def checked_value(entry: onnx.ValueInfoProto, given: Any) -> np.ndarray:
    """`given` in the element type of an input; one number may stand for a list of one. Nothing is rounded to an integer."""
    name, tensor = entry.name, entry.type.tensor_type
    if not entry.type.HasField("tensor_type"):
        raise InvalidInputError(f"values: input '{name}' is no tensor; only tensors can be given")
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    try:
        array = np.asarray(given)
        found = array.astype(dtype)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(f"values: input '{name}' takes numbers of {dtype}, not {given!r}") from None
    if dtype.kind in "biu" and not np.array_equal(found, array):
        raise InvalidInputError(f"values: input '{name}' takes numbers of {dtype}, but {given!r} would lose a value")
    if not tensor.HasField("shape"):
        return found
    return _shaped(name, found, [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim])


def _shaped(name: str, array: np.ndarray, sizes: Sequence[int | None]) -> np.ndarray:
    if array.ndim != len(sizes) and array.size == 1:
        array = array.reshape([1] * len(sizes))
    fits = array.ndim == len(sizes) and all(want in (None, have) for want, have in zip(sizes, array.shape, strict=True))
    if not fits:
        wanted = ", ".join("?" if size is None else str(size) for size in sizes)
        raise InvalidInputError(f"values: input '{name}' takes an array of shape [{wanted}] but got {list(array.shape)}")
    return array


def trial_shape(kind: TensorType) -> list[int]:
    """Sizes that may stand for the real ones of an input in a trial."""
    return [dim if isinstance(dim, int) else _TRIAL_SIZE for dim in kind.shape]


def trial_values(names: Sequence[str], inputs: Mapping[str, TensorType]) -> list[dict[str, np.ndarray]]:
    """Values that may stand for the real ones in a trial: counted from 0, as axes are, or ones, as sizes may be."""
    sizes = {name: [dim if isinstance(dim, int) else 1 for dim in inputs[name].shape] for name in names}
    ones = {name: np.ones(shape, NUMPY_DTYPES[inputs[name].dtype]) for name, shape in sizes.items()}
    counted = {
        name: np.arange(array.size).reshape(array.shape).astype(array.dtype) if array.dtype.kind in "iu" else array
        for name, array in ones.items()
    }
    return [counted, ones]
