"""top_k of rows whose length run time knows: keys in blocks of one size, as many as the length needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.indexing import element_at, insert_at
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp
from dlc.lowering.dl_to_linalg.building.top_k_keys import greatest, index_of, key_of, lowest
from dlc.lowering.policy import policy

Place = Callable[[ir.Value], list[ir.Value]]
"""From an index along the row to a position in x."""


@dataclass(frozen=True)
class RowKeys:
    """Keys of a row, [blocks, size] i64 with keys below all others at the end, and the greatest key of each block.

    There are as many blocks as whole groups of `size` of them, so that the maxima are read in blocks, too.
    """

    keys: ir.Value
    maxima: ir.Value

    @staticmethod
    def empty(b: Builder, count: Extent) -> RowKeys:
        """Room for the keys of rows of `count` elements."""
        size = _size()
        groups = b.extent("max", b.extent("ceildiv", count, size * size), 1)
        blocks = b.extent("mul", groups, size)
        return RowKeys(b.empty([blocks, size], "i64"), b.empty([blocks], "i64"))

    def filled(self, b: Builder, op: SourceOp, x: ir.Value, axis: int, place: Place) -> RowKeys:
        """With the keys of the row of x at `place`: whole blocks in vectors, then one in part; others have a maximum alone."""
        size, count, blocks = _size(), b.dim(x, axis), b.dim(self.keys, 0)
        whole = b.extent("floordiv", count, size)

        def whole_block(block: ir.Value, keys: ir.Value, maxima: ir.Value) -> Sequence[ir.Value]:
            start = b.binary("arith.muli", block, b.index(size))
            made = _keys_from(b, op, x, axis, place, start)
            keys = b.insert_slice(made, keys, [block, 0], [1, size], [1, 1])
            return [keys, insert_at(b, _greatest_of(b, keys, block), maxima, [block])]

        def last_block(step: ir.Value, keys: ir.Value, maxima: ir.Value) -> Sequence[ir.Value]:
            block = b.index(b.extent("add", whole, step))
            start = b.binary("arith.muli", block, b.index(size))
            left = b.extent("sub", count, start)

            def one(at: ir.Value, keys: ir.Value) -> Sequence[ir.Value]:
                index = b.binary("arith.addi", start, at)
                return [insert_at(b, key_of(b, op, element_at(b, x, place(index)), index), keys, [block, at])]

            def none(at: ir.Value, keys: ir.Value) -> Sequence[ir.Value]:
                return [insert_at(b, lowest(b), keys, [block, b.index(b.extent("add", left, at))])]

            keys = b.loop(left, [keys], one)[0]
            keys = b.loop(b.extent("sub", size, left), [keys], none)[0]
            return [keys, insert_at(b, _greatest_of(b, keys, block), maxima, [block])]

        def empty_block(step: ir.Value, maxima: ir.Value) -> Sequence[ir.Value]:
            return [insert_at(b, lowest(b), maxima, [b.index(b.extent("add", used, step))])]

        used = b.extent("ceildiv", count, size)
        state = b.loop(whole, [self.keys, self.maxima], whole_block)
        keys, maxima = b.loop(b.extent("sub", used, whole), state, last_block)
        return RowKeys(keys, b.loop(b.extent("sub", blocks, used), [maxima], empty_block)[0])

    def take(self, b: Builder) -> tuple[ir.Value, RowKeys]:
        """The index in the row of the greatest key, and the rest."""
        size = _size()

        def of_group(group: ir.Value, best: ir.Value) -> Sequence[ir.Value]:
            part = b.slice(self.maxima, [b.binary("arith.muli", group, b.index(size))], [size], [1])
            return [b.arith("max", element_at(b, greatest(b, part, 0), []), best, "i64")]

        groups = b.extent("floordiv", b.dim(self.maxima, 0), size)
        found = index_of(b, b.loop(groups, [lowest(b)], of_group)[0])
        block, at = (b.binary(f"arith.{kind}", found, b.index(size)) for kind in ("divui", "remui"))
        keys = insert_at(b, lowest(b), self.keys, [block, at])
        return found, RowKeys(keys, insert_at(b, _greatest_of(b, keys, block), self.maxima, [block]))


def _size() -> int:
    return policy().graph.key_block


def _greatest_of(b: Builder, keys: ir.Value, block: ir.Value) -> ir.Value:
    """The greatest key of a block."""
    row = b.collapse(b.slice(keys, [block, 0], [1, _size()], [1, 1]), [[0, 1]])
    return element_at(b, greatest(b, row, 0), [])


def _keys_from(b: Builder, op: SourceOp, x: ir.Value, axis: int, place: Place, start: ir.Value) -> ir.Value:
    """The keys of a block of the row from `start` on: [1, size] i64."""
    size, rank = _size(), op.types[0].rank
    part = b.slice(x, place(start), [size if at == axis else 1 for at in range(rank)], [1] * rank)
    places = [ir.AffineExpr.get_dim(1) if at == axis else ir.AffineExpr.get_constant(0) for at in range(rank)]
    maps = [ir.AffineMap.get(2, 0, places), ir.AffineMap.get_identity(2)]

    def key(element: ir.Value, _: ir.Value) -> ir.Value:
        return key_of(b, op, element, b.binary("arith.addi", start, b.iteration(1)))

    return b.generic([part], b.empty([1, size], "i64"), maps, [PARALLEL] * 2, key)
