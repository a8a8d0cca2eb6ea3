"""Packings never let blocks that live together overlap, whatever the sizes turn out to be."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from dlc.analysis.packing import LiveBuffer, OffsetOrder, conflicts_of, most_live, pack, round_up

UNITS = st.integers(1, 3000).map(lambda units: 64 * units)
BLOCKS = st.lists(
    st.builds(
        lambda first, length, size: LiveBuffer(first, first + length, size, 4096 if size >= 1 << 16 else 64),
        st.integers(0, 40),
        st.integers(0, 12),
        UNITS,
    ),
    max_size=40,
)


def check(blocks: list[LiveBuffer], stacking: OffsetOrder, sizes: list[int]) -> int:
    """Assert that the packing is sound for `sizes`; its length."""
    offsets = stacking.offsets(sizes, [block.alignment for block in blocks])
    for index, near in enumerate(conflicts_of(blocks)):
        assert offsets[index] % blocks[index].alignment == 0
        for other in near:
            apart = offsets[index] + sizes[index] <= offsets[other] or offsets[other] + sizes[other] <= offsets[index]
            assert apart, (index, other)
    return max((start + size for start, size in zip(offsets, sizes, strict=True)), default=0)


@given(BLOCKS)
def test_blocks_do_not_overlap(blocks: list[LiveBuffer]) -> None:
    peak = check(blocks, pack(blocks), [block.size for block in blocks])
    assert peak >= most_live(blocks)[0]


@given(BLOCKS, st.randoms(use_true_random=False))
def test_stacking_is_sound_for_other_sizes(blocks: list[LiveBuffer], generator: random.Random) -> None:
    check(blocks, pack(blocks), [64 * generator.randrange(0, 5000) for _ in blocks])


@given(BLOCKS)
def test_conflicts_are_the_blocks_that_live_together(blocks: list[LiveBuffer]) -> None:
    for index, near in enumerate(conflicts_of(blocks)):
        own = blocks[index]
        together = [at for at, other in enumerate(blocks) if at != index and other.first <= own.last and own.first <= other.last]
        assert sorted(near) == together


def test_most_live_is_the_fullest_step() -> None:
    blocks = [LiveBuffer(0, 2, 64), LiveBuffer(1, 1, 128), LiveBuffer(2, 5, 256), LiveBuffer(3, 3, 64)]
    assert most_live(blocks) == (320, 2)
    assert most_live([]) == (0, 0)


def test_chains_of_kernels_reach_the_bound() -> None:
    """A network-like list: each step reads the one before, every fourth also one from long ago."""
    generator = random.Random(0)
    for _ in range(20):
        blocks = []
        for step in range(200):
            last = step + (generator.randrange(2, 12) if step % 4 == 0 else 1)
            blocks.append(LiveBuffer(step, last, round_up(generator.choice([1, 2, 4, 8, 16]) * 4096, 64)))
        assert check(blocks, pack(blocks), [block.size for block in blocks]) <= 1.05 * most_live(blocks)[0]
