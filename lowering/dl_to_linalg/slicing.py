"""Lowerings of ops that join, cut and pad: windows of tensors, and reads at computed positions where there is no window."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.checks import size_of
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.indexing import clamped, element_at, read_at
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.policy import policy


@lowering("concat")
def lower_concat(b: Builder, op: SourceOp) -> ir.Value:
    """Both tensors written to their windows of a new one; a chain of joins fills one tensor."""
    rank = op.result.rank
    axis = op["axis"] % rank
    left, right = (_parts(operand, axis) for operand in op.operands)
    for at in range(rank):
        if at != axis and op.types[0].shape[at] != op.types[1].shape[at]:
            b.require_equal((f"rhs dim {at}", b.dim(right[0], at)), (f"lhs dim {at}", b.dim(left[0], at)))
    parts = [*left, *right]
    starts: list[Extent] = [0]
    for part in parts:
        starts.append(b.extent("add", starts[-1], b.dim(part, axis)))
    shape = [
        b.dim(parts[0], at) if at == axis else b.declared(at, b.dim(parts[0], at), dim) for at, dim in enumerate(op.result.shape)
    ]
    shape[axis] = starts[-1]
    joined = b.empty(shape, op.result.dtype)
    for part, start in zip(parts, starts, strict=False):
        offsets: list[Extent] = [start if at == axis else 0 for at in range(rank)]
        joined = b.insert_slice(part, joined, offsets, b.shape(part), [1] * rank)
    return joined


def _parts(joined: ir.Value, axis: int) -> list[ir.Value]:
    """The tensors of an earlier join along `axis` that only the op that is lowered uses; else `joined` itself.

    The earlier join is erased.
    """
    chain: list[ir.Operation] = []
    at = joined
    while _is_made_by(at, "tensor.insert_slice") and len(list(at.uses)) == 1:
        chain.append(at.owner.operation)
        at = chain[-1].operands[1]
    whole = _is_made_by(at, "tensor.empty") and len(list(at.uses)) == 1
    if not whole or len(chain) < 2 or _moved_axes(chain[-2]) != [axis]:
        return [joined]
    parts = [insert.operands[0] for insert in reversed(chain)]
    joined.replace_all_uses_with(parts[0])
    for insert in chain:
        insert.erase()
    at.owner.erase()
    return parts


def _is_made_by(value: ir.Value, name: str) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name == name


def _moved_axes(insert: ir.Operation) -> list[int]:
    """Axes along which an insert_slice does not start at 0."""
    return [axis for axis, offset in enumerate(insert.attributes["static_offsets"]) if offset != 0]


@lowering("slice")
def lower_slice(b: Builder, op: SourceOp) -> ir.Value:
    """A window; with a negative step a read backwards."""
    x, bounds = op.operands
    rank, count = op.types[0].rank, len(op["axes"])
    if bounds is not None:
        given = (not op["starts"]) + (not op["ends"])
        b.require_equal(size_of(b, op, (1, 0)), ("the number of bounds that its axes need", given * count))
    offsets: list[Extent] = [0] * rank
    sizes, strides = b.shape(x), [1] * rank
    for index, (axis, step) in enumerate(zip(op["axes"], op["steps"], strict=True)):
        at = axis % rank
        start = op["starts"][index] if op["starts"] else _bound(b, bounds, index)
        end = op["ends"][index] if op["ends"] else _bound(b, bounds, index + (0 if op["starts"] else count))
        offsets[at], sizes[at] = sliced_range(b, sizes[at], start, end, step)
        strides[at] = step
    sizes = [b.declared(axis, size, dim) for axis, (size, dim) in enumerate(zip(sizes, op.result.shape, strict=True))]
    if all(step > 0 for step in strides):
        return b.slice(x, offsets, sizes, strides)

    def position(at: Sequence[ir.Value]) -> list[Extent]:
        moved = [b.binary("arith.muli", own, b.index(step)) for own, step in zip(at, strides, strict=True)]
        return [b.binary("arith.addi", b.index(offset), own) for offset, own in zip(offsets, moved, strict=True)]

    return read_at(b, x, sizes, op.result.dtype, position)


def _bound(b: Builder, bounds: ir.Value, index: int) -> Extent:
    return b.index_cast(element_at(b, bounds, [index]), ir.IndexType.get())


def sliced_range(b: Builder, size: Extent, start: Extent, end: Extent, step: int) -> tuple[Extent, Extent]:
    """First element and number of elements of `[start:end:step]` along an axis, by Python's rules."""
    if isinstance(size, int) and isinstance(start, int) and isinstance(end, int):
        taken = range(*slice(start, end, step).indices(size))
        return (taken.start if taken else 0), len(taken)
    low, high = (0, size) if step > 0 else (-1, b.extent("sub", size, 1))
    starts_first = step > 0 and isinstance(start, int) and start == 0
    first = 0 if starts_first else _placed(b, start, size, low, high)
    after = _placed(b, end, size, low, high)
    distance = b.extent("sub", after, first) if step > 0 else b.extent("sub", first, after)
    count = b.extent("max", b.extent("ceildiv", distance, abs(step)), 0)
    if isinstance(first, int) and first == 0:
        return 0, count
    # An empty range may start behind the last element, where no window may.
    return b.extent("max", b.extent("min", first, b.extent("sub", size, 1)), 0), count


