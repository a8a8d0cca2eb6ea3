"""Lowering of dl.fft, dl.rfft and dl.irfft: one `linalg.generic` a stage.

It has loops over the results of a butterfly and over their parts, which choose one: `affine-unroll-choices` makes straight
code of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects.dl.fft_plan import FftStage, stages
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder
from dlc.lowering.dl_to_linalg.building.butterflies import Butterfly
from dlc.lowering.dl_to_linalg.building.checks import size_of
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.contractions.winograd_transforms import chosen


@lowering("fft")
def lower_fft(b: Builder, op: SourceOp) -> ir.Value:
    """The stages one after another."""
    length = op.types[0].dim(2)
    x, twiddles = _operands(b, op, 2, length, length - 1)
    return _transformed(b, x, twiddles, length, op)


@lowering("rfft")
def lower_rfft(b: Builder, op: SourceOp) -> ir.Value:
    """Pairs as complex numbers; then each frequency of these and the one opposite to it give one of the result.

    With the transforms E and O of the reals at even and odd places, pairs give E + i O, and the result is E + w^k O.
    """
    length = op.types[0].dim(1)
    half = length // 2
    x, twiddles = _operands(b, op, 1, length, length)
    x = b.transpose(b.expand(x, [[0], [1, 2], [3]], [b.dim(x, 0), half, 2, b.dim(x, 2)]), [0, 2, 1, 3])
    found = _transformed(b, x, twiddles, half, op)
    batch, inner = b.dim(found, 0), b.dim(found, 3)
    whole = b.insert_slice(found, b.empty([batch, 2, half + 1, inner], op.result.dtype), [0] * 4, [batch, 2, half, inner], [1] * 4)
    first = b.slice(found, [0] * 4, [batch, 2, 1, inner], [1] * 4)
    whole = b.insert_slice(first, whole, [0, 0, half, 0], [batch, 2, 1, inner], [1] * 4)
    return _with_opposites(b, whole, twiddles, half, half + 1, op.result.dtype)


@lowering("irfft")
def lower_irfft(b: Builder, op: SourceOp) -> ir.Value:
    """The steps of rfft in reverse."""
    half = op.types[0].dim(2) - 1
    x, twiddles = _operands(b, op, 2, half + 1, 2 * half)
    pairs = _with_opposites(b, x, twiddles, half, half, op.result.dtype, inverse=True)
    found = _transformed(b, pairs, twiddles, half, op, inverse=True)
    return b.collapse(b.transpose(found, [0, 2, 1, 3]), [[0], [1, 2], [3]])


def _operands(b: Builder, op: SourceOp, axis: int, points: int, factors: int) -> tuple[ir.Value, ir.Value]:
    """x, whose axis `axis` has `points` points, and the table, with all that is static in their types."""
    x, twiddles = op.operands
    are_numbers = axis == 2
    if are_numbers:
        b.require_equal(size_of(b, op, (0, 1)), ("the number of parts", 2))
    b.require_equal(size_of(b, op, (1, 0)), ("the number of parts", 2))
    b.require_equal(size_of(b, op, (1, 1)), ("the number of factors", factors))
    shape: list[Extent] = [b.dim(x, 0), *([2] if are_numbers else []), points, b.dim(x, axis + 1)]
    dtype = op.result.dtype
    return b.cast(x, b.tensor_type(shape, dtype)), b.cast(twiddles, b.tensor_type([2, factors], dtype))


def _transformed(b: Builder, x: ir.Value, twiddles: ir.Value, length: int, op: SourceOp, inverse: bool = False) -> ir.Value:
    """The transform of [batch, 2, length, inner].

    A single one has vectors along the elements of a part, until the blocks are more than these: then along the blocks.
    """
    shape = b.shape(x)
    transform = _Transform(b, op.result.dtype, inverse or bool(op.attributes.get("inverse")), length, twiddles)
    inner = [] if shape[3] == 1 else [shape[3]]
    if not inner:
        x = b.collapse(x, [[0], [1], [2, 3]])
    are_blocks_last = False
    for stage in stages(length):
        if not inner and not are_blocks_last and stage.rest < stage.blocks:
            parts = b.expand(x, [[0], [1], [2, 3]], [*shape[:2], stage.blocks, stage.radix * stage.rest])
            x, are_blocks_last = b.transpose(parts, [0, 1, 3, 2]), True
        x = transform.blocks_last(x, stage) if are_blocks_last else transform.blocks_first(x, stage, inner)
    return x if inner else b.expand(x, [[0], [1], [2, 3]], shape)


def _with_opposites(
    b: Builder, x: ir.Value, twiddles: ir.Value, half: int, count: int, dtype: str, inverse: bool = False
) -> ir.Value:
    """(u + v + t * (u - v)) / 2 for the first `count` numbers u of x, with v the conjugate of number half - k.

    t is -i w^k, or its conjugate where `inverse`; there the imaginary parts of numbers 0 and `half` are taken to be 0.
    """
    shape = [b.dim(x, 0), 2, count, b.dim(x, 3)]
    rank = len(shape)
    batch, _, point, lane = (ir.AffineExpr.get_dim(loop) for loop in range(rank))
    roots = b.slice(twiddles, [0, half - 1], [2, count], [1, 1])
    numbers, opposites = (b.slice(x, [0, 0, start, 0], shape, [1] * rank) for start in (0, half + 1 - count))
    reads = [[batch, part, place, lane] for place in (point, count - 1 - point) for part in range(2)]
    butterfly = Butterfly(b, dtype, inverse)

    def body(*scalars: ir.Value) -> ir.Value:
        real, imaginary, opposite_real, opposite_imaginary, cos, sin, _ = scalars
        if inverse:
            zero = b.scalar(0, dtype)
            is_end = b.compare("eq", sin, zero, dtype)
            imaginary, opposite_imaginary = (b.select(is_end, zero, each) for each in (imaginary, opposite_imaginary))
        number = (real, imaginary)
        opposite = (opposite_real, b.unary("arith.negf", opposite_imaginary))
        turned = butterfly.quarter(butterfly.multiply(butterfly.sub(number, opposite), (cos, sin)))
        found = butterfly.scaled(butterfly.add(butterfly.add(number, opposite), turned), 0.5)
        return chosen(b, [1], found)

    inputs = [numbers, numbers, opposites, opposites, roots, roots]
    maps = [*reads, [0, point], [1, point]]
    identity = ir.AffineMap.get_identity(rank)
    return b.generic(inputs, b.empty(shape, dtype), [*(_map(rank, each) for each in maps), identity], [PARALLEL] * rank, body)


@dataclass(frozen=True)
class _Transform:
    """The stages of a transform of `length` points."""

    b: Builder
    dtype: str
    inverse: bool
    length: int
    twiddles: ir.Value

    def blocks_first(self, x: ir.Value, stage: FftStage, inner: Sequence[Extent]) -> ir.Value:
        """From [batch, 2, block * part * element, inner] to [batch, 2, result * block * element, inner]."""
        b, after = self.b, [[dim + 3] for dim in range(2, 2 + len(inner))]
        groups = [[0], [1], [2, 3, 4], *after]
        outer: list[Extent] = [b.dim(x, 0), 2]
        given = b.expand(x, groups, [*outer, stage.blocks, stage.radix, stage.rest, *inner])
        dims = [ir.AffineExpr.get_dim(loop) for loop in range(5 + len(inner))]
        batch, _, _, block, element, *lane = dims
        shape = [*outer, stage.radix, stage.blocks, stage.rest, *inner]
        places = [[batch, part, block, number, element, *lane] for number in range(stage.radix) for part in range(2)]
        return b.collapse(self._stage(given, stage, shape, places, element, (1, 2)), groups)

    def blocks_last(self, x: ir.Value, stage: FftStage) -> ir.Value:
        """From [batch, 2, part * element, block] to [batch, 2, element, result * block]."""
        b = self.b
        outer: list[Extent] = [b.dim(x, 0), 2]
        x = b.collapse(x, [[0], [1], [2, 3]]) if x.type.rank == 4 else x
        given = b.expand(x, [[0], [1], [2, 3, 4]], [*outer, stage.radix, stage.rest, stage.blocks])
        batch, _, element, _, block = (ir.AffineExpr.get_dim(loop) for loop in range(5))
        shape = [*outer, stage.rest, stage.radix, stage.blocks]
        places = [[batch, part, number, element, block] for number in range(stage.radix) for part in range(2)]
        return b.collapse(self._stage(given, stage, shape, places, element, (1, 3)), [[0], [1], [2, 3, 4]])

    def _stage(
        self,
        x: ir.Value,
        stage: FftStage,
        shape: Sequence[Extent],
        places: Sequence[Sequence[ir.AffineExpr | int]],
        element: ir.AffineExpr,
        loops: tuple[int, int],
    ) -> ir.Value:
        """One generic that reads x at `places` and writes `shape`; `loops` are those over parts of numbers and over results."""
        b, rank = self.b, len(shape)
        reads = [_map(rank, place) for place in places]
        is_last = stage.rest == 1
        turns = [(part, number, element) for number in range(0 if is_last else stage.radix - 1) for part in range(2)]
        butterfly = Butterfly(b, self.dtype, self.inverse)

        def body(*scalars: ir.Value) -> ir.Value:
            numbers = list(zip(scalars[: len(reads) : 2], scalars[1 : len(reads) : 2], strict=True))
            found = butterfly.transform(numbers)
            if is_last and self.inverse:
                found = [butterfly.scaled(number, 1 / self.length) for number in found]
            factors = scalars[len(reads) : -1]
            for place, turn in enumerate(zip(factors[::2], factors[1::2], strict=True), start=1):
                found[place] = butterfly.multiply(found[place], turn)
            return chosen(b, loops[:1], [chosen(b, loops[1:], part) for part in zip(*found, strict=True)])

        inputs = [*[x] * len(reads), *[self._factors(stage)] * len(turns)]
        maps = [*reads, *(_map(rank, place) for place in turns), ir.AffineMap.get_identity(rank)]
        return b.generic(inputs, b.empty(shape, self.dtype), maps, [PARALLEL] * rank, body)

    def _factors(self, stage: FftStage) -> ir.Value:
        """Those of the results 1, 2, ... of a stage, [2, radix - 1, rest]."""
        sizes = [2, (stage.radix - 1) * stage.rest]
        found = self.b.slice(self.twiddles, [0, stage.offset], sizes, [1, 1])
        return self.b.expand(found, [[0], [1, 2]], [2, stage.radix - 1, stage.rest])


def _map(rank: int, place: Sequence[ir.AffineExpr | int]) -> ir.AffineMap:
    results = [ir.AffineExpr.get_constant(at) if isinstance(at, int) else at for at in place]
    return ir.AffineMap.get(rank, 0, results)
