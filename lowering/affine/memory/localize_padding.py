"""affine-localize-padding: each iteration of a loop over rows pads the rows that it reads, in place of a padded image in memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlc._mlir import affine, ir
from dlc.lowering.affine.codegen.window_loads import map_of
from dlc.lowering.affine.ir.accesses import access_of
from dlc.lowering.affine.ir.expressions import Linear, span
from dlc.lowering.affine.ir.forwarding import local_users, remove_unread_buffers
from dlc.lowering.affine.ir.lanes import element_bits
from dlc.lowering.affine.ir.loops import Loop, normalized
from dlc.lowering.affine.ir.padding import Inside, PaddedCopy, ancestors, filled_with, padded_copies
from dlc.lowering.affine.memory.box_loops import BoxRange, store_in_box
from dlc.lowering.pass_base import Pass
from dlc.lowering.policy import policy
from dlc.targets.machine import Machine, facts_of, is_for_gpu


@dataclass(frozen=True)
class AffineLocalizePadding(Pass):
    """Pad the rows that an iteration reads in the iteration, where the padded image is large beside the last cache.

    before: %p = a padded copy of %x (258x258x64)    affine.for %r = 0 to 128 { ... %p[%r * 2 + 3, ..] ... }
    after:  affine.for %r = 0 to 128 { %q = rows %r * 2 - 1 to %r * 2 + 2 of %x, padded (4x258x64); ... %q[3, ..] ... }

    The loop has to be parallel and, but for parallel loops, outermost; each iteration reads another window of rows. Sums over
    windows are left alone: other passes let these read around the padding. A 3x3 convolution by Winograd's tiles, channels first,
    takes 0.82 of the time (64 to 32 channels of 256x256, Zen 5, one thread): the copy is transposed twice, but in the second-level
    cache. Modules for a GPU stay as they are: its rows run at the same time.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        """Rewrite the padded copies of one function."""
        if is_for_gpu(op):
            return
        facts = facts_of(op)
        copies = [copy for copy in padded_copies(op).values() if copy.has_known_sizes]
        chosen = [next((one for one in _windows_of(copy) if one.pays(facts)), None) for copy in copies]
        windows = [window for window in chosen if window is not None]
        for window in windows:
            window.localize()
        if windows:
            remove_unread_buffers(op)


@dataclass(frozen=True)
class _Side:
    """What an iteration reads along one axis of a padded copy: places `first` to `first + height - 1`.

    `first` moves with the loops around by up to `reach`.
    """

    axis: Inside
    first: Linear
    height: int
    reach: int

    @property
    def whole(self) -> BoxRange:
        """All places of the window, which are counted from its first one."""
        return BoxRange.of(0, self.height)

    @property
    def inside(self) -> BoxRange:
        """The places that hold the source."""
        found = self.whole.after(self._begin) if self._has_before else self.whole
        return found.before(self._end) if self._has_after else found

    @property
    def around(self) -> list[BoxRange]:
        """The places before and after those, if there are some."""
        before = [self.whole.before(self._begin)] if self._has_before else []
        return [*before, self.whole.after(self._end)] if self._has_after else before

    @property
    def _begin(self) -> Linear:
        return Linear({}, self.axis.begin).plus(self.first, -1)

    @property
    def _end(self) -> Linear:
        return Linear({}, self.axis.begin + self.axis.extent).plus(self.first, -1)

    @property
    def _has_before(self) -> bool:
        return self._begin.constant > 0

    @property
    def _has_after(self) -> bool:
        return self._end.constant - self.reach < self.height


