"""Lowerings of ops that write at positions that are values, or choose elements: loops in a fixed order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import Builder, Extent
from dlc.lowering.dl_to_linalg.building.checks import (
    require_elements,
    require_indices_within,
    require_positions,
    require_same,
    size_at,
    size_of,
)
from dlc.lowering.dl_to_linalg.building.indexing import element_at, in_range, insert_at
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.building.top_k_keys import MOST_PLACES, KeyBlocks, has_keys, indices_by_rank, pays_to_rank, row_keys
from dlc.lowering.dl_to_linalg.building.top_k_rows import RowKeys

Step = Callable[[Sequence[ir.Value], Sequence[ir.Value]], Sequence[ir.Value]]
"""From the loops' indices and the carried values to the next carried values."""


@lowering("scatter_elements")
def lower_scatter_elements(b: Builder, op: SourceOp) -> ir.Value:
    """result[.., indices[i, j, ...], ..] is combined with updates[i, j, ...], in row-major order."""
    x, indices, updates = op.operands
    axis = op["axis"] % op.types[0].rank
    require_indices_within(b, op, axis)
    require_elements(b, op, [axis], b.shape(indices))
    for at in range(op.types[0].rank):
        require_same(b, op, (2, at), (1, at))
    size = b.dim(x, axis)
    require_positions(b, op, axis, size)

    def position(at: Sequence[ir.Value]) -> Sequence[ir.Value]:
        return [*at[:axis], in_range(b, element_at(b, indices, at), size), *at[axis + 1 :]]

    return _scatter(b, op, x, updates, b.shape(indices), position)


@lowering("scatter_nd")
def lower_scatter_nd(b: Builder, op: SourceOp) -> ir.Value:
    """result[indices[i.., :], ...] is combined with updates[i.., ...], in row-major order."""
    x, indices, updates = op.operands
    lead, count = op.types[1].rank - 1, op.types[1].shape[-1]
    require_elements(b, op, range(count), b.shape(indices)[:-1])
    for at in range(op.types[2].rank):
        require_same(b, op, (2, at), (1, at) if at < lead else (0, at - lead + count))
    sizes = b.shape(x)[:count]
    for part, size in enumerate(sizes):
        require_positions(b, op, part, size, part)

    def position(at: Sequence[ir.Value]) -> Sequence[ir.Value]:
        parts = [element_at(b, indices, [*at[:lead], b.index(part)]) for part in range(count)]
        return [*(in_range(b, part, size) for part, size in zip(parts, sizes, strict=True)), *at[lead:]]

    return _scatter(b, op, x, updates, b.shape(updates), position)


def _scatter(
    b: Builder,
    op: SourceOp,
    x: ir.Value,
    updates: ir.Value,
    shape: Sequence[Extent],
    position: Callable[[Sequence[ir.Value]], Sequence[ir.Value]],
) -> ir.Value:
    """A copy of x, in f32 where sums of f16 or bf16 build up in it, and a loop nest that writes the updates one by one."""
    dtype, reduction = op.result.dtype, op["reduction"]
    wide = dtype if reduction == "none" else b.wide(dtype)
    start = b.map([x], b.shape(x), wide, lambda element: element if wide == dtype else b.widen(element, dtype))

    def step(at: Sequence[ir.Value], carried: Sequence[ir.Value]) -> Sequence[ir.Value]:
        (result,) = carried
        place = position(at)
        update = element_at(b, updates, at)
        if reduction != "none":
            update = b.arith(reduction, element_at(b, result, place), b.widen(update, dtype), wide)
        return [insert_at(b, update, result, place)]

    (result,) = loop_nest(b, shape, [start], step)
    return result if wide == dtype else b.map([result], b.shape(x), dtype, lambda element: b.narrow(element, dtype))


