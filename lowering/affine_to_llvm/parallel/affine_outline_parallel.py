"""Parallel loops as parallel regions for the thread pool."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from dlc._mlir import arith, func, ir
from dlc.analysis.symbols import symbol_name
from dlc.lowering.affine.ir.loops import Bound, apply, build_for, real_ops
from dlc.lowering.affine_to_llvm.parallel.context_record import ContextRecord
from dlc.lowering.affine_to_llvm.parallel.parallel_groups import ParallelGroup
from dlc.lowering.affine_to_llvm.parallel.parallel_nests import ParallelNest, least_work, parallel_loop, parallel_nests
from dlc.lowering.affine_to_llvm.parallel.ranges import LoopRange, constant_index, count_of, declare, extreme
from dlc.lowering.outlining import captures_of, free_numbers, noalias_marks, private_function, symbols_in
from dlc.lowering.pass_base import Pass, PassFailure, option
from dlc.lowering.policy import policy

_POOL = "dlc_parallel_for"
_UNEVEN_POOL = "dlc_parallel_for_uneven"

_LARGEST = 2**63 - 1
"""The largest number that an index holds."""


@dataclass(frozen=True)
class AffineOutlineParallel(Pass):
    """Move outermost parallel loops into functions over a range of iterations, and give these to the thread pool.

    A loop nest that is perfect and parallel counts as one range. The work of iterations may grow or shrink along it, as in
    triangles, and its length may depend on loops around. Then the pool gets estimates of work and length: it makes shares of equal
    work, and keeps ranges that are too short to share on one thread. The loop body becomes `<kernel>_body<n>`, still affine;
    `<kernel>_task<n>` unpacks what it needs from a record on the caller's stack. With one thread the pool calls the task once, for
    the whole range.

    before: affine.for %i = 0 to 128 { ... store %v, %c[%i] } {dlc.parallel}
    after:  call @dlc_parallel_for(%task, %record, %count) : (!llvm.ptr, !llvm.ptr, i64) -> ()
            func.func private @kernel_body0(%c: memref<128xf32>, %lo: index, %hi: index) {
              affine.for %i = %lo to %hi { ... store %v, %c[%i] }
    """

    min_work: int = option(
        20_000, "least number of instructions in a loop that leaves its thread, by estimate; three times that in serial loops"
    )

    def run(self, op: ir.Operation) -> None:
        block = op.regions[0].blocks[0]
        functions = [item.operation for item in block.operations if item.operation.name == "func.func"]
        taken = symbols_in(op)
        for function in functions:
            name = symbol_name(function)
            nests = list(parallel_nests(function, self.min_work))
            for nest, number in zip(nests, free_numbers(taken, [f"{name}_body", f"{name}_task"]), strict=False):
                _outline(function, nest, f"{name}_body{number}", f"{name}_task{number}", self.min_work)


def _outline(function: ir.Operation, nest: ParallelNest | ParallelGroup, body_name: str, task_name: str, min_work: int) -> None:
    """Replace the nest by a parallel region whose task calls the new function `body_name`."""
    moved = nest.moved if isinstance(nest, ParallelGroup) else [nest.root]
    captured, constants = captures_of(moved)
    if ContextRecord.of([value.type for value in captured]) is None:
        return
    weights = _weights(nest, min_work)
    region = _clipped(nest) if isinstance(nest, ParallelGroup) else _ranged(nest)
    if region.is_new:
        captured, constants = captures_of(region.moved)
    captured += region.extra
    record = ContextRecord.of([value.type for value in captured])
    assert record is not None  # indices are all that is new
    index, long = ir.IndexType.get(function.context), ir.IntegerType.get_signless(64, function.context)
    module_block = function.block
    marks = noalias_marks(function, [region.root], captured)
    with region.root.location:
        with ir.InsertionPoint(region.root):
            count = arith.index_cast(long, region.count)
            context = record.store(captured, function.regions[0].blocks[0])
            task = record.address_of(task_name)
            numbers = [arith.constant(long, min(weight, _LARGEST)) for weight in weights]
            func.CallOp([], _pool(weights), [task, context, count, *numbers])
        body = private_function(body_name, region.moved, captured, constants, [index, index])
        body.attributes["arg_attrs"] = ir.ArrayAttr.get([*marks, *[ir.DictAttr.get({})] * 2])
        module_block.append(body)
        module_block.append(record.task(task_name, body_name))
        _declare_pool(module_block, weights)
        region.rebuild(list(body.regions[0].blocks[0].arguments))


@dataclass(frozen=True)
class _ParallelRegion:
    """Loops that become a function of a range: `moved` go into it, `extra` are more values that it needs, `count` iterations.

    `rebuild` makes the loops, in their function by then, those of a range; it gets the arguments: the last two are the range, those
    before them `extra`.
    """

    root: ir.Operation
    moved: list[ir.Operation]
    count: ir.Value
    extra: list[ir.Value]
    rebuild: Callable[[list[ir.Value]], None]
    is_new: bool = False
    """Whether the ops are not those of the nest."""


def _ranged(nest: ParallelNest) -> _ParallelRegion:
    """The parallel region of loops that count as one range."""
    based = _from_zero(nest)
    with ir.InsertionPoint(based.root), based.root.location:
        count = _iterations(based)
    return _ParallelRegion(
        based.root, [based.root], count, [], lambda arguments: _rebuild(based.loops, *arguments[-2:]), is_new=based is not nest
    )


def _clipped(nest: ParallelGroup) -> _ParallelRegion:
    """The parallel region of a serial loop: its parallel loops keep those values of their variables that lie in the range."""

    def rebuild(arguments: list[ir.Value]) -> None:
        start, count, low, high = arguments[-4:]
        with ir.InsertionPoint.at_block_begin(start.owner), nest.root.location:
            lower = _or_all(arith.cmpi(arith.CmpIPredicate.sgt, low, constant_index(0)), arith.addi(low, start), -_FAR)
            upper = _or_all(arith.cmpi(arith.CmpIPredicate.slt, high, count), arith.addi(high, start), _FAR)
        nest.clip(lower, upper)

    with ir.InsertionPoint(nest.root), nest.root.location:
        start, end = _hull(nest)
        count = arith.maxsi(arith.subi(end, start), constant_index(0))
    return _ParallelRegion(nest.root, nest.moved, count, [start, count], rebuild)


def _hull(nest: ParallelGroup) -> tuple[ir.Value, ir.Value]:
    """Emit the least and the largest bound of the loops; where these are not known before, about those."""
    if not nest.is_known_before:
        values = nest.weights()
        return constant_index(min(values)), constant_index(max(values) + 1)
    parts = [parallel_loop(loop) for loop in nest.loops]
    starts = [extreme("affine.max", part.lower) for part in parts if part]
    ends = [extreme("affine.min", part.upper) for part in parts if part]
    return reduce(arith.minsi, starts), reduce(arith.maxsi, ends)


_FAR = 1 << 40
"""Beyond all loops: who has the first or the last share of a range takes what lies before or behind it, too."""


def _or_all(condition: ir.Value, bound: ir.Value, other: int) -> ir.Value:
    return arith.select(condition, bound, constant_index(other))


def _weights(nest: ParallelNest | ParallelGroup, min_work: int) -> list[int]:
    """The work of the first and of the last iteration of the range and the least that is shared; nothing for even shares.

    Raises `PassFailure` for a group of loops whose range no index counts.
    """
    least = least_work(nest.root.parent.operation, min_work)
    if isinstance(nest, ParallelGroup):
        known = sorted(nest.weights().items()) or [(0, min_work)]
        _require_countable(nest.root, known[-1][0] - known[0][0] + 1)
        return [known[0][1], known[-1][1], max(least, nest.least_share)]
    first, last = (max(1, work // max(1, nest.inner)) for work in (nest.first, nest.last))
    is_nested = nest.loops[0].trips is None and nest.root.parent.operation.name != "func.func"
    return [first, last, least] if is_nested or abs(first - last) > policy().parallel.even_share * max(first, last) else []


def _pool(weights: Sequence[int]) -> str:
    return _UNEVEN_POOL if weights else _POOL


def _from_zero(nest: ParallelNest) -> ParallelNest:
    """`nest`, with its outermost loop from 0 by 1 where it does not start at a number or has several bounds on one side."""
    loop, *inner = nest.loops
    if loop.first is not None and len(loop.upper.map.results) == 1:
        return nest
    with ir.InsertionPoint(nest.root), loop.op.location:
        lower = extreme("affine.max", loop.lower)
        count = count_of(loop, lower)
    with ir.InsertionPoint(loop.op), loop.op.location:
        op = build_for(Bound.constant(0), Bound.symbol(count), parallel=True)
        body = op.regions[0].blocks[0]
        with ir.InsertionPoint(body):
            end = ir.Operation.create("affine.yield")
        for each in real_ops(loop.body):
            each.move_before(end)
        with ir.InsertionPoint.at_block_begin(inner[-1].body if inner else body):  # the loops stay perfectly nested
            place = ir.AffineDimExpr.get(0) * loop.step + ir.AffineSymbolExpr.get(0)
            value = apply(ir.AffineMap.get(1, 1, [place]), [body.arguments[0], lower])
    loop.body.arguments[0].replace_all_uses_with(value)
    loop.op.erase()
    found = parallel_loop(op)
    assert found is not None
    return replace(nest, loops=(found, *inner))


def _require_countable(root: ir.Operation, iterations: int) -> None:
    """Raise `PassFailure` for loops of more iterations than the pool's i64 counts."""
    if iterations > _LARGEST:
        what = f"the loops have {iterations} iterations, more than an index can count"
        raise PassFailure(root, what, "give bounds within 2^63")


def _iterations(nest: ParallelNest) -> ir.Value:
    """Emit the number of iterations of the nest, an index."""
    outer, inner = nest.loops[0], nest.inner
    _require_countable(nest.root, inner * (outer.trips or 1))
    if outer.trips is not None:
        return constant_index(outer.trips * inner)
    upper = outer.upper.map
    trips = ir.AffineExpr.get_ceil_div(upper.results[0] - (outer.first or 0), outer.step)
    count = apply(ir.AffineMap.get(upper.n_dims, upper.n_symbols, [trips]), list(outer.upper.operands))
    every = count if inner == 1 else arith.muli(count, constant_index(inner))
    return arith.maxsi(every, constant_index(0))


def _rebuild(nest: Sequence[LoopRange], lo: ir.Value, hi: ir.Value) -> None:
    """Replace the nest, now in its own function, by one loop from `lo` to `hi` over all its iterations."""
    outer, innermost = nest[0].op, nest[-1]
    with ir.InsertionPoint(outer):
        merged = build_for(Bound.symbol(lo), Bound.symbol(hi), parallel=True)
    block = merged.regions[0].blocks[0]
    with ir.InsertionPoint(block):
        end = ir.Operation.create("affine.yield")
    inner = math.prod(loop.trips or 0 for loop in nest[1:])
    for position, loop in enumerate(nest):
        if position:
            inner //= loop.trips or 1
        expression = ir.AffineExpr.get_floor_div(ir.AffineDimExpr.get(0), inner)
        if position:
            expression = ir.AffineExpr.get_mod(expression, loop.trips or 1)
        with ir.InsertionPoint(end):
            value = apply(ir.AffineMap.get(1, 0, [expression * loop.step + (loop.first or 0)]), [block.arguments[0]])
        loop.body.arguments[0].replace_all_uses_with(value)
    for op in real_ops(innermost.body):
        op.move_before(end)
    outer.erase()


def _declare_pool(block: ir.Block, weights: Sequence[int]) -> None:
    """Declare the runtime's function in the module."""
    pointer, long = ir.Type.parse("!llvm.ptr"), ir.IntegerType.get_signless(64)
    declare(block, _pool(weights), [pointer, pointer, long, *[long] * len(weights)])
