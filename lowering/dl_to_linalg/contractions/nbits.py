"""Lowering of nbits_matmul: numbers are cut out of words in registers for few rows, once into a small panel for many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects.dl.nbits import WORD_BITS
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder, accumulator_dtype
from dlc.lowering.dl_to_linalg.building.checks import size_of
from dlc.lowering.dl_to_linalg.building.contraction import Loops, contract, rounded, widened, zeros
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.policy import policy


@lowering("nbits_matmul")
def lower_nbits_matmul(b: Builder, op: SourceOp) -> ir.Value:
    """All rows are one axis. How many there are decides between the two forms, where that is dynamic at run time."""
    lhs, words, *_ = op.operands
    product = _Product(b, op)
    b.require_equal(size_of(b, op, (0, -1)), ("the size of a column of words", words.type.shape[1] * product.per_word))
    lead = b.shape(lhs)[:-1]
    groups = [list(range(len(lead))), [len(lead)]]
    merged = b.collapse(lhs, groups) if len(lead) > 1 else lhs
    found = rounded(b, _either(b, product, merged), op.result.dtype)
    columns = op["columns"] or product.width
    if columns != product.width:
        found = b.slice(found, [0, 0], [b.dim(merged, 0), columns], [1, 1])
    return b.expand(found, groups, [*lead, columns]) if len(lead) > 1 else found


def _either(b: Builder, product: _Product, lhs: ir.Value) -> ir.Value:
    rows, least = b.dim(lhs, 0), policy().graph.unpacked_rows
    if isinstance(rows, int):
        return product.by_panels(lhs) if rows >= least else product.by_words(lhs)
    many = b.compare_index("ge", rows, b.index(least))
    kind = b.tensor_type([rows, product.width], product.dtype)
    return b.branch(many, kind, lambda: product.by_panels(lhs), lambda: product.by_words(lhs))


@dataclass(frozen=True)
class _Product:
    """The product of one op, with all columns of all blocks, in the accumulator's type."""

    b: Builder
    op: SourceOp

    @property
    def per_word(self) -> int:
        """Numbers in a word."""
        return int(WORD_BITS // self.op["bits"])

    @property
    def width(self) -> int:
        """Columns of all blocks."""
        blocks, _, columns = self.op.operands[1].type.shape
        return int(blocks * columns)

    @property
    def dtype(self) -> str:
        return accumulator_dtype(self.op.result.dtype)

    @property
    def tables(self) -> list[ir.Value]:
        """Scales and, where there are any, zeros."""
        return [table for table in self.op.operands[2:] if table is not None]

    @property
    def words_per_scale(self) -> int:
        return int(self.op.operands[1].type.shape[1] // self.op.operands[2].type.shape[1])

    def by_words(self, lhs: ir.Value) -> ir.Value:
        """Loops (row, column, word). The neighbours of a word are so many readings of `lhs`."""
        b, words, count = self.b, self.op.operands[1], self.per_word
        block_width = words.type.shape[2]
        shape: list[Extent] = [b.dim(lhs, 0), self.width]
        loops = Loops(2, 1)
        m, n, k = loops.dims()
        block, column = ir.AffineExpr.get_floor_div(n, block_width), ir.AffineExpr.get_mod(n, block_width)
        shared = loops.map([block, ir.AffineExpr.get_floor_div(k, self.words_per_scale), column])
        reads = [loops.map([m, k * count + place]) for place in range(count)]
        maps = [*reads, loops.map([block, k, column]), *[shared] * len(self.tables), loops.map([m, n])]

        def body(*scalars: ir.Value) -> ir.Value:
            values, word, (scale, *rest), total = scalars[:count], scalars[count], scalars[count + 1 : -1], scalars[-1]
            found = self._dot(values, lambda place: self._number(word, self._shift(place), rest))
            return b.arith("add", total, b.arith("mul", found, widened(b, scale, self.dtype), self.dtype), self.dtype)

        start = zeros(b, shape, self.op.result.dtype)
        return b.generic([*[lhs] * count, words, *self.tables], start, maps, loops.iterators, body)

    def _dot(self, values: Sequence[ir.Value], number: Callable[[int], ir.Value]) -> ir.Value:
        """The sum of the products of values with the numbers of a word."""
        b, dtype = self.b, self.dtype
        terms = [b.arith("mul", widened(b, value, dtype), number(place), dtype) for place, value in enumerate(values)]
        while len(terms) > 1:
            terms = [b.arith("add", low, high, dtype) for low, high in zip(terms[::2], terms[1::2], strict=True)]
        return terms[0]

    def by_panels(self, lhs: ir.Value) -> ir.Value:
        """A loop over blocks of columns: each is unpacked into a panel, which all rows multiply."""
        b = self.b
        blocks, _, width = self.op.operands[1].type.shape
        rows = b.dim(lhs, 0)
        loops = Loops(2, 1)
        m, n, k = loops.dims()
        maps = [loops.map(read) for read in ([m, k], [k, n], [m, n])]

        def block(at: ir.Value, so_far: ir.Value) -> list[ir.Value]:
            start = zeros(b, [rows, width], self.op.result.dtype)
            found = contract(b, loops, lhs, self._panel(at), start, maps, self.dtype)
            first = b.binary("arith.muli", at, b.index(width))
            return [b.insert_slice(found, so_far, [0, first], [rows, width], [1, 1])]

        return b.loop(blocks, [b.empty([rows, self.width], self.dtype)], block)[0]

    def _panel(self, block: ir.Value) -> ir.Value:
        """Block `block` of the weight as floats [rows, columns]."""
        b, words = self.b, self.op.operands[1]
        _, groups, width = words.type.shape
        group, _, column = (ir.AffineExpr.get_dim(loop) for loop in range(3))
        shared = ir.AffineMap.get(3, 0, [ir.AffineExpr.get_floor_div(group, self.words_per_scale), column])
        maps = [ir.AffineMap.get(3, 0, [group, column]), *[shared] * len(self.tables), ir.AffineMap.get_identity(3)]
        parts = []
        for table in (words, *self.tables):
            part = b.slice(table, [block, 0, 0], [1, *table.type.shape[1:]], [1, 1, 1])
            parts.append(b.collapse(part, [[0, 1], [2]]))

        def unpack(word: ir.Value, scale: ir.Value, *rest: ir.Value) -> ir.Value:
            place = b.index_cast(b.iteration(1), b.element("i32"))
            bits = b.scalar(self.op["bits"], "i32")
            shift = b.arith("sub", self._shift(0), b.arith("mul", place, bits, "i32"), "i32")
            return b.arith("mul", self._number(word, shift, rest[:-1]), widened(b, scale, self.dtype), self.dtype)

        out = b.empty([groups, self.per_word, width], self.dtype)
        return b.collapse(b.generic(parts, out, maps, [PARALLEL] * 3, unpack), [[0, 1], [2]])

    def _shift(self, place: int) -> ir.Value:
        """How far left the number `place` of a word goes to be at its top."""
        return self.b.scalar(WORD_BITS - self.op["bits"] * (place + 1), "i32")

    def _number(self, word: ir.Value, shift: ir.Value, zero: Sequence[ir.Value]) -> ir.Value:
        """The number of a word that a shift brings to its top, less the zero if there is one, as a float."""
        b, kind = self.b, self.b.element("i32")
        raised = b.create("arith.shli", [kind], [word, shift])
        whole = b.create("arith.shrsi", [kind], [raised, b.scalar(WORD_BITS - self.op["bits"], "i32")])
        number = b.convert(whole, "i32", self.dtype)
        return b.arith("sub", number, widened(b, zero[0], self.dtype), self.dtype) if zero else number
