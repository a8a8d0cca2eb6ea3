"""Names for dims that arguments and results of a function share, and what is known of them.

The attributes are `dl.dims`, `dl.bounds` and `dl.usual`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from dlc._mlir import ir
from dlc.analysis.dim_bounds import UNBOUNDED, DimBounds, state_bounds, state_usual
from dlc.dialects.dl.types import Dim, TensorType

_DIMS = "dl.dims"


def mark_dims(
    function: ir.Operation,
    arguments: Sequence[TensorType | None],
    results: Sequence[TensorType | None],
    bounds_of: Callable[[Dim], DimBounds],
    usual: Mapping[Dim, int],
) -> None:
    """Name the dims that occur twice in the types of arguments and results, and those with bounds or a usual size.

    Bounds and `usual` sizes are stated. None stands for what is no tensor.
    """
    names = _dim_names(arguments, results, lambda dim: dim in usual or bounds_of(dim) != UNBOUNDED)
    state_usual(function, {name: usual[dim] for dim, name in names.items() if dim in usual})
    state_bounds(function, {name: found for dim, name in names.items() if (found := bounds_of(dim)) != UNBOUNDED})
    marks = [[[names.get(dim, "") for dim in kind.shape] if kind else [] for kind in kinds] for kinds in (arguments, results)]
    for key, entries in zip(("arg_attrs", "res_attrs"), marks, strict=True):
        if any(any(names) for names in entries):
            function.attributes[key] = ir.ArrayAttr.get([_named(names, function.context) for names in entries], function.context)


def _dim_names(
    arguments: Sequence[TensorType | None], results: Sequence[TensorType | None], is_known: Callable[[Dim], bool]
) -> dict[Dim, str]:
    """Names of dims, `d0`, `d1`, ..., for those that occur twice, or of which something is known."""
    shapes = [() if kind is None else kind.shape for kind in (*arguments, *results)]
    counts = Counter(dim for shape in shapes for dim in shape if isinstance(dim, str))
    names: dict[Dim, str] = {}
    for shape in shapes:
        for dim in shape:
            if isinstance(dim, str) and dim not in names and (counts[dim] > 1 or is_known(dim)):
                names[dim] = f"d{len(names)}"
    return names


def _named(names: Sequence[str], context: ir.Context) -> ir.DictAttr:
    if not any(names):
        return ir.DictAttr.get({}, context)
    return ir.DictAttr.get({_DIMS: ir.ArrayAttr.get([ir.StringAttr.get(name, context) for name in names], context)}, context)
