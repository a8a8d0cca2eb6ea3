"""Where the values of a loop body live while it is emitted again for a whole tile of iterations."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dlc._mlir import ir, vector
from dlc.lowering.affine.ir.expressions import shifted
from dlc.lowering.affine.ir.loops import apply
from dlc.lowering.affine.ir.masks import LaneMask

Instance = Mapping[int, int]
"""Which copy of the body is meant: for every tile dimension, the index of the copy along it."""


@dataclass(frozen=True)
class TileDim:
    """One tiled loop: `count` copies of the body, `step` iterations apart, from `start` on."""

    iv: ir.Value
    start: ir.Value
    count: int
    step: int = 1


@dataclass(frozen=True)
class ValueCopies:
    """The copies of one value: one for each index along the tile dimensions `dims` that it depends on."""

    dims: tuple[int, ...]
    copies: dict[tuple[int, ...], ir.Value]
    is_vector: bool = False
    offset: int = 0
    """What is to be added to each copy, an index."""


@dataclass
class TileValues:
    """Maps the values of the old body to those of the new one.

    `dims` are the tile's dimensions. `dims[lane_dim]`, if any, counts vectors of `lanes` iterations, and `masks[number]` says
    which lanes of each are iterations of the loop (None: all).
    """

    dims: list[TileDim]
    lanes: int = 0
    lane_dim: int | None = None
    masks: Sequence[LaneMask | None] = ()
    entries: dict[ir.Value, ValueCopies] = field(default_factory=dict)
    _splats: list[dict[ir.Value, ir.Value]] = field(default_factory=lambda: [{}])

    def dims_of(self, values: Sequence[ir.Value]) -> tuple[int, ...]:
        """The tile dimensions that any of `values` depends on, in order."""
        found: set[int] = set()
        for value in values:
            if value in self.entries:
                found.update(self.entries[value].dims)
            else:
                found.update(place for place, dim in enumerate(self.dims) if dim.iv == value)
        return tuple(sorted(found))

    def instances(self, dims: Sequence[int]) -> Iterator[Instance]:
        """Every copy along `dims`."""
        for indices in itertools.product(*(range(self.dims[place].count) for place in dims)):
            yield dict(zip(dims, indices, strict=True))

    def define(self, old: ir.Value, dims: Sequence[int], copies: Sequence[ir.Value], is_vector: bool) -> None:
        """Record the new copies of `old`, in the order of `instances(dims)`."""
        keys = [tuple(instance.values()) for instance in self.instances(dims)]
        self.entries[old] = ValueCopies(tuple(dims), dict(zip(keys, copies, strict=True)), is_vector)

    def define_index(self, old: ir.Value, new: ir.Value, offset: int = 0) -> None:
        """Let `new + offset` stand for the index `old` in all copies."""
        self.entries[old] = ValueCopies((), {(): new}, offset=offset)

    def is_vector(self, value: ir.Value) -> bool:
        """Whether the new copies of `value` differ between lanes."""
        if value in self.entries:
            return self.entries[value].is_vector
        return self.lane_dim is not None and self.dims[self.lane_dim].iv == value

    def mask(self, at: Instance) -> LaneMask | None:
        """The mask of the vectors at `at`, None when all lanes count."""
        return None if self.lane_dim is None else self.masks[at[self.lane_dim]]

    def lane_offset(self, subscripts: Sequence[ir.Value], lane: int) -> dict[int, int]:
        """The offsets that move `subscripts` to lane `lane`, by operand position."""
        if self.lane_dim is None or lane == 0:
            return {}
        iv = self.dims[self.lane_dim].iv
        return {place: lane for place, operand in enumerate(subscripts) if operand == iv}

    def scalar(self, value: ir.Value, at: Instance) -> ir.Value:
        """The copy of `value` at `at`, whatever its type."""
        entry = self.entries.get(value)
        if entry is not None:
            copy = entry.copies[tuple(at[place] for place in entry.dims)]
            return apply(shifted(ir.AffineMap.get_identity(1), {0: entry.offset}), [copy]) if entry.offset else copy
        for place, dim in enumerate(self.dims):
            if dim.iv == value:
                return apply(shifted(ir.AffineMap.get_identity(1), {0: at[place] * dim.step}), [dim.start])
        return value

    def start_of(self, index: ir.Value) -> ir.Value:
        """The index `index` of the tile's first iteration."""
        tiled = next((dim.start for dim in self.dims if dim.iv == index), None)
        return self.scalar(index, {}) if tiled is None else tiled

    def vector(self, value: ir.Value, at: Instance) -> ir.Value:
        """The copy of `value` at `at` with one element per lane."""
        if not self.is_vector(value):
            return self.splat(self.scalar(value, at))
        if value in self.entries:
            return self.scalar(value, at)
        step = vector.StepOp(self.vector_type(value.type)).result
        return ir.Operation.create("arith.addi", results=[step.type], operands=[self.splat(self.scalar(value, at)), step]).results[
            0
        ]

    def vector_type(self, element: ir.Type) -> ir.VectorType:
        """The type of a vector with one `element` per lane."""
        return ir.VectorType.get([self.lanes], element)

    def splat(self, scalar: ir.Value) -> ir.Value:
        """A vector that holds `scalar` in every lane; built once for each enclosing loop body."""
        for known in self._splats:
            if scalar in known:
                return known[scalar]
        owner = scalar.owner
        if isinstance(owner, ir.Block) or owner.name != "arith.constant":
            made = vector.BroadcastOp(self.vector_type(scalar.type), scalar).result
        else:
            made = splat_constant(self.vector_type(scalar.type), owner.attributes["value"])
        self._splats[-1][scalar] = made
        return made

    def enter_body(self) -> None:
        """Call when emission moves into a loop body; what is built there is not visible outside."""
        self._splats.append({})

    def leave_body(self) -> None:
        """Call when emission leaves the loop body again."""
        self._splats.pop()

    def subscripts(self, operands: Sequence[ir.Value], indexing: ir.AffineMap, at: Instance) -> tuple[ir.AffineMap, list[ir.Value]]:
        """`indexing(operands)` at copy `at`: a map that adds the copy's offsets, and its operands."""
        new, offsets = [], {}
        for place, operand in enumerate(operands):
            entry = self.entries.get(operand)
            if entry is not None:
                new.append(entry.copies[tuple(at[index] for index in entry.dims)])
                offsets[place] = entry.offset
                continue
            tiled = next((index for index, dim in enumerate(self.dims) if dim.iv == operand), None)
            new.append(operand if tiled is None else self.dims[tiled].start)
            offsets[place] = 0 if tiled is None else at[tiled] * self.dims[tiled].step
        return shifted(indexing, offsets), new


def splat_constant(kind: ir.VectorType, value: ir.Attribute) -> ir.Value:
    """A constant vector with `value` in every lane."""
    dense = ir.DenseElementsAttr.get_splat(kind, value)
    return ir.Operation.create("arith.constant", results=[kind], attributes={"value": dense}).results[0]


def zeros(kind: ir.VectorType, location: ir.Location | None = None) -> ir.Value:
    """A constant vector of zeros: what lanes hold that are masked off."""
    element = kind.element_type
    zero = ir.FloatAttr.get(element, 0.0) if isinstance(element, ir.FloatType) else ir.IntegerAttr.get(element, 0)
    with location or ir.Location.current:
        return splat_constant(kind, zero)
