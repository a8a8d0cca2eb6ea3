"""Canonical forms of what cuts, joins and pads: slices, concats, pads and gathers at known places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.slicing import sliced_dim
from dlc.dialects.dl.types import INTS, NUMPY_DTYPES, Dim
from dlc.dialects.dl.window import Window
from dlc.lowering.dl.matching import attributes_of, constant_array, groups_of, source, type_of
from dlc.lowering.dl.rewriting import Rewriter, RuleSet
from dlc.lowering.dl.simplify.replacing import forward, rebuild

MOVES = RuleSet()

Cut = tuple[int, int, int]
"""Start, end and step of a slice along one axis."""


def _cuts(op: ir.Operation | None) -> dict[int, Cut] | None:
    """The cuts of a slice by axis; None where it is no slice or its bounds are values."""
    if op is None or op.name != "dl.slice" or len(op.operands) > 1:
        return None
    attributes, rank = attributes_of(op), type_of(op.operands[0]).rank
    cuts = zip(attributes["starts"], attributes["ends"], attributes["steps"], strict=True)
    return dict(zip((axis % rank for axis in attributes["axes"]), cuts, strict=True))


def _range(cut: Cut, size: int) -> range:
    """The positions that a cut takes of an axis."""
    return range(*slice(*cut).indices(size))


def _cut_of(positions: range, size: int) -> Cut:
    """The cut that takes these positions of an axis."""
    if not positions:
        return 0, 0, 1
    end = positions[-1] + (1 if positions.step > 0 else -1)
    return positions.start, end if end >= 0 else -size - 1, positions.step


def _slice(cuts: Mapping[int, Cut]) -> dict[str, Any]:
    """Attributes of the slice with these cuts."""
    axes = sorted(cuts)
    starts, ends, steps = ([cuts[axis][part] for axis in axes] for part in range(3))
    return {"axes": axes, "starts": starts, "ends": ends, "steps": steps}


def _takes_all(cut: Cut, dim: Dim) -> bool:
    if isinstance(dim, int):
        return _range(cut, dim) == range(dim)
    return cut[2] == 1 and sliced_dim("dim", *cut) == "dim"


@MOVES.rule("dl.slice")
def drop_slice_of_whole(op: ir.Operation, rewriter: Rewriter) -> bool:
    """slice(x, all of it) = x"""
    cuts, dims = _cuts(op), type_of(op.operands[0]).shape
    if cuts is None or not all(_takes_all(cut, dims[axis]) for axis, cut in cuts.items()):
        return False
    return forward(op, rewriter, op.operands[0])


@MOVES.rule("dl.slice")
def merge_slices(op: ir.Operation, rewriter: Rewriter) -> bool:
    """slice(slice(x)) = slice(x) with both cuts, which dims must tell where they are along one axis"""
    inner = source(op.operands[0], "dl.slice")
    first, then = _cuts(inner), _cuts(op)
    if inner is None or first is None or then is None:
        return False
    dims = type_of(inner.operands[0]).shape
    cuts = {**first, **then}
    for axis in first.keys() & then.keys():
        dim = dims[axis]
        if not isinstance(dim, int):
            return False
        taken = _range(first[axis], dim)
        cuts[axis] = _cut_of(taken[slice(*then[axis])], dim)
    return rebuild(op, rewriter, "slice", inner.operands[0], None, absorbing=inner, **_slice(cuts))


@MOVES.rule("dl.slice")
def slice_of_concat(op: ir.Operation, rewriter: Rewriter) -> bool:
    """slice(concat(x, y)) = slice(x), or slice(y), where it takes from one of them alone"""
    inner, cuts = source(op.operands[0], "dl.concat"), _cuts(op)
    if inner is None or cuts is None:
        return False
    kind = type_of(op.operands[0])
    axis = attributes_of(inner)["axis"] % kind.rank
    sizes = [type_of(part).shape[axis] for part in inner.operands]
    if axis not in cuts or not isinstance(sizes[0], int):
        return False
    found = _part_of(cuts[axis], sizes[0], sizes[1])
    if found is None:
        return False
    part, cut = found
    return rebuild(op, rewriter, "slice", inner.operands[part], None, **_slice({**cuts, axis: cut}))


def _part_of(cut: Cut, left: int, right: Dim) -> tuple[int, Cut] | None:
    """Which of two joined parts a cut takes from, and the cut of that part; None where it is both or can't be told."""
    if not isinstance(right, int):
        inside = cut[0] >= 0 and 0 <= cut[1] <= left and cut[2] > 0
        return (0, cut) if inside else None
    taken = _range(cut, left + right)
    if not taken or max(taken) < left:
        return 0, _cut_of(taken, left)
    if min(taken) < left:
        return None
    shifted = range(taken.start - left, taken.stop - left, taken.step)
    return 1, _cut_of(shifted, right)


