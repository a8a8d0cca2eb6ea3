"""What `shapes` says of dims by their names: one size, a range, or sizes that get code of their own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dlc._mlir import ir
from dlc.analysis.dim_bounds import UNBOUNDED, DimBounds, bounds_of_function, state_bounds
from dlc.diagnostics import did_you_mean
from dlc.errors import InvalidInputError
from dlc.lowering.dl.simplify.bind_dims import BindDims
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.stages import stage_of
from dlc.option_values import ENDLESS
from dlc.sources import Source, copy_module


@dataclass(frozen=True)
class DimSizes:
    """Sizes that a dim may have (`bounds`), and those of them that get a version of their own."""

    bounds: DimBounds = UNBOUNDED
    exact: tuple[int, ...] = ()


def sizes_of_dims(shapes: Mapping[str, Any] | None, source: Source, is_complete: bool = False) -> dict[str, DimSizes]:
    """What `shapes` says of the dims of a dl module's inputs, but for those with one size.

    Keys that are inputs are left out, and dims that no input has any more. `InvalidInputError` tells what no sizes are; with
    `is_complete` it names such a dim, too.
    """
    if not shapes:
        return {}
    found = {}
    inputs = dict(_inputs(source.module))
    dims = dict.fromkeys(name for names in inputs.values() for name in names if name)
    for name, given in shapes.items():
        if isinstance(given, int) or (name in inputs and not isinstance(given, range)):
            continue
        sizes = read_sizes(name, given)
        if name in dims:
            found[name] = sizes
        elif is_complete:
            hint = did_you_mean(name, dims) or f" (dims: {', '.join(dims) or 'none'})"
            raise InvalidInputError(f"shapes: no input has a dim '{name}' that is dynamic{hint}")
    return found


def read_sizes(name: str, given: Any) -> DimSizes:
    """The sizes of the dim `name`: a range, or a list of sizes, one of which may be a range that bounds all of them."""
    if isinstance(given, range):
        return DimSizes(_bounds(name, given))
    entries = list(given) if isinstance(given, list | tuple) else []
    ranges = [entry for entry in entries if isinstance(entry, range)]
    exact = [entry for entry in entries if not isinstance(entry, range)]
    is_whole = all(isinstance(size, int) and not isinstance(size, bool) and size >= 0 for size in exact)
    if not entries or not is_whole or len(ranges) > 1:
        remedy = "give a size, a range of sizes, or a list of sizes with at most one range"
        raise InvalidInputError(f"shapes: dim '{name}' takes no {given!r}; {remedy}")
    bounds = _bounds(name, ranges[0]) if ranges else UNBOUNDED
    outside = next((size for size in exact if not bounds.admits(size)), None)
    if outside is not None:
        raise InvalidInputError(f"shapes: dim '{name}' is given the size {outside}, which is not in its {ranges[0]}")
    return DimSizes(bounds, tuple(dict.fromkeys(exact)))


def _bounds(name: str, sizes: range) -> DimBounds:
    """Those of a range; its step must divide its start, so that its sizes are the multiples of the step."""
    step = sizes.step
    if not len(sizes) or step < 1 or sizes.start < 0 or sizes.start % step:
        remedy = "give one from a size to a greater one, and where it has a step, from a multiple of that, as range(8, 513, 8)"
        raise InvalidInputError(f"shapes: dim '{name}' takes no {sizes!r}; {remedy}")
    last = sizes.start + (len_of(sizes) - 1) * step
    multiple = step if step > 1 else math.gcd(sizes.start, last) if sizes.start == last else 1
    return DimBounds(sizes.start, None if sizes.stop >= ENDLESS else last, multiple or 1)


def len_of(sizes: range) -> int:
    """`len` of a range of any length."""
    return -(-(sizes.stop - sizes.start) // sizes.step)


def with_sizes(source: Source, shapes: Mapping[str, Any]) -> Source:
    """The source of a dl module with what `shapes` says of its dims: those with one size have it, ranges are stated as bounds."""
    if (stage := stage_of(source.module)) != "dl":
        raise InvalidInputError(f"shapes: sizes of dims need a model at level 'dl', and '{source.name}' is at level '{stage}'")
    inputs = dict(_inputs(source.module))
    dims = {name for names in inputs.values() for name in names}
    whole = next((name for name in shapes if name in inputs and (name not in dims or isinstance(shapes[name], list | tuple))), None)
    if whole is not None:
        remedy = "give sizes of its dims by their names"
        raise InvalidInputError(f"shapes: the shape of input '{whole}' can be given for ONNX models only; {remedy}")
    single = {name: size for name, size in shapes.items() if isinstance(size, int)}
    sizes_of_dims({name: [given] if name in single else given for name, given in shapes.items()}, source, is_complete=True)
    return with_bounds(bound(source, single) if single else source, shapes)


def with_bounds(source: Source, shapes: Mapping[str, Any]) -> Source:
    """The source whose entry states the ranges that `shapes` gives of its dims."""
    bounds = {name: sizes.bounds for name, sizes in sizes_of_dims(shapes, source).items() if sizes.bounds != UNBOUNDED}
    if not bounds:
        return source
    found = bound(source, {})
    for function in _entries(found.module):
        state_bounds(function, bounds_of_function(function) | bounds)
    return found


def bound(source: Source, sizes: Mapping[str, int]) -> Source:
    """A copy of the source in which dims have these sizes, see `dl-bind-dims`."""
    module = copy_module(source)
    with module.context, ir.Location.unknown():
        if sizes:
            Pipeline([BindDims(tuple(f"{name}={size}" for name, size in sizes.items()))]).run(module)
    return replace(source, module=module)


def _entries(module: ir.Module) -> Iterator[ir.Operation]:
    for op in module.body.operations:
        operation = op.operation
        if operation.name == "func.func" and "sym_visibility" not in operation.attributes and operation.regions[0].blocks:
            yield operation


def _inputs(module: ir.Module) -> Iterator[tuple[str, list[str]]]:
    """Each input with the names of its dims."""
    for function in _entries(module):
        given = ir.ArrayAttr(function.attributes["arg_attrs"]) if "arg_attrs" in function.attributes else ()
        for place, entry in enumerate(map(ir.DictAttr, given)):
            if "dl.param" not in entry:
                label = entry["dl.name"].value if "dl.name" in entry else f"arg{place}"
                yield label, [item.value for item in entry["dl.dims"]] if "dl.dims" in entry else []
