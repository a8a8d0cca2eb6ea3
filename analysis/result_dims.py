"""Dims of results that follow from the elements of operands (`shape_values`), such as those of a reshape with a computed list."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dlc.analysis.derived_dims import cut_of, factors_of, fits_where_broadcast, product_of_dims, sum_of_dims
from dlc.analysis.shape_values import Elements, Facts
from dlc.dialects.dl.shape import left_over
from dlc.dialects.dl.slicing import sliced_dim
from dlc.dialects.dl.types import ConstraintError, Dim, TensorType, is_addressable

_BROADCASTING = frozenset(
    [
        "add",
        "sub",
        "mul",
        "div",
        "mod",
        "pow",
        "max",
        "min",
        "equal",
        "not_equal",
        "less",
        "less_equal",
        "and",
        "or",
        "xor",
        "where",
    ]
)
"""Ops whose operands broadcast to one shape."""


def result_dims(facts: Facts) -> Sequence[Dim]:
    """Dims of the op's result, with those that follow from the elements of its operands.

    Elements that are no sizes, or give more than a machine can address, say nothing: run time refuses them.
    """
    rule = _DIMS.get(facts.name)
    found = [_as_size(dim) for dim in (_broadcast_dims(facts) if rule is None else rule(facts))]
    return found if is_addressable(facts.result.with_shape(found)) else facts.result.shape


def reshape_sizes(facts: Facts) -> list[Dim]:
    """Per dim of a reshape with sizes: its size or symbol, -1 for the one that is left over, None where it is not known."""
    given = facts.values[1] or (None,) * facts.result.rank
    copied = facts.attributes["copied"] or (-1,) * facts.result.rank
    found: list[Dim] = []
    for index, (dim, axis, size) in enumerate(zip(facts.attributes["shape"], copied, given, strict=True)):
        if dim >= 0 or axis >= 0:
            found.append(facts.result.shape[index])
        elif size == 0 and facts.attributes["zero_copies"] and index < facts.types[0].rank:
            found.append(facts.types[0].shape[index])
        else:
            found.append(size)
    return found


def _reshape_dims(facts: Facts) -> Sequence[Dim]:
    if facts.types[1] is None and None not in facts.result.shape:
        return facts.result.shape
    sizes = reshape_sizes(facts)
    rest = [index for index, size in enumerate(sizes) if size is None or size == -1]
    if len(rest) != 1:
        return [None if size == -1 else size for size in sizes]
    known = [size for index, size in enumerate(sizes) if index not in rest]
    try:
        left = left_over(facts.types[0].shape, [(size, -1) for size in known])
    except ConstraintError:  # run time will have other sizes, or none at all
        left = None
    if left is None:
        left = _quotient(facts.types[0].shape, known)
    return [left if index in rest else size for index, size in enumerate(sizes)]


def _quotient(dims: Sequence[Dim], known: Sequence[Dim]) -> Dim:
    """The product of `dims` without the factors in `known`; None where they do not go into it."""
    whole, part = factors_of(dims), factors_of(known)
    if whole is None or part is None or not part[0] or whole[0] % part[0] or part[1] - whole[1]:
        return None
    return product_of_dims([whole[0] // part[0], *(whole[1] - part[1]).elements()])


def _expand_dims(facts: Facts) -> Sequence[Dim]:
    sizes = expand_sizes(facts)
    offset = facts.result.rank - len(sizes)
    own = (1,) * (facts.result.rank - facts.types[0].rank) + tuple(facts.types[0].shape)
    dims: list[Dim] = list(facts.result.shape)
    for index, size in enumerate(sizes):
        at = offset + index
        if isinstance(dims[at], int) or size is None:
            continue
        if size == 1 or size == own[at]:
            dims[at] = own[at]
        elif own[at] == 1 or isinstance(size, int):
            dims[at] = size
    return dims


def expand_sizes(facts: Facts) -> list[Dim]:
    """Per entry of an expand's shape: its size or symbol, None where it is not known."""
    shape = facts.attributes["shape"]
    given = facts.values[1] or (None,) * len(shape)
    return [dim if dim >= 0 else size for dim, size in zip(shape, given, strict=True)]


