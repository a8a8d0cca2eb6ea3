"""What is known of sizes that run time decides: the least, the most, and a number that they are multiples of.

The function attribute `dl.bounds = {seq = array<i64: 8, 512, 8>}` states them by the names of `dl.dims`: whoever calls the
function has them hold, which its first checks make sure of. `dl.usual = {side = 28}` says about how much a size is in most calls,
for estimates alone.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from dlc._mlir import ir
from dlc.diagnostics import at_location
from dlc.errors import VerifyError

_T = TypeVar("_T")

BOUNDS = "dl.bounds"
_USUAL = "dl.usual"
_ENDLESS = -1
"""Stands in the attribute for no most."""
_MOST_LIKELY = 1 << 40
"""What an index is at most taken to be."""


@dataclass(frozen=True)
class DimBounds:
    """A size from `least` to `most` (None: any) that is a multiple of `multiple`."""

    least: int = 0
    most: int | None = None
    multiple: int = 1

    def __post_init__(self) -> None:
        if self.multiple < 1 or self.least < 0 or (self.most is not None and self.most < self.least):
            raise ValueError(f"no size is {self}")

    @classmethod
    def of_size(cls, size: int) -> DimBounds:
        """Those of a size that is known."""
        return cls(size, size, size or 1)

    def admits(self, size: int) -> bool:
        """Whether a size may be that."""
        return self.least <= size and (self.most is None or size <= self.most) and size % self.multiple == 0

    def sizes(self, most: int, least: int = 1) -> list[int]:
        """The sizes from `least` to `most` that these bounds admit, else the one that is nearest."""
        first = max(self.nearest(0), -(-least // self.multiple) * self.multiple)
        end = most if self.most is None else min(most, self.most)
        return list(range(first, end + 1, self.multiple)) or [self.nearest(least)]

    def at_most(self, most: int) -> DimBounds:
        """Those of a size that is no more than `most`, too, in whatever way it is known to be so."""
        return DimBounds(min(self.least, most), most if self.most is None else min(self.most, most), self.multiple)

    def nearest(self, size: int) -> int:
        """The size within the bounds that is nearest to `size`, the lower multiple of two; above 0 where there is one."""
        least = -(-max(self.least, 1) // self.multiple) * self.multiple
        if self.most is not None and least > self.most:
            return 0
        return max(least, (size if self.most is None else min(size, self.most)) // self.multiple * self.multiple)

    def __add__(self, other: DimBounds) -> DimBounds:
        most = None if self.most is None or other.most is None else self.most + other.most
        return DimBounds(self.least + other.least, most, math.gcd(self.multiple, other.multiple))

    def __mul__(self, other: DimBounds) -> DimBounds:
        most = None if self.most is None or other.most is None else self.most * other.most
        return DimBounds(self.least * other.least, most, self.multiple * other.multiple)

    def floor_divided(self, divisor: int) -> DimBounds:
        """Those of a size that is this one over a divisor, rounded down."""
        multiple = self.multiple // divisor if self.multiple % divisor == 0 else 1
        return DimBounds(self.least // divisor, None if self.most is None else self.most // divisor, multiple)

    def rest(self, divisor: int) -> DimBounds:
        """Those of what is left of the size after steps of `divisor`."""
        multiple = math.gcd(self.multiple, divisor)
        return DimBounds(0, min(divisor - multiple, divisor if self.most is None else self.most), multiple)

    def divided(self, divisor: int) -> DimBounds:
        """Those of a size that is this one over a divisor, without a rest; none where no size divides so."""
        multiple = self.multiple // divisor if self.multiple % divisor == 0 else 1
        least, most = -(-self.least // divisor), None if self.most is None else self.most // divisor
        return DimBounds(least, most, multiple) if most is None or least <= most else UNBOUNDED

    def __str__(self) -> str:
        most = "" if self.most is None else f"{self.most}"
        steps = "" if self.multiple == 1 else f", a multiple of {self.multiple}"
        return f"{self.least}..{most}{steps}"


UNBOUNDED = DimBounds()


def bounds_of_function(function: ir.Operation) -> dict[str, DimBounds]:
    """The bounds that a function states of its dims by name; none without the attribute. `VerifyError` if they are none."""
    if BOUNDS not in function.attributes:
        return {}
    try:
        return {entry.name: _bounds(ir.DenseI64ArrayAttr(entry.attr)) for entry in ir.DictAttr(function.attributes[BOUNDS])}
    except ValueError:
        message = (
            f"{BOUNDS} is {function.attributes[BOUNDS]}; write the least size, the most (-1: any) and a number that divides it"
        )
        raise VerifyError("", [at_location(function.location, f"{message}, as seq = array<i64: 8, 512, 8>")]) from None


def _bounds(row: Sequence[int]) -> DimBounds:
    least, most, multiple = row
    return DimBounds(least, None if most == _ENDLESS else most, multiple)


def bounds_of_arguments(function: ir.Operation) -> dict[tuple[ir.Value, int | None], DimBounds]:
    """The bounds that a function states, by argument and axis."""
    return _by_axis(function, bounds_of_function(function))


def _by_axis(function: ir.Operation, found: Mapping[str, _T]) -> dict[tuple[ir.Value, int | None], _T]:
    """What is known of dims by name, by the arguments that have them and their axes."""
    if not found or "arg_attrs" not in function.attributes:
        return {}
    arguments = function.regions[0].blocks[0].arguments
    entries = zip(arguments, map(ir.DictAttr, ir.ArrayAttr(function.attributes["arg_attrs"])), strict=True)
    named = [(argument, [item.value for item in entry["dl.dims"]]) for argument, entry in entries if "dl.dims" in entry]
    return {(argument, axis): found[name] for argument, names in named for axis, name in enumerate(names) if name in found}


def bounds_of_index(value: ir.Value) -> DimBounds:
    """What is known of an index: a number, a dim of an argument whose function states bounds, sums and products; else nothing."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return UNBOUNDED
    if owner.name in ("arith.addi", "arith.muli"):
        one, other = map(bounds_of_index, owner.operands)
        return one + other if owner.name == "arith.addi" else one * other
    if owner.name == "arith.constant":
        number = ir.IntegerAttr(owner.attributes["value"]).value
        return DimBounds.of_size(number) if number >= 0 else UNBOUNDED
    place = _argument_axis(owner)
    if place is None or BOUNDS not in (function := place[0].owner.owner.operation).attributes:
        return UNBOUNDED
    return bounds_of_arguments(function).get(place, UNBOUNDED)


