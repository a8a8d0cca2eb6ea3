"""When a loop over blocks of a contraction pays: what one block passes on stays in the cache, and its tiles stay whole."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from dlc._mlir import ir
from dlc.lowering.affine.cost.contractions import arrives_in_time
from dlc.lowering.affine.dependences.nest_dependences import conflicts
from dlc.lowering.affine.ir.bands import Band
from dlc.lowering.affine.ir.lanes import element_bits
from dlc.lowering.affine.ir.loops import real_ops
from dlc.lowering.policy import policy
from dlc.targets.machine import Machine, facts_of


def keeps_blocks(a: Band, b: Band, gone: Sequence[ir.Value]) -> bool:
    """Whether the nests gain by being one in the loops `gone`, although a contraction in them reads operands again for each block.

    Three things have to hold. What passes between the nests is too large for the first- or second-level cache as a whole, as it
    may be for an open number of blocks, and fits into it block by block. A block still has whole register tiles of each operand.
    And what is read again is no more than what is passed on, or stays in the second-level cache beside it, or arrives while a
    block computes. Measured on one core of AVX2 with a second-level cache of 512 KiB, 3x3 convolutions by Winograd's tiles: 128
    to 64 channels of 128x128, whose 512 KiB of weights are read again every 16 tiles, take 0.58 of the time, 128 to 128 channels
    of 64x64 0.70.
    """
    extents = {**a.likely_extents, **b.likely_extents}
    facts = facts_of(a.top)
    cache = facts.l2_bytes
    passed = bytes_passed(a, b, gone)
    cut = [iv for iv in gone if iv in _ivs(a)]
    is_open = any(iv not in a.extents for iv in cut)
    blocks = math.prod(extents[iv] for iv in cut)
    if not any(passed <= level and (is_open or passed * blocks > level // 2) for level in (facts.l1_bytes, cache)):
        return False
    return all(_is_kept(band, gone, extents, max(passed, cache - passed), facts) for band in (a, b))


def _ivs(band: Band) -> set[ir.Value]:
    return {loop.iv for loop in band.loops}


def bytes_passed(a: Band, b: Band, gone: Sequence[ir.Value]) -> int:
    """Bytes that one block of `a` stores where `b` touches them; stores to one buffer are taken to be to the same elements."""
    extents = {**a.likely_extents, **b.likely_extents}
    passed: dict[ir.Value, int] = {}
    for store in (x for x, _ in conflicts(a.accesses, b.accesses) if x.writes and x.op.name == "affine.store"):
        size = _bytes_touched(store.op, store.op.operands[0].type, gone, extents)
        passed[store.root] = max(size, passed.get(store.root, 0))
    return sum(passed.values())


def _bytes_touched(op: ir.Operation, element: ir.Type, gone: Sequence[ir.Value], extents: Mapping[ir.Value, int]) -> int:
    """Bytes of one block that an access touches, each iteration of the loops that it follows another element."""
    followed = {value for value in op.operands if value in extents and value not in gone}
    return math.prod(extents[value] for value in followed) * (element_bits(element) or 64) // 8


def _is_kept(band: Band, gone: Sequence[ir.Value], extents: Mapping[ir.Value, int], most: int, facts: Machine) -> bool:
    """Whether each operand that contractions of `band` read for every block is used often enough within one, and arrives in time.

    It does where it is at most `most` bytes, or where products take as long as its way from the third-level cache.
    """
    for loop, around in _reductions(band):
        for load in real_ops(loop.regions[0].blocks[0]):
            if load.name != "affine.load" or any(iv in list(load.operands) for iv in gone):
                continue
            inside = [iv for iv in around if iv not in gone and iv not in list(load.operands)]
            rows = max((extents[iv] for iv in inside), default=1)
            size = _bytes_touched(load, load.results[0].type, gone, extents)
            if rows < policy().fusion.tile_rows or (size > most and not arrives_in_time(rows, size, facts)):
                return False
    return True


def _reductions(band: Band) -> Iterator[tuple[ir.Operation, list[ir.Value]]]:
    """The innermost reduction loops of the nest, each with the parallel loops around it, from the band inwards."""

    def visit(op: ir.Operation, around: list[ir.Value]) -> Iterator[tuple[ir.Operation, list[ir.Value]]]:
        inner = [each for each in real_ops(op.regions[0].blocks[0]) if each.name == "affine.for"]
        iv = op.regions[0].blocks[0].arguments[0]
        if len(op.results) and not inner:
            yield op, around
        for each in inner:
            yield from visit(each, around if len(op.results) else [*around, iv])

    yield from visit(band.top, [])