def slice_bounds(facts: Facts) -> tuple[Elements, Elements]:
    """Starts and ends of a slice, None where they are not known."""
    attributes, count = facts.attributes, len(facts.attributes["axes"])
    given = facts.values[1] or (None,) * (2 * count)
    return attributes["starts"] or given[:count], attributes["ends"] or given[-count:]


def _slice_dims(facts: Facts) -> Sequence[Dim]:
    dims = list(facts.result.shape)
    starts, ends = slice_bounds(facts)
    for index, axis in enumerate(facts.attributes["axes"]):
        own, start, end = facts.types[0].shape[axis], starts[index], ends[index]
        step = facts.attributes["steps"][index]
        if dims[axis] is not None:
            continue
        if isinstance(start, int) and isinstance(end, int):
            dims[axis] = sliced_dim(own, start, end, step)
        elif start == 0 and step == 1 and end is not None and end == own:
            dims[axis] = own
        elif step == 1 and None not in (own, start, end) and not any(isinstance(item, int) and item < 0 for item in (start, end)):
            dims[axis] = cut_of(own, start, end)
    return dims


def _range_dims(facts: Facts) -> Sequence[Dim]:
    start, limit, step = (own[0] if own else None for own in facts.values[:3])
    if isinstance(start, int) and isinstance(limit, int) and isinstance(step, int) and step != 0:
        return (max(-((start - limit) // step), 0),)
    return (limit,) if start == 0 and step == 1 and limit is not None else facts.result.shape


def _broadcast_dims(facts: Facts) -> Sequence[Dim]:
    """Dims of a result that operands broadcast to; other dims as they are, such as those of ops that do not broadcast."""
    dims = list(facts.result.shape)
    operands = [kind for kind in facts.types if isinstance(kind, TensorType)]
    if facts.name not in _BROADCASTING:
        return dims
    for at in range(-len(dims), 0):
        given = [kind.shape[at] for kind in operands if kind.rank >= -at and kind.shape[at] != 1]
        for dim in given if dims[at] is None else ():
            if dim is not None and all(other == dim or fits_where_broadcast(other, dim) for other in given):
                dims[at] = dim
    return dims


def _concat_dims(facts: Facts) -> Sequence[Dim]:
    axis = facts.attributes["axis"] % facts.result.rank
    dims = list(facts.result.shape)
    if dims[axis] is None:
        dims[axis] = sum_of_dims(facts.types[0].shape[axis], facts.types[1].shape[axis])
    return dims


def _one_hot_dims(facts: Facts) -> Sequence[Dim]:
    axis = facts.attributes["axis"] % facts.result.rank
    dims = list(facts.result.shape)
    if dims[axis] is None and facts.values[2]:
        dims[axis] = _as_size(facts.values[2][0])
    return dims


def _dynamic_pad_dims(facts: Facts) -> Sequence[Dim]:
    given, own = facts.values[1], facts.types[0].shape
    if given is None:
        return facts.result.shape
    sides = zip(own, given[: len(own)], given[len(own) :], strict=True)
    return [dim if low == high == 0 else None for dim, low, high in sides]


def _dynamic_resize_dims(facts: Facts) -> Sequence[Dim]:
    dims = list(facts.result.shape)
    for axis, size in zip(facts.attributes["axes"], facts.values[1] or (), strict=bool(facts.values[1])):
        dims[axis] = _as_size(size)
    return dims


def _as_size(dim: Dim) -> Dim:
    """An element that is a size; None for a negative number, which run time refuses."""
    return None if isinstance(dim, int) and dim < 0 else dim


_DIMS: dict[str, Callable[[Facts], Sequence[Dim]]] = {
    "concat": _concat_dims,
    "reshape": _reshape_dims,
    "expand": _expand_dims,
    "slice": _slice_dims,
    "range": _range_dims,
    "one_hot": _one_hot_dims,
    "dynamic_pad": _dynamic_pad_dims,
    "dynamic_resize": _dynamic_resize_dims,
}