def _argument_axis(op: ir.Operation) -> tuple[ir.Value, int] | None:
    """The argument of a function and the axis whose size the op gives."""
    if op.name not in ("memref.dim", "tensor.dim"):
        return None
    source, axis = op.operands
    if not isinstance(source.owner, ir.Block) or isinstance(axis.owner, ir.Block) or axis.owner.name != "arith.constant":
        return None
    return source, ir.IntegerAttr(axis.owner.attributes["value"]).value


def likely_index(value: ir.Value, typical: int) -> int:
    """About how much an index is: sizes that are not known count as usual, or `typical`, or what is nearest within their bounds.

    Sums, products and quotients of sizes are computed of those, up to more than any loop runs: ten unknown sizes are too many
    for a number of 64 bits.
    """
    owner = value.owner
    if isinstance(owner, ir.Block):
        return bounds_of_index(value).nearest(typical)
    if owner.name == "arith.constant":
        return ir.IntegerAttr(owner.attributes["value"]).value
    compute = _COMPUTED.get(owner.name)
    if compute is None:
        return bounds_of_index(value).nearest(_usual_size(owner) or typical)
    return min(compute(*(likely_index(operand, typical) for operand in owner.operands)), _MOST_LIKELY)


def _usual_size(op: ir.Operation) -> int | None:
    """What the function says of a dim of an argument that `op` gives."""
    place = _argument_axis(op)
    if place is None or _USUAL not in (function := place[0].owner.owner.operation).attributes:
        return None
    return _by_axis(function, usual_of_function(function)).get(place)


def _quotient(dividend: int, divisor: int) -> int:
    return dividend // max(divisor, 1)


_COMPUTED: Mapping[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.ceildivsi": lambda dividend, divisor: -_quotient(-dividend, divisor),
    "arith.ceildivui": lambda dividend, divisor: -_quotient(-dividend, divisor),
    "arith.floordivsi": _quotient,
    "arith.divsi": _quotient,
    "arith.divui": _quotient,
    "arith.maxsi": max,
    "arith.minsi": min,
}


def state_usual(function: ir.Operation, sizes: Mapping[str, int]) -> None:
    """Write what the function's dims usually are on it."""
    if sizes:
        with function.context:
            number = ir.IntegerType.get_signless(64)
            function.attributes[_USUAL] = ir.DictAttr.get({name: ir.IntegerAttr.get(number, size) for name, size in sizes.items()})


def usual_of_function(function: ir.Operation) -> dict[str, int]:
    """The usual sizes that a function states of its dims by name; none without the attribute. `VerifyError` if they are none."""
    if _USUAL not in function.attributes:
        return {}
    try:
        found = {entry.name: ir.IntegerAttr(entry.attr).value for entry in ir.DictAttr(function.attributes[_USUAL])}
    except ValueError:
        found = {"": 0}
    if any(size < 1 for size in found.values()):
        message = f"{_USUAL} is {function.attributes[_USUAL]}; write a size above 0 for each name, as {{side = 28}}"
        raise VerifyError("", [at_location(function.location, message)])
    return found


def state_bounds(function: ir.Operation, bounds: Mapping[str, DimBounds]) -> None:
    """Write the bounds of a function's dims on it, in place of those that it had."""
    if not bounds:
        if BOUNDS in function.attributes:
            del function.attributes[BOUNDS]
        return
    with function.context:
        entries = {name: [each.least, _ENDLESS if each.most is None else each.most, each.multiple] for name, each in bounds.items()}
        function.attributes[BOUNDS] = ir.DictAttr.get({name: ir.DenseI64ArrayAttr.get(row) for name, row in entries.items()})
