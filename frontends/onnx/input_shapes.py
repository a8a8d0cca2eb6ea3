"""Shapes of inputs, from what is given by the names of inputs and by those of their dims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnx

from dlc.diagnostics import did_you_mean
from dlc.errors import InvalidInputError

InputShape = Sequence["int | str | None"]


def input_shapes(model: onnx.ModelProto, given: Mapping[str, Any] | None) -> dict[str, InputShape] | None:
    """The inputs whose shapes are given, by name; None where there are none.

    A key of `given` is an input, with a list of its sizes, or a dim of inputs, with its one size. A dim with a range or with a list
    of sizes stays dynamic: it is left out here. `InvalidInputError` names what the model does not have, and what no size is.
    """
    if not given:
        return None
    weights = {tensor.name for tensor in model.graph.initializer}
    shapes = {entry.name: _shape(entry) for entry in model.graph.input if entry.name not in weights}
    names = {dim for shape in shapes.values() for dim in shape or () if isinstance(dim, str)}
    found = {n: value for n, value in given.items() if n in shapes and not (n in names and isinstance(value, int | range))}
    for name, shape in found.items():
        _check_shape(name, shape)
        _check_ranges(name, shapes[name], shape, given)
    dims = dict.fromkeys(dim for shape in (*shapes.values(), *found.values()) for dim in shape or () if isinstance(dim, str))
    shapes |= found
    sizes: dict[str, int] = {}
    for name, value in given.items():
        if name in found:
            continue
        if name not in dims:
            raise InvalidInputError(f"shapes: the model has no input and no dim '{name}'{_hint(name, shapes, dims)}")
        if isinstance(value, int):
            sizes[name] = _checked_size(name, value)
    changed = {
        name: [sizes.get(dim, dim) if isinstance(dim, str) else dim for dim in shape]
        for name, shape in shapes.items()
        if shape is not None and any(dim in sizes for dim in shape)
    }
    return {**found, **changed} or None


def dims_of_several_sizes(model: onnx.ModelProto, given: Mapping[str, Any] | None) -> list[str]:
    """The dims in `given` that stay dynamic: those with a range or a list."""
    inputs = {entry.name for entry in model.graph.input}
    sizes = {name: each for name, each in (given or {}).items() if not isinstance(each, int)}
    return [name for name, each in sizes.items() if isinstance(each, range) or name not in inputs]


def _shape(entry: onnx.ValueInfoProto) -> InputShape | None:
    """The declared shape of an input, None where no rank is declared."""
    tensor = entry.type.tensor_type
    if not tensor.HasField("shape"):
        return None
    return [dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None for dim in tensor.shape.dim]


def _hint(name: str, shapes: Mapping[str, Any], dims: Mapping[str, Any]) -> str:
    listed = f"inputs: {', '.join(shapes) or 'none'}; dims: {', '.join(dims) or 'none'}"
    return did_you_mean(str(name), {**shapes, **dims}) or f" ({listed})"


def _check_shape(name: str, shape: Any) -> None:
    if not isinstance(shape, list | tuple):
        raise InvalidInputError(f"shapes: input '{name}' takes a list of sizes, not {shape!r}")
    for dim in shape:
        if dim is not None and not isinstance(dim, str):
            if isinstance(dim, range | list | tuple):
                remedy = "name the dim there, and give its sizes by that name"
                raise InvalidInputError(f"shapes: input '{name}' takes one size or a name for each dim, not {dim!r}; {remedy}")
            _checked_size(name, dim)


def _check_ranges(name: str, declared: InputShape | None, shape: InputShape, given: Mapping[str, Any]) -> None:
    """A size that is given for an input must be within the range that is given for its dim."""
    for dim, size in zip(declared or (), shape, strict=False):
        for allowed in _ranges(given.get(dim)) if isinstance(dim, str) and isinstance(size, int) else ():
            if size not in allowed:
                raise InvalidInputError(f"shapes: dim '{dim}' of input '{name}' is {size}, which is not in {allowed}")


def _ranges(sizes: Any) -> list[range]:
    """The ranges in what is given for a dim."""
    entries = sizes if isinstance(sizes, list | tuple) else [sizes]
    return [entry for entry in entries if isinstance(entry, range)]


def _checked_size(name: str, size: Any) -> int:
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise InvalidInputError(f"shapes: '{name}' takes sizes of 0 and more, not {size!r}")
    return size
