"""Nests over sliding windows: which loops they have, how their positions are cut into tiles, and where taps fall outside."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dlc._mlir import ir
from dlc.lowering.affine.ir.accesses import access_of
from dlc.lowering.affine.ir.expressions import Linear
from dlc.lowering.affine.ir.lanes import LaneFacts, NoLanesError, analyse_lanes
from dlc.lowering.affine.ir.loops import Bound, Loop, real_ops
from dlc.lowering.affine.ir.nests import Nest
from dlc.lowering.affine.ir.padding import Inside, PaddedCopy
from dlc.lowering.policy import policy

GENERATOR = "windows"
Place = tuple["ir.Value | None", int]
"""Where a loop stands: at its new induction variable, if any, plus a number."""


@dataclass(frozen=True)
class TileAxis:
    """One loop of the tile: `count` positions, `step` apart, from `place` on. The lane loop counts vectors."""

    iv: ir.Value
    place: Place
    count: int
    step: int = 1


@dataclass(frozen=True)
class PaddedAxis:
    """An axis of a padded copy that a load follows: element `band * iv + tap * iv' + offset` of `inside`."""

    inside: Inside
    band: Loop
    band_factor: int
    tap: Loop | None
    tap_factor: int
    offset: int

    @property
    def is_open(self) -> bool:
        """Whether run time alone knows where the inside ends."""
        return self.inside.count is not None or self.band.extent is None

    @property
    def first(self) -> int:
        """The first iteration of the band loop whose taps all begin inside."""
        return max(-((self.offset - self.inside.begin) // self.band_factor), 0)

    def safe(self) -> tuple[int, int]:
        """The iterations `begin` to `end` of the band loop whose taps all fall inside, where sizes are known."""
        room = self.inside.extent - 1 - self._reach
        return self.first, min(room // self.band_factor + 1, self.band.extent or 0)

    @property
    def _reach(self) -> int:
        """How far the last tap of iteration 0 is from the first place inside."""
        last = (self.tap.extent or 1) - 1 if self.tap is not None else 0
        return self.offset + self.tap_factor * last - self.inside.begin

    @property
    def place(self) -> Linear:
        """The place that is loaded, counted from the first one inside."""
        taps = {self.tap.iv: self.tap_factor} if self.tap is not None else {}
        return Linear({self.band.iv: self.band_factor, **taps}, self.offset - self.inside.begin)

    @property
    def extent(self) -> Bound:
        """The places inside."""
        return Bound.constant(self.inside.extent) if self.inside.count is None else self.inside.count

    def end(self) -> Bound:
        """The iteration of the band loop from which on taps fall beyond the inside; it may lie beyond the loop, too."""
        extent = self.extent
        room = ir.AffineExpr.get_floor_div(extent.map.results[0] - 1 - self._reach, self.band_factor) + 1
        return Bound(ir.AffineMap.get(extent.map.n_dims, extent.map.n_symbols, [room]), extent.operands)


@dataclass(frozen=True)
class WindowLoad:
    """A load that the windows slide over; `copy` when it reads a padded copy that can be done without."""

    op: ir.Operation
    places: tuple[Linear, ...]
    copy: PaddedCopy | None
    axes: tuple[PaddedAxis, ...] = ()


@dataclass(frozen=True)
class Windows:
    """A nest whose reduction runs over the taps of windows: depthwise convolution, pooling, a convolution of few channels."""

    nest: Nest
    lane_loop: Loop
    facts: LaneFacts
    slides: tuple[WindowLoad, ...]

    @property
    def taps(self) -> tuple[Loop, ...]:
        """The reduction loops, outermost first."""
        assert self.nest.chain is not None
        return self.nest.chain.loops

    @property
    def lanes_slide(self) -> bool:
        """Whether the lanes run along an axis that the windows slide over."""
        return self.lane_loop.iv in self.slid

    @cached_property
    def slid(self) -> dict[ir.Value, set[ir.Value]]:
        """The band loops that share a subscript with taps, each with those taps."""
        found: dict[ir.Value, set[ir.Value]] = {}
        taps = {loop.iv for loop in self.taps}
        for slide in self.slides:
            for form in slide.places:
                for iv in set(form.factors) - taps:
                    if set(form.factors) & taps:
                        found.setdefault(iv, set()).update(set(form.factors) & taps)
        return found

    def open_axes(self, loop: Loop) -> list[PaddedAxis]:
        """The padded axes that `loop` moves along and whose inside ends where run time alone knows."""
        return [axis for slide in self.slides for axis in slide.axes if axis.band.iv == loop.iv and axis.is_open]

    def safe(self, loop: Loop, rolled: Collection[ir.Value] = ()) -> tuple[int, int]:
        """The iterations of `loop`, of known extent, whose taps all fall inside, but for those of the reduction loops `rolled`."""
        begin, end = 0, loop.extent or 0
        for slide in self.slides:
            for axis in slide.axes:
                if axis.band.iv == loop.iv and not axis.is_open and (axis.tap is None or axis.tap.iv not in rolled):
                    begin, end = max(begin, axis.safe()[0]), min(end, axis.safe()[1])
        return begin, end


def windows_of(nest: Nest, copies: Mapping[ir.Value, PaddedCopy], lane_loop: int | None = None) -> Windows | None:
    """`nest` as windows; None when it is no such nest, or its taps and lanes are not all known and short enough.

    The lanes run along loop `lane_loop` of the nest where it is given, else along a loop that is good for them.
    """
    chain = nest.chain
    if chain is None or nest.reduction is not None or not nest.band:
        return None
    taps = math.prod(loop.extent or 0 for loop in chain.loops)
    inner = math.prod(loop.extent or 0 for loop in chain.loops[1:])
    if not 1 < taps <= policy().limits.window_taps or inner > policy().limits.window_unrolled or not _has_plain_ops(nest):
        return None
    slides = _slides(nest, copies)
    if not slides:
        return None
    for loop, facts in _lane_loops(nest):
        if lane_loop is not None and loop is not nest.loops[lane_loop]:
            continue
        found = Windows(nest, loop, facts, tuple(_in_lanes(slide, loop, facts) for slide in slides))
        if _is_window_sum(found):
            return found
    return None


def _has_plain_ops(nest: Nest) -> bool:
    """Whether the body only computes on numbers it loads, at places that are linear in the loops."""
    for op in nest.ops:
        if op.name in ("affine.load", "affine.store"):
            access = access_of(op)
            if access.subscripts is None or any(form is None for form in access.subscripts):
                return False
        elif op.name not in ("affine.for", "affine.yield") and not _is_plain(op):
            return False
    return True


def _is_plain(op: ir.Operation) -> bool:
    """Whether `op` computes a number from numbers."""
    values = (*op.results, *op.operands)
    return op.name.startswith(("arith.", "math.")) and not any(isinstance(value.type, ir.IndexType) for value in values)


def _lane_loops(nest: Nest) -> Iterator[tuple[Loop, LaneFacts]]:
    """The loops that can become lanes, those along which memory is contiguous first."""
    found = []
    for loop in nest.band:
        try:
            facts = analyse_lanes(nest.body, loop.iv)
        except NoLanesError:
            continue
        steps = set(facts.strides.values())
        if loop.extent is not None and steps <= {0, 1, 2} and not facts.lanewise and 1 in steps and facts.maskable:
            found.append((loop, facts))
    return iter(sorted(found, key=lambda pair: max(pair[1].strides.values())))


def _slides(nest: Nest, copies: Mapping[ir.Value, PaddedCopy]) -> tuple[WindowLoad, ...]:
    """The loads of the innermost body that follow a parallel loop and a reduction loop in one subscript."""
    assert nest.chain is not None
    band = {loop.iv: loop for loop in nest.band}
    taps = {loop.iv: loop for loop in nest.chain.loops}
    found = []
    for op in real_ops(nest.innermost_body):
        if op.name != "affine.load":
            continue
        places = tuple(form for form in access_of(op).subscripts or () if form is not None)
        if any(set(form.factors) & set(band) and set(form.factors) & set(taps) for form in places):
            copy = copies.get(op.operands[0])
            axes = _padded_axes(copy, places, band, taps) if copy is not None else None
            found.append(WindowLoad(op, places, copy if axes is not None else None, axes or ()))
    return tuple(found)


def _in_lanes(slide: WindowLoad, loop: Loop, facts: LaneFacts) -> WindowLoad:
    """`slide` in lanes along `loop`, from the padded copy where its elements lie otherwise in what is copied (a transpose)."""
    copy = slide.copy
    if copy is None or copy.source_stride(slide.places, loop.iv) == facts.strides[slide.op]:
        return slide
    return WindowLoad(slide.op, slide.places, None)


def _padded_axes(
    copy: PaddedCopy, places: Sequence[Linear], band: Mapping[ir.Value, Loop], taps: Mapping[ir.Value, Loop]
) -> tuple[PaddedAxis, ...] | None:
    """The axes of `copy` that have padding, as a load at `places` follows them; None when it does so in no simple way."""
    found = []
    for inside, place in zip(copy.axes, places, strict=True):
        if inside.is_whole:
            continue
        loops = [band[iv] for iv in place.factors if iv in band]
        inner = [taps[iv] for iv in place.factors if iv in taps]
        if len(loops) != 1 or len(inner) > 1 or len(place.factors) != len(loops) + len(inner):
            return None
        tap = inner[0] if inner else None
        factors = place.of(loops[0].iv), place.of(tap.iv) if tap is not None else 0
        if min(factors) < 0:
            return None
        found.append(PaddedAxis(inside, loops[0], factors[0], tap, factors[1], place.constant))
    return tuple(found)


def _is_window_sum(windows: Windows) -> bool:
    """Whether the lanes make a good use of vectors: the windows' elements are vectors, or each is used for many lanes.

    A reduction over channels too is left to the register tile, but where the channels are those of an image. Where padding ends
    at places that run time knows, whole vectors are loaded or none, so lanes are channels.
    """
    taps = {loop.iv for loop in windows.taps}
    slid = set().union(*windows.slid.values())
    wide = any(windows.facts.strides[slide.op] for slide in windows.slides)
    opened = [slide for slide in windows.slides if any(axis.is_open for axis in slide.axes)]
    guarded = not opened or (not windows.lanes_slide and all(windows.facts.strides[slide.op] == 1 for slide in opened))
    return wide and taps == slid and guarded


def cuts(extent: int, step: int, safe: tuple[int, int]) -> Iterator[tuple[int, int, int]]:
    """The tiles of a loop: (begin, end, iterations of a tile); several of `step` in a row where all of them are safe.

    Of an axis without padding all iterations are safe: `safe` is (0, extent).
    """
    first, end = -(-safe[0] // step), min(safe[1], extent) // step
    if first >= end:
        first = end = -(-extent // step)
    yield from _apart(range(0, first * step, step), extent)
    if first < end:
        yield first * step, end * step, step
    yield from _apart(range(end * step, extent, step), extent)


def _apart(begins: range, extent: int) -> Iterator[tuple[int, int, int]]:
    """Tiles that each have code of their own; the last one of the loop may be smaller."""
    for begin in begins:
        count = min(begins.step, extent - begin)
        yield begin, begin + count, count


def few_borders(parts: Iterable[tuple[int, int, int]]) -> bool:
    """Whether the tiles at the borders, each of which has code of its own, are few enough."""
    most = policy().limits.border_tiles
    return sum(1 for _ in itertools.islice(parts, most + 1)) <= most
