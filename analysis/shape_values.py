"""Values that are dims: what the elements of small integer tensors are, as far as shapes say it.

Exported models compute shapes at run time: `shape_of`, `gather`, `concat`, then `reshape` with that list. An element here is a
dim: an int, a symbol of `SymbolicShapes`, or None where nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dlc.analysis.derived_dims import difference_of_dims, sum_of_dims
from dlc.dialects.dl.types import Dim, TensorType, width_of, wrapped

Elements = tuple[Dim, ...]

_MOST = 64
"""Longer lists are no shapes."""
_WHOLE = ("i64", "i32", "i1")


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
    if found is None or len(found) != count:
        return None
    return tuple(wrapped(item, width_of(facts.result.dtype)) if isinstance(item, int) else item for item in found)


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
