"""Searches the tiles of a nest for the cheapest legal one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from dlc._mlir import ir
from dlc.analysis.buffers import VIEW_OPS, defining_op, root_of
from dlc.lowering.affine.cost.cycles import cycles
from dlc.lowering.affine.cost.function_bodies import function_body
from dlc.lowering.affine.cost.instructions import LoopNestCost, trips_of
from dlc.lowering.affine.cost.limits import TileLimits
from dlc.lowering.affine.cost.loop_order import with_best_order
from dlc.lowering.affine.cost.set_conflicts import SetConflicts
from dlc.lowering.affine.ir.accesses import indices_of
from dlc.lowering.affine.ir.expressions import block_size
from dlc.lowering.affine.ir.lanes import LaneFacts, NoLanesError, analyse_lanes, element_bits, widest_element
from dlc.lowering.affine.ir.loops import Loop, real_ops
from dlc.lowering.affine.ir.nests import Nest
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.affine.schedule.given_tiles import lane_facts
from dlc.lowering.affine.search.block_choice import chosen_blocks, chosen_strip, is_narrow
from dlc.lowering.affine.search.candidates import Candidate, search
from dlc.lowering.affine.search.copy_choice import chosen_copies
from dlc.lowering.affine.search.prefetch import PrefetchedPanel, panels_of
from dlc.lowering.policy import policy
from dlc.targets.machine import L1_WAY_BYTES, LINE_BYTES, MANY_REGISTERS, Machine

_PREFETCH, _FETCH_ROWS = 2, 1
"""The levels of cache that panels of vectors, and rows that all lanes share, are fetched into."""


def chosen(nest: Nest, limits: TileLimits, generator: str) -> Tile | None:
    """The cheapest tile of `nest`; None when no loop can become lanes, or none of them pays."""
    conflicts = SetConflicts(nest)
    best = search(
        [partial(_tiles_of, nest, limits, conflicts, generator)], partial(_weigh, limits.machine), ties=partial(_ties, conflicts)
    )
    if best is None or best.cycles >= cycles(LoopNestCost(nest, None, None), Tile(), limits.machine):
        return None
    return _finished(nest, best.schedule, limits)


def candidates(nest: Nest, limits: TileLimits, count: int, generator: str = "") -> list[Candidate[Tile]]:
    """The `count` cheapest tiles of `nest` for the code `generator` (default: the one that takes it), cheapest first.

    The code generator `tile` copies up to two further parallel loops into the tile, so that values in registers are used again.
    """
    generator = generator or ("tile" if is_contraction(nest) else "rows")
    conflicts = SetConflicts(nest)
    found = sorted(
        map(partial(_weigh, limits.machine), _tiles_of(nest, limits, conflicts, generator)),
        key=lambda one: (one.cycles, *_ties(conflicts, one)),
    )
    return [Candidate(_finished(nest, one.schedule, limits), one.cycles) for one in found[:count]]


def _ties(conflicts: SetConflicts, candidate: Candidate[Tile]) -> tuple[float, ...]:
    """The least of those that cost the same has neighbouring vectors rather than copies apart.

    1x1 taps for 192x14x14 to 64 channels, and for 256x14x14 to 1024, in blocks of 16 take 0.78 of the time with two vectors of 8
    from one block, not one from each of two, which read half a line.
    """
    tile = candidate.schedule
    return tile.body_copies, conflicts.copies(tile), len(tile.unroll_and_jam)


def _finished(nest: Nest, tile: Tile, limits: TileLimits) -> Tile:
    """`tile` with the choices that do not depend on other tiles."""
    machine = limits.machine
    tile = with_best_order(nest, tile, machine)
    if tile.code_generator != "tile" or nest.chain is None or nest.reduces(tile):
        return tile
    extent = nest.chain.loops[-1].extent
    most = policy().tiles.unrolled_byte_steps if _multiplies_integers(nest) else policy().tiles.unrolled_steps
    tile = replace(tile, unroll=most if extent is None or extent >= most else 1)
    if strip := chosen_strip(nest, tile, machine):
        *outer, lane, row = tile.order
        return replace(tile, order=(*outer, row, lane), blocks=((tile.lane_loop, strip),))
    tile = _with_fetches(nest, tile, machine)
    if limits.registers < MANY_REGISTERS and (copied := chosen_copies(nest, tile, machine)):
        return replace(tile, prefetch=0, blocks=copied, pack=1)
    blocks = chosen_blocks(nest, tile, machine)
    has_sums = any(place == len(nest.band) for place, _ in blocks)
    return replace(tile, prefetch=_PREFETCH if has_sums else tile.prefetch, blocks=blocks)


def _with_fetches(nest: Nest, tile: Tile, machine: Machine) -> Tile:
    """`tile` with what it fetches ahead: panels of vectors if there is room, and rows of buffers that L2 does not hold."""
    facts = lane_facts(nest, tile)
    vectors = panels_of(nest, replace(tile, prefetch=_PREFETCH), facts)
    vectors = [panel for panel in vectors if panel.inner or _pays_alone(nest, panel, tile, machine)]
    vectors = [panel for panel in vectors if not _comes_back(nest, panel, tile, machine)]
    rows = panels_of(nest, replace(tile, fetch_rows=_FETCH_ROWS), facts)
    most = machine.l1_bytes * policy().blocks.working_share / L1_WAY_BYTES
    rows = [panel for panel in rows if not is_narrow(tile) or panel.set_conflicts(nest.unroll_and_jam(tile)) <= most]
    streaming = [panel.bytes for panel in rows if _comes_from_far(panel.load.operands[0], machine)]
    has_room = 0 < sum(panel.bytes_ahead for panel in vectors) <= machine.l2_bytes * policy().blocks.panel_share
    is_near = 0 < sum(streaming) <= machine.l1_bytes * policy().blocks.full_share
    return replace(tile, prefetch=_PREFETCH if has_room else 0, fetch_rows=_FETCH_ROWS if is_near else 0)


def _pays_alone(nest: Nest, panel: PrefetchedPanel, tile: Tile, machine: Machine) -> bool:
    """Whether a tile that alone reads a panel gains by fetching ahead: in an operand that is large enough to come from memory.

    L2 is asked for each line twice then, for which the products with a line's numbers must leave it time.
    """
    followed = set(list(panel.load.operands)[1:])
    rows = math.prod(count for loop, count in nest.unroll_and_jam(tile) if loop.iv not in followed)
    asked = 2 * machine.vector_bits / 8 / machine.l2.bytes_per_cycle
    is_far = _bytes_of(panel.load.operands[0].type) >= machine.l2_bytes * policy().memory.streamed_caches
    return is_far and rows * machine.cycles("fma_f32") >= asked


def _comes_back(nest: Nest, panel: PrefetchedPanel, tile: Tile, machine: Machine) -> bool:
    """Whether the tiles of a loop around read all panels of an operand again, often and before they leave L2."""
    followed = set(list(panel.load.operands)[1:])
    order, steps = nest.order(tile), nest.steps(tile)
    trips = {loop: trips_of(loop, steps.get(loop, 1)) for loop in order}
    moving = [loop for loop in order if trips[loop] != 1]
    last = max((place for place, loop in enumerate(moving) if loop.iv in followed), default=0)
    around = max((place for place, loop in enumerate(moving[:last]) if loop.iv not in followed), default=None)
    if around is None or (trips[moving[around]] or 0) < policy().blocks.fewest_block_tiles:
        return False
    inside = [trips[loop] for loop in moving[around + 1 :] if loop.iv in followed]
    count = math.prod(trip or 0 for trip in inside)
    return 0 < count * panel.bytes <= machine.l2_bytes * policy().blocks.resident_share


def _comes_from_far(memref: ir.Value, machine: Machine) -> bool:
    """Whether L2 does not hold the whole buffer of `memref`; a part of one whose size is not known may be of a large one.

    Other sizes that are not known count as usual ones.
    """
    buffer = root_of(memref).type
    usual = [policy().cost.assumed_trips if buffer.is_dynamic_dim(axis) else size for axis, size in enumerate(buffer.shape)]
    size = math.prod(usual) * (element_bits(buffer.element_type) or 0) // 8
    return size > machine.l2_bytes or (not buffer.has_static_shape and _is_slice(memref))


def _is_slice(memref: ir.Value) -> bool:
    """Whether `memref` is a slice of a buffer, seen through reshapes."""
    op = defining_op(memref)
    while op is not None and op.name in VIEW_OPS and op.name != "memref.subview":
        op = defining_op(op.operands[0])
    return op is not None and op.name == "memref.subview"


def _bytes_of(buffer: ir.MemRefType) -> int:
    """Bytes of a buffer, 0 where its sizes are not known."""
    return math.prod(buffer.shape) * (element_bits(buffer.element_type) or 0) // 8 if buffer.has_static_shape else 0


def is_contraction(nest: Nest) -> bool:
    """Whether the nest sums products of two loaded values."""
    if nest.chain is None:
        return False
    products = [op for op in real_ops(nest.innermost_body) if op.name in ("arith.mulf", "arith.muli")]
    loads = nest.innermost_loads
    sums = [combiner.name in ("arith.addf", "arith.addi") for combiner in nest.chain.combiners]
    return all(sums) and bool(products) and len(loads) > 1


def _multiplies_integers(nest: Nest) -> bool:
    return any(op.name == "arith.muli" for op in real_ops(nest.innermost_body))


def _weigh(machine: Machine, one: tuple[LoopNestCost, Tile]) -> Candidate[Tile]:
    cost, tile = one
    return Candidate(tile, cycles(cost, tile, machine))


def _tiles_of(nest: Nest, limits: TileLimits, conflicts: SetConflicts, generator: str) -> Iterator[tuple[LoopNestCost, Tile]]:
    """Every tile that fits the registers, with the nest's cost in the tile's lane loop."""
    lanes = limits.vector_bits // widest_element(real_ops(nest.innermost_body) if nest.chain else nest.inner_loops or nest.body)
    functions = None if nest.inner_loops else function_body(nest.body, lanes, limits.machine)
    for place, facts in _lane_loops(nest, lanes, generator == "tile"):
        cost = LoopNestCost(nest, facts, nest.loops[place], functions)
        tiles = _tiles(nest, Tile(generator, place, lanes), facts, conflicts, limits.registers, waits=functions is not None)
        yield from ((cost, tile) for tile in tiles if _fits(cost, tile, limits, conflicts))


def _fits(cost: LoopNestCost, tile: Tile, limits: TileLimits, conflicts: SetConflicts) -> bool:
    """Whether the registers hold `tile`, and the first-level cache what its copies read side by side."""
    return tile.body_copies == 1 or (cost.fits(tile, limits.registers) and not conflicts.overflows(tile, limits.machine.l1_bytes))


def _lane_loops(nest: Nest, lanes: int, may_scatter: bool) -> Iterator[tuple[int, LaneFacts]]:
    """The loops that can become lanes, by position, and what each op does in them."""
    for place, loop in enumerate(nest.band):
        is_whole = _divides(loop, lanes)
        facts = _facts(nest, loop, lanes, may_scatter=may_scatter and is_whole)
        if facts is not None:
            yield place, facts
    if nest.chain is not None:
        facts = _facts(nest, nest.loops[-1], lanes, reduces=True)
        if facts is not None and facts.maskable and any(facts.strides.values()):
            yield len(nest.loops) - 1, facts


def _facts(nest: Nest, loop: Loop, lanes: int, reduces: bool = False, may_scatter: bool = False) -> LaneFacts | None:
    chain = nest.chain.loops if reduces and nest.chain else ()
    try:
        return analyse_lanes(nest.body, loop.iv, chain, lanes=lanes, may_scatter=may_scatter)
    except NoLanesError:
        return None


def _tiles(nest: Nest, one: Tile, facts: LaneFacts, conflicts: SetConflicts, registers: int, waits: bool) -> Iterator[Tile]:
    """Tiles with the lanes of `one`, a tile of a single vector, without those of more sums than `registers` hold.

    `waits` says whether the body is long chains of instructions.
    """
    loop, lanes, reduces, jam = nest.lane_loop(one), one.lanes, nest.reduces(one), one.code_generator == "tile"
    if whole := _whole_row(nest, loop, lanes):
        yield replace(one, vectors=whole)
        return
    choices = [(each, math.prod(count for _, count in each)) for each in (_unroll_and_jam_choices(nest, loop) if jam else [()])]
    most_copies = registers - 1 if nest.inner_loops else math.inf
    most = _most_vectors(nest, facts, is_alone=jam and not reduces and len(nest.band) == 1, waits=waits)
    block = _block_of(nest, loop) // lanes
    for vectors in range(_fewest_vectors(loop, lanes, facts) if most > 1 and not reduces else 1, most + 1):
        if vectors > 1 and loop.most is not None and (vectors - 1) * lanes >= loop.most:
            break
        if block and block % vectors and vectors % block:
            continue
        if vectors > 1 and not (facts.maskable or _divides(loop, vectors * lanes)):
            continue
        is_part = _is_part(loop, vectors, lanes)
        for factors, copies in choices:
            if vectors * copies <= most_copies and not (is_part and _follows(nest, facts, factors)):
                yield Tile(one.code_generator, one.lane_loop, lanes, vectors, factors)
    if jam and not reduces and loop.extent is not None and loop.extent <= lanes:
        for factors in _tall_unroll_and_jam_choices(nest, loop, conflicts):
            yield Tile(one.code_generator, one.lane_loop, lanes, 1, factors)


def _most_vectors(nest: Nest, facts: LaneFacts, is_alone: bool, waits: bool) -> int:
    """The most vectors of a step; one where none is kept in registers or waited for, or ends cannot be masked."""
    if not ((nest.inner_loops or waits) and (facts.maskable or facts.scattered)):
        return 1
    return policy().tiles.most_vectors_alone if is_alone else policy().tiles.most_vectors


def _fewest_vectors(loop: Loop, lanes: int, facts: LaneFacts) -> int:
    """The vectors of a row of at most a line, which is not read in parts; else 1.

    In blocks of 16, 3x3/2 taps for 14x14x512 to 512 channels take 0.75 of the time with two vectors of 8, not one.
    """
    if not loop.extent or not (facts.maskable or _divides(loop, lanes)):
        return 1
    widest = max((element_bits(op.results[0].type) or 64 for op in facts.strides if op.name == "affine.load"), default=64)
    return -(-loop.extent // lanes) if loop.extent * widest <= 8 * LINE_BYTES else 1


def _is_part(loop: Loop, vectors: int, lanes: int) -> bool:
    """Whether a row of few whole vectors is taken in parts of `vectors` vectors."""
    return (
        loop.extent is not None
        and vectors * lanes < loop.extent <= policy().tiles.most_vectors * lanes
        and loop.extent % lanes == 0
    )


def _follows(nest: Nest, facts: LaneFacts, factors: Sequence[tuple[int, int]]) -> bool:
    """Whether copies along a loop of `factors` load other vectors: parts of rows that are apart, where one whole row would do."""
    loads = [op for op in real_ops(nest.innermost_body) if op.name == "affine.load" and facts.strides.get(op)]
    return any(nest.loops[place].iv in set(op.operands) for op in loads for place, _ in factors)


def _divides(loop: Loop, size: int) -> bool:
    """Whether steps of `size` iterations end where `loop` does."""
    return loop.upper.is_multiple_of(size)


def _tall_unroll_and_jam_choices(nest: Nest, lane_loop: Loop, conflicts: SetConflicts) -> Iterator[tuple[tuple[int, int], ...]]:
    """Larger factors for one loop than `_unroll_and_jam_choices` has, where what copies read does not fall into one cache set."""
    for place, loop in enumerate(nest.band):
        if loop is lane_loop or loop.extent is None or conflicts.may_share(loop):
            continue
        for factor in range(policy().tiles.most_jam + 1, min(policy().tiles.tallest_jam, loop.extent) + 1):
            yield ((place, factor),)


def _block_of(nest: Nest, loop: Loop) -> int:
    """Columns of the blocks that some load reads along `loop`, 0 where none does: tiles that cut across them read apart."""
    for op in real_ops(nest.innermost_body):
        if op.name != "affine.load":
            continue
        places = [place for place, index in enumerate(indices_of(op)) if index == loop.iv]
        blocks = [block_size(result, place) for result in op.attributes["map"].value.results for place in places]
        if any(blocks):
            return max(blocks)
    return 0


def _whole_row(nest: Nest, loop: Loop, lanes: int) -> int:
    """The vectors of the row that `nest` works on, if it is one of several that do and there are few; else 0."""
    if not nest.is_part or len(nest.loops) != 1 or loop.extent is None or loop.extent % lanes:
        return 0
    return loop.extent // lanes if loop.extent <= policy().tiles.whole_row_vectors * lanes else 0


def _unroll_and_jam_choices(nest: Nest, lane_loop: Loop) -> Iterator[tuple[tuple[int, int], ...]]:
    """Copies of none, one or two loops; only the first may leave a remainder."""
    yield ()
    loops = [(place, loop) for place, loop in enumerate(nest.band) if loop is not lane_loop]
    for first, outer in loops:
        for factor in _factors(outer):
            yield ((first, factor),)
            for second, inner in loops:
                if second == first or inner.extent is None or (second < first and _leaves_none(outer, factor)):
                    continue  # the other way round where neither leaves a remainder
                yield from (((first, factor), (second, count)) for count in _factors(inner) if _leaves_none(inner, count))


def _leaves_none(loop: Loop, factor: int) -> bool:
    """Whether steps of `factor` iterations surely end where `loop` does."""
    return loop.extent is not None and loop.extent % factor == 0


def _factors(loop: Loop) -> range:
    return range(2, min(policy().tiles.most_jam, loop.most or policy().tiles.most_jam) + 1)