def _placed(b: Builder, bound: Extent, size: Extent, low: Extent, high: Extent) -> Extent:
    """A bound counted from the start, in [low, high]."""
    if isinstance(bound, int):
        bound = bound if bound >= 0 else b.extent("add", bound, size)
    else:
        negative = b.compare_index("lt", bound, b.index(0))
        bound = b.select(negative, b.index(b.extent("add", bound, size)), bound)
    return b.extent("min", b.extent("max", bound, low), high)


@lowering("pad")
def lower_pad(b: Builder, op: SourceOp) -> ir.Value:
    """A window where it crops; then a filled tensor with x written into it, or a read at the position that the mode says."""
    x, value = op.operands
    low, high = [max(count, 0) for count in op["low"]], [max(count, 0) for count in op["high"]]
    x = _cropped(b, x, [-min(count, 0) for count in op["low"]], [-min(count, 0) for count in op["high"]])
    if op["mode"] == "constant":
        return b.pad(x, low, high, _fill(b, op, value))
    shape = [_padded(b, size, a, z) for size, a, z in zip(b.shape(x), low, high, strict=True)]
    moved: dict[int, Extent] = {axis: count for axis, count in enumerate(low) if count or high[axis]}
    cuts = _cuts(shape[-1], low[-1], high[-1]) if shape else []
    if not cuts:
        return _read_moved(b, op, x, shape, moved)
    last, made = len(shape) - 1, b.empty(shape, op.result.dtype)
    for begin, end in itertools.pairwise(cuts):
        inside = {axis: count for axis, count in moved.items() if axis != last}
        around = inside | {last: low[-1] - begin}
        part = _read_moved(b, op, x, [*shape[:-1], end - begin], inside if begin == low[-1] else around)
        made = b.insert_slice(part, made, [*[0] * last, begin], b.shape(part), [1] * len(shape))
    return made


