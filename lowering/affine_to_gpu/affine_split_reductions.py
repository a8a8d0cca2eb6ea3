"""affine-split-reductions: a sum becomes as many sums as threads share its row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlc._mlir import affine, arith, ir, memref
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.ir.accesses import SUBSCRIPTS_AT, access_of, stride_along
from dlc.lowering.affine.ir.alignment import alignment_of, lane_bytes
from dlc.lowering.affine.ir.loops import Bound, Loop, apply, build_for, real_ops
from dlc.lowering.affine.ir.reductions import ReductionNest, chain_of, combine, identity
from dlc.lowering.affine_to_gpu.coalesced_reductions import coalesce, is_dense, likely_extent
from dlc.lowering.affine_to_gpu.grid import is_bound
from dlc.lowering.affine_to_gpu.row_lanes import enclose_row, row_lanes
from dlc.lowering.affine_to_gpu.thread_code import end_of
from dlc.lowering.pass_base import Pass, option
from dlc.targets.machine import GpuMachine, gpu_facts_of

_LOADS = ("affine.load",)


@dataclass(frozen=True)
class AffineSplitReductions(Pass):
    """Split reductions along rows of memory into one for each thread of one or several warps, so that neighbours read neighbours.

    before: %sum = affine.for %j = 0 to 1000 iter_args(%s = %zero) { %x = affine.load %A[%i, %j]; %t = arith.addf %s, %x; yield %t }
    after:  %p = memref.alloca() : memref<32xf32>; affine.for %l = 0 to 32 { affine.store %identity, %p[%l] }
            affine.for %q = 0 to 32 { affine.for %l = 0 to min(32, 1000 - 32 * %q) {
              %s = affine.load %p[%l]; %x = affine.load %A[%i, 32 * %q + %l]; %t = arith.addf %s, %x; affine.store %t, %p[%l] } }
            %sum = affine.for %l = 0 to 32 iter_args(%s = %zero) { %x = affine.load %p[%l]; %t = arith.addf %s, %x; yield %t }

    So it is done where the reduction's own loop, and none around it, goes along memory, and where no numbers are read that several
    of the loops around reuse, as those of products are: these become tiles. Loops in each other that go along memory together
    (7 x 7 neighbours) become one before. Where memory allows for vectors, a lane takes neighbours, in all sums of a row as many: of
    1024 numbers of f32 those at 128 * %q + 4 * %l + %v, for a loop `%v` to 4 inside, as `affine-vectorize-accesses` wants.
    Rows get more warps where they are long or few (`row_lanes.py`); a function's only row gets a loop of one iteration. Rows whose
    length run time knows are split for a likely one (`cost.assumed_trips`), by one neighbour a lane. Iterations
    keep their order; only the partial results are associated anew, which any reduction allows (docs/design/0001-contracts.md).
    """

    anchor = "func.func"

    least: int = option(0, "least number of iterations of a reduction that is split; 0: the threads of a warp")

    def run(self, op: ir.Operation) -> None:
        facts = gpu_facts_of(op)
        if any(chain.loops[0].op.parent.operation == op for chain in _chains(op, self.least or facts.warp_threads)):
            enclose_row(op)
        chains = _chains(op, self.least or facts.warp_threads)
        lanes = _lanes(chains, facts)
        found = [(coalesce(chain), chain.combiners) for chain in chains]
        widths: dict[tuple[ir.Block, int | None], int] = {}
        for loop, _ in found:
            row = loop.op.block, loop.extent
            widths[row] = max(widths.get(row, 1), _neighbours(loop, lanes[loop.op.block]))
        for loop, combiners in found:
            _split(loop, combiners, lanes[loop.op.block], widths[loop.op.block, loop.extent])


def _chains(function: ir.Operation, least: int) -> list[ReductionNest]:
    """The reductions to be split, listed before the first is changed."""
    found: list[ReductionNest] = []
    taken: set[ir.Operation] = set()
    for loop in [inner for inner in nested_ops(function) if inner.name == "affine.for" and len(inner.results)]:
        chain = None if loop in taken or is_bound(loop) else chain_of(loop)
        if chain is not None and _pays(chain, least):
            found.append(chain)
            taken |= {inner.op for inner in chain.loops}
    return found


def _pays(chain: ReductionNest, least: int) -> bool:
    extent = likely_extent(chain)
    if extent is None or extent < least:
        return False
    inside = [op for op in nested_ops(chain.loops[-1].op) if op.name in _LOADS]
    outer = list(_variables_around(chain.loops[0].op))
    along = [op for op in inside if is_dense(op, chain)]
    beside = [op for op in inside for variable in outer if stride_along(op, variable) in (1, -1)]
    return bool(along) and not beside and sum(_is_reused(inside, variable) for variable in outer) < 2


def _lanes(chains: Sequence[ReductionNest], facts: GpuMachine) -> dict[ir.Block, int]:
    """The threads of a row, by the block that its reductions lie in: they share the threads."""
    found: dict[ir.Block, int] = {}
    for chain in chains:
        home = chain.loops[0].op.block
        lanes = row_lanes(chain, _neighbours(chain.loops[-1], facts.warp_threads), facts)
        found[home] = max(found.get(home, lanes), lanes)
    return found


def _neighbours(loop: Loop, lanes: int) -> int:
    """How many neighbours a lane takes at once, so that loads or stores can be vectors: each of its steps takes as many.

    One, where only run time knows how long rows are, and so where they begin.
    """
    if loop.extent is None:
        return 1
    accesses = [access_of(op) for op in nested_ops(loop.op) if op.name in SUBSCRIPTS_AT and stride_along(op, loop.iv) == 1]
    most = max((alignment_of(access, loop.iv) // (lane_bytes(access.memref) or 1) for access in accesses), default=1)
    while most > 1 and (loop.extent % most or loop.extent < most * lanes):
        most //= 2
    return max(1, most)


def _is_reused(loads: Sequence[ir.Operation], variable: ir.Value) -> bool:
    """Whether some of the loads move along a loop, and others read the same numbers in all its iterations."""
    moves = [stride_along(op, variable) != 0 for op in loads]
    return any(moves) and not all(moves)


def _variables_around(op: ir.Operation) -> Iterator[ir.Value]:
    """The variables of the loops around `op`."""
    around = op.parent
    while around is not None and around.operation.name != "func.func":
        if around.operation.name in ("affine.for", "affine.parallel"):
            yield from list(around.operation.regions[0].blocks[0].arguments)[: 1 if around.operation.name == "affine.for" else None]
        around = around.operation.parent


def _split(loop: Loop, combiners: Sequence[ir.Operation], lanes: int, width: int) -> None:
    """Replace a reduction by `lanes` of them, each over groups of `width` neighbours, and one over their results."""
    with ir.InsertionPoint(loop.op), loop.op.location:
        kinds = [result.type for result in loop.op.results]
        partial = [memref.AllocaOp(ir.MemRefType.get([lanes], kind), [], []).result for kind in kinds]
        neutral = [arith.ConstantOp(kind, identity(one)).result for kind, one in zip(kinds, combiners, strict=True)]
        _start(partial, neutral, lanes)
        results = _final(loop, combiners, partial, lanes)
        with ir.InsertionPoint(results[0].owner):
            _accumulate(loop, partial, lanes, width)
    for old, new in zip(loop.op.results, results, strict=True):
        old.replace_all_uses_with(new)
    loop.op.erase()


def _start(partial: Sequence[ir.Value], neutral: Sequence[ir.Value], lanes: int) -> None:
    start = build_for(Bound.constant(0), Bound.constant(lanes), parallel=True)
    block = start.regions[0].blocks[0]
    with ir.InsertionPoint(block):
        for buffer, value in zip(partial, neutral, strict=True):
            _store(value, buffer, block.arguments[0])
        affine.AffineYieldOp([])


def _accumulate(loop: Loop, partial: Sequence[ir.Value], lanes: int, width: int) -> None:
    """The iterations in their order, each on the partial result of its lane; takes the ops out of `loop`."""
    steps, left = _steps(loop, lanes, width)
    here, number = ir.AffineDimExpr.get(0), _enter(steps)
    with ir.InsertionPoint(end_of(number.owner)):
        lane = inner = _enter(Bound(left.map, (number, *left.operands)))
    if width > 1:
        with ir.InsertionPoint(end_of(lane.owner)):
            inner = _enter(Bound.constant(width))
    end = end_of(inner.owner)
    with ir.InsertionPoint(end):
        group = here * lanes + ir.AffineDimExpr.get(1)
        map = ir.AffineMap.get(3, 0, [group * width + ir.AffineDimExpr.get(2)]) if width > 1 else ir.AffineMap.get(2, 0, [group])
        place = apply(map, [number, lane, *([inner] if width > 1 else [])])
        before = [_load(buffer, lane) for buffer in partial]
    old = loop.body
    yielded = list(list(old.operations)[-1].operands)
    for argument, value in zip(old.arguments, [place, *before], strict=True):
        argument.replace_all_uses_with(value)
    for op in real_ops(old):
        op.move_before(end)
    with ir.InsertionPoint(end):
        for buffer, value in zip(partial, yielded, strict=True):
            _store(value, buffer, lane)


def _steps(loop: Loop, lanes: int, width: int) -> tuple[Bound, Bound]:
    """How many steps all lanes do together, and how many lanes a step has, whose number comes before the operands."""
    here, all_lanes = ir.AffineDimExpr.get(0), ir.AffineExpr.get_constant(lanes)
    if loop.extent is not None:
        groups = loop.extent // width
        ends = [all_lanes, *([here * -lanes + groups] if groups % lanes else [])]
        return Bound.constant(-(-groups // lanes)), Bound(ir.AffineMap.get(1, 0, ends), ())
    (extent,), symbols = loop.upper.map.results, loop.upper.map.n_symbols
    steps = ir.AffineMap.get(0, symbols, [ir.AffineExpr.get_ceil_div(extent, lanes)])
    left = ir.AffineMap.get(1, symbols, [all_lanes, here * -lanes + extent])
    return Bound(steps, loop.upper.operands), Bound(left, loop.upper.operands)


def _enter(upper: Bound) -> ir.Value:
    """An empty loop at the insertion point; its variable."""
    loop = build_for(Bound.constant(0), upper)
    with ir.InsertionPoint(loop.regions[0].blocks[0]):
        affine.AffineYieldOp([])
    return loop.regions[0].blocks[0].arguments[0]


def _final(loop: Loop, combiners: Sequence[ir.Operation], partial: Sequence[ir.Value], lanes: int) -> list[ir.Value]:
    """The results: the initial values combined with those of the lanes."""
    final = build_for(Bound.constant(0), Bound.constant(lanes), inits=loop.inits)
    block = final.regions[0].blocks[0]
    lane, *values = block.arguments
    with ir.InsertionPoint(block):
        parts = [_load(buffer, lane) for buffer in partial]
        affine.AffineYieldOp([combine(one, value, part) for one, value, part in zip(combiners, values, parts, strict=True)])
    return list(final.results)


def _load(buffer: ir.Value, lane: ir.Value) -> ir.Value:
    return affine.AffineLoadOp(ir.MemRefType(buffer.type).element_type, buffer, [lane], ir.AffineMap.get_identity(1)).result


def _store(value: ir.Value, buffer: ir.Value, lane: ir.Value) -> None:
    affine.AffineStoreOp(value, buffer, [lane], ir.AffineMap.get_identity(1))
