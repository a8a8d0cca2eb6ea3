"""Symbols that say themselves what size they are: sums and products of sizes, and what a slice leaves of one.

Equal sums and products have one symbol, whatever their order, so that sizes can be compared as symbols.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from dlc.dialects.dl.types import Dim

_SUM, _PLUS = "%sum \u2295 ", " \u2295 "
"""How the symbol of a sum starts, and what stands between its terms: the number first, then names in order."""

_CUT, _TO = "%cut \u2296 ", " \u2296 "
"""How the symbol of a slice's dim starts, and what stands between the dim of what is sliced, the start and the end."""

_PRODUCT, _TIMES = "%product \u2297 ", " \u2297 "
"""How the symbol of a product starts, and what stands between its factors: the number first, then names in order."""


def product_of_dims(dims: Sequence[Dim]) -> Dim:
    """The product of sizes: a symbol that equal products have in common; None where a factor is a sum, a slice's dim or unknown."""
    found = factors_of(dims)
    if found is None:
        return None
    number, names = found
    listed = sorted(names.elements())
    if not names or not number:
        return number
    return listed[0] if len(listed) == 1 and number == 1 else _PRODUCT + _TIMES.join([str(number), *listed])


def factors_of(dims: Sequence[Dim]) -> tuple[int, Counter[str]] | None:
    """The number and the symbols that the product of sizes has as factors."""
    found = [_factors(dim) for dim in dims]
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    return math.prod(number for number, _ in known), Counter(name for _, names in known for name in names.elements())


def _factors(dim: Dim) -> tuple[int, Counter[str]] | None:
    if dim is None or (isinstance(dim, int) and dim < 0):
        return None
    if isinstance(dim, int):
        return dim, Counter()
    if not dim.startswith(_PRODUCT):
        return None if is_derived(dim) else (1, Counter([dim]))
    number, *names = dim.removeprefix(_PRODUCT).split(_TIMES)
    return int(number), Counter(names)


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
    """Whether a symbol says itself what it is: a sum, a product, or what a slice leaves."""
    return dim.startswith((_SUM, _PRODUCT, _CUT))


def is_product(dim: str) -> bool:
    """Whether a symbol says itself what it is the product of."""
    return dim.startswith(_PRODUCT)


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


def cut_of(whole: Dim, start: Dim, end: Dim) -> str:
    """The symbol of what a slice with step 1 leaves of the size `whole`."""
    return _CUT + _TO.join(str(item) for item in (whole, start, end))
