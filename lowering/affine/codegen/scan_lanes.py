"""Running sums along contiguous memory become vectors, whose prefixes are found in registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import affine, ir, vector
from dlc.analysis.buffers import nested_ops, root_of
from dlc.lowering.affine.codegen.emitter import TileEmitter
from dlc.lowering.affine.cost.limits import TileLimits
from dlc.lowering.affine.ir.lanes import LaneFacts, NoLanesError, analyse_lanes, widest_element
from dlc.lowering.affine.ir.loops import SCHEDULE, Loop, build_for, normalized, real_ops
from dlc.lowering.affine.ir.masks import Segment, segments, tail_masks
from dlc.lowering.affine.ir.reductions import combine, identity, is_combiner
from dlc.lowering.affine.ir.values import TileDim, TileValues, splat_constant
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.policy import policy


@dataclass(frozen=True)
class AffineScanLanes(Pass):
    """Cut loops that store what they have accumulated so far into vectors.

    before: affine.for %i = 0 to 100 iter_args(%sum = %zero) { %s = %sum + x[%i]; store %s, y[%i]; yield %s }
    after:  affine.for %i = 0 to 96 step 16 iter_args(%sums) {
              %v = load 16 of x; 4 times: %v = %v + (%v moved up by 1, 2, 4, 8 lanes)
              store %sums + %v, 16 of y; yield %sums + the last lane of %v }
            and a masked step for the last 4

    So the steps of the chain are one addition for each vector. Accumulators combine by an op that associates, with what does
    not depend on them. Loads may be at any fixed distance, stores are contiguous. Numbers of floating point are added
    in another order: each prefix in pairs within a vector, then vector by vector. Other loops stay as they are.
    """

    anchor = "func.func"

    vector_bits: int = option(0, "bits of a vector register; 0: this machine's")

    def run(self, op: ir.Operation) -> None:
        """Vectorise the scans of one function."""
        limits = TileLimits.of(op, self.vector_bits)
        for loop in [inner for inner in nested_ops(op) if inner.name == "affine.for"]:
            scan = _scan_of(loop, limits.vector_bits)
            if scan is not None:
                _emit(scan)


@dataclass(frozen=True)
class _Scan:
    """A loop, what combines each of its accumulators, the ops of its body that do not need these, and the others."""

    loop: Loop
    combiners: tuple[ir.Operation, ...]
    before: tuple[ir.Operation, ...]
    after: tuple[ir.Operation, ...]
    facts: LaneFacts
    lanes: int


def _scan_of(op: ir.Operation, vector_bits: int) -> _Scan | None:
    """`op` as a scan along contiguous memory; None when it is none, or one whose order must stay."""
    loop = normalized(op)
    if loop is None or not op.results or _is_scheduled(op):
        return None
    ops = real_ops(loop.body)
    if any(inner.regions for inner in ops) or not any(inner.name == "affine.store" for inner in ops):
        return None
    accumulators = list(loop.body.arguments)[1:]
    combiners = [value.owner for value in list(loop.body.operations)[-1].operands]
    if any(isinstance(owner, ir.Block) for owner in combiners) or not _in_place(ops):
        return None
    combiners = [owner.operation for owner in combiners]
    after = _dependent(ops, accumulators)
    pairs = list(zip(combiners, accumulators, strict=True))
    if not all(is_combiner(combiner) and _adds(combiner, accumulator, after) for combiner, accumulator in pairs):
        return None
    lanes = vector_bits // widest_element(ops)
    try:
        facts = analyse_lanes(ops, loop.iv, varying=accumulators, lanes=lanes)
    except NoLanesError:
        return None
    if lanes < policy().tiles.fewest_scanned_lanes or not facts.maskable or (loop.extent is not None and loop.extent < lanes):
        return None
    before = tuple(inner for inner in ops if inner not in after)
    return _Scan(loop, tuple(combiners), before, tuple(inner for inner in after if inner not in combiners), facts, lanes)


def _is_scheduled(op: ir.Operation) -> bool:
    """Whether a schedule has decided on the nest that `op` is in."""
    current: ir.Operation | None = op
    while current is not None and current.name != "func.func":
        if SCHEDULE in current.attributes:
            return True
        current = current.parent.operation if current.parent else None
    return False


def _dependent(ops: Sequence[ir.Operation], values: Sequence[ir.Value]) -> list[ir.Operation]:
    """The ops that need `values`, in order."""
    known, found = set(values), []
    for op in ops:
        if any(operand in known for operand in op.operands):
            known.update(op.results)
            found.append(op)
    return found


def _adds(combiner: ir.Operation, accumulator: ir.Value, dependent: Sequence[ir.Operation]) -> bool:
    """Whether `combiner` takes `accumulator` and something that does not depend on any."""
    others = [operand for operand in combiner.operands if operand != accumulator]
    if len(others) != 1:
        return False
    owner = others[0].owner
    return not any(owner == op for op in dependent) and not (isinstance(owner, ir.Block) and others[0] in _carried(owner))


def _carried(block: ir.Block) -> list[ir.Value]:
    return list(block.arguments)[1:]


def _in_place(ops: Sequence[ir.Operation]) -> bool:
    """Whether buffers that are stored to are read, if at all, at the same element before it is stored."""
    for place, store in enumerate(ops):
        if store.name != "affine.store":
            continue
        _, buffer, *subscripts = store.operands
        for other_place, load in enumerate(ops):
            if load.name not in ("affine.load", "memref.load") or root_of(load.operands[0]) != root_of(buffer):
                continue
            same = load.operands[0] == buffer and list(load.operands)[1:] == subscripts and load.name == "affine.load"
            if not same or other_place > place or load.attributes["map"] != store.attributes["map"]:
                return False
    return True


def _emit(scan: _Scan) -> None:
    """Put loops over vectors in the place of the scan."""
    loop = scan.loop
    values = TileValues(dims=[], lanes=scan.lanes, lane_dim=0)
    with ir.InsertionPoint(loop.op), loop.op.location:
        carried = [values.splat(start) for start in loop.inits]
        for segment in segments(loop.upper, scan.lanes, 1):
            carried = _segment(scan, values, segment, carried)
        totals = [vector.ExtractOp(carry, [], [0]).result for carry in carried]
    for result, total in zip(loop.op.results, totals, strict=True):
        result.replace_all_uses_with(total)
    loop.op.erase()


def _segment(scan: _Scan, values: TileValues, segment: Segment, carried: list[ir.Value]) -> list[ir.Value]:
    """One loop of single vectors; the accumulators, the same in all lanes, after it."""
    made = build_for(segment.lower, segment.upper, segment.step, carried)
    body = made.regions[0].blocks[0]
    iv, *carries = body.arguments
    with ir.InsertionPoint(body):
        values.enter_body()
        values.dims = [TileDim(scan.loop.iv, iv, 1, scan.lanes)]
        values.masks = tail_masks(scan.loop.upper, iv, segment, scan.lanes)
        emitter = TileEmitter(values, scan.facts, scan.combiners)
        emitter.ops(scan.before)
        ends = [_prefixes(scan, values, index, carry) for index, carry in enumerate(carries)]
        emitter.ops(scan.after)
        affine.AffineYieldOp(ends)
        values.leave_body()
    return list(made.results)


def _prefixes(scan: _Scan, values: TileValues, index: int, carry: ir.Value) -> ir.Value:
    """Define accumulator `index` before and after each lane; returns what it is after all of them."""
    combiner, accumulator = scan.combiners[index], scan.loop.body.arguments[index + 1]
    operand = next(operand for operand in combiner.operands if operand != accumulator)
    sums = values.vector(operand, {0: 0})
    neutral = splat_constant(ir.VectorType(sums.type), identity(combiner))
    if (mask := values.mask({0: 0})) is not None:
        sums = ir.Operation.create("arith.select", results=[sums.type], operands=[mask.vector(), sums, neutral]).results[0]
    for bit in range(scan.lanes.bit_length() - 1):
        sums = combine(combiner, _moved_up(sums, neutral, 1 << bit), sums)
    values.define(combiner.results[0], (0,), [combine(combiner, carry, sums)], True)
    if any(use.owner.operation != combiner for use in accumulator.uses):
        values.define(accumulator, (0,), [combine(combiner, carry, _moved_up(sums, neutral, 1))], True)
    last = vector.ShuffleOp(sums, sums, [scan.lanes - 1] * scan.lanes).result
    return combine(combiner, carry, last)


def _moved_up(lanes: ir.Value, neutral: ir.Value, distance: int) -> ir.Value:
    """Lane i of `lanes` in lane i + distance, neutral ones below."""
    count = ir.VectorType(lanes.type).shape[0]
    mask = [lane if lane < distance else count + lane - distance for lane in range(count)]
    return vector.ShuffleOp(neutral, lanes, mask).result
