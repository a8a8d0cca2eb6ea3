"""A stable sort of numbers by 32-bit keys in linear time (Knuth, The Art of Computer Programming 3, 5.2.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects.dl.types import FLOATS, UNSIGNED_INTS, width_of
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.indexing import element_at, insert_at
from dlc.lowering.policy import policy

_KEY_BITS, _DIGIT_BITS = width_of("i32"), width_of("i8")
_DIGITS, _BUCKETS = _KEY_BITS // _DIGIT_BITS, pow(2, _DIGIT_BITS)


@dataclass(frozen=True)
class Entries:
    """Numbers to sort, each an i64 with its key above and an index of 32 bits below, in one row of two.

    `rows` is [2, capacity], `side` the row that holds them: each digit that differs moves them to the other one.
    """

    rows: ir.Value
    side: ir.Value

    @staticmethod
    def empty(b: Builder, capacity: Extent) -> Entries:
        """Room for `capacity` entries."""
        return Entries(b.empty([2, capacity], "i64"), b.index(0))

    @staticmethod
    def entry(b: Builder, key: ir.Value, index: ir.Value) -> ir.Value:
        """The entry of an i32 key, which counts as unsigned, and an i64 index."""
        above = b.binary("arith.shli", b.create("arith.extui", [b.element("i64")], [key]), b.scalar(_KEY_BITS, "i64"))
        return b.binary("arith.ori", above, index)

    def at(self, b: Builder, place: ir.Value) -> ir.Value:
        """An entry."""
        return element_at(b, self.rows, [self.side, place])

    def index_at(self, b: Builder, place: ir.Value) -> ir.Value:
        """The index of an entry, i64."""
        return Entries.index_of(b, self.at(b, place))

    @staticmethod
    def index_of(b: Builder, entry: ir.Value) -> ir.Value:
        """The index in an entry, i64."""
        return b.binary("arith.andi", entry, b.scalar((1 << _KEY_BITS) - 1, "i64"))

    def put(self, b: Builder, entry: ir.Value, place: Extent) -> Entries:
        """With another entry at a place."""
        return Entries(insert_at(b, entry, self.rows, [self.side, place]), self.side)

    def sort(self, b: Builder, count: ir.Value) -> Entries:
        """The first `count` entries by ascending key; equal keys stay in order. Few are ranked, which needs no table."""
        zero, is_few = b.index(0), b.compare_index("le", count, b.index(policy().graph.ranked_entries))
        few, many = b.select(is_few, count, zero), b.select(is_few, zero, count)
        entries = self._ranked(b, few)
        histogram = b.loop(many, [b.full([_DIGITS, _BUCKETS], zero)], lambda place, counts: self._counted(b, place, counts))
        digits = b.select(is_few, zero, b.index(_DIGITS))
        state = [entries.rows, entries.side, *histogram]
        found = b.loop(digits, state, lambda digit, rows, side, counts: _by_digit(b, digit, Entries(rows, side), counts, count))
        return Entries(found[0], found[1])

    def _ranked(self, b: Builder, count: ir.Value) -> Entries:
        """The first `count` entries by ascending key: the place of each is the number of those that come before it."""
        zero, one = b.index(0), b.index(1)
        other = b.binary("arith.subi", one, self.side)

        def key_at(rows: ir.Value, place: ir.Value) -> ir.Value:
            return b.binary("arith.shrui", element_at(b, rows, [self.side, place]), b.scalar(_KEY_BITS, "i64"))

        def put(place: ir.Value, rows: ir.Value) -> Sequence[ir.Value]:
            own = key_at(rows, place)

            def follow(against: ir.Value, rank: ir.Value) -> Sequence[ir.Value]:
                key = key_at(rows, against)
                ties = b.binary("arith.andi", b.compare("eq", key, own, "i64"), b.compare_index("lt", against, place))
                before = b.binary("arith.ori", b.compare("lt", key, own, "i64"), ties)
                return [b.binary("arith.addi", rank, b.select(before, one, zero))]

            rank = b.loop(count, [zero], follow)[0]
            return [insert_at(b, element_at(b, rows, [self.side, place]), rows, [other, rank])]

        rows = b.loop(count, [self.rows], put)[0]
        return Entries(rows, b.select(b.compare_index("gt", count, zero), other, self.side))

    def _counted(self, b: Builder, place: ir.Value, counts: ir.Value) -> Sequence[ir.Value]:
        """`counts` with one more of each digit of an entry."""
        entry = self.at(b, place)
        for digit in range(_DIGITS):
            at = [b.index(digit), _digit_of(b, entry, b.index(digit))]
            counts = insert_at(b, b.binary("arith.addi", element_at(b, counts, at), b.index(1)), counts, at)
        return [counts]


def _by_digit(b: Builder, digit: ir.Value, entries: Entries, counts: ir.Value, count: ir.Value) -> Sequence[ir.Value]:
    """One pass of the sort; nothing moves where all entries have one digit."""

    def start(bucket: ir.Value, counts: ir.Value, before: ir.Value, most: ir.Value) -> Sequence[ir.Value]:
        own = element_at(b, counts, [digit, bucket])
        after = b.binary("arith.addi", before, own)
        return [insert_at(b, before, counts, [digit, bucket]), after, b.binary("arith.maxsi", most, own)]

    counts, _, most = b.loop(_BUCKETS, [counts, b.index(0), b.index(0)], start)
    stays = b.compare_index("eq", most, count)
    other = b.binary("arith.subi", b.index(1), entries.side)

    def move(place: ir.Value, rows: ir.Value, starts: ir.Value) -> Sequence[ir.Value]:
        entry = element_at(b, rows, [entries.side, place])
        at = [digit, _digit_of(b, entry, digit)]
        target = element_at(b, starts, at)
        starts = insert_at(b, b.binary("arith.addi", target, b.index(1)), starts, at)
        return [insert_at(b, entry, rows, [other, target]), starts]

    rows, counts = b.loop(b.select(stays, b.index(0), count), [entries.rows, counts], move)
    return [rows, b.select(stays, entries.side, other), counts]


def _digit_of(b: Builder, entry: ir.Value, digit: ir.Value) -> ir.Value:
    """A digit of an entry's key as an index; digit 0 is the lowest."""
    shift = b.binary("arith.addi", b.binary("arith.muli", digit, b.index(_DIGIT_BITS)), b.index(_KEY_BITS))
    moved = b.binary("arith.shrui", entry, b.index_cast(shift, b.element("i64")))
    return b.index_cast(b.binary("arith.andi", moved, b.scalar(_BUCKETS - 1, "i64")), ir.IndexType.get())


