"""Emits the body of a nest over sliding windows for one tile of positions, its taps unrolled and its loads shared."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from dlc._mlir import affine, ir, vector
from dlc.lowering.affine.codegen.window_loads import WindowLoads, map_of
from dlc.lowering.affine.codegen.window_values import Fill, Product, constant, fold, lane_mask, mask_within, splat
from dlc.lowering.affine.codegen.windows import PaddedAxis, Place, TileAxis, WindowLoad, Windows
from dlc.lowering.affine.ir.accesses import access_of
from dlc.lowering.affine.ir.expressions import Linear, result_maps
from dlc.lowering.affine.ir.loops import Bound, Loop, apply, build_for, normalized, real_ops

Copy = tuple[int, ...]


@dataclass
class WindowEmitter:
    """Emits a tile: `places` of the plain loops, `tile` of the others, of which `lane_axis` counts vectors of `lanes`.

    Every value has one copy for each position of the tile; equal copies are emitted once.
    """

    windows: Windows
    lanes: int
    tile: Sequence[TileAxis]
    lane_axis: int
    places: dict[ir.Value, Place]
    rolled: Loop | None
    edges: Collection[ir.Value] = ()
    """Loops that are at places where taps may fall outside, which run time knows."""
    values: dict[ir.Value, list[object]] = field(default_factory=dict)
    _seen: list[dict[object, object]] = field(default_factory=lambda: [{}])

    def __post_init__(self) -> None:
        self._copies: list[Copy] = list(itertools.product(*(range(axis.count) for axis in self.tile)))
        self._loads = WindowLoads(self.lanes, self._once)
        self._slides = {slide.op.results[0]: slide for slide in self.windows.slides if slide.copy is not None}

    def ops(self, ops: Sequence[ir.Operation]) -> None:
        """Emit `ops`, in order."""
        for op in ops:
            with op.location:
                if op.name == "affine.for":
                    self._loop(op)
                elif op.name == "affine.store":
                    self._store(op)
                elif op.name == "affine.load":
                    self.values[op.results[0]] = [self._load(op, copy) for copy in self._copies]
                else:
                    self._compute(op)

    # Loops

    def _loop(self, op: ir.Operation) -> None:
        loop = normalized(op)
        assert loop is not None and loop.extent is not None
        body = loop.body
        carried = [[self._get(init, index) for index in range(len(self._copies))] for init in loop.inits]
        if self.rolled is not None and loop.iv == self.rolled.iv:
            ends = self._rolled_loop(loop, carried)
        else:
            ends = carried
            for step in range(loop.extent):
                self.places[loop.iv] = (None, step)
                ends = self._iteration(body, ends)
        self.values.update(zip(op.results, ends, strict=True))

    def _iteration(self, body: ir.Block, carried: list[list[object]]) -> list[list[object]]:
        self.values.update(zip(list(body.arguments)[1:], carried, strict=True))
        self.ops(real_ops(body))
        ends = list(list(body.operations)[-1].operands)
        return [[self._get(end, index) for index in range(len(self._copies))] for end in ends]

    def _rolled_loop(self, loop: Loop, carried: list[list[object]]) -> list[list[object]]:
        """The outermost taps as a loop, over those that fall inside."""
        kinds = [argument.type for argument in list(loop.body.arguments)[1:]]
        inits = [self._vector(value, kind) for values, kind in zip(carried, kinds, strict=True) for value in values]
        lower, upper = self._tap_bounds(loop)
        made = build_for(lower, upper, 1, inits)
        block = made.regions[0].blocks[0]
        self.places[loop.iv] = (block.arguments[0], 0)
        count = len(self._copies)
        share = list(block.arguments)[1:]
        inside = [list[object](share[at * count : (at + 1) * count]) for at in range(len(kinds))]
        with ir.InsertionPoint(block):
            self._seen.append({})
            ends = self._iteration(loop.body, inside)
            flat = [self._vector(value, kind) for values, kind in zip(ends, kinds, strict=True) for value in values]
            affine.AffineYieldOp(flat)
            self._seen.pop()
        results = list(made.results)
        return [list[object](results[at * count : (at + 1) * count]) for at in range(len(kinds))]

    def _tap_bounds(self, loop: Loop) -> tuple[Bound, Bound]:
        """The taps of `loop` that fall inside at the current position, the intersection over all slides."""
        lowers: list[ir.AffineExpr] = [ir.AffineExpr.get_constant(0)]
        uppers: list[ir.AffineExpr] = [ir.AffineExpr.get_constant(loop.extent)]
        operands: list[ir.Value] = []
        for axis in self._rolled_axes(loop):
            base, offset = self.places[axis.band.iv]
            at: ir.AffineExpr = ir.AffineExpr.get_constant(offset)
            if base is not None:
                at = ir.AffineExpr.get_dim(len(operands)) + offset
                operands.append(base)
            place = at * axis.band_factor + axis.offset
            inside, safe = axis.inside, axis.safe()
            if safe[0] > 0:
                lowers.append(ir.AffineExpr.get_ceil_div(inside.begin - place, axis.tap_factor))
            if safe[1] < (axis.band.extent or 0):
                uppers.append(ir.AffineExpr.get_ceil_div(inside.begin + inside.extent - place, axis.tap_factor))
        dims = len(operands)
        bounds = [Bound(ir.AffineMap.get(dims, 0, each), tuple(operands)) for each in (lowers, uppers)]
        return bounds[0], bounds[1]

    def _rolled_axes(self, loop: Loop) -> Iterator[PaddedAxis]:
        for slide in self._slides.values():
            yield from (axis for axis in slide.axes if axis.tap is not None and axis.tap.iv == loop.iv)

    # Values

    def _get(self, value: ir.Value, index: int) -> object:
        """The copy of `value` at the tile's position number `index`."""
        copies = self.values.get(value)
        return value if copies is None else copies[index]

    def _vector(self, value: object, kind: ir.Type) -> ir.Value:
        """`value` with one element for each lane."""
        found = self._emitted(value)
        if isinstance(found.type, ir.VectorType):
            return found
        return self._once(("splat", found), lambda: splat(ir.VectorType.get([self.lanes], kind), found))

    def _emitted(self, value: object) -> ir.Value:
        """`value` as a value of the new code."""
        if isinstance(value, Fill):
            fill = value.value
            return self._once(("fill", fill), lambda: constant(fill))
        if isinstance(value, Product):
            return self._multiplied(value)
        assert isinstance(value, ir.Value)
        return value

    def _multiplied(self, product: Product) -> ir.Value:
        key = ("product", product.op.results[0], product.lhs, product.rhs)
        return self._once(key, lambda: self._create(product.op, [product.lhs, product.rhs]))

    def _once(self, key: object, make: Callable[[], ir.Value]) -> ir.Value:
        """What `make` emits, or what it emitted for an equal `key` where that is visible."""
        for seen in self._seen:
            if key in seen:
                return seen[key]
        found = make()
        self._seen[-1][key] = found
        return found

    # Computations

    def _compute(self, op: ir.Operation) -> None:
        self.values[op.results[0]] = [
            self._computed(op, [self._get(operand, index) for operand in op.operands]) for index in range(len(self._copies))
        ]

    def _computed(self, op: ir.Operation, operands: list[object]) -> object:
        folded = fold(op, operands)
        if folded is not None:
            return folded
        fused = self._multiply_add(op, operands)
        if fused is not None:
            return fused
        given = [self._emitted(operand) for operand in operands]
        if op.name == "arith.mulf" and _feeds_a_sum(op):
            return Product(op, *given)
        key = (op.results[0], *given)
        return self._once(key, lambda: self._create(op, given))

    def _multiply_add(self, op: ir.Operation, operands: list[object]) -> ir.Value | None:
        """The sum of a product and something else as one instruction, on vectors."""
        products = [operand for operand in operands if isinstance(operand, Product)]
        if op.name != "arith.addf" or len(products) != 1:
            return None
        product = products[0]
        other = operands[1] if operands[0] is product else operands[0]
        start = self._emitted(other)
        parts = [product.lhs, product.rhs, start]
        if not any(isinstance(part.type, ir.VectorType) for part in parts):
            return None
        kind = op.results[0].type
        lhs, rhs, addend = (self._vector(part, kind) for part in parts)
        return self._once(("fma", lhs, rhs, addend), lambda: vector.FMAOp(lhs, rhs, addend).result)

    def _create(self, op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
        kind = op.results[0].type
        if any(isinstance(operand.type, ir.VectorType) for operand in operands):
            operands = [self._vector(value, old.type) for value, old in zip(operands, op.operands, strict=True)]
            kind = ir.VectorType.get([self.lanes], kind)
        return ir.Operation.create(op.name, results=[kind], operands=operands, attributes=dict(op.attributes.items())).results[0]

    # Memory

    def _load(self, op: ir.Operation, copy: Copy) -> object:
        slide = self._slides.get(op.results[0])
        forms = [form for form in access_of(op).subscripts or () if form is not None]
        places = [self._at(form, copy) for form in forms]
        first, last = 0, self._valid(copy)
        buffer, fill = op.operands[0], None
        stride = self.windows.facts.strides[op]
        if slide is not None and slide.copy is not None:
            fill = slide.copy.fill
            first, last = self._inside(slide, places, stride, last)
            if first >= last:
                return Fill(fill)
            buffer, places = slide.copy.source, slide.copy.source_forms(places)
        key = ("load", buffer, tuple(place.key for place in places), stride, first, last)
        mask = self._guard(slide, copy, last)
        if mask is not None:
            return self._once(key, lambda: self._loads.guarded(op, buffer, places, mask, fill))
        in_row = bool(forms) and forms[-1].of(self.windows.lane_loop.iv) == stride and self._has_rows(slide, buffer, places)
        if in_row and self._loads.share_vectors(op, buffer, stride):
            return self._once(key, lambda: self._loads.of_row(op, buffer, places, stride, fill))
        return self._once(key, lambda: self._loads.load(op, buffer, places, stride, (first, last), fill))

    def _guard(self, slide: WindowLoad | None, copy: Copy, last: int) -> ir.Value | None:
        """The mask of a load that may fall outside at an edge: `last` lanes inside, none outside; None for other loads."""
        axes = [axis for axis in slide.axes if axis.is_open and axis.band.iv in self.edges] if slide is not None else []
        if not axes:
            return None
        places = [(self._at(axis.place, copy), axis.extent) for axis in axes]
        key = ("guard", last, *((place.key, extent) for place, extent in places))
        return self._once(key, lambda: mask_within(self.lanes, last, places))

    def _has_rows(self, slide: WindowLoad | None, buffer: ir.Value, places: Sequence[Linear]) -> bool:
        """Whether `places` is at a known element of a row of `buffer`, all of which the tile's load may read."""
        if places[-1].factors or ir.MemRefType(buffer.type).is_dynamic_dim(len(places) - 1):
            return False
        return slide is None or slide.copy is None or slide.copy.has_whole_rows

    def _inside(self, slide: WindowLoad, places: Sequence[Linear], stride: int, last: int) -> tuple[int, int]:
        """The lanes `first` to `last` of a load that fall inside; no lane when the whole of it is outside."""
        assert slide.copy is not None
        first = 0
        for axis, place, form in zip(slide.copy.axes, places, slide.places, strict=True):
            if axis.is_whole or place.factors:
                continue
            at = place.constant - axis.begin
            step = form.of(self.windows.lane_loop.iv)
            if step == 0:
                last = last if 0 <= at < axis.extent else 0
                continue
            first = max(first, -(at // step))
            last = min(last, (axis.extent - 1 - at) // step + 1)
        return first, last

    def _valid(self, copy: Copy) -> int:
        """The lanes of the vector at `copy` that are iterations of the lane loop."""
        axis = self.tile[self.lane_axis]
        base, offset = axis.place
        extent = self.windows.lane_loop.extent
        assert extent is not None
        return self.lanes if base is not None else min(self.lanes, extent - offset - copy[self.lane_axis] * axis.step)

    def _store(self, op: ir.Operation) -> None:
        value, buffer = op.operands[0], op.operands[1]
        forms = [form for form in access_of(op).subscripts or () if form is not None]
        for index, copy in enumerate(self._copies):
            whole = self._vector(self._get(value, index), value.type)
            indexing, operands = map_of([self._at(form, copy) for form in forms])
            valid = self._valid(copy)
            if valid == self.lanes:
                affine.AffineVectorStoreOp(whole, buffer, operands, indexing)
                continue
            lanes = (0, valid)
            mask = self._once(("mask", lanes), partial(lane_mask, self.lanes, lanes))
            indices = [apply(single, operands) for single in result_maps(indexing)]
            vector.MaskedStoreOp(buffer, indices, mask, whole)

    def _at(self, form: Linear, copy: Copy) -> Linear:
        """`form` in terms of the new loops at position `copy`, for lane 0."""
        total = Linear({}, form.constant)
        tiled = {axis.iv: (axis, index) for axis, index in zip(self.tile, copy, strict=True)}
        for iv, factor in form.factors.items():
            offset = 0
            if iv in tiled:
                axis, index = tiled[iv]
                base, offset = axis.place
                offset += index * axis.step
            else:
                base, offset = self.places.get(iv, (iv, 0))
            total = total.plus(Linear({base: 1} if base is not None else {}, offset), factor)
        return total


def _feeds_a_sum(op: ir.Operation) -> bool:
    """Whether the product `op` has one use, a sum."""
    uses = list(op.results[0].uses)
    return len(uses) == 1 and uses[0].owner.name == "arith.addf"
