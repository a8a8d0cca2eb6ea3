"""Attention among affine loops: products of queries and keys, softmax of their rows, and products with values, a nest each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dlc._mlir import arith, ir
from dlc.analysis.buffers import VIEW_OPS, ancestor_in, defining_op, is_allocation, nested_ops, root_of, written_roots
from dlc.lowering.affine.fuse.skip_excluded import index_form
from dlc.lowering.affine.ir.accesses import access_of
from dlc.lowering.affine.ir.loops import Loop
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Axis, Contraction, contraction_of
from dlc.lowering.affine_to_gpu.tensor_cores.softmax_nests import SoftmaxNest, extent_of, is_number, loops_by_axis, number_of

_ELEMENTS = {"f16", "bf16", "f32"}
"""Types of elements that kernels of attention multiply."""


class NotFused(Exception):
    """Why an attention does not become one kernel."""


@dataclass(frozen=True, eq=False)
class AttentionNest:
    """softmax(adjusted(queries x keys)) x values, row by row.

    `scores` has queries as rows and keys as columns; its epilogue computes `score` and stores nothing. `values` has queries as
    rows and keys as its sum; its left operand is not in memory any more, and `totals` are its loads of the sums of exponentials.
    Batch and rows of both are the same, in the same order. Keys from `lead` + 1 behind the query on are masked, if there is a
    `lead`: the query is then the iteration of the only loop of `rows`. Scores are still to be multiplied by `factor`, a positive
    number, unless it is None.
    """

    softmax: SoftmaxNest
    scores: Contraction
    values: Contraction
    score: ir.Value
    totals: tuple[ir.Value, ...]
    lead: int | None
    factor: float | None

    @property
    def element(self) -> ir.Type:
        """The type of queries, keys and values."""
        return self.scores.lhs.element

    @property
    def of_seen_keys(self) -> tuple[Contraction, ir.Value]:
        """`scores` and `score` without the mask of keys behind `lead`, of which there is one."""
        mask = defining_op(self.score)
        assert mask is not None
        return replace(self.scores, epilogue=tuple(op for op in self.scores.epilogue if op != mask)), mask.operands[1]

    @property
    def nests(self) -> tuple[ir.Operation, ir.Operation, ir.Operation]:
        """The three nests, in order."""
        return self.scores.nest, self.softmax.nest, self.values.nest


def attention_of(softmax: SoftmaxNest, block: ir.Block) -> AttentionNest:
    """The attention that `softmax` belongs to, in the `block` of a function. Raises NotFused."""
    writer, reader = _neighbours(softmax, block)
    scores, values = contraction_of(writer), contraction_of(reader, lhs=softmax.scores)
    if scores is None or values is None or scores.is_open or values.is_open or values.lhs.memref != softmax.scores:
        raise NotFused("scores are not made, or not used, by sums of products of static sizes in memory without gaps")
    _require_types(scores, values)
    _require_order(softmax, scores, values, block)
    inner, outer = _by_axis(scores, softmax, [], store=True), _by_axis(values, softmax, values.columns.loops, store=False)
    if scores.columns.loops != (inner[-1],) or values.sums.loops != (outer[-1],):
        raise NotFused("keys are no single loop")
    totals = tuple(_totals(softmax, values, outer))
    score = scores.epilogue[-1].operands[0]
    rows = [axis for axis in range(len(inner) - 1) if _is_row(inner[axis], outer[axis], scores, values)]
    lead = _lead_of(score, scores, inner[rows[-1]]) if rows else None
    rows = rows if lead is None else rows[-1:]
    scores = replace(_arranged(scores, inner, rows), epilogue=scores.epilogue[:-1])
    scaled, factor = _without_scale(scores, score)
    return AttentionNest(softmax, scaled, _arranged(values, outer, rows), score, totals, lead, factor)


def _neighbours(softmax: SoftmaxNest, block: ir.Block) -> tuple[ir.Operation, ir.Operation]:
    """The nests that write the scores, and that read their exponentials. Raises NotFused where others touch them."""
    writers: set[ir.Operation] = set()
    readers: set[ir.Operation] = set()
    for buffer in softmax.buffers:
        if not is_allocation(buffer):
            raise NotFused("scores are in memory that others may see")
        for user in users_of(buffer):
            nest = ancestor_in(user, block)
            if user.name != "memref.dealloc" and user.name not in VIEW_OPS and nest != softmax.nest:
                (writers if user.name == "affine.store" else readers).add(nest)
    if len(writers) != 1 or len(readers) != 1 or writers & readers:
        raise NotFused("scores are not made by one nest and used by another one alone")
    return writers.pop(), readers.pop()


def users_of(buffer: ir.Value) -> Iterator[ir.Operation]:
    """The ops that use memory, by views of it too; a view comes behind what uses it."""
    for user in [use.owner.operation for use in buffer.uses]:
        if user.name in VIEW_OPS:
            yield from users_of(user.results[0])
        yield user


def require_elements(elements: set[str]) -> None:
    """Raise NotFused for queries, keys and values of different types, or others than f16, bf16 and f32."""
    if len(elements) > 1 or not elements <= _ELEMENTS:
        raise NotFused(f"elements are {' and '.join(sorted(elements))}; kernels of attention multiply f16, bf16 or f32 alone")


def _require_types(scores: Contraction, values: Contraction) -> None:
    operands = scores.lhs, scores.rhs, values.rhs
    require_elements({str(operand.element) for operand in operands})
    if any(operand.open_parts for operand in operands):
        raise NotFused("queries, keys or values lie at distances that run time knows")
    if any(str(one.total.type) != "f32" or not is_number(one.start, 0.0) for one in (scores, values)):
        raise NotFused("sums are not sums of f32 from 0 on")


def _require_order(softmax: SoftmaxNest, scores: Contraction, values: Contraction, block: ir.Block) -> None:
    """All that scores are computed of is as before where values are multiplied, and results lie elsewhere."""
    ops = [op.operation for op in block.operations]
    first, middle, last = (ops.index(nest) for nest in (scores.nest, softmax.nest, values.nest))
    read = {root_of(access_of(op).memref) for op in nested_ops(scores.nest) if op.name == "affine.load"}
    between = [op for op in ops[first + 1 : last + 1] if op.name != "memref.dealloc" and op != softmax.nest]
    if not first < middle < last or any(read & set(written_roots(op)) for op in between):
        raise NotFused("what scores are computed of is overwritten before values are multiplied")


def _by_axis(contraction: Contraction, softmax: SoftmaxNest, free: Sequence[Loop], *, store: bool) -> list[Loop | None]:
    """The loops of a contraction along the axes of the scores, which it stores last or loads; those along `free` are no such.

    Raises NotFused where it does anything else with them.
    """
    ops = [op for op in nested_ops(contraction.nest) if op.name in ("affine.load", "affine.store")]
    touched = [access for op in ops if (access := access_of(op)).memref == softmax.scores]
    is_last = not store or (contraction.epilogue[-1] == touched[0].op and sum(op.name == "affine.store" for op in ops) == 1)
    band = [*contraction.batch.loops, *contraction.rows.loops, *contraction.columns.loops]
    found = loops_by_axis(touched[0], [*band, *contraction.sums.loops]) if len(touched) == 1 else None
    if found is None or not is_last or tuple(map(extent_of, found)) != softmax.extents or found[-1] is None:
        raise NotFused("the nests run along scores in different ways")
    if {loop for loop in band if loop not in found} != set(free):
        raise NotFused("the nests run along scores in different ways")
    return found


def _totals(softmax: SoftmaxNest, values: Contraction, by_axis: Sequence[Loop | None]) -> Iterator[ir.Value]:
    """What the values' nest loads of the sums of its rows. Raises NotFused where it loads those of other rows."""
    for op in (*values.before, *values.epilogue):
        access = access_of(op) if op.name == "affine.load" else None
        if access is None or access.memref != softmax.totals:
            continue
        loops = [loop for loop in by_axis if loop]
        if loops_by_axis(access, loops) != [None if axis is None else by_axis[axis] for axis in softmax.total_axes]:
            raise NotFused("results are divided by sums of other rows")
        yield op.results[0]


