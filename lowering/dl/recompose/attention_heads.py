"""Queries, keys and values as `dl.attention` takes them: not transposed, not repeated, of rank 4."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import Dim, Shape
from dlc.lowering.dl.matching import attributes_of, constant_array, source, type_of
from dlc.lowering.dl.patterns import peelings
from dlc.lowering.dl.rewriting import Rewriter


@dataclass(frozen=True)
class Keys:
    """`rhs` of the product with queries is factor * transpose(value), or value itself where it is still to be transposed."""

    value: ir.Value
    factor: float
    perm: tuple[int, ...] | None


def read_keys(rewriter: Rewriter, rhs: ir.Value) -> Keys:
    """The keys that `rhs` transposes; `perm` is the transpose that is left to do on value."""
    rhs, factor = list(peelings(rhs))[-1]
    flat = _transposed_flat(rewriter, rhs)
    if flat is not None:
        inner, more = list(peelings(flat))[-1]
        return Keys(inner, factor * more, None)
    rank = type_of(rhs).rank
    swapped = (*range(rank - 2), rank - 1, rank - 2)
    op = source(rhs, "dl.transpose")
    if op is None:
        return Keys(rhs, factor, swapped)
    inner, more = list(peelings(op.operands[0]))[-1]
    perm = attributes_of(op)["perm"]
    perm = tuple(perm[axis] for axis in swapped)
    return Keys(inner, factor * more, None if perm == tuple(range(rank)) else perm)


def _transposed_flat(rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
    """x where `value` transposes its last axes by a transpose of rank 3 between reshapes, as torch's newer exporter does."""
    after = source(value, "dl.reshape")
    middle = None if after is None else source(after.operands[0], "dl.transpose")
    before = None if middle is None else source(middle.operands[0], "dl.reshape")
    if middle is None or before is None or tuple(attributes_of(middle)["perm"]) != (0, 2, 1):
        return None
    x = before.operands[0]
    have, want = rewriter.type_of(value).shape, rewriter.type_of(x).shape
    flat = rewriter.type_of(before.results[0]).shape
    if len(have) != 4 or len(want) != 4 or not isinstance(want[1], int):
        return None  # with as many heads, there are as many elements only where the batch is the same
    return x if flat[-2:] == want[-2:] and have[1:] == (want[1], want[3], want[2]) else None


def unrepeated(rewriter: Rewriter, value: ir.Value) -> tuple[ir.Value, int]:
    """`(x, n)` where `value` [batch, n * heads, ...] is x [batch, heads, ...] with every head n times in a row."""
    found = _gathered(value) or _expanded(rewriter, value) or _merged(rewriter, value)
    return (value, 1) if found is None else found


def _gathered(value: ir.Value) -> tuple[ir.Value, int] | None:
    op = source(value, "dl.gather")
    if op is None or attributes_of(op)["axis"] % type_of(op.operands[0]).rank != 1:
        return None
    heads, places = type_of(op.operands[0]).shape[1], constant_array(op.operands[1])
    if places is None or places.ndim != 1 or not isinstance(heads, int) or not heads or places.size % heads:
        return None
    times = places.size // heads
    is_repeat = times > 0 and (places == np.repeat(np.arange(heads), times)).all()
    return (op.operands[0], times) if is_repeat else None


def _expanded(rewriter: Rewriter, value: ir.Value) -> tuple[ir.Value, int] | None:
    """One head that is expanded to many."""
    op = source(value)
    if op is None or op.name not in ("dl.expand", "dl.tile"):
        return None
    x = op.operands[0]
    own, wide = rewriter.type_of(x).shape, rewriter.type_of(value).shape
    fits = len(own) == 4 and own[1] == 1 and (own[0], *own[2:]) == (wide[0], *wide[2:])
    times = wide[1] if fits else None
    return (x, times) if isinstance(times, int) and times > 0 else None


def _merged(rewriter: Rewriter, value: ir.Value) -> tuple[ir.Value, int] | None:
    """[batch, heads, 1, ...] that is repeated along its new axis, which a reshape then merges with the heads."""
    merge = source(value, "dl.reshape")
    repeat = None if merge is None else source(merge.operands[0])
    if repeat is None or repeat.name not in ("dl.expand", "dl.tile"):
        return None
    view = source(repeat.operands[0])
    if view is None or view.name not in ("dl.unsqueeze", "dl.reshape"):
        return None
    x = view.operands[0]
    own, new, wide, out = (rewriter.type_of(item).shape for item in (x, view.results[0], repeat.results[0], value))
    if len(own) != 4 or len(wide) != 5 or new != (*own[:2], 1, *own[2:]):
        return None
    heads, times = wide[1], wide[2]
    if not isinstance(heads, int) or not isinstance(times, int) or (*wide[:2], *wide[3:]) != own:
        return None
    return (x, times) if out == (own[0], heads * times, *own[2:]) and times > 0 else None


def as_heads(x: ir.Value, heads: Shape | None) -> ir.Value:
    """`x` of rank 4: as it is, with its batch split into [batch, heads], or with a new batch of 1; at the insertion point."""
    if type_of(x).rank == 4:
        return x
    if heads is None:
        value: ir.Value = dl.unsqueeze(x, axes=[0])
        return value
    batch: Dim = heads[0] if isinstance(heads[0], int) else -1
    split: ir.Value = dl.reshape(x, shape=[batch, heads[1], -1, -1], copied=[-1, -1, 1, 2])
    return split


def unmerged(rewriter: Rewriter, x: ir.Value, heads: Shape | None) -> ir.Value:
    """What `x` of rank 3 is a reshape of, if that has the batch and heads of `heads`; `x` itself otherwise."""
    op = source(x, "dl.reshape")
    if op is None or heads is None or type_of(x).rank != 3:
        return x
    inner = op.operands[0]
    shape = rewriter.type_of(inner).shape
    fits = len(shape) == 4 and isinstance(shape[1], int) and shape[1] == heads[1]
    fits = fits and shape[2:] == rewriter.type_of(x).shape[1:]  # so the batch is the same
    return inner if fits else x