@dataclass(frozen=True, eq=False)
class _PaddedWindow:
    """What `loads` read of a padded copy in an iteration of the parallel `loops`, the outermost first."""

    copy: PaddedCopy
    fill: ir.Value
    loads: Sequence[ir.Operation]
    loops: Sequence[Loop]
    sides: Sequence[_Side]

    def pays(self, facts: Machine) -> bool:
        """Whether an image does not stay in a cache, what an iteration reads of it does, and little is padded again."""
        kind = ir.MemRefType(self.copy.buffer.type)
        width = (element_bits(kind.element_type) or 0) // 8
        whole, part = math.prod(kind.shape), math.prod(side.height for side in self.sides)
        *around, iterations = [loop.extent or 0 for loop in self.loops]
        image = whole / max(1, math.prod(around))
        least = facts.l3_bytes * (policy().blocks.quarter_share if self._is_transposed else policy().blocks.half_share)
        fits = part * width <= policy().blocks.third_share * facts.l2_bytes
        return image * width > least and fits and part * iterations <= policy().memory.padded_copies * image

    @property
    def _is_transposed(self) -> bool:
        """Whether neighbours in the copy are none in the source."""
        last = self.copy.ivs[-1]
        return last is not None and self.copy.forms[-1].factors != {last: 1}

    def localize(self) -> None:
        """Build the part at the begin of the innermost loop's body, and let the loads read it."""
        operations = self.loops[-1].body.operations
        begin, end = operations[0], operations[len(operations) - 1]
        kind = ir.MemRefType.get([side.height for side in self.sides], ir.MemRefType(self.copy.buffer.type).element_type)
        with self.loops[-1].op.location:
            with ir.InsertionPoint(begin):
                attributes = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])}
                part = ir.Operation.create("memref.alloc", [kind], attributes=attributes).results[0]
                self._fill_around(part)
                store_in_box([side.inside for side in self.sides], part, self._element)
            with ir.InsertionPoint(end):
                ir.Operation.create("memref.dealloc", [], [part])
        for load in self.loads:
            self._redirect(load, part)

    def _fill_around(self, part: ir.Value) -> None:
        """Padding along the first axes over all of the others, along later ones beside the source alone."""
        for at, side in enumerate(self.sides):
            outer = [before.inside for before in self.sides[:at]]
            inner = [behind.whole for behind in self.sides[at + 1 :]]
            for each in side.around:
                store_in_box([*outer, each, *inner], part, lambda _: self.fill)

    def _element(self, places: Sequence[Linear]) -> ir.Value:
        """The element of the source at a place of the part."""
        copied = [place.plus(side.first) for place, side in zip(places, self.sides, strict=True)]
        indexing, operands = map_of(self.copy.source_forms(copied))
        element = ir.MemRefType(self.copy.source.type).element_type
        return affine.AffineLoadOp(element, self.copy.source, operands, indexing).result

    def _redirect(self, load: ir.Operation, part: ir.Value) -> None:
        forms = [form for form in access_of(load).subscripts or () if form is not None]
        with ir.InsertionPoint(load), load.location:
            indexing, operands = map_of([form.plus(side.first, -1) for form, side in zip(forms, self.sides, strict=True)])
            found = affine.AffineLoadOp(load.results[0].type, part, operands, indexing).result
        load.results[0].replace_all_uses_with(found)
        load.erase()


def _windows_of(copy: PaddedCopy) -> Iterator[_PaddedWindow]:
    """What the outermost loop, the two outermost loops and so on read of a padded copy; none where others read it, too."""
    users = local_users(copy.buffer.owner.operation) or []
    fill = next((user for user in users if user.name == "affine.store" and filled_with(user, copy.buffer) is not None), None)
    loads = [user for user in users if user.name == "affine.load"]
    if fill is None or not loads or any(load.operands[0] != copy.buffer for load in loads):
        return
    loops = _common_loops(loads)
    for depth in range(1, len(loops) + 1):
        sides = _sides(copy, loads, loops[:depth])
        if sides is not None:
            yield _PaddedWindow(copy, fill.operands[0], loads, loops[:depth], sides)


def _common_loops(loads: Sequence[ir.Operation]) -> list[Loop]:
    """The parallel loops from the top of the function inwards that hold all loads; none where there are sums around a load."""
    around = [list(reversed(ancestors(load)))[:-1] for load in loads]
    if any(len(loop.results) for each in around for loop in each):
        return []
    found: list[Loop] = []
    for ops in zip(*around, strict=False):
        loop = normalized(ops[0])
        if loop is None or loop.extent is None or not loop.parallel or any(op != ops[0] for op in ops):
            break
        found.append(loop)
    return found


def _sides(copy: PaddedCopy, loads: Sequence[ir.Operation], loops: Sequence[Loop]) -> list[_Side] | None:
    """The window that all loads together read; None where it has no known size, or moves in several ways."""
    forms = [[form for form in access_of(load).subscripts or () if form is not None] for load in loads]
    if any(len(own) != len(copy.axes) for own in forms):
        return None
    found = [_side(axis, [own[at] for own in forms], loops) for at, axis in enumerate(copy.axes)]
    sides = [side for side in found if side is not None]
    is_moved = [bool(side.first.factors) and iv is None for side, iv in zip(sides, copy.ivs, strict=False)]
    return sides if len(sides) == len(found) and not any(is_moved) else None


def _side(axis: Inside, forms: Sequence[Linear], loops: Sequence[Loop]) -> _Side | None:
    factors = {loop.iv: forms[0].of(loop.iv) for loop in loops if forms[0].of(loop.iv)}
    rests = [form.plus(Linear(factors), -1) for form in forms]
    spans = [span(rest, _extent_of) for rest in rests]
    known = [each for each in spans if each is not None]
    is_uneven = any(rest.of(loop.iv) for rest in rests for loop in loops)
    if is_uneven or len(known) < len(spans) or any(factor < 0 for factor in factors.values()):
        return None
    if not factors:
        return _Side(axis, Linear({}), axis.size, 0)
    low, high = min(low for low, _ in known), max(high for _, high in known)
    reach = sum(factor * ((loop.extent or 1) - 1) for loop in loops if (factor := factors.get(loop.iv)))
    return _Side(axis, Linear(factors, low), high - low + 1, reach)


def _extent_of(iv: ir.Value) -> int | None:
    loop = normalized(iv.owner.owner.operation) if isinstance(iv, ir.BlockArgument) else None
    return None if loop is None else loop.extent