@lowering("dynamic_pad")
def lower_dynamic_pad(b: Builder, op: SourceOp) -> ir.Value:
    """As `lower_pad`, with counts that are read once; an axis is cropped by what is negative in them."""
    x, counts, value = op.operands
    rank = op.types[0].rank
    b.require_equal(size_of(b, op, (1, 0)), ("twice the rank of x", 2 * rank))
    given = [b.index_cast(element_at(b, counts, [index]), ir.IndexType.get()) for index in range(2 * rank)]
    sides, below = ([b.extent(bound, count, 0) for count in given] for bound in ("max", "min"))
    for index, count in enumerate(below):
        size = b.dim(x, index % rank)
        b.require_at_most((f"the least count of axis {index % rank}", b.extent("sub", 0, size)), (f"counts[{index}]", count))
    crops = [b.extent("sub", 0, count) for count in below]
    for axis in range(rank):
        cropped = b.extent("add", crops[axis], crops[rank + axis])
        b.require_at_most((f"what is cropped of axis {axis}", cropped), size_of(b, op, (0, axis)))
    x = _cropped(b, x, crops[:rank], crops[rank:])
    if op["mode"] == "constant":
        return b.pad(x, sides[:rank], sides[rank:], _fill(b, op, value))
    shape = [_padded(b, size, a, z) for size, a, z in zip(b.shape(x), sides[:rank], sides[rank:], strict=True)]
    return _read_moved(b, op, x, shape, dict(enumerate(sides[:rank])))


def _fill(b: Builder, op: SourceOp, value: ir.Value | None) -> ir.Value:
    """The scalar that a pad adds."""
    return b.scalar(0, op.result.dtype) if value is None else element_at(b, value, [])


def _cuts(size: Extent, low: int, high: int) -> list[int]:
    """Where the pieces of padded rows begin and end, if most of a row lies inside: that is read as vectors. Else nothing."""
    if not isinstance(size, int) or not (low or high) or size < policy().graph.inside_to_padding * (low + high):
        return []
    return sorted({0, low, size - high, size})


def _read_moved(b: Builder, op: SourceOp, x: ir.Value, shape: Sequence[Extent], moved: Mapping[int, Extent]) -> ir.Value:
    """A tensor of `shape` that reads `x` moved by so many elements along each axis of `moved`, beyond it as the pad `op` says."""
    source = {"edge": clamped, "reflect": _reflect, "wrap": _wrap}[op["mode"]]

    def position(at: Sequence[ir.Value]) -> list[Extent]:
        found: list[Extent] = list(at)
        for axis, count in moved.items():
            found[axis] = source(b, b.binary("arith.subi", at[axis], b.index(count)), b.index(b.dim(x, axis)))
        return found

    return read_at(b, x, shape, op.result.dtype, position)


def _cropped(b: Builder, x: ir.Value, low: Sequence[Extent], high: Sequence[Extent]) -> ir.Value:
    if all(isinstance(count, int) and count == 0 for count in (*low, *high)):
        return x
    sizes = [
        b.extent("max", b.extent("sub", size, b.extent("add", a, z)), 0) for size, a, z in zip(b.shape(x), low, high, strict=True)
    ]
    return b.slice(x, list(low), sizes, [1] * len(sizes))


def _padded(b: Builder, size: Extent, low: Extent, high: Extent) -> Extent:
    """Size of a padded axis; an empty one stays empty."""
    added = b.extent("add", low, high)
    if isinstance(size, int):
        return b.extent("add", size, added) if size else 0
    if isinstance(added, int) and added == 0:
        return size
    padded = b.index(b.extent("add", size, added))
    return b.select(b.compare_index("eq", size, b.index(0)), size, padded)


def _wrap(b: Builder, at: ir.Value, size: ir.Value) -> ir.Value:
    rest = b.binary("arith.remsi", at, size)
    return b.select(b.compare_index("lt", rest, b.index(0)), b.binary("arith.addi", rest, size), rest)


def _reflect(b: Builder, at: ir.Value, size: ir.Value) -> ir.Value:
    """Position in the period of 2 (size - 1) elements: there and back."""
    twice = b.binary("arith.muli", b.binary("arith.subi", size, b.index(1)), b.index(2))
    period = b.binary("arith.maxsi", twice, b.index(1))
    there = _wrap(b, at, period)
    return b.binary("arith.minsi", there, b.binary("arith.subi", period, there))
