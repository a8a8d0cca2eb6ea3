"""Places for blocks of memory that live for a while each, in one range as short as can be found.

Blocks that live at the same time must not overlap. The best length is hard to find; greedy orders come close, and a short search
improves on the block that sticks out. What is kept of a packing is not offsets but which block lies above which: that is
safe for any sizes, so sizes may be known at run time only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

VECTOR_ALIGNMENT = 64
_SEARCH_STEPS = 60
_SEARCH_WORK = 300_000
"""Orders tried after the greedy ones while the packing is more than `_ENOUGH` above the bound, and blocks placed in all of them."""
_ENOUGH = 1.01


@dataclass(frozen=True)
class LiveBuffer:
    """`size` bytes that live from step `first` to step `last`, both included; they start at a multiple of `alignment`."""

    first: int
    last: int
    size: int
    alignment: int = VECTOR_ALIGNMENT


@dataclass(frozen=True)
class OffsetOrder:
    """For each block the blocks that it lies directly above, and an order in which every block comes after those."""

    order: tuple[int, ...]
    below: tuple[tuple[int, ...], ...]

    def offsets(self, sizes: Sequence[int], alignments: Sequence[int]) -> list[int]:
        """The lowest offsets for blocks of these sizes; sizes are multiples of `VECTOR_ALIGNMENT`."""
        found = [0] * len(sizes)
        for index in self.order:
            lowest = max((found[under] + sizes[under] for under in self.below[index]), default=0)
            found[index] = round_up(lowest, alignments[index])
        return found


def round_up(value: int, alignment: int) -> int:
    """The least multiple of `alignment` that is not below `value`."""
    return -(-value // alignment) * alignment


def most_live(blocks: Sequence[LiveBuffer]) -> tuple[int, int]:
    """The most bytes that live at one step, and the first such step: no packing is shorter."""
    changes: dict[int, int] = {}
    for block in blocks:
        changes[block.first] = changes.get(block.first, 0) + block.size
        changes[block.last + 1] = changes.get(block.last + 1, 0) - block.size
    live, most, at = 0, 0, 0
    for step in sorted(changes):
        live += changes[step]
        if live > most:
            most, at = live, step
    return most, at


def pack(blocks: Sequence[LiveBuffer]) -> OffsetOrder:
    """A packing of `blocks`, the best of the greedy ones and what a search makes of it."""
    conflicts = conflicts_of(blocks)
    bound = most_live(blocks)[0]
    best: list[int] = []
    best_order: list[int] = []
    for key in _orders(blocks, conflicts):
        order = sorted(range(len(blocks)), key=key)
        offsets = _place(blocks, conflicts, order)
        if not best or _length(blocks, offsets) < _length(blocks, best):
            best, best_order = offsets, order
        if _length(blocks, best) <= bound:
            break
    best = _improve(blocks, conflicts, best, best_order, bound)
    return _stacking(best, conflicts)


def _length(blocks: Sequence[LiveBuffer], offsets: Sequence[int]) -> int:
    return max((offset + block.size for block, offset in zip(blocks, offsets, strict=True)), default=0)


def conflicts_of(blocks: Sequence[LiveBuffer]) -> list[list[int]]:
    """For each block those that live at the same time as it, by a sweep: linear in blocks and conflicts."""
    found: list[list[int]] = [[] for _ in blocks]
    active: list[int] = []
    for index in sorted(range(len(blocks)), key=lambda each: (blocks[each].first, each)):
        active = [other for other in active if blocks[other].last >= blocks[index].first]
        for other in active:
            found[index].append(other)
            found[other].append(index)
        active.append(index)
    return found


def _orders(blocks: Sequence[LiveBuffer], conflicts: Sequence[Sequence[int]]) -> list[Callable[[int], tuple[int, ...]]]:
    """Keys of greedy orders: size, size times lifetime, lifetime, crowdedness, program order."""

    def lifetime(index: int) -> int:
        return blocks[index].last - blocks[index].first + 1

    crowd = [block.size + sum(blocks[other].size for other in near) for block, near in zip(blocks, conflicts, strict=True)]
    return [
        lambda index: (-blocks[index].size, blocks[index].first, index),
        lambda index: (-blocks[index].size * lifetime(index), index),
        lambda index: (-lifetime(index), -blocks[index].size, index),
        lambda index: (-crowd[index], -blocks[index].size, index),
        lambda index: (blocks[index].first, -blocks[index].size, index),
    ]


def _place(blocks: Sequence[LiveBuffer], conflicts: Sequence[Sequence[int]], order: Sequence[int]) -> list[int]:
    """Offsets when blocks are placed in `order`, each into the smallest gap between those it lives with, or on top."""
    offsets = [-1] * len(blocks)
    for index in order:
        block = blocks[index]
        taken = sorted((offsets[other], offsets[other] + blocks[other].size) for other in conflicts[index] if offsets[other] >= 0)
        chosen, smallest, top = -1, 0, 0
        for start, end in taken:
            place = round_up(top, block.alignment)
            gap = start - top
            if place + block.size <= start and (chosen < 0 or gap < smallest):
                chosen, smallest = place, gap
            top = max(top, end)
        offsets[index] = chosen if chosen >= 0 else round_up(top, block.alignment)
    return offsets


def _improve(
    blocks: Sequence[LiveBuffer], conflicts: Sequence[Sequence[int]], best: list[int], order: list[int], bound: int
) -> list[int]:
    """Place the block that sticks out earlier, again and again, while the packing stays well above the bound."""
    tried = order
    for step in range(min(_SEARCH_STEPS, _SEARCH_WORK // max(len(blocks), 1))):
        length = _length(blocks, best)
        if length <= bound * _ENOUGH:
            break
        offsets = best if step == 0 else _place(blocks, conflicts, tried)
        if _length(blocks, offsets) < length:
            best = offsets
        top = max(tried, key=lambda index: (offsets[index] + blocks[index].size, -index))
        place = tried.index(top)
        target = 0 if step % 2 == 0 else place // 2
        tried = [*tried[:target], top, *tried[target:place], *tried[place + 1 :]]
    return best


def _stacking(offsets: Sequence[int], conflicts: Sequence[Sequence[int]]) -> OffsetOrder:
    """Which block lies directly above which; a block above another one that is above a third is not kept for the third."""
    order = sorted(range(len(offsets)), key=lambda index: (offsets[index], index))
    rank = {index: place for place, index in enumerate(order)}
    lower = [{other for other in near if rank[other] < rank[index]} for index, near in enumerate(conflicts)]
    below: list[tuple[int, ...]] = []
    for found in lower:
        kept: list[int] = []
        for candidate in sorted(found, key=lambda other: -rank[other]):
            if not any(candidate in lower[above] for above in kept):
                kept.append(candidate)
        below.append(tuple(kept))
    return OffsetOrder(tuple(order), tuple(below))
