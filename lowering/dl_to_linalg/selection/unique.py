"""Lowering of unique: slices are sorted by their elements' keys, and those that differ from the one before begin a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.indexing import element_at, insert_at
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.building.radix import Entries, key_words
from dlc.lowering.dl_to_linalg.building.top_k_keys import MOST_PLACES
from dlc.lowering.dl_to_linalg.selection.select import slices_at


@lowering("unique")
def lower_unique(b: Builder, op: SourceOp) -> Sequence[ir.Value]:
    """Sort, count the groups, list them; in the order of x they are numbered again by their first slices."""
    x = op.operands[0]
    axis = op["axis"] % op.types[0].rank
    count = b.dim(x, axis)
    b.require_at_most(("the number of slices", count), ("the most that can be sorted", MOST_PLACES))
    slices = _Slices(_keys(b, op, x, axis), b.index(count))
    order = slices.sorted(b)
    starts, num_groups = slices.group_starts(b, order)
    groups = _Groups.of(b, order, starts, num_groups, count)
    if not op["sorted"]:
        groups = groups.in_order_of_x(b, count)
    return [slices_at(b, x, axis, groups.first), groups.first, groups.inverse, groups.sizes]


def _keys(b: Builder, op: SourceOp, x: ir.Value, axis: int) -> list[ir.Value]:
    """Words of the elements' keys, the greater first: each [elements of a slice, slices] i32."""
    kind, rank = op.types[0], op.types[0].rank
    others = [at for at in range(rank) if at != axis]
    shape = b.shape(x)
    wide = 2 if kind.dtype in ("f64", "i64", "ui64") else 1
    outs = [b.empty([*(shape[at] for at in others), shape[axis]], "i32") for _ in range(wide)]
    places = [ir.AffineExpr.get_dim(rank - 1 if at == axis else others.index(at)) for at in range(rank)]
    maps = [ir.AffineMap.get(rank, 0, places), *[ir.AffineMap.get_identity(rank)] * wide]
    words = b.generics([x], outs, maps, [PARALLEL] * rank, lambda element, *_: key_words(b, element, kind.dtype))
    if rank == 1:
        return [b.expand(word, [[0, 1]], [1, shape[axis]]) for word in words]
    return [b.collapse(word, [list(range(rank - 1)), [rank - 1]]) for word in words]


@dataclass(frozen=True)
class _Slices:
    """Keys of `count` slices; see `_keys`."""

    words: Sequence[ir.Value]
    count: ir.Value

    def sorted(self, b: Builder) -> Entries:
        """The slices' indices by ascending keys: one sort for each word, from the last to the first."""
        length = b.dim(self.words[0], 0)
        start = Entries.empty(b, self.count)
        listed = b.loop(
            self.count, [start.rows], lambda place, rows: [Entries(rows, start.side).put(b, _i64(b, place), place).rows]
        )

        def by_element(step: ir.Value, rows: ir.Value, side: ir.Value) -> Sequence[ir.Value]:
            element = b.binary("arith.subi", b.index(b.extent("sub", length, 1)), step)
            entries = Entries(rows, side)
            for words in reversed(self.words):
                entries = self._by_word(b, entries, words, element)
            return [entries.rows, entries.side]

        return Entries(*b.loop(length, [listed[0], start.side], by_element))

    def _by_word(self, b: Builder, entries: Entries, words: ir.Value, element: ir.Value) -> Entries:
        """The entries sorted by one word of all slices."""

        def fill(place: ir.Value, rows: ir.Value) -> Sequence[ir.Value]:
            at = Entries(rows, entries.side)
            index = at.index_at(b, place)
            key = element_at(b, words, [element, _index(b, index)])
            return [at.put(b, Entries.entry(b, key, index), place).rows]

        rows = b.loop(self.count, [entries.rows], fill)[0]
        return Entries(rows, entries.side).sort(b, self.count)

    def group_starts(self, b: Builder, order: Entries) -> tuple[ir.Value, ir.Value]:
        """Per place in the order 1 where a group begins, else 0 (i64), and how many do (an index)."""

        def compare(place: ir.Value, starts: ir.Value, total: ir.Value) -> Sequence[ir.Value]:
            before = b.binary("arith.maxsi", b.binary("arith.subi", place, b.index(1)), b.index(0))
            own, other = (_index(b, order.index_at(b, at)) for at in (place, before))
            first = b.compare_index("eq", place, b.index(0))

            def differs(element: ir.Value, found: ir.Value) -> Sequence[ir.Value]:
                for words in self.words:
                    left, right = (element_at(b, words, [element, at]) for at in (own, other))
                    found = b.binary("arith.ori", found, b.compare("ne", left, right, "i32"))
                return [found]

            begins = b.loop(b.dim(self.words[0], 0), [first], differs)[0]
            begins = b.create("arith.extui", [b.element("i64")], [begins])
            return [insert_at(b, begins, starts, [place]), b.binary("arith.addi", total, begins)]

        starts, total = b.loop(self.count, [b.empty([self.count], "i64"), b.scalar(0, "i64")], compare)
        return starts, _index(b, total)


