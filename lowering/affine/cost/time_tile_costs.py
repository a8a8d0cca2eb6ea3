"""What tiles across time cost: lines that they bring into the second-level cache, and the bounds of their loops."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dlc.lowering.affine.ir.element_relations import Array
from dlc.lowering.policy import policy
from dlc.targets.machine import Machine


@dataclass(frozen=True)
class FootprintDim:
    """A dim of an array: how far subscripts move along each place, how far they are apart at the start, and its size."""

    moves: tuple[tuple[tuple[int, float], ...], ...]
    spread: float
    limit: float

    def extent(self, sizes: Sequence[int]) -> float:
        """The values of the subscripts in a tile."""
        return min(self.limit, max(sum(by * (sizes[at] - 1) for at, by in one) for one in self.moves) + 1 + self.spread)


@dataclass(frozen=True, eq=False)
class Footprints:
    """The elements that statements touch in a tile; sizes are those of the tile's loops, then those of the statements' loops."""

    dims: Mapping[Array, tuple[FootprintDim, ...]]

    def bytes(self, sizes: Sequence[int]) -> float:
        """The bytes of boxes around the elements."""
        return sum(array.element_bytes * math.prod(self.shape(array, sizes)) for array in self.dims)

    def shape(self, array: Array, sizes: Sequence[int]) -> list[float]:
        """The box around the elements of `array`."""
        return [dim.extent(sizes) for dim in self.dims[array]]


@dataclass(frozen=True, eq=False)
class TimeTiles:
    """The size of the tiles along each loop, 0 for one that is not cut, and what all statements touch in such tiles."""

    sizes: tuple[int, ...]
    touched: Footprints


@dataclass(frozen=True, eq=False)
class SkewedNestCost:
    """A band of loops skewed with time, whose schedules are tiles across time, or None for loops as they are."""

    extents: tuple[int, ...]
    """Iterations of the loops of the deepest statements."""
    of_each: tuple[Footprints, ...]
    """What a tile of all loops touches, for each of the deepest statements."""

    def total(self, tiles: TimeTiles | None, machine: Machine) -> float:
        """Cycles for memory and for the bounds of loops; infinite where a tile does not fit into the second-level cache."""
        each = self._uncut(machine) if tiles is None else self._cut(tiles, machine)
        return each * len(self.of_each) * math.prod(self.extents)

    def _uncut(self, machine: Machine) -> float:
        """Of an iteration, where each of the outermost loop goes through all arrays, statement by statement."""
        sizes = [1, *self.extents[1:]]
        lines = sum(one.bytes(sizes) for one in self.of_each) / machine.line_bytes
        return lines * policy().cost.exposed_far_line / (len(self.of_each) * math.prod(sizes)) + self._sweep(sizes, machine)

    def _cut(self, tiles: TimeTiles, machine: Machine) -> float:
        """Of an iteration in a tile."""
        sizes, touched = tiles.sizes, tiles.touched
        last = max(at for at, size in enumerate(sizes) if size)
        taken = [size or extent for size, extent in zip(sizes, self.extents, strict=True)]
        here = touched.bytes([*taken, *self.extents])
        if here > policy().blocks.resident_share * machine.l2_bytes:
            return math.inf
        further = [2 * size if at == last else size for at, size in enumerate(taken)]
        fresh = touched.bytes([*further, *self.extents]) - here
        ends = policy().cost.loop_entry / taken[-1] if sizes[-1] else 0.0
        lines = fresh / machine.line_bytes
        return (
            lines * policy().cost.exposed_far_line / (len(self.of_each) * math.prod(taken))
            + self._sweep([1, *taken[1:]], machine)
            + ends
        )

    def _sweep(self, sizes: Sequence[int], machine: Machine) -> float:
        """One iteration of the outermost loop in a tile: loops begin, lines come from the second-level cache.

        The first-level cache keeps the rows that the next one needs, or does not.
        """
        total = sum(policy().cost.loop_entry / math.prod(sizes[at:]) for at in range(1, len(sizes)))
        row = [*[1] * (len(sizes) - 1), sizes[-1]]
        for touched in self.of_each:
            box = row if touched.bytes(row) > policy().blocks.resident_share * machine.l1_bytes else sizes
            lines = touched.bytes(box) / machine.line_bytes
            total += lines * policy().cost.exposed_near_line / math.prod(box) / len(self.of_each)
        return total