@MOVES.rule("dl.concat")
def concat_of_slices(op: ir.Operation, rewriter: Rewriter) -> bool:
    """concat(slice(x, a, b), slice(x, b, c)) = slice(x, a, c)"""
    left, right = (source(part, "dl.slice") for part in op.operands)
    first, then = _cuts(left), _cuts(right)
    if left is None or right is None or first is None or then is None or left.operands[0] != right.operands[0]:
        return False
    x = left.operands[0]
    axis = attributes_of(op)["axis"] % type_of(x).rank
    dim = type_of(x).shape[axis]
    if not isinstance(dim, int) or axis not in first or axis not in then:
        return False
    if any(first.get(other) != then.get(other) for other in (first.keys() | then.keys()) - {axis}):
        return False
    one, two = _range(first[axis], dim), _range(then[axis], dim)
    if one.step != 1 or two.step != 1 or not one or not two or one.stop != two.start:
        return False
    return rebuild(op, rewriter, "slice", x, None, absorbing=left, **_slice({**first, axis: (one.start, two.stop, 1)}))


@MOVES.rule("dl.concat")
def drop_empty_part(op: ir.Operation, rewriter: Rewriter) -> bool:
    """concat(x, y of size 0) = x, and the other way round"""
    left, right = op.operands
    axis = attributes_of(op)["axis"] % type_of(left).rank
    if type_of(right).shape[axis] == 0:
        return forward(op, rewriter, left)
    return type_of(left).shape[axis] == 0 and forward(op, rewriter, right)


@MOVES.rule("dl.pad")
def drop_pad_of_nothing(op: ir.Operation, rewriter: Rewriter) -> bool:
    """pad(x, 0, 0) = x"""
    pads = attributes_of(op)
    return not any(pads["low"]) and not any(pads["high"]) and forward(op, rewriter, op.operands[0])


@MOVES.rule("dl.pad")
def crop_to_slice(op: ir.Operation, rewriter: Rewriter) -> bool:
    """pad(x, -a, -b) = slice(x, a, size - b)"""
    x, pads = op.operands[0], attributes_of(op)
    kind = type_of(x)
    if max([*pads["low"], *pads["high"]], default=0) > 0 or not kind.is_static:
        return False
    cuts: dict[int, Cut] = {}
    for axis, (dim, low, high) in enumerate(zip(kind.shape, pads["low"], pads["high"], strict=True)):
        if (low or high) and isinstance(dim, int):
            cuts[axis] = (-low, dim + high, 1)
    return rebuild(op, rewriter, "slice", x, None, **_slice(cuts))


@MOVES.rule("dl.pad")
def merge_pads(op: ir.Operation, rewriter: Rewriter) -> bool:
    """pad(pad(x, a, b), c, d) = pad(x, a + c, b + d), where both add the same number"""
    inner = source(op.operands[0], "dl.pad")
    one, other = _padding(inner), _padding(op)
    if inner is None or one is None or other is None or one.tobytes() != other.tobytes():
        return False
    first, then = attributes_of(inner), attributes_of(op)
    if min([*first["low"], *first["high"], *then["low"], *then["high"]], default=0) < 0:
        return False
    low, high = ([a + b for a, b in zip(first[end], then[end], strict=True)] for end in ("low", "high"))
    return rebuild(op, rewriter, "pad", inner.operands[0], groups_of(inner)[1], absorbing=inner, low=low, high=high)


def _padding(op: ir.Operation | None) -> np.ndarray | None:
    """The number that a pad adds; None for other modes, and where it is no constant."""
    if op is None or op.name != "dl.pad" or attributes_of(op)["mode"] != "constant":
        return None
    x, value = groups_of(op)
    return np.zeros((), NUMPY_DTYPES[type_of(x).dtype]) if value is None else constant_array(value)


