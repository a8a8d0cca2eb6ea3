"""Values that are dims: what the elements of small integer tensors are, as far as shapes say it.

Exported models compute shapes at run time: `shape_of`, `gather`, `concat`, then `reshape` with that list. An element here is a
dim: an int, a symbol of `SymbolicShapes`, or None where nothing is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlc.dialects.dl.shape import left_over
from dlc.dialects.dl.slicing import sliced_dim
from dlc.dialects.dl.types import ConstraintError, Dim, TensorType

Elements = tuple[Dim, ...]

_MOST = 64
"""Longer lists are no shapes."""
_WHOLE = ("i64", "i32", "i1")
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


@dataclass(frozen=True)
class Facts:
    """What is known of one op: plain types and elements of its operands by field, its attributes and its first result."""

    name: str
    types: tuple[Any, ...]
    values: tuple[Elements | None, ...]
    attributes: Mapping[str, Any]
    result: TensorType


def result_elements(facts: Facts) -> Elements | None:
    """Elements of the op's result in row-major order, or None where it is no short list of whole numbers."""
    count = facts.result.num_elements
    if facts.result.dtype not in _WHOLE or facts.result.rank > 1 or count is None or count > _MOST:
        return None
    rule = _RULES.get(facts.name)
    found = rule(facts) if rule is not None else None
    return found if found is not None and len(found) == count else None


def result_dims(facts: Facts) -> Sequence[Dim]:
    """Dims of the op's result, with those that follow from the elements of its operands."""
    rule = _DIMS.get(facts.name)
    return _broadcast_dims(facts) if rule is None else rule(facts)


# Elements


def _constant(facts: Facts) -> Elements:
    return tuple(int(item) for item in facts.attributes["value"].reshape(-1))


def _shape_of(facts: Facts) -> Elements:
    return tuple(facts.types[0].shape[facts.attributes["start"] : facts.attributes["end"]])


def _size(facts: Facts) -> Elements:
    return (facts.types[0].num_elements,)


def _same(facts: Facts) -> Elements | None:
    return facts.values[0]


def _cast(facts: Facts) -> Elements | None:
    return facts.values[0] if facts.types[0].dtype in _WHOLE and facts.result.dtype != "i1" else None


def _expand(facts: Facts) -> Elements | None:
    own, count = facts.values[0], facts.result.num_elements
    return own * count if own is not None and count is not None and len(own) == 1 else own


def _gather(facts: Facts) -> Elements | None:
    own, indices = facts.values[:2]
    if own is None or indices is None or facts.types[0].rank != 1:
        return None
    known = [at for at in indices if isinstance(at, int) and -len(own) <= at < len(own)]
    return tuple(own[at] for at in known) if len(known) == len(indices) else None


def _slice(facts: Facts) -> Elements | None:
    own, attributes = facts.values[0], facts.attributes
    if own is None or not attributes["axes"] or not attributes["starts"] or not attributes["ends"]:
        return own if not attributes["axes"] else None
    return own[attributes["starts"][0] : attributes["ends"][0] : attributes["steps"][0]]


def _concat(facts: Facts) -> Elements:
    parts = zip(facts.values[:2], facts.types[:2], strict=True)
    known = [(None,) * (kind.num_elements or 0) if own is None else own for own, kind in parts]
    return (*known[0], *known[1])