def key_words(b: Builder, element: ir.Value, dtype: str) -> list[ir.Value]:
    """i32 words, the greater first, that order elements as unsigned numbers: NaN is the greatest, and -0 equals 0."""
    if dtype in FLOATS:
        return _words(b, *_float_key(b, element, dtype))
    if dtype == "i1":
        return [b.convert(element, "i1", "i32")]
    width = width_of(dtype)
    wide = "i64" if width == 64 else "i32"
    key = b.convert(element, dtype, wide)
    if dtype not in UNSIGNED_INTS:
        key = b.binary("arith.xori", key, b.scalar(1 << (width_of(wide) - 1), wide))
    return _words(b, key, wide)


def _float_key(b: Builder, element: ir.Value, dtype: str) -> tuple[ir.Value, str]:
    """The bits of a number, changed so that they ascend as an unsigned integer, and the type of that."""
    wide, bits = ("f64", "i64") if dtype == "f64" else ("f32", "i32")
    value = b.arith("add", b.widen(element, dtype), b.scalar(0.0, wide), wide)
    raw = b.create("arith.bitcast", [b.element(bits)], [value])
    last = width_of(bits) - 1
    sign = b.binary("arith.shrsi", raw, b.scalar(last, bits))
    key = b.binary("arith.xori", raw, b.binary("arith.ori", sign, b.scalar(1 << last, bits)))
    return b.select(b.compare("uno", value, value, wide), b.scalar(-1, bits), key), bits


def _words(b: Builder, key: ir.Value, dtype: str) -> list[ir.Value]:
    if dtype == "i32":
        return [key]
    word = [b.element("i32")]
    upper = b.binary("arith.shrui", key, b.scalar(_KEY_BITS, "i64"))
    return [b.create("arith.trunci", word, [part]) for part in (upper, key)]
