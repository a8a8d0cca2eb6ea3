"""Lowering of non_max_suppression: candidates of a class come by falling scores, and each is held against all that were taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, REDUCTION, Builder
from dlc.lowering.dl_to_linalg.building.checks import require_same, size_at
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.indexing import element_at, insert_at, read_at
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.building.radix import Entries, key_words
from dlc.lowering.dl_to_linalg.building.top_k_keys import MOST_PLACES
from dlc.lowering.policy import policy

_F32 = "f32"
_ENTRIES = np.iinfo(np.int64)
"""Entries with the sign bit turned ascend as signed numbers; the greatest one is behind all."""


@lowering("non_max_suppression")
def lower_non_max_suppression(b: Builder, op: SourceOp) -> ir.Value:
    """A pass counts the candidates of each class, which bounds all that follows; then the classes go one after another."""
    boxes, scores, _, threshold, least = op.operands
    require_same(b, op, (1, 0), (0, 0))
    require_same(b, op, (1, 2), (0, 1))
    b.require_equal(("the numbers of a box", b.dim(boxes, 2)), ("those of its edges", 4))
    b.require_at_most(("the number of boxes", b.dim(boxes, 1)), ("the most that can be sorted", MOST_PLACES))
    limit = element_at(b, threshold, [])
    inside = [b.compare("ge", limit, b.scalar(0, _F32), _F32), b.compare("le", limit, b.scalar(1, _F32), _F32)]
    b.require(b.binary("arith.andi", *inside), "iou_threshold is not between 0 and 1")
    wanted = b.index(size_at(b, op, 2, []))
    classes = _Classes(op, boxes, scores, None if least is None else element_at(b, least, []), limit, wanted)
    return classes.taken(b)


@dataclass(frozen=True)
class _Classes:
    """What one call is about; `least` is the score that candidates exceed, `limit` the overlap, `wanted` the most of a class."""

    op: SourceOp
    boxes: ir.Value
    scores: ir.Value
    least: ir.Value | None
    limit: ir.Value
    wanted: ir.Value

    @property
    def group(self) -> int:
        """Boxes that are passed over at once."""
        return policy().graph.box_group

    def is_candidate(self, b: Builder, score: ir.Value) -> ir.Value:
        """Whether a score is a number, greater than the least one if there is one."""
        if self.least is None:
            return b.compare("ord", score, score, _F32)
        return b.compare("gt", score, self.least, _F32)

    def counts(self, b: Builder) -> tuple[ir.Value, ir.Value]:
        """How many candidates there are, i32: [batch, classes, whole groups of boxes], and [batch, classes]."""
        shape = b.shape(self.scores)
        groups = b.extent("floordiv", shape[2], self.group)
        whole = b.extent("mul", groups, self.group)
        zero, one = b.scalar(0, "i32"), b.scalar(1, "i32")

        def count(score: ir.Value, total: ir.Value) -> ir.Value:
            return b.binary("arith.addi", total, b.select(self.is_candidate(b, score), one, zero))

        ones, lead = [1, 1, 1], b.slice(self.scores, [0, 0, 0], [*shape[:2], whole], [1, 1, 1])
        by_group = b.reduce([b.expand(lead, [[0], [1], [2, 3]], [*shape[:2], groups, self.group])], [3], zero, count)
        rest = b.slice(self.scores, [0, 0, whole], [*shape[:2], b.extent("sub", shape[2], whole)], ones)
        behind = b.reduce([rest], [2], zero, count)
        pairs = [ir.AffineMap.get_identity(3), ir.AffineMap.get(3, 0, [ir.AffineExpr.get_dim(axis) for axis in (0, 1)])]
        iterators = [PARALLEL, PARALLEL, REDUCTION]
        total = b.generic([by_group], behind, pairs, iterators, lambda part, so_far: b.binary("arith.addi", so_far, part))
        return by_group, total

    def taken(self, b: Builder) -> ir.Value:
        """(batch, class, box) of the boxes that are taken, class by class."""
        by_group, counts = self.counts(b)
        bound, most = self._bounds(b, counts)
        lanes = policy().graph.box_vector
        room = b.extent("ceildiv", b.extent("add", b.binary("arith.minsi", most, self.wanted), 1), lanes)
        edges = b.empty([5, b.extent("mul", room, lanes)], _F32)
        blocks = b.extent("ceildiv", b.extent("add", most, 1), self.group)
        entries = b.empty([2, b.extent("mul", blocks, self.group)], "i64")
        rows = b.empty([b.extent("add", bound, 1), 3], "i64")

        def by_batch(image: ir.Value, *state: ir.Value) -> Sequence[ir.Value]:
            def by_kind(kind: ir.Value, *state: ir.Value) -> Sequence[ir.Value]:
                return self._class_taken(b, [image, kind], (by_group, counts), *state)

            return b.loop(b.dim(self.scores, 1), state, by_kind)

        scratch = [b.empty([], _F32), b.empty([], "i64")]
        found = b.loop(b.dim(self.scores, 0), [rows, entries, edges, *scratch, b.index(0)], by_batch)
        return read_at(b, found[0], [found[-1], 3], "i64", lambda at: at)

    def _bounds(self, b: Builder, counts: ir.Value) -> tuple[ir.Value, ir.Value]:
        """How many boxes can be taken of all classes, and the most candidates of one."""
        maps = [ir.AffineMap.get_identity(2), *[ir.AffineMap.get(2, 0, [])] * 2]
        starts = [b.full([], b.scalar(0, "i64")) for _ in range(2)]
        wanted = b.index_cast(self.wanted, b.element("i64"))

        def body(count: ir.Value, total: ir.Value, most: ir.Value) -> Sequence[ir.Value]:
            count = b.convert(count, "i32", "i64")
            return [b.binary("arith.addi", total, b.binary("arith.minsi", count, wanted)), b.binary("arith.maxsi", most, count)]

        found = b.generics([counts], starts, maps, [REDUCTION] * 2, body)
        bound, most = (b.index_cast(element_at(b, value, []), ir.IndexType.get()) for value in found)
        return bound, most

    def _class_taken(
        self,
        b: Builder,
        at: Sequence[ir.Value],
        counts: tuple[ir.Value, ir.Value],
        rows: ir.Value,
        entries: ir.Value,
        *rest: ir.Value,
    ) -> Sequence[ir.Value]:
        """The state with the rows of one class behind those of the classes before.

        The state is the rows, memory for the entries, the numbers of boxes that are taken, the greatest overlap of one, memory
        for the next entry, and the number of rows. Candidates come in turns, which end with the boxes that are wanted. Few
        candidates are not sorted: the next one is the least entry behind the last.
        """
        *work, start = rest
        count = b.index_cast(element_at(b, counts[1], at), ir.IndexType.get())
        is_few = b.compare_index("le", count, b.index(policy().graph.chosen_boxes))
        few, many = b.select(is_few, count, b.index(0)), b.select(is_few, b.index(0), count)
        order, size = self._candidates(b, at, counts[0], count, entries).sort(b, many), policy().graph.box_turn

        def visit_turn(turn: ir.Value, *state: ir.Value) -> Sequence[ir.Value]:
            first = b.extent("mul", turn, size)
            left = b.extent("min", b.extent("sub", count, first), size)
            trips = b.select(b.compare_index("lt", state[-1], self.wanted), b.index(left), b.index(0))
            return b.loop(trips, state, lambda place, *state: visit(b.index(b.extent("add", first, place)), *state))

        def visit(
            place: ir.Value, rows: ir.Value, edges: ir.Value, best: ir.Value, least: ir.Value, last: ir.Value, number: ir.Value
        ) -> Sequence[ir.Value]:
            least = _next_entry(b, order, few, last, least)
            last = element_at(b, least, [])
            index = b.select(is_few, Entries.index_of(b, last), order.index_at(b, place))
            box = self._edges(b, at[0], b.index_cast(index, ir.IndexType.get()))
            is_open = b.compare_index("lt", number, self.wanted)
            best = _greatest_overlap(b, edges, box, number, insert_at(b, b.scalar(0, _F32), best, []))
            apart = b.compare("ule", element_at(b, best, []), self.limit, _F32)
            step = b.select(b.binary("arith.andi", is_open, apart), b.index(1), b.index(0))
            # What is written behind the last is written again by the next that is taken.
            row, at_most = b.extent("add", start, number), b.extent("min", number, self.wanted)
            for column, value in enumerate([*(b.index_cast(part, b.element("i64")) for part in at), index]):
                rows = insert_at(b, value, rows, [row, b.index(column)])
            for part, value in enumerate(box):
                edges = insert_at(b, value, edges, [b.index(part), at_most])
            return [rows, edges, best, least, last, b.binary("arith.addi", number, step)]

        turns = b.extent("ceildiv", count, size)
        rows, *work, _, number = b.loop(turns, [rows, *work, b.scalar(int(_ENTRIES.min), "i64"), b.index(0)], visit_turn)
        return [rows, order.rows, *work, b.binary("arith.addi", start, number)]

    def _candidates(self, b: Builder, at: Sequence[ir.Value], by_group: ir.Value, count: ir.Value, rows: ir.Value) -> Entries:
        """Entries of a class's candidates, keys falling with their scores; groups of boxes without any are passed over."""
        side, zero = b.index(0), b.index(0)
        groups, size = b.dim(by_group, 2), b.dim(self.scores, 2)

        def add_from(first: Extent, trips: Extent, state: Sequence[ir.Value]) -> list[ir.Value]:
            return b.loop(trips, state, lambda place, *state: add(b.index(b.extent("add", first, place)), *state))

        def add(box: ir.Value, rows: ir.Value, number: ir.Value) -> Sequence[ir.Value]:
            score = element_at(b, self.scores, [*at, box])
            (word,) = key_words(b, score, _F32)
            key = b.binary("arith.xori", word, b.scalar(-1, "i32"))
            entry = Entries.entry(b, key, b.index_cast(box, b.element("i64")))
            step = b.select(self.is_candidate(b, score), b.index(1), b.index(0))
            return [Entries(rows, side).put(b, entry, number).rows, b.binary("arith.addi", number, step)]

        def add_group(group: ir.Value, *state: ir.Value) -> Sequence[ir.Value]:
            found = b.compare("ne", element_at(b, by_group, [*at, group]), b.scalar(0, "i32"), "i32")
            return add_from(b.extent("mul", group, self.group), b.select(found, b.index(self.group), zero), state)

        is_empty = b.compare_index("eq", count, zero)
        whole = b.extent("mul", groups, self.group)
        rest = b.index(b.extent("sub", size, whole))
        state = b.loop(b.select(is_empty, zero, b.index(groups)), [rows, zero], add_group)
        return Entries(add_from(whole, b.select(is_empty, zero, rest), state)[0], side)

    def _edges(self, b: Builder, batch: ir.Value, box: ir.Value) -> list[ir.Value]:
        """The lower two edges of a box, the upper two, and its area."""
        numbers = [element_at(b, self.boxes, [batch, box, b.index(part)]) for part in range(4)]
        low, high = numbers[:2], numbers[2:]
        if self.op["center_point_box"]:
            half = [b.arith("div", extent, b.scalar(2, _F32), _F32) for extent in high]
            centers = list(zip(low, half, strict=True))
            edges = [b.arith(name, center, part, _F32) for name in ("sub", "add") for center, part in centers]
        else:
            pairs = list(zip(low, high, strict=True))
            edges = [choose(b, one, other) for choose in (_smaller, _greater) for one, other in pairs]
        sides = [b.arith("sub", edges[2 + axis], edges[axis], _F32) for axis in (0, 1)]
        return [*edges, b.arith("mul", sides[0], sides[1], _F32)]