def _arithmetic(facts: Facts) -> Elements | None:
    left, right = facts.values[:2]
    if left is None or right is None:
        return None
    count = max(len(left), len(right))
    if {len(left), len(right)} - {1, count}:
        return None
    pairs = zip(left * (count // len(left)), right * (count // len(right)), strict=True) if count else ()
    return tuple(_apply(facts.name, one, other) for one, other in pairs)


def _apply(name: str, left: Dim, right: Dim) -> Dim:
    if isinstance(left, int) and isinstance(right, int):
        return _operations(name, left, right)
    if name == "equal":
        return _equal(left, right)
    if name in ("max", "min") and left == right:
        return left
    if name in ("add", "sub"):
        return sum_of_dims(left, right) if name == "add" else difference_of_dims(left, right)
    neutral = {"mul": 1, "div": 1}.get(name)
    if right == neutral and neutral is not None:
        return left
    return right if left == neutral and name == "mul" else None


def sum_of_dims(left: Dim, right: Dim) -> Dim:
    """The sum of two sizes: a symbol that equal sums have in common, however they are added up."""
    one, other = _terms(left), _terms(right)
    return None if one is None or other is None else _named(one[0] + other[0], one[1] + other[1])


def difference_of_dims(left: Dim, right: Dim) -> Dim:
    """A sum of sizes less some of its terms; None for another difference, which may be below 0."""
    whole, part = _terms(left), _terms(right)
    if whole is None or part is None or part[1] - whole[1] or part[0] > whole[0]:
        return None
    return _named(whole[0] - part[0], whole[1] - part[1])


def _terms(dim: Dim) -> tuple[int, Counter[str]] | None:
    """The number and the symbols that a size is the sum of."""
    if dim is None or (isinstance(dim, int) and dim < 0):
        return None
    if isinstance(dim, int):
        return dim, Counter()
    if not dim.startswith(_SUM):
        return 0, Counter([dim])
    number, *names = dim.removeprefix(_SUM).split(_PLUS)
    return int(number), Counter(names)


def _named(number: int, names: Counter[str]) -> Dim:
    if not names:
        return number
    listed = sorted(names.elements())
    return listed[0] if len(listed) == 1 and not number else _SUM + _PLUS.join([str(number), *listed])


_SUM, _PLUS = "%sum \u2295 ", " \u2295 "
"""How the symbol of a sum starts, and what stands between its terms: the number first, then names in order."""

_CUT, _TO = "%cut \u2296 ", " \u2296 "
"""How the symbol of a slice's dim starts, and what stands between the dim of what is sliced, the start and the end."""


def is_at_most(dim: Dim, limit: Dim) -> bool:
    """Whether a size is surely no greater than another one: it is that, or a slice from a to b where b - a is the limit."""
    if dim is not None and dim == limit:
        return True
    if not isinstance(dim, str):
        return isinstance(dim, int) and isinstance(limit, int) and dim <= limit
    parts = dim.removeprefix(_CUT).split(_TO)
    if not dim.startswith(_CUT) or len(parts) != 3:
        return False
    start, end = (int(part) if part.isdecimal() else part for part in parts[1:])
    length = difference_of_dims(end, start)
    return length is not None and length == limit


def is_derived(dim: str) -> bool:
    """Whether a symbol says itself what it is: a sum, or what a slice leaves."""
    return dim.startswith((_SUM, _CUT))


def sum_terms(dim: str) -> tuple[int, list[str]]:
    """The number and the symbols that a symbol is the sum of; itself where it is no sum."""
    number, names = _terms(dim) or (0, Counter([dim]))
    return number, sorted(names.elements())


def cut_whole(dim: str) -> Dim:
    """The size of what is sliced, of a symbol that is what a slice leaves; None for others."""
    parts = dim.removeprefix(_CUT).split(_TO)
    if not dim.startswith(_CUT) or len(parts) != 3:
        return None
    return int(parts[0]) if parts[0].isdecimal() else parts[0]


def fits_where_broadcast(dim: Dim, other: Dim) -> bool:
    """Whether a size is surely `other` where it broadcasts with it: the least of `other` and a number of two or more.

    So is a table of positions, of which as many rows are taken as there are tokens: with more tokens nothing broadcasts.
    """
    if not isinstance(dim, str) or not isinstance(other, str) or not is_at_most(dim, other) or dim == other:
        return False
    whole = dim.removeprefix(_CUT).split(_TO)[0]
    return whole.isdecimal() and int(whole) > 1


def _equal(left: Dim, right: Dim) -> Dim:
    """A symbol equals itself and no negative number."""
    if left is not None and left == right:
        return 1
    numbers = [item for item in (left, right) if isinstance(item, int)]
    return 0 if numbers and numbers[0] < 0 and None not in (left, right) else None


def _operations(name: str, left: int, right: int) -> Dim:
    match name:
        case "add":
            return left + right
        case "sub":
            return left - right
        case "mul":
            return left * right
        case "div":
            return left // right if left >= 0 and right > 0 else None
        case "max":
            return max(left, right)
        case "min":
            return min(left, right)
    return int(left == right)


def _where(facts: Facts) -> Elements | None:
    condition, then, otherwise = facts.values[:3]
    if condition is None or then is None or otherwise is None or not len(condition) == len(then) == len(otherwise):
        return None
    choices = zip(condition, then, otherwise, strict=True)
    return tuple((one if flag else other) if isinstance(flag, int) else None for flag, one, other in choices)


_RULES: dict[str, Callable[[Facts], Elements | None]] = {
    "constant": _constant,
    "shape_of": _shape_of,
    "size": _size,
    "cast": _cast,
    "expand": _expand,
    "gather": _gather,
    "slice": _slice,
    "concat": _concat,
    "where": _where,
    **dict.fromkeys(("reshape", "squeeze", "unsqueeze"), _same),
    **dict.fromkeys(("add", "sub", "mul", "div", "max", "min", "equal"), _arithmetic),
}


# Dims


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
    if facts.types[1] is None:
        return facts.result.shape
    sizes = reshape_sizes(facts)
    rest = [index for index, size in enumerate(sizes) if size is None or size == -1]
    if len(rest) != 1:
        return [None if size == -1 else size for size in sizes]
    try:
        left = left_over(facts.types[0].shape, [(size, -1) for index, size in enumerate(sizes) if index not in rest])
    except ConstraintError:  # run time will have other sizes, or none at all
        left = None
    return [left if index in rest else size for index, size in enumerate(sizes)]


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
            dims[axis] = _CUT + _TO.join(str(item) for item in (own, start, end))
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
