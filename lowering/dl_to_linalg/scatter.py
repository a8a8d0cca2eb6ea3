"""Lowerings of ops that write at positions that are values: loops in a fixed order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.checks import (
    require_elements,
    require_indices_within,
    require_positions,
    require_same,
    require_tuples,
)
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.indexing import element_at, in_range, insert_at
from dlc.lowering.dl_to_linalg.building.loop_nests import loop_nest
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering


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
    require_tuples(b, op, 0, sizes)

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
            start = b.binary("arith.addi", _wrapped(b, start, size), b.index(step))  # any start, and the sum does not overflow
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