def _next_entry(b: Builder, entries: Entries, count: ir.Value, last: ir.Value, found: ir.Value) -> ir.Value:
    """The least of the first `count` entries that is greater than `last`, as a scalar tensor; both with the sign bit turned."""
    lanes = policy().graph.box_group
    maps = [ir.AffineMap.get_identity(1), ir.AffineMap.get(1, 0, [])]

    def of_block(block: ir.Value, found: ir.Value) -> Sequence[ir.Value]:
        start = b.extent("mul", block, lanes)
        row = b.collapse(b.slice(entries.rows, [entries.side, start], [1, lanes], [1, 1]), [[0, 1]])
        left = b.index_cast(b.index(b.extent("sub", count, start)), b.element("i64"))

        def body(entry: ir.Value, least: ir.Value) -> ir.Value:
            turned = b.binary("arith.xori", entry, b.scalar(int(_ENTRIES.min), "i64"))
            is_there = b.compare("lt", b.index_cast(b.iteration(0), b.element("i64")), left, "i64")
            is_behind = b.binary("arith.andi", is_there, b.compare("gt", turned, last, "i64"))
            return b.binary("arith.minsi", least, b.select(is_behind, turned, b.scalar(int(_ENTRIES.max), "i64")))

        return [b.generic([row], found, maps, [REDUCTION], body)]

    start = insert_at(b, b.scalar(int(_ENTRIES.max), "i64"), found, [])
    return b.loop(b.extent("ceildiv", count, lanes), [start], of_block)[0]


