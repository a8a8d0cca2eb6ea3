"""Nests of `scf.for` loops that carry values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.extents import Extent

Step = Callable[[Sequence[ir.Value], Sequence[ir.Value]], Sequence[ir.Value]]
"""From the loops' indices and the carried values to the next carried values."""


def loop_nest(b: Builder, shape: Sequence[Extent], carried: Sequence[ir.Value], step: Step) -> list[ir.Value]:
    """Nested `scf.for` loops over `shape`, first axis outermost, that carry values from one iteration to the next."""

    def level(indices: list[ir.Value], values: list[ir.Value]) -> list[ir.Value]:
        if len(indices) == len(shape):
            return list(step(indices, values))
        bounds = [b.index(0), b.index(shape[len(indices)]), b.index(1)]
        kinds = [value.type for value in values]
        loop = b.operation("scf.for", kinds, [*bounds, *values], regions=1)
        block = loop.regions[0].blocks.append(ir.IndexType.get(), *kinds, arg_locs=[b.loc] * (len(kinds) + 1))
        with b.inside(block):
            b.operation("scf.yield", [], level([*indices, block.arguments[0]], list(block.arguments)[1:]))
        return list(loop.results)

    return level([], list(carried))