@lowering("update_slice")
def lower_update_slice(b: Builder, op: SourceOp) -> ir.Value:
    """The update written to its window of x: one for all rows, or one for each in a loop; circular ones row by row."""
    x, update, starts = op.operands
    axis = op["axis"] % op.types[0].rank
    for at in range(op.types[0].rank):
        if at != axis:
            require_same(b, op, (1, at), (0, at))
    size, count, rows = b.dim(x, axis), b.dim(update, axis), b.dim(starts, 0)
    b.require_at_most((f"update dim {axis}", count), (f"x dim {axis}", size))
    single = axis == 0 or (isinstance(rows, int) and rows == 1)
    if single:
        b.require_equal(("the number of starts", rows), ("that of windows", 1))
    else:
        _require_one_or_all(b, rows, b.dim(x, 0))
    wraps = op["circular"] and count != 1

    def write(result: ir.Value, row: Extent, step: Extent) -> ir.Value:
        """`result` with the window of one row (all rows, where they share a start), or one step of it."""
        at = row if single else b.extent("min", row, b.extent("sub", rows, 1))
        start = b.index_cast(element_at(b, starts, [b.index(at)]), ir.IndexType.get())
        sizes = b.shape(update)
        from_, to = _zeros(sizes), _zeros(sizes)
        if not single:
            from_[0], to[0], sizes[0] = row, row, 1
        if wraps:
            from_[axis], sizes[axis] = step, 1
            start = b.binary("arith.addi", start, b.index(step))
        to[axis] = _wrapped(b, start, size) if op["circular"] else _placed_window(b, start, size, count)
        ones = [1] * len(sizes)
        part = update if single and not wraps else b.slice(update, from_, sizes, ones)
        return b.insert_slice(part, result, to, sizes, ones)

    def over(count: Extent, result: ir.Value, body: Callable[[ir.Value, ir.Value], ir.Value]) -> ir.Value:
        return b.loop(count, [result], lambda at, carried: [body(at, carried)])[0]

    def whole_row(row: Extent, result: ir.Value) -> ir.Value:
        return over(count, result, lambda step, carried: write(carried, row, step)) if wraps else write(result, row, 0)

    if isinstance(count, int) and count == 0:
        return x
    return whole_row(0, x) if single else over(b.dim(x, 0), x, whole_row)


def _require_one_or_all(b: Builder, starts: Extent, rows: Extent) -> None:
    """Fail at run time unless there is one start, or one for each row."""
    if isinstance(starts, int) and isinstance(rows, int):
        return
    equal = b.compare_index("eq", b.index(starts), b.index(rows))
    holds = b.binary("arith.ori", equal, b.compare_index("eq", b.index(starts), b.index(1)))
    b.require(holds, "the number of starts is {} but x dim 0 is {}")


def _zeros(sizes: Sequence[Extent]) -> list[Extent]:
    return [0] * len(sizes)


def _wrapped(b: Builder, at: ir.Value, size: Extent) -> ir.Value:
    """`at` modulo `size`, not negative; 0 for an empty axis, where nothing is written."""
    count = b.binary("arith.maxsi", b.index(size), b.index(1))
    rest = b.binary("arith.remsi", at, count)
    return b.select(b.compare_index("lt", rest, b.index(0)), b.binary("arith.addi", rest, count), rest)


def _placed_window(b: Builder, start: ir.Value, size: Extent, count: Extent) -> Extent:
    """A start counted from the front, moved so that `count` elements from there lie within `size`."""
    negative = b.compare_index("lt", start, b.index(0))
    start = b.select(negative, b.binary("arith.addi", start, b.index(size)), start)
    return b.extent("min", b.extent("max", start, 0), b.extent("sub", size, count))


@lowering("top_k")
def lower_top_k(b: Builder, op: SourceOp) -> list[ir.Value]:
    """k passes along the axis; each takes the best element that comes after the one the pass before took.

    Where value and index fit into one integer, a pass takes the greatest integer that is left, by maxima of blocks; for
    many passes or short rows all integers are ranked instead. A number of passes that run time knows counts as the square
    root of the row.
    """
    x, axis = op.operands[0], op["axis"] % op.types[0].rank
    k: Extent = op["k"] if op.operands[1] is None else b.declared(axis, size_at(b, op, 1, []), op.results[0].shape[axis])
    shape = b.shape(x)
    size = shape[axis]
    b.require_at_most(("k", k), size_of(b, op, (0, axis)))
    shape[axis] = k
    starts = [b.empty(shape, kind.dtype) for kind in op.results]
    has_room = has_keys(op, axis) and not isinstance(size, int)
    room = RowKeys.empty(b, size) if has_room else None
    outer = [*shape[:axis], *shape[axis + 1 :]]

    def every_row(at: Sequence[ir.Value], carried: Sequence[ir.Value]) -> Sequence[ir.Value]:
        def place(along: ir.Value) -> list[ir.Value]:
            return [*at[:axis], along, *at[axis:]]

        def take(pick: Sequence[ir.Value], state: Sequence[ir.Value]) -> Sequence[ir.Value]:
            values, indices, last, last_at = state
            best, best_at = _best_after(b, op, x, size, place, last, last_at)
            where = place(pick[0])
            values = insert_at(b, best, values, where)
            indices = insert_at(b, b.index_cast(best_at, b.element("i64")), indices, where)
            return [values, indices, best, best_at]

        def put(pick: ir.Value, found: ir.Value, values: ir.Value, indices: ir.Value) -> list[ir.Value]:
            where = place(pick)
            values = insert_at(b, element_at(b, x, place(found)), values, where)
            return [values, insert_at(b, b.index_cast(found, b.element("i64")), indices, where)]

        def take_by(kind: type[KeyBlocks] | type[RowKeys]) -> Step:
            def take_key(pick: Sequence[ir.Value], state: Sequence[ir.Value]) -> Sequence[ir.Value]:
                values, indices, *rest = state
                found, left = kind(*rest).take(b)
                return [*put(pick[0], found, values, indices), left.keys, left.maxima]

            return take_key

        if room is not None:
            filled = RowKeys(*carried[2:]).filled(b, op, x, axis, place)
            return loop_nest(b, [k], [*carried[:2], filled.keys, filled.maxima], take_by(RowKeys))
        if has_keys(op, axis):
            keys = row_keys(b, op, x, axis, at)
            if pays_to_rank(keys.type.shape[0], k if isinstance(k, int) else math.isqrt(keys.type.shape[0])):
                order = indices_by_rank(b, keys)

                def take_ranked(pick: Sequence[ir.Value], state: Sequence[ir.Value]) -> Sequence[ir.Value]:
                    return put(pick[0], b.index_cast(element_at(b, order, pick), ir.IndexType.get()), *state)

                return loop_nest(b, [k], carried, take_ranked)
            blocks = KeyBlocks.of(b, keys)
            return loop_nest(b, [k], [*carried, blocks.keys, blocks.maxima], take_by(KeyBlocks))[:2]
        none = [element_at(b, x, place(b.index(0))), b.index(-1)]
        return loop_nest(b, [k], [*carried, *none], take)[:2]

    if isinstance(k, int) and k == 0:
        return starts
    if room is None:
        return loop_nest(b, outer, starts, every_row)
    b.require_at_most(size_of(b, op, (0, axis)), ("the most that has places", MOST_PLACES))
    return loop_nest(b, outer, [*starts, room.keys, room.maxima], every_row)[:2]


