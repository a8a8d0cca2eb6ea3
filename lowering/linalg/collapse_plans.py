"""Which loops of several linalg ops merge, when the buffers between them shall keep one shape."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import root_of, strides_of
from dlc.lowering.linalg_to_affine.generic import dim_position

Border = tuple[ir.Value, int]
"""A place between two axes of a buffer: its root, and the elements that a step along the outer axis moves by.

Where that is not known, the number of axes from the border to the end, negative, stands for it.
"""


@dataclass
class CollapsePlan:
    """The `loops` of one op; `maps` and `parallel` leave out those that go, and `groups` says which of the others merge."""

    op: ir.Operation
    loops: int
    operands: Sequence[ir.Value]
    outputs: Sequence[ir.Value]
    maps: Sequence[ir.AffineMap]
    parallel: Sequence[bool]
    groups: list[list[int]]

    def borders(self) -> Iterator[tuple[Border, tuple[int | None, int | None]]]:
        """Each border of each operand, with the loops that index its two sides alone."""
        for value, indexing in zip(self.operands, self.maps, strict=True):
            if not isinstance(value.type, ir.MemRefType):
                continue
            kind = ir.MemRefType(value.type)
            strides, _ = strides_of(kind)
            axes = [axis for axis in range(kind.rank) if kind.is_dynamic_dim(axis) or kind.shape[axis] != 1]
            for outer, inner in itertools.pairwise(axes):
                known = strides[outer] != ir.ShapedType.get_dynamic_stride_or_offset()
                place = strides[outer] if known else outer - kind.rank
                sides = dim_position(indexing.results[outer]), dim_position(indexing.results[inner])
                yield (root_of(value), place), sides

    def merges(self, outer: int | None, inner: int | None) -> bool:
        """Whether the two loops are part of one new loop."""
        return outer is not None and any(outer in group and inner in group for group in self.groups)

    def split(self, before: int) -> None:
        """Let a new loop begin with loop `before`."""
        place = next(index for index, group in enumerate(self.groups) if before in group)
        at = self.groups[place].index(before)
        self.groups[place : place + 1] = [self.groups[place][:at], self.groups[place][at:]]


def agree(plans: Sequence[CollapsePlan]) -> None:
    """Split groups until all ops merge the same axes of every buffer that one of them writes."""
    written = {root_of(value) for plan in plans for value in plan.outputs if isinstance(value.type, ir.MemRefType)}
    changed = True
    while changed:
        kept = {border for plan in plans for border, sides in plan.borders() if border[0] in written and not plan.merges(*sides)}
        changed = False
        for plan in plans:
            for border, (outer, inner) in plan.borders():
                if border in kept and inner is not None and plan.merges(outer, inner):
                    plan.split(inner)
                    changed = True
