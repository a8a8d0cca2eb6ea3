"""top_k by sortable keys: order, ties and NaN are in one integer per element, so that the next one is a plain maximum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects.dl.types import FLOATS
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder
from dlc.lowering.dl_to_linalg.building.contraction import Loops
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.indexing import element_at, insert_at
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp
from dlc.lowering.policy import policy

_KEYED = ("f32", "f16", "bf16", "i32", "i16", "i8", "ui32", "ui16", "ui8")
MOST_PLACES = (1 << 31) - 1
"""Elements whose places fit the lower half of an i64, with a sign."""

_LAST = -(1 << 63)
"""Below every key."""


def has_keys(op: SourceOp, axis: int) -> bool:
    """Whether value and index of each element along `axis` fit into 32 bits each; a size that run time knows must."""
    size = op.types[0].shape[axis]
    return op.types[0].dtype in _KEYED and (not isinstance(size, int) or size <= MOST_PLACES)


def row_keys(b: Builder, op: SourceOp, x: ir.Value, axis: int, at: Sequence[Extent]) -> ir.Value:
    """The keys of the row of `x` at `at` (a position on the other axes): i64, the element's order above, its index below.

    Greater keys come first: greater or smaller values as the op wants them, of equal values the one with the smaller index.
    """
    size = b.dim(x, axis)
    rank = op.types[0].rank
    row = b.slice(x, [*at[:axis], 0, *at[axis:]], [size if place == axis else 1 for place in range(rank)], [1] * rank)
    places = [ir.AffineExpr.get_dim(0) if place == axis else ir.AffineExpr.get_constant(0) for place in range(rank)]
    maps = [ir.AffineMap.get(1, 0, places), ir.AffineMap.get_identity(1)]

    def key(element: ir.Value, _: ir.Value) -> ir.Value:
        return key_of(b, op, element, b.iteration(0))

    return b.generic([row], b.empty([size], "i64"), maps, [PARALLEL], key)


def key_of(b: Builder, op: SourceOp, element: ir.Value, place: ir.Value) -> ir.Value:
    """The key of one element at an index of its row."""
    order = b.convert(_order(b, op, element), "i32", "i64")
    below = b.arith("sub", b.scalar(MOST_PLACES, "i64"), b.index_cast(place, b.element("i64")), "i64")
    return b.binary("arith.ori", b.binary("arith.shli", order, b.scalar(32, "i64")), below)


def _order(b: Builder, op: SourceOp, element: ir.Value) -> ir.Value:
    """An i32 that grows with what comes first; NaN is greater than every number, and -0 equals 0."""
    dtype, i32 = op.types[0].dtype, b.element("i32")
    if dtype in FLOATS:
        value = b.arith("add", b.widen(element, dtype), b.scalar(0.0, "f32"), "f32")
        bits = b.create("arith.bitcast", [i32], [value])
        sign = b.binary("arith.shrsi", bits, b.scalar(31, "i32"))
        growing = b.binary("arith.xori", bits, b.binary("arith.andi", sign, b.scalar(MOST_PLACES, "i32")))
        order = b.select(b.compare("uno", value, value, "f32"), b.scalar(MOST_PLACES, "i32"), growing)
    else:
        order = b.convert(element, dtype, "i32")
        order = b.binary("arith.xori", order, b.scalar(-MOST_PLACES - 1, "i32")) if dtype == "ui32" else order
    return order if op["largest"] else b.binary("arith.xori", order, b.scalar(-1, "i32"))


def pays_to_rank(count: int, k: int) -> bool:
    """Whether comparing each of `count` keys with all others is faster than taking the greatest one `k` times."""
    return count * (count + policy().graph.written_keys) <= policy().graph.compared_keys * k


def indices_by_rank(b: Builder, keys: ir.Value) -> ir.Value:
    """The indices of all elements, i64, in the order of their keys: the place of each is the number of greater keys."""
    count = keys.type.shape[0]
    loops = Loops(1, 1)
    own, other = (loops.map([dim]) for dim in loops.dims())
    one, zero = b.scalar(1, "i64"), b.scalar(0, "i64")

    def counted(key: ir.Value, against: ir.Value, rank: ir.Value) -> ir.Value:
        return b.arith("add", rank, b.select(b.compare("gt", against, key, "i64"), one, zero), "i64")

    ranks = b.generic([keys, keys], b.full([count], zero), [own, other, own], loops.iterators, counted)

    def write(index: ir.Value, order: ir.Value) -> list[ir.Value]:
        place = b.index_cast(element_at(b, ranks, [index]), ir.IndexType.get())
        return [insert_at(b, b.index_cast(index, b.element("i64")), order, [place])]

    return b.loop(count, [b.empty([count], "i64")], write)[0]


@dataclass(frozen=True)
class KeyBlocks:
    """Keys of a row in blocks, [blocks, size] i64 with keys below all others at the end, and the greatest key of each block.

    Blocks are about as large as there are many: taking the greatest key looks at all maxima and at one block.
    """

    keys: ir.Value
    maxima: ir.Value

    @staticmethod
    def of(b: Builder, keys: ir.Value) -> KeyBlocks:
        """Blocks of `keys`, i64 of a static size."""
        count = keys.type.shape[0]
        size = 1 << (max(count - 1, 0).bit_length() + 1) // 2
        blocks = max(1, -(-count // size))
        padded = b.insert_slice(keys, b.full([blocks * size], lowest(b)), [0], [count], [1])
        square = b.expand(padded, [[0, 1]], [blocks, size])
        return KeyBlocks(square, greatest(b, square, 1))

    def take(self, b: Builder) -> tuple[ir.Value, KeyBlocks]:
        """The index in the row of the greatest key, and the blocks without that."""
        found, size = index_of(b, element_at(b, greatest(b, self.maxima, 0), [])), self.keys.type.shape[1]
        block, place = (b.binary(f"arith.{kind}", found, b.index(size)) for kind in ("divui", "remui"))
        keys = insert_at(b, lowest(b), self.keys, [block, place])
        row = b.collapse(b.slice(keys, [block, 0], [1, size], [1, 1]), [[0, 1]])
        maxima = insert_at(b, element_at(b, greatest(b, row, 0), []), self.maxima, [block])
        return found, KeyBlocks(keys, maxima)


def lowest(b: Builder) -> ir.Value:
    return b.scalar(_LAST, "i64")


def greatest(b: Builder, keys: ir.Value, axis: int) -> ir.Value:
    """The greatest keys along `axis`."""
    return b.reduce([keys], [axis], lowest(b), lambda key, best: b.arith("max", best, key, "i64"))


def index_of(b: Builder, key: ir.Value) -> ir.Value:
    """The index of the element that `key` is of."""
    below = b.binary("arith.andi", key, b.scalar(MOST_PLACES, "i64"))
    return b.index_cast(b.arith("sub", b.scalar(MOST_PLACES, "i64"), below, "i64"), ir.IndexType.get())
