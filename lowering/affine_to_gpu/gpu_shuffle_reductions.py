"""gpu-shuffle-reductions: the lanes of a row combine their partial results by shuffles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlc._mlir import affine, arith, ir
from dlc.analysis.buffers import defining_op, nested_ops, root_of
from dlc.lowering.affine.ir.loops import real_ops
from dlc.lowering.affine.ir.reductions import ReductionNest, chain_of, combine, identity
from dlc.lowering.affine_to_gpu.first_threads import WarpRows, is_inside, only_chain, warp_rows, written_in
from dlc.lowering.affine_to_gpu.row_combinations import RowCombination
from dlc.lowering.pass_base import Pass
from dlc.targets.machine import gpu_facts_of

_PURE = ("arith.", "math.", "affine.apply", "affine.min", "affine.max")
_WIDTHS = (32, 64)
"""Bits of what `gpu.shuffle` moves."""


@dataclass(frozen=True)
class GpuShuffleReductions(Pass):
    """Combine partial results of a row's lanes by butterfly shuffles, where its first thread did so alone.

    before: affine.if (%tx == 0) { %r = affine.for %l = 0 to 32 iter_args(%s = %init) {
              %p = affine.load %P[%ty, %l]; %t = arith.addf %s, %p; yield %t }; affine.store %r, %C[%ty] }
    after:  %p = affine.load %P[%ty, %tx]; %o, %v = gpu.shuffle xor %p, 16, 32; %q = arith.addf %p, %o   (then 8, 4, 2, 1)
            affine.if (%tx == 0) { %t = arith.addf %init, %q; affine.store %t, %C[%ty] }

    The loop has an iteration for each lane, all lanes of a row come to the condition, and what iterations load the condition's
    body does not store. Every lane gets the same bits, as the op that makes them says (`dlc.uniform`): both sides of an exchange
    combine the same two numbers. Where a block has one row of several warps, these exchange their results through shared memory,
    and each combines them anew. The order of a reduction changes, as any may (docs/design/0001-contracts.md). Numbers of 32 and 64
    bits are shuffled; others stay.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        facts = gpu_facts_of(op)
        for rows in warp_rows(op, facts):
            for guard in list(rows.of_first_lane()):
                for nest in list(_reductions(guard, rows)):
                    _shuffle(guard, nest, RowCombination(rows, facts.warp_threads, nest.combiners))


def _reductions(guard: ir.Operation, rows: WarpRows) -> Iterator[ReductionNest]:
    """The reductions in `guard` with an iteration for each lane that may as well be done before it."""
    stored = {root_of(op.operands[1]) for op in written_in(guard)}
    for op in [inner for inner in nested_ops(guard) if inner.name == "affine.for" and len(inner.results)]:
        nest = chain_of(op)
        if nest is None or len(nest.loops) != 1 or nest.loops[0].extent != rows.lanes:
            continue
        chain = only_chain(guard, op)
        if chain is None or not all(rows.has_uniform_bounds(one) for one in chain):
            continue
        if all(getattr(result.type, "width", 0) in _WIDTHS for result in op.results) and _may_move(nest, guard, stored):
            yield nest


def _may_move(nest: ReductionNest, guard: ir.Operation, stored: set[ir.Value]) -> bool:
    """Whether the iterations depend on nothing that `guard` computes or stores."""
    arguments = list(nest.body.arguments)
    for op in real_ops(nest.body):
        if op.name != "affine.load" and not op.name.startswith(_PURE):
            return False
        if op.name == "affine.load" and not all(_are_apart(root_of(op.operands[0]), root) for root in stored):
            return False
        for operand in op.operands:
            source = defining_op(operand)
            if source is None and operand not in arguments and is_inside(operand.owner.owner.operation, guard):
                return False
            if source is not None and source.block != nest.body and is_inside(source, guard):
                return False
    return True


def _are_apart(one: ir.Value, other: ir.Value) -> bool:
    """Whether two roots are different memory: one of them at least is the kernel's own or was allocated for it."""
    sources = [defining_op(root) for root in (one, other)]
    return one != other and any(source is not None and source.name == "gpu.alloc" for source in sources)


def _shuffle(guard: ir.Operation, nest: ReductionNest, row: RowCombination) -> None:
    """Combine before `guard`; the loop's results are the initial values combined with that."""
    loop = nest.loops[0]
    with ir.InsertionPoint(guard), loop.op.location:
        found = _under(only_chain(guard, loop.op) or [], nest, row)
    with ir.InsertionPoint(loop.op), loop.op.location:
        results = [combine(one, start, value) for one, start, value in zip(nest.combiners, loop.inits, found, strict=True)]
    for old, new in zip(loop.op.results, results, strict=True):
        old.replace_all_uses_with(new)
    loop.op.erase()


def _under(conditions: Sequence[ir.Operation], nest: ReductionNest, row: RowCombination) -> list[ir.Value]:
    """Emit the row's results where `conditions` hold, and neutral values elsewhere."""
    if not conditions:
        return row.emit(_partial(nest, row.rows.lane))
    first, *others = conditions
    kinds = [one.results[0].type for one in nest.combiners]
    attributes = {"condition": first.attributes["condition"]}
    branch = ir.Operation.create("affine.if", kinds, list(first.operands), attributes, regions=2)
    with ir.InsertionPoint(branch.regions[0].blocks.append()):
        affine.AffineYieldOp(_under(others, nest, row))
    with ir.InsertionPoint(branch.regions[1].blocks.append()):
        affine.AffineYieldOp(
            [arith.ConstantOp(kind, identity(one)).result for kind, one in zip(kinds, nest.combiners, strict=True)]
        )
    return list(branch.results)


def _partial(nest: ReductionNest, lane: ir.Value) -> list[ir.Value]:
    """Emit what the iteration of a lane combines with each accumulator."""
    accumulators = list(nest.body.arguments)[1:]
    known: dict[ir.Value, ir.Value] = {nest.body.arguments[0]: lane}
    for op in real_ops(nest.body):
        if any(operand in accumulators for operand in op.operands):
            continue
        copy = op.clone().operation
        for place, operand in enumerate(op.operands):
            copy.operands[place] = known.get(operand, operand)
        known.update(zip(op.results, copy.results, strict=True))
    found = []
    for combiner, accumulator in zip(nest.combiners, accumulators, strict=True):
        operands = list(combiner.operands)[-2:]  # those of a select follow its condition
        value = operands[1] if operands[0] == accumulator else operands[0]
        found.append(known.get(value, value))
    return found
