"""Decides which loops of two neighbouring nests become one: legality first, then profit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.dependences.nest_dependences import NestDependences, conflicts
from dlc.lowering.affine.fuse.blocked_fusion import bytes_passed, keeps_blocks
from dlc.lowering.affine.ir.accesses import MemRefAccess, indices_of
from dlc.lowering.affine.ir.bands import Band, same_trips
from dlc.lowering.affine.ir.expressions import coefficient
from dlc.lowering.affine.ir.loops import Loop, normalized, real_ops
from dlc.lowering.policy import policy
from dlc.targets.machine import facts_of, is_for_gpu


@dataclass(frozen=True)
class Fusion:
    """The pairs of loops that become one, outermost first."""

    pairs: tuple[tuple[Loop, Loop], ...]


@dataclass(frozen=True)
class FusionRefusal:
    """Why two nests stay apart."""

    reason: str


def fusion_of(a: Band, b: Band) -> Fusion | FusionRefusal:
    """What of the bands `a` and, later, `b` can be one.

    Two loops may be one when every two accesses of the nests that may touch the same memory, one of them writing, do so
    in the same iteration.
    """
    between = NestDependences(list(conflicts(a.accesses, b.accesses)), {**a.extents, **b.extents})
    if not between.pairs:
        return FusionRefusal("they have no written buffer in common")
    legal = between.fusible_loops(a.loops, b.loops)
    if not legal:
        return FusionRefusal(_why_none(a, b, between))
    both = holds_contraction(a) and holds_contraction(b)
    if len(legal) == len(a.loops) == len(b.loops) and not both:
        return Fusion(tuple(legal))
    if is_for_gpu(a.top) and any(_is_for_tensor_cores(band) or _is_product(band) for band in (a, b)):
        return FusionRefusal("kernels of a GPU take all loops of a product of matrices together")
    kept: list[tuple[Loop, Loop]] = []
    reason = "two contractions on one register tile would spill" if both else ""
    blocks = _outer_blocks(a, b, legal)
    for t, u in legal:
        why = _loss(a, t, b, u, kept, blocks)
        if why is None:
            kept.append((t, u))
        reason = reason or why or ""
    return Fusion(tuple(kept)) if kept else FusionRefusal(reason)


def passes_within_cache(a: Band, b: Band, fusion: Fusion) -> bool:
    """Whether what one iteration of the shared loops passes on from `a` to `b` is still in the second-level cache."""
    shared = [loop.iv for pair in fusion.pairs for loop in pair]
    return bytes_passed(a, b, shared) <= facts_of(a.top).l2_bytes


def _why_none(a: Band, b: Band, between: NestDependences) -> str:
    """The reason why no loop of `a` can be one with a loop of `b`."""
    candidates = [(t, u) for t in a.loops for u in b.loops if same_trips(t, u)]
    if not candidates:
        return "no two of their loops have the same bounds"
    blocking = (pair for pair in between.pairs if not any(between.is_loop_independent(pair, t, u, {}) for t, u in candidates))
    blame, _ = next(blocking, between.pairs[0])
    return f"'{blame.op.name}' of {blame.memref.type} may touch what another iteration of the other nest touches"


def holds_contraction(band: Band) -> bool:
    """Whether a reduction of the nest reads a value again in other iterations of a band loop, as matrix products do."""
    return any(reuses(band, loop) for loop in band.loops)


def reuses(band: Band, loop: Loop) -> bool:
    """Whether sums of products in the nest read a value again in other iterations of `loop`."""
    return any(len(loads) > 1 and any(loop.iv not in list(load.operands) for load in loads) for loads in _multiplied(band))


def _is_for_tensor_cores(band: Band) -> bool:
    """Whether the nest multiplies matrices, whose values are read again in other iterations, of types that tensor cores take."""
    for loads in _multiplied(band):
        is_narrow = any(isinstance(load.results[0].type, (ir.F16Type, ir.BF16Type)) for load in loads)
        if is_narrow and len(loads) > 1 and all(any(loop.iv not in list(load.operands) for loop in band.loops) for load in loads):
            return True
    return False


def _is_product(band: Band) -> bool:
    """Whether the nest multiplies matrices, or a matrix and a vector, of floats."""
    loops = [normalized(op) for op in nested_ops(band.top) if op.name == "affine.for"]
    kinds = {load.results[0].type for loads in _multiplied(band) for load in loads}
    is_float = any(isinstance(kind, ir.FloatType) for kind in kinds)
    return is_float and all(loop is not None and loop.extent != 0 for loop in loops) and holds_contraction(band)


def _multiplied(band: Band) -> Iterator[list[ir.Operation]]:
    """The loads of each sum of products in the nest."""
    for op in nested_ops(band.top):
        if op.name == "affine.for" and len(op.results) and _sums_products(op):
            yield [load for load in real_ops(op.regions[0].blocks[0]) if load.name == "affine.load"]


def _sums_products(op: ir.Operation) -> bool:
    names = {inner.name for inner in real_ops(op.regions[0].blocks[0])}
    return bool(names & {"arith.mulf", "arith.muli"}) and bool(names & {"arith.addf", "arith.addi"})


def _outer_blocks(a: Band, b: Band, legal: Sequence[tuple[Loop, Loop]]) -> Sequence[tuple[Loop, Loop]]:
    """The fewest outermost pairs that together cut the nests into blocks that pay, such as images and rows of tiles."""
    for count in range(1, len(legal) + 1):
        if keeps_blocks(a, b, [loop.iv for pair in legal[:count] for loop in pair]):
            return legal[:count]
    return ()


def _loss(
    a: Band, t: Loop, b: Band, u: Loop, fused: Sequence[tuple[Loop, Loop]], blocks: Sequence[tuple[Loop, Loop]]
) -> str | None:
    """What would be lost if only some of the loops, `t` and `u` among them, became one; None when nothing is."""
    gone = [loop.iv for pair in (*fused, (t, u)) for loop in pair]
    is_reused = reuses(a, t) or reuses(b, u)
    if is_reused and (t, u) not in blocks and not keeps_blocks(a, b, gone):
        return "a contraction uses values again across the loop"
    if (
        not is_reused
        and _may_have_few(t)
        and max(a.iterations, b.iterations) // max(t.likely_extent, 1) > policy().fusion.large_iteration
    ):
        return "the loop has few iterations, each larger than the caches"
    sizes_differ = max(a.iterations, b.iterations) > policy().fusion.comparable_sizes * min(a.iterations, b.iterations)
    large = [
        (band, loop, [pair[side] for pair in fused])
        for side, (band, loop) in enumerate(((a, t), (b, u)))
        if not sizes_differ or band.iterations == max(a.iterations, b.iterations)
    ]
    by_columns = not sizes_differ and _goes_by_columns(a, b, (*fused, (t, u)))
    if not by_columns and any(loop.iv in contiguous_loops(band) for band, loop, _ in large):
        return "the loop runs along contiguous memory"
    for band, loop, gone in large:
        if sizes_differ and next(outer for outer in band.loops if outer not in gone) is not loop:
            return "the larger nest would lose its loop order"
    return None


def _may_have_few(loop: Loop) -> bool:
    """Whether the loop has few iterations, or may have them where run time knows how many."""
    return loop.extent is None or loop.extent < policy().fusion.few_iterations


def _goes_by_columns(a: Band, b: Band, fused: Sequence[tuple[Loop, Loop]]) -> bool:
    """Whether `a` reduces columns, going along memory by its last loop, and `b` reads them again: while they are in the caches."""
    if is_for_gpu(a.top) or holds_contraction(a) or holds_contraction(b):
        return False
    depth, (t, u) = len(fused), fused[-1]
    return len(a.loops) == depth and _holds_loop(a) and contiguous_loops(a) == {t.iv} and contiguous_loops(b) == {u.iv}


def _holds_loop(band: Band) -> bool:
    return any(op.name == "affine.for" for op in real_ops(band.body))


def contiguous_loops(band: Band) -> set[ir.Value]:
    """Induction variables of the loops along which the nest's innermost accesses to its largest buffers are contiguous."""
    deepest = [access for access in band.accesses if access.subscripts and _is_innermost(access.op)]
    most = max((len(_moving(access)) for access in deepest), default=0)
    return {value for access in deepest if len(_moving(access)) == most for value in _along(access.op)}


def _moving(access: MemRefAccess) -> set[ir.Value]:
    """The indices that change the place of `access`."""
    linear = {value for form in access.subscripts or () if form is not None for value in form.factors}
    is_linear = all(form is not None for form in access.subscripts or ())
    return linear if is_linear else linear | set(indices_of(access.op))


def _along(op: ir.Operation) -> Iterator[ir.Value]:
    """The indices that move `op` by one element, within a block of a packed matrix where it reads one."""
    indexing = op.attributes["map"].value
    for place, value in enumerate(indices_of(op)):
        if coefficient(indexing.results[-1], place, aligned=1) == 1:
            yield value


def _is_innermost(op: ir.Operation) -> bool:
    return not any(inner.name == "affine.for" for inner in real_ops(op.block))
