"""Loops over a box of a buffer that store something in each of its places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dlc._mlir import affine, ir
from dlc.lowering.affine.codegen.window_loads import map_of
from dlc.lowering.affine.ir.expressions import Linear
from dlc.lowering.affine.ir.loops import Bound, build_for


@dataclass(frozen=True)
class BoxRange:
    """From the largest of `starts` to before the least of `stops`."""

    starts: tuple[Linear, ...]
    stops: tuple[Linear, ...]

    @staticmethod
    def of(start: int, stop: int) -> BoxRange:
        """Between two numbers."""
        return BoxRange((Linear({}, start),), (Linear({}, stop),))

    def after(self, start: Linear) -> BoxRange:
        """What is not before `start`."""
        return BoxRange(_folded((*self.starts, start), max), self.stops)

    def before(self, stop: Linear) -> BoxRange:
        """What is before `stop`."""
        return BoxRange(self.starts, _folded((*self.stops, stop), min))

    @property
    def is_single(self) -> bool:
        """Whether it is one number."""
        ends = (*self.starts, *self.stops)
        return len(ends) == 2 and not ends[1].plus(ends[0], -1).factors and ends[1].constant - ends[0].constant == 1

    @property
    def base(self) -> Linear:
        """The start where it is one that the function knows outside of all loops, else 0."""
        known = len(self.starts) == 1 and all(map(_is_of_function, self.starts[0].factors))
        return self.starts[0] if known else Linear({})


def store_in_box(ranges: Sequence[BoxRange], buffer: ir.Value, value: Callable[[Sequence[Linear]], ir.Value]) -> None:
    """Emit parallel loops over `ranges`, one for each axis, that store in `buffer`, at each place, what `value` gives there."""
    places: list[Linear] = []
    loops: list[ir.Operation] = []
    point = ir.InsertionPoint.current
    for each in ranges:
        if each.is_single:
            places.append(each.starts[0])
            continue
        with point:
            # Loops begin at 0 where they can: passes know these.
            base = each.base
            lower = _bound([start.plus(base, -1) for start in each.starts])
            loops.append(build_for(lower, _bound([stop.plus(base, -1) for stop in each.stops]), parallel=True))
        block = loops[-1].regions[0].blocks[0]
        places.append(base.plus(Linear({block.arguments[0]: 1})))
        point = ir.InsertionPoint(block)
    with point:
        stored = value(places)
        indexing, operands = map_of(places)
        affine.AffineStoreOp(stored, buffer, operands, indexing)
    for loop in loops:
        with ir.InsertionPoint(loop.regions[0].blocks[0]):
            affine.AffineYieldOp([])


def _bound(forms: Sequence[Linear]) -> Bound:
    """The bound by `forms`: over symbols where all of their values are of the function's own block."""
    indexing, operands = map_of(forms)
    if not all(map(_is_of_function, operands)):
        return Bound(indexing, tuple(operands))
    symbols = ir.AffineMap.get(0, len(operands), [ir.AffineSymbolExpr.get(place) for place in range(len(operands))])
    results = [result.compose(symbols) for result in indexing.results]
    return Bound(ir.AffineMap.get(0, len(operands), results), tuple(operands))


def _is_of_function(value: ir.Value) -> bool:
    block = value.owner if isinstance(value, ir.BlockArgument) else value.owner.operation.block
    return bool(block.owner.operation.name == "func.func")


def _folded(forms: Sequence[Linear], choose: Callable[[list[int]], int]) -> tuple[Linear, ...]:
    """The forms with one of those that are numbers, the largest or the least."""
    numbers = [form.constant for form in forms if not form.factors]
    return (*([Linear({}, choose(numbers))] if numbers else []), *(form for form in forms if form.factors))
