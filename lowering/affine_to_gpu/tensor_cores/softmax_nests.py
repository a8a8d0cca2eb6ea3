"""Softmax among affine loops, as attention leaves it: exponentials of each row in place, and their sums beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import arith, ir
from dlc.analysis.buffers import defining_op, root_of
from dlc.lowering.affine.ir.accesses import MemRefAccess, access_of
from dlc.lowering.affine.ir.loops import Loop, real_ops
from dlc.lowering.affine.ir.reductions import ReductionNest, chain_of
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import parallel_band

_BODY = ["affine.for", "arith.cmpf", "arith.select", "affine.for", "affine.store"]
_LARGEST = ["affine.load", "arith.cmpf", "arith.select"]
_POWERS = ["affine.load", "arith.subf", "math.exp", "affine.store", "arith.addf"]


@dataclass(frozen=True, eq=False)
class SoftmaxNest:
    """exp(s - largest of the row) in the place of each s of `scores`, along its last axis, and sums of rows in `totals`.

    Rows of -inf alone become zeros. `extents` are those of the loops along the axes of `scores`, 1 where there is none;
    `total_axes` says for each axis of `totals` along which of `scores` it runs, None for one of a single element.
    """

    nest: ir.Operation
    scores: ir.Value
    totals: ir.Value
    extents: tuple[int, ...]
    total_axes: tuple[int | None, ...]

    @property
    def buffers(self) -> tuple[ir.Value, ir.Value]:
        """The memory of `scores` and of `totals`, which are views of it or the memory itself."""
        return root_of(self.scores), root_of(self.totals)


def softmax_of(op: ir.Operation) -> SoftmaxNest | None:
    """The softmax that the loop nest `op` is; None for other nests."""
    band = list(parallel_band(op))
    inside = real_ops(band[-1].body) if band else []
    if [inner.name for inner in inside] != _BODY:
        return None
    first, _, top, second, stored = inside
    largest, powers = chain_of(first), chain_of(second)
    if not is_largest(largest) or not _is_finite(top, first.results[0]) or not _are_powers(powers, top.results[0]):
        return None
    read, written = (access_of(real_ops(loop.regions[0].blocks[0])[0]) for loop in (first, second))
    total = access_of(stored)
    by_axis = loops_by_axis(read, [*band, *(largest.loops if largest else ())])
    same = loops_by_axis(written, [*band, *(powers.loops if powers else ())])
    of_total = loops_by_axis(total, band)
    if by_axis is None or same is None or of_total is None or stored.operands[0] != second.results[0]:
        return None
    if read.memref != written.memref or by_axis[:-1] != same[:-1] or None in (by_axis[-1], same[-1]):
        return None
    if {loop for loop in by_axis[:-1] if loop} != set(band) or not set(of_total) <= {None, *band}:
        return None
    extents = tuple(extent_of(loop) for loop in by_axis)
    axes = tuple(None if loop is None else by_axis.index(loop) for loop in of_total)
    return SoftmaxNest(op, read.memref, total.memref, extents, axes) if extent_of(same[-1]) == extents[-1] else None


def loops_by_axis(access: MemRefAccess, loops: Sequence[Loop]) -> list[Loop | None] | None:
    """Which of `loops` runs along each axis; None for an axis of which the first element is touched alone.

    None where subscripts are anything else than different loop variables and zeros.
    """
    by_variable = {loop.iv: loop for loop in loops}
    found: list[Loop | None] = []
    for form in access.subscripts or ():
        if form is None or form.constant or not set(form.factors) <= set(by_variable) or set(form.factors.values()) - {1}:
            return None
        if len(form.factors) > 1:
            return None
        found.append(next((by_variable[value] for value in form.factors), None))
    named = [loop for loop in found if loop]
    return found if access.subscripts is not None and len(set(named)) == len(named) else None


def extent_of(loop: Loop | None) -> int:
    """Iterations of a loop of static size, 1 for none, 0 for one of dynamic size."""
    return 1 if loop is None else loop.extent or 0


def number_of(value: ir.Value) -> float | None:
    """The number that a value is; None for one that is computed."""
    op = defining_op(value)
    attribute = op.attributes["value"] if op is not None and op.name == "arith.constant" else None
    return float(attribute.value) if isinstance(attribute, ir.FloatAttr) else None


def is_number(value: ir.Value, number: float) -> bool:
    """Whether a value is that constant."""
    return number_of(value) == number


def _single(chain: ReductionNest | None, names: Sequence[str], start: float) -> list[ir.Operation]:
    """The ops of a single loop's body, where their names are these and its accumulator begins at `start`; else none."""
    if chain is None or len(chain.loops) != 1 or len(chain.combiners) != 1 or not is_number(chain.loops[0].inits[0], start):
        return []
    ops = real_ops(chain.body)
    return ops if [op.name for op in ops] == list(names) else []


def is_largest(chain: ReductionNest | None) -> bool:
    """Whether a loop finds the largest of what it loads."""
    ops = _single(chain, _LARGEST, -math.inf)
    return bool(ops) and ops[1].operands[0] == ops[0].results[0] and _predicate(ops[1]) == int(arith.CmpFPredicate.OGT)


def _is_finite(select: ir.Operation, top: ir.Value) -> bool:
    """Whether `select` is `top`, but 0 where that is -inf."""
    condition, zero, kept = select.operands
    test = defining_op(condition)
    if test is None or test.name != "arith.cmpf" or _predicate(test) != int(arith.CmpFPredicate.OEQ):
        return False
    return kept == top == test.operands[0] and is_number(test.operands[1], -math.inf) and is_number(zero, 0.0)


def _are_powers(chain: ReductionNest | None, top: ir.Value) -> bool:
    """Whether a loop replaces what it loads by exp(that - top), and adds these up."""
    ops = _single(chain, _POWERS, 0.0)
    if not ops:
        return False
    load, difference, power, store, total = ops
    is_shifted = list(difference.operands) == [load.results[0], top] and power.operands[0] == difference.results[0]
    same = [list(op.operands)[place:] for op, place in ((load, 0), (store, 1))]
    is_kept = store.operands[0] == power.results[0] and power.results[0] in total.operands
    return is_shifted and is_kept and same[0] == same[1] and load.attributes["map"] == store.attributes["map"]


def _predicate(op: ir.Operation) -> int:
    return int(ir.IntegerAttr(op.attributes["predicate"]).value)