def _greatest_overlap(b: Builder, edges: ir.Value, box: Sequence[ir.Value], count: ir.Value, best: ir.Value) -> ir.Value:
    """`best`, a scalar tensor, or the greatest overlap of a box with one of the first `count` boxes where that is greater."""
    lanes = policy().graph.box_vector
    maps = [*[ir.AffineMap.get_identity(1)] * 5, ir.AffineMap.get(1, 0, [])]

    def of_block(block: ir.Value, best: ir.Value) -> Sequence[ir.Value]:
        start = b.extent("mul", block, lanes)
        parts = [b.collapse(b.slice(edges, [part, start], [1, lanes], [1, 1]), [[0, 1]]) for part in range(5)]
        left = b.index_cast(b.index(b.extent("min", b.extent("sub", count, start), lanes)), b.element("i32"))

        def body(*scalars: ir.Value) -> ir.Value:
            *other, best = scalars
            is_taken = b.compare("lt", b.index_cast(b.iteration(0), b.element("i32")), left, "i32")
            overlap = b.select(is_taken, _overlap(b, other, box), b.scalar(0, _F32))
            return _greater(b, overlap, best)

        return [b.generic(parts, best, maps, [REDUCTION], body)]

    return b.loop(b.extent("ceildiv", count, lanes), [best], of_block)[0]


def _greater(b: Builder, one: ir.Value, other: ir.Value) -> ir.Value:
    """The greater number, `other` where `one` is NaN: one instruction."""
    return b.select(b.compare("gt", one, other, _F32), one, other)


def _smaller(b: Builder, one: ir.Value, other: ir.Value) -> ir.Value:
    return b.select(b.compare("lt", one, other, _F32), one, other)


def _overlap(b: Builder, one: Sequence[ir.Value], other: Sequence[ir.Value]) -> ir.Value:
    """The area that two boxes share by the area that either covers; their numbers are those of `_Classes._edges`."""
    sides = []
    for axis in (0, 1):
        low, high = _greater(b, one[axis], other[axis]), _smaller(b, one[2 + axis], other[2 + axis])
        sides.append(_greater(b, b.arith("sub", high, low, _F32), b.scalar(0, _F32)))
    shared = b.arith("mul", sides[0], sides[1], _F32)
    either = b.arith("sub", b.arith("add", one[4], other[4], _F32), shared, _F32)
    return b.arith("div", shared, either, _F32)
