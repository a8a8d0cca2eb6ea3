"""How one nest becomes code, as data and as an attribute in the IR.

    affine.for %i = 0 to 128 { ... } {dlc.parallel, dlc.schedule = {code_generator = "tile", lane_loop = 1 : i64, lanes = 16 : i64,
        vectors = 3 : i64, unroll_and_jam = [array<i64: 0, 8>], order = array<i64: 1, 0>, unroll = 4 : i64, prefetch = 2 : i64}}

Loops go by their position in the nest: 0, 1, ... for the band from the outside in, then the reduction loops. The attribute
stands on the outermost loop of the nest; what a code generator finds there it does, and what it did it leaves on the first
loop that it makes. A field that is left out has its default.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dlc._mlir import ir
from dlc.errors import quoted
from dlc.lowering.affine.ir.loops import SCHEDULE
from dlc.lowering.pass_base import PassFailure

CODE_GENERATORS = {
    "tile": "affine-tile-registers",
    "windows": "affine-tile-windows",
    "rows": "affine-vectorize-loops",
    "transpose": "affine-transpose-tiles",
    "generic": "affine-schedule-generic",
}
"""What makes the code of a nest, and the pass that does."""
FORMER_NAMES: Mapping[str, str] = {"emitter": "code_generator"}
"""Fields that schedules of older versions call otherwise, and what they are called now."""
REMEDY = "change the schedule, or leave it out for the cost model's"


class TileError(ValueError):
    """A tile that says nothing sensible or does not fit its nest; the message says why."""


@dataclass(frozen=True)
class Tile:
    """How one nest becomes code: what a schedule says of its loops, which go by position."""

    code_generator: str = "tile"
    lane_loop: int = 0
    """The loop whose iterations are the lanes of vectors."""
    lanes: int = 1
    """Elements of a vector."""
    vectors: int = 1
    """Vectors of a step of the lane loop."""
    unroll_and_jam: tuple[tuple[int, int], ...] = ()
    """(loop, copies) of each other parallel loop that is unrolled into the tile."""
    order: tuple[int, ...] = ()
    """The band from the outside in, or all loops of a band nest; empty for the order of the source."""
    unroll: int = 1
    """Steps of the innermost reduction loop that stand in its body."""
    prefetch: int = 0
    """The level of cache (1, 2, 3) that the next panels of operands are fetched into; 0 fetches none."""
    fetch_rows: int = 0
    """The same for the next rows of operands that all lanes share."""
    blocks: tuple[tuple[int, int], ...] = ()
    """(loop, iterations of a block) of the cache-blocking loops around all others, from the outside in: parallel loops, and the
    outermost reduction loop, whose blocks add to the result one after the other."""
    pack: int = 0
    """1: what the vectors of a block read is copied in front of it, in the order of its tiles."""

    @cached_property
    def body_copies(self) -> int:
        """How many times the body stands in the tile, not counting `unroll`."""
        total = self.vectors
        for _, count in self.unroll_and_jam:
            total *= count
        return total

    @cached_property
    def width(self) -> int:
        """Iterations of a step of the lane loop."""
        return self.lanes * self.vectors

    @cached_property
    def vector_loop(self) -> int | None:
        """The lane loop; None for a tile without vectors."""
        return self.lane_loop if self.lanes > 1 else None

    @cached_property
    def copied_loop(self) -> int | None:
        """The first loop that is unrolled and jammed; None where none is."""
        return self.unroll_and_jam[0][0] if self.unroll_and_jam else None

    @property
    def copies(self) -> int:
        """Copies of the body beside those of vectors."""
        return self.body_copies // self.vectors

    def attribute(self) -> ir.DictAttr:
        """The tile as the value of `dlc.schedule`, without the fields that have their defaults.

        `TileError` for a field of another kind.
        """
        if not isinstance(self.code_generator, str):
            raise TileError(f"'code_generator' of a schedule cannot be {quoted(self.code_generator)}")
        fields: dict[str, ir.Attribute] = {"code_generator": ir.StringAttr.get(self.code_generator)}
        for field in dataclasses.fields(self)[1:]:
            value = getattr(self, field.name)
            if isinstance(value, bool) or value != field.default:
                fields[field.name] = _attribute_of(field.name, value)
        return ir.DictAttr.get(fields)

    @staticmethod
    def parse(attribute: ir.Attribute) -> Tile:
        """The inverse of `attribute`; `TileError` when it is no tile."""
        if not isinstance(attribute, ir.DictAttr):
            raise TileError(f"a schedule is a dictionary, not {attribute}")
        defaults = {field.name: field.default for field in dataclasses.fields(Tile)}
        given: dict[str, Any] = {}
        for named in attribute:
            name = FORMER_NAMES.get(named.name, named.name)
            if name not in defaults:
                raise TileError(f"a schedule has no '{name}' (fields: {', '.join(defaults)})")
            given[name] = _value_of(name, named.attr, defaults[name])
        tile = Tile(**given)
        if tile.code_generator not in CODE_GENERATORS:
            known = ", ".join(CODE_GENERATORS)
            raise TileError(f"no code generator is called '{tile.code_generator}' (code generators: {known})")
        return tile


def _attribute_of(name: str, value: object) -> ir.Attribute:
    """A number of 64 bits, some of them, or pairs of them."""
    if _is_number(value):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
    entries = list(value) if isinstance(value, (tuple, list)) else [None]
    if all(map(_is_number, entries)):
        return ir.DenseI64ArrayAttr.get(entries)
    if all(isinstance(pair, (tuple, list)) and len(pair) == 2 and all(map(_is_number, pair)) for pair in entries):
        return ir.ArrayAttr.get([ir.DenseI64ArrayAttr.get(pair) for pair in entries])
    raise TileError(f"'{name}' of a schedule cannot be {quoted(value)}")


def _is_number(value: object) -> bool:
    """Whether it is an integer that 64 bits hold."""
    return isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 64


def _value_of(name: str, attribute: ir.Attribute, default: object) -> Any:
    if isinstance(default, str) and isinstance(attribute, ir.StringAttr):
        return attribute.value
    if isinstance(default, int) and isinstance(attribute, ir.IntegerAttr):
        return int(attribute.value)
    has_pairs = isinstance(attribute, ir.ArrayAttr) and all(
        isinstance(pair, ir.DenseI64ArrayAttr) and len(pair) == 2 for pair in attribute
    )
    if name in ("unroll_and_jam", "blocks") and has_pairs:
        return tuple(tuple(ir.DenseI64ArrayAttr(pair)) for pair in attribute)
    if name == "order" and isinstance(attribute, ir.DenseI64ArrayAttr):
        return tuple(attribute)
    raise TileError(f"'{name}' of a schedule cannot be {attribute}")


def tile_at(op: ir.Operation) -> Tile | None:
    """The tile that stands on the loop `op`, None when there is none; `PassFailure` when it is none."""
    if SCHEDULE not in op.attributes:
        return None
    try:
        return Tile.parse(op.attributes[SCHEDULE])
    except TileError as error:
        raise PassFailure(op, str(error), REMEDY) from None
