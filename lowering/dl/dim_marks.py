"""Names for dims that arguments and results of a function share: the attribute `dl.dims`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dlc._mlir import ir
from dlc.dialects.dl.types import Dim, TensorType

_DIMS = "dl.dims"


def mark_dims(function: ir.Operation, arguments: Sequence[TensorType | None], results: Sequence[TensorType | None]) -> None:
    """Name the dims that occur twice in the types of arguments and results; None stands for what is no tensor."""
    marks = _dim_names(arguments, results)
    for key, entries in zip(("arg_attrs", "res_attrs"), marks, strict=True):
        if any(any(names) for names in entries):
            function.attributes[key] = ir.ArrayAttr.get([_named(names, function.context) for names in entries], function.context)


def _dim_names(
    arguments: Sequence[TensorType | None], results: Sequence[TensorType | None]
) -> tuple[list[list[str]], list[list[str]]]:
    """Names of the dims of arguments and of results: `d0`, `d1`, ... for those that occur twice, else empty."""
    shapes = [() if kind is None else kind.shape for kind in (*arguments, *results)]
    counts = Counter(dim for shape in shapes for dim in shape if isinstance(dim, str))
    names: dict[Dim, str] = {}
    for shape in shapes:
        for dim in shape:
            if isinstance(dim, str) and counts[dim] > 1 and dim not in names:
                names[dim] = f"d{len(names)}"
    found = [[names.get(dim, "") for dim in shape] for shape in shapes]
    return found[: len(arguments)], found[len(arguments) :]


def _named(names: Sequence[str], context: ir.Context) -> ir.DictAttr:
    if not any(names):
        return ir.DictAttr.get({}, context)
    return ir.DictAttr.get({_DIMS: ir.ArrayAttr.get([ir.StringAttr.get(name, context) for name in names], context)}, context)
