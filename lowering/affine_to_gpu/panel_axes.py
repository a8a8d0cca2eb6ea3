"""Which axes of an array are one axis of its panel: those among which views divide a position, as `p floordiv 56, p mod 56`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod

import islpy as isl

from dlc._mlir import ir
from dlc.lowering.affine.ir.element_relations import Array
from dlc.lowering.affine.primitives.pack_buffer import find_array, footprint_in
from dlc.lowering.affine.schedule.footprints import box_around, footprint
from dlc.lowering.affine.schedule.loop_tree import LoopNode
from dlc.lowering.affine.schedule.program import Program


@dataclass(frozen=True)
class PanelAxes:
    """The axes from `first` to `last` of an array of that shape are one axis of its panel, others are axes of their own."""

    array: str
    shape: tuple[int, ...]
    first: int
    last: int

    @property
    def order(self) -> isl.Map | None:
        """Elements of the array to places in the panel; None where these are the same."""
        if self.first == self.last:
            return None
        names = [f"a{axis}" for axis in range(len(self.shape))]
        one = " + ".join(f"{self._step(axis)} {names[axis]}" for axis in range(self.first, self.last + 1))
        places = [*names[: self.first], one, *names[self.last + 1 :]]
        return isl.Map(f"{{ {self.array}[{', '.join(names)}] -> [{', '.join(places)}] }}")

    def loops(self, loops: Sequence[LoopNode]) -> list[LoopNode]:
        """Loops over the panel's axes, of those over the array's, from the outside in."""
        scaled = [loops[axis].values.scale_val(isl.Val(self._step(axis))) for axis in range(self.first, self.last + 1)]
        one = replace(loops[self.first], values=reduce(lambda outer, inner: outer.add(inner), scaled))
        return [*loops[: self.first], one, *loops[self.last + 1 :]]

    def _step(self, axis: int) -> int:
        return prod(self.shape[axis + 1 : self.last + 1])


def smallest_axes(program: Program, name: str, loop: str) -> PanelAxes:
    """Those of the smallest panel for what the iterations of a loop read of an array."""
    array = find_array(program, name)
    part = footprint_in(program, name, loop)
    touched = footprint(part.accesses, part.loops, part.domain)

    def size(axes: PanelAxes) -> float:
        if touched is None:
            return 0
        box = box_around(touched if axes.order is None else touched.apply_range(axes.order))
        return float("inf") if box is None else prod(box.shape)

    return min(_axes_of(array), key=size)


def _axes_of(array: Array) -> Iterator[PanelAxes]:
    """All ways to join neighbouring axes of constant sizes; none is joined in the first."""
    shape = tuple(ir.MemRefType(array.value.type).shape)
    yield PanelAxes(array.name, shape, 0, 0)
    for last in range(1, array.rank):
        for first in range(last):
            if all(size > 0 for size in shape[first + 1 : last + 1]):
                yield PanelAxes(array.name, shape, first, last)