def _best_after(
    b: Builder,
    op: SourceOp,
    x: ir.Value,
    size: Extent,
    place: Callable[[ir.Value], list[ir.Value]],
    last: ir.Value,
    last_at: ir.Value,
) -> tuple[ir.Value, ir.Value]:
    """The first element in the op's order that comes after (last, last_at), or any where last_at is -1, and its index."""
    dtype, zero = op.result.dtype, b.index(0)
    first = b.compare_index("lt", last_at, zero)

    def step(at: Sequence[ir.Value], best: Sequence[ir.Value]) -> Sequence[ir.Value]:
        element = element_at(b, x, place(at[0]))
        open_ = _or(b, first, _is_after(b, op, (element, at[0]), (last, last_at), dtype))
        better = _or(b, b.compare_index("lt", best[1], zero), _is_before(b, op, element, best[0], dtype))
        taken = b.binary("arith.andi", open_, better)
        return [b.select(taken, element, best[0]), b.select(taken, at[0], best[1])]

    best, best_at = loop_nest(b, [size], [last, b.index(-1)], step)
    return best, b.binary("arith.maxsi", best_at, zero)


def _is_before(b: Builder, op: SourceOp, left: ir.Value, right: ir.Value, dtype: str) -> ir.Value:
    """True where `left` comes before `right`: greater (largest) or smaller; NaN is greater than every number."""
    left, right, wide = b.widen(left, dtype), b.widen(right, dtype), b.wide(dtype)
    if not op["largest"]:
        left, right = right, left
    greater = b.compare("gt", left, right, wide)
    if wide not in ("f32", "f64"):
        return greater
    only_left = b.binary("arith.andi", b.compare("uno", left, left, wide), b.compare("ord", right, right, wide))
    return _or(b, greater, only_left)


def _is_after(b: Builder, op: SourceOp, item: tuple[ir.Value, ir.Value], last: tuple[ir.Value, ir.Value], dtype: str) -> ir.Value:
    """True where an element with its index comes after another; of equal ones the one with the greater index."""
    ahead = _is_before(b, op, item[0], last[0], dtype)
    behind = _is_before(b, op, last[0], item[0], dtype)
    later = b.compare_index("gt", item[1], last[1])
    return b.select(behind, behind, b.select(ahead, behind, later))


def _or(b: Builder, left: ir.Value, right: ir.Value) -> ir.Value:
    return b.binary("arith.ori", left, right)


def loop_nest(b: Builder, shape: Sequence[Extent], carried: Sequence[ir.Value], step: Step) -> list[ir.Value]:
    """Nested `scf.for` loops over `shape`, first axis outermost, that carry values from one iteration to the next."""

    def level(indices: list[ir.Value], values: list[ir.Value]) -> list[ir.Value]:
        if len(indices) == len(shape):
            return list(step(indices, values))
        bounds = [b.index(0), b.index(shape[len(indices)]), b.index(1)]
        kinds = [value.type for value in values]
        loop = b.operation("scf.for", kinds, [*bounds, *values], regions=1)
        block = loop.regions[0].blocks.append(ir.IndexType.get(), *kinds, arg_locs=[b.loc] * (len(kinds) + 1))
        with b.inside(block):
            b.operation("scf.yield", [], level([*indices, block.arguments[0]], list(block.arguments)[1:]))
        return list(loop.results)

    return level([], list(carried))
