"""Nests that no code generator takes, by the polyhedral model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.cost.loop_work import likely_trips, work_of
from dlc.lowering.affine.ir.accesses import stride_along
from dlc.lowering.affine.ir.detached_nests import DetachedNest
from dlc.lowering.affine.ir.loops import AS_WRITTEN, NEST, PARALLEL, SCHEDULE, SCHEDULED, real_ops, top_level_loops
from dlc.lowering.affine.ir.nests import Nest, nests_of
from dlc.lowering.affine.search.choose import is_contraction
from dlc.lowering.native import run_native
from dlc.lowering.outlining import is_kernel
from dlc.lowering.pass_base import Pass, PassFailure, option
from dlc.lowering.policy import policy
from dlc.lowering.registry import find_pass

GENERIC = "dlc.generic"
"""Attribute of a function: what became of each nest that no code generator took, in order."""

_PASSES = (
    "affine-merge-rows",
    "affine-demote-values",
    "affine-accumulate-in-place",
    "affine-expand-buffers",
    "affine-polyhedral-schedule",
    "func.func(canonicalize,cse)",
    "affine-promote-buffers",
    "affine-contract-products",
    "affine-transpose-loads",
    "func.func(canonicalize,cse)",
)


@dataclass(frozen=True)
class AffineScheduleGeneric(Pass):
    """Schedule nests of a kernel by the polyhedral model: those that nothing else has taken, or those that ask for register tiles.

    A nest is taken out of its function, goes through `affine-polyhedral-schedule` and its companions, and comes back if vectors
    came of it. The function's attribute `dlc.generic` says for each what its loops are, or why they stay as they are.

    before: affine.for %i ... { affine.for %j ... { affine.for %k ... { s += abs(x[%i, %k] - y[%j, %k]) } } } {dlc.nest = 0}
    after:  affine.for %i by tiles { affine.for %j by tiles { affine.for %k ... { a tile of vectors } } }
            on the function: {dlc.generic = ["nest 0: parallel 32, parallel 8, serial 128, vectors of 8"]}
    """

    anchor = "func.func"

    select: Literal["reuse", "left"] = option(
        "left", "reuse: reductions but sums of products whose operands are used again along other loops; left: what has no vectors"
    )
    min_work: int = option(20_000, "least number of instructions in a nest that is looked at, by estimate")

    def run(self, op: ir.Operation) -> None:
        if not is_kernel(op) or SCHEDULED in op.attributes:
            return
        chosen = _reused(op) if self.select == "reuse" else _left(op)
        found = [_told(op, loop) for loop in chosen if work_of(loop) >= self.min_work]
        if found:
            before = list(op.attributes[GENERIC]) if GENERIC in op.attributes else []
            op.attributes[GENERIC] = ir.ArrayAttr.get([*before, *(ir.StringAttr.get(text) for text in found)])


def _left(function: ir.Operation) -> list[ir.Operation]:
    """The nests that no code generator took."""
    done = (SCHEDULE, AS_WRITTEN)
    return [
        loop for loop in top_level_loops(function) if not any(name in loop.attributes for name in done) and not _has_vectors(loop)
    ]


def _reused(function: ir.Operation) -> list[ir.Operation]:
    """The reductions two operands of which are used again, each along a loop that the other moves with."""
    nests = [nest for nest in nests_of(function) if SCHEDULE not in nest.top.attributes and nest.top.parent.operation == function]
    return [nest.top for nest in nests if nest.chain is not None and not is_contraction(nest) and _is_reused(nest)]


def _is_reused(nest: Nest) -> bool:
    loads = nest.innermost_loads
    still = [{at for at, loop in enumerate(nest.band) if stride_along(load, loop.iv) == 0} for load in loads]
    return any(one - other and other - one for one, other in combinations(still, 2))


def _told(function: ir.Operation, loop: ir.Operation) -> str:
    """Schedule a nest; what its loops are now, or why they stay."""
    number = loop.attributes[NEST].value if NEST in loop.attributes else None
    name = "a nest" if number is None else f"nest {number}"
    reason = _refusal(loop)
    if reason:
        return f"{name}: as written, {reason}"
    nest = DetachedNest.of(function, loop)
    try:
        _schedule(nest.function)
    except PassFailure as failure:
        return f"{name}: as written, {failure.message}"
    made = [op for op in real_ops(nest.function.regions[0].blocks[0]) if op.name == "affine.for"]
    if not any(_has_vectors(op) for op in made):
        return f"{name}: as written, no loop of it can be vectors"
    before, after = work_of(loop), sum(map(work_of, made))
    if before * policy().tiles.fewest_vector_gain < after * max(_lanes(op) for op in made):
        return f"{name}: as written, vectors would need {after / before:.2g} times its instructions"
    main = max(made, key=work_of)
    if number is not None:
        main.attributes[NEST] = loop.attributes[NEST]
    text = _describe(main)
    nest.put_back()
    return f"{name}: {text}"


def _has_vectors(loop: ir.Operation) -> bool:
    return _lanes(loop) > 0


def _lanes(loop: ir.Operation) -> int:
    """Lanes of the widest vectors in a nest, 0 without."""
    values = (value for op in nested_ops(loop) for value in (*op.operands, *op.results))
    return max((value.type.shape[0] for value in values if isinstance(value.type, ir.VectorType)), default=0)


def _refusal(loop: ir.Operation) -> str:
    """Why isl is not asked; "" where it is."""
    ops = nested_ops(loop)
    if any(op.name == "memref.load" for op in ops):
        return "it reads at subscripts that are computed or data"
    count = sum(op.name == "affine.for" for op in ops)
    return (
        f"it has {count} loops, and {policy().limits.tried_loops} are tried at most" if count > policy().limits.tried_loops else ""
    )


def _schedule(function: ir.Operation) -> None:
    """Run the polyhedral scheduler on a function; PassFailure where it cannot."""
    from dlc.lowering.affine.schedule.driver import bounded_work

    with bounded_work(function, policy().limits.nest_operations):
        for name in _PASSES:
            found = find_pass(name)
            if found is None:
                run_native(function.parent.operation, name)
            else:
                found().run(function)


def _describe(main: ir.Operation) -> str:
    """The loops of a nest in words, from the outside in."""
    words, block, loop = list[str](), [main], main
    while block:
        loop = max(block, key=work_of)
        words.append(f"{'parallel' if PARALLEL in loop.attributes else 'serial'} {likely_trips(loop) or '?'}")
        inside = [op for op in nested_ops(loop)[1:] if op.name == "affine.for"]
        block = [op for op in inside if op.parent.operation == loop or op.parent.operation.name == "affine.if"]
    return ", ".join([*words, f"vectors of {_lanes(loop)}"] if _lanes(loop) else words)