def _is_row(inner: Loop | None, outer: Loop | None, scores: Contraction, values: Contraction) -> bool:
    """Whether all iterations of an axis of the scores have the same keys and values."""
    return inner is not None and outer is not None and not scores.rhs.factor(inner) and not values.rhs.factor(outer)


def _lead_of(score: ir.Value, scores: Contraction, queries: Loop | None) -> int | None:
    """How many keys behind its own place a query sees, where the last thing that is done to scores masks those behind these."""
    select = defining_op(score)
    if select is None or select.name != "arith.select" or not is_number(select.operands[2], -math.inf) or queries is None:
        return None
    seen = defining_op(select.operands[0])
    if seen is None or seen.name != "arith.cmpi" or seen.operands[0] != scores.columns.loops[0].iv:
        return None
    last = index_form(seen.operands[1])
    is_below = ir.IntegerAttr(seen.attributes["predicate"]).value == int(arith.CmpIPredicate.sle)
    return last.constant if is_below and last is not None and dict(last.factors) == {queries.iv: 1} else None


def _without_scale(scores: Contraction, score: ir.Value) -> tuple[Contraction, float | None]:
    """Scores before their scale, where nothing but masks of -inf comes behind it, and the scale; else scores as they are.

    The largest of a row is the same before and after a positive scale, and exponentials multiply by a number anyway."""
    inner = defining_op(score)
    while inner is not None and inner.name == "arith.select" and is_number(inner.operands[2], -math.inf):
        score, inner = inner.operands[1], defining_op(inner.operands[1])
    if score == scores.total:
        return scores, 1.0
    if inner is None or inner.name != "arith.mulf" or scores.total not in inner.operands or len(list(scores.total.uses)) != 1:
        return scores, None
    scale = next((number for value in inner.operands if (number := number_of(value)) is not None), 0.0)
    if not 0 < scale < math.inf or len(list(score.uses)) != 1:
        return scores, None
    return replace(scores, total=score, epilogue=tuple(op for op in scores.epilogue if op != inner)), scale


def _arranged(contraction: Contraction, by_axis: Sequence[Loop | None], rows: Sequence[int]) -> Contraction:
    """A contraction with the loops of these axes as rows, and those of all others but the keys as its batch."""
    batch = tuple(loop for axis, loop in enumerate(by_axis[:-1]) if loop is not None and axis not in rows)
    return replace(contraction, batch=Axis(batch), rows=Axis(tuple(loop for axis in rows if (loop := by_axis[axis]) is not None)))