@dataclass(frozen=True)
class _Groups:
    """Groups of equal slices, i64: the first slice and the size of each, and the group of each slice."""

    first: ir.Value
    sizes: ir.Value
    inverse: ir.Value

    @staticmethod
    def of(b: Builder, order: Entries, starts: ir.Value, num_groups: ir.Value, count: Extent) -> _Groups:
        """One pass over the order, in which groups are runs."""

        def visit(place: ir.Value, first: ir.Value, sizes: ir.Value, inverse: ir.Value, group: ir.Value) -> Sequence[ir.Value]:
            slice_, start = order.index_at(b, place), element_at(b, starts, [place])
            group = b.binary("arith.addi", group, start)
            at = [_index(b, group)]
            begins = b.compare("ne", start, b.scalar(0, "i64"), "i64")
            lead = b.select(begins, slice_, element_at(b, first, at))
            before = b.select(begins, b.scalar(0, "i64"), element_at(b, sizes, at))
            size = b.binary("arith.addi", before, b.scalar(1, "i64"))
            inverse = insert_at(b, group, inverse, [_index(b, slice_)])
            return [insert_at(b, lead, first, at), insert_at(b, size, sizes, at), inverse, group]

        outs = [b.empty([num_groups], "i64"), b.empty([num_groups], "i64"), b.empty([count], "i64"), b.scalar(-1, "i64")]
        return _Groups(*b.loop(count, outs, visit)[:3])

    def in_order_of_x(self, b: Builder, count: Extent) -> _Groups:
        """The groups by their first slices."""
        none, num_groups = b.scalar(-1, "i64"), b.dim(self.first, 0)

        def mark(group: ir.Value, marks: ir.Value) -> Sequence[ir.Value]:
            return [insert_at(b, _i64(b, group), marks, [_index(b, element_at(b, self.first, [group]))])]

        marks = b.loop(num_groups, [b.full([count], none)], mark)[0]

        def number(place: ir.Value, numbers: ir.Value, first: ir.Value, sizes: ir.Value, group: ir.Value) -> Sequence[ir.Value]:
            old = element_at(b, marks, [place])
            is_first = b.compare("ge", old, b.scalar(0, "i64"), "i64")
            # What is written where no group begins is what stands there, or is written again by the next that begins.
            at = [_index(b, b.binary("arith.maxsi", old, b.scalar(0, "i64")))]
            numbers = insert_at(b, b.select(is_first, group, element_at(b, numbers, at)), numbers, at)
            where = [b.extent("min", _index(b, group), b.extent("sub", num_groups, 1))]
            lead = b.select(is_first, _i64(b, place), element_at(b, first, where))
            size = b.select(is_first, element_at(b, self.sizes, at), element_at(b, sizes, where))
            step = b.select(is_first, b.scalar(1, "i64"), b.scalar(0, "i64"))
            first, sizes = insert_at(b, lead, first, where), insert_at(b, size, sizes, where)
            return [numbers, first, sizes, b.binary("arith.addi", group, step)]

        outs = [b.empty([num_groups], "i64") for _ in range(3)]
        numbers, first, sizes = b.loop(count, [*outs, b.scalar(0, "i64")], number)[:3]
        identity = ir.AffineMap.get_identity(1)

        def renumber(group: ir.Value, _: ir.Value) -> ir.Value:
            return element_at(b, numbers, [_index(b, group)])

        inverse = b.generic([self.inverse], b.empty([count], "i64"), [identity] * 2, [PARALLEL], renumber)
        return _Groups(first, sizes, inverse)


def _index(b: Builder, value: ir.Value) -> ir.Value:
    return b.index_cast(value, ir.IndexType.get())


def _i64(b: Builder, value: ir.Value) -> ir.Value:
    return b.index_cast(value, b.element("i64"))