@MOVES.rule("dl.conv", "dl.max_pool", "dl.avg_pool")
def pad_into_window(op: ir.Operation, rewriter: Rewriter) -> bool:
    """conv(pad(x, a, b)) = conv(x, pads=(a, b)) for zeros along spatial axes; pools likewise with what they take as absent"""
    inner = source(op.operands[0], "dl.pad")
    number = _padding(inner)
    if inner is None or number is None:
        return False
    pads = _spatial_pads(inner, attributes_of(op)["channels_last"])
    changed = None if pads is None else _with_pads(op, number, pads)
    if changed is None:
        return False
    name, others = op.name.removeprefix("dl."), list(groups_of(op))[1:]
    return rebuild(op, rewriter, name, inner.operands[0], *others, absorbing=inner, **changed)


def _spatial_pads(pad: ir.Operation, channels_last: bool) -> list[int] | None:
    """What a pad adds before each spatial axis, then after each; None where it does something else, too."""
    attributes = attributes_of(pad)
    low, high = list(attributes["low"]), list(attributes["high"])
    spatial = slice(1, len(low) - 1) if channels_last else slice(2, len(low))
    found = [*low[spatial], *high[spatial]]
    if min(found, default=0) < 0 or sum(map(abs, low + high)) != sum(found):
        return None
    return found


def _with_pads(op: ir.Operation, number: np.ndarray, pads: Sequence[int]) -> dict[str, Any] | None:
    """Attributes of the op when it adds `pads` of `number` itself; None where it can't."""
    attributes = attributes_of(op)
    own = attributes["pads"] or (0,) * len(pads)
    changed = {**attributes, "pads": [a + b for a, b in zip(own, pads, strict=True)]}
    if attributes.get("ceil_mode"):
        return None  # positions that start in the padding would go
    if op.name != "dl.conv" and _window_in_pads(changed):
        return None
    if op.name == "dl.max_pool":
        lowest = np.iinfo(number.dtype).min if type_of(op.results[0]).dtype in INTS else -np.inf
        return changed if number == lowest else None
    if number != 0:
        return None
    if op.name == "dl.avg_pool":
        if any(own) and not attributes["count_include_pad"]:
            return None
        changed["count_include_pad"] = True
    return changed


def _window_in_pads(pool: Mapping[str, Any]) -> bool:
    """Whether a pool of these attributes has a whole window in its padding, which pools refuse."""
    window = Window.of("", pool["kernel"], pool["strides"], pool["pads"], pool["dilations"])
    return any(window.lies_in_pads(axis) for axis in range(window.rank))


@MOVES.rule("dl.gather")
def gather_of_range_to_slice(op: ir.Operation, rewriter: Rewriter) -> bool:
    """gather(x, [a, a + s, a + 2 * s, ...]) = slice(x, a, ..., s)"""
    x, places = op.operands[0], _places(op)
    if places is None or places.ndim != 1 or not places.size:
        return False
    axis = attributes_of(op)["axis"] % type_of(x).rank
    size = type_of(x).shape[axis]
    steps = np.unique(np.diff(places))
    if len(steps) > 1 or 0 in steps or not isinstance(size, int):
        return False
    step = int(steps[0]) if len(steps) else 1
    taken = range(int(places[0]), int(places[-1]) + (1 if step > 0 else -1), step)
    return rebuild(op, rewriter, "slice", x, None, **_slice({axis: _cut_of(taken, size)}))


@MOVES.rule("dl.gather")
def gather_of_one_to_slice(op: ir.Operation, rewriter: Rewriter) -> bool:
    """gather(x, a) = squeeze(slice(x, a, a + 1)) for one index without axes"""
    x, places = op.operands[0], _places(op)
    if places is None or places.ndim != 0:
        return False
    axis = attributes_of(op)["axis"] % type_of(x).rank
    cut = dl.slice(x, None, **_slice({axis: (int(places), int(places) + 1, 1)}))
    return rebuild(op, rewriter, "squeeze", cut, axes=[axis])


def _places(op: ir.Operation) -> np.ndarray | None:
    """Where a gather with constant indices reads along an axis of known size."""
    x, indices = op.operands
    array = constant_array(indices)
    size = type_of(x).shape[attributes_of(op)["axis"] % type_of(x).rank]
    if array is None or not isinstance(size, int) or size == 0:
        return None
    places = array.astype(np.int64)
    return np.clip(np.where(places < 0, places + size, places), 0, size - 1)
