"""Lowering of dl.fft: one `linalg.generic` a stage, whose choices `affine-unroll-choices` turns into butterflies of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects.dl.fft_plan import Stage, stages
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder, Extent
from dlc.lowering.dl_to_linalg.building.butterflies import Butterfly
from dlc.lowering.dl_to_linalg.building.checks import size_of
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.contractions.winograd_transforms import chosen

_REAL, _IMAGINARY = 0, 1


@lowering("fft")
def lower_fft(b: Builder, op: SourceOp) -> ir.Value:
    """The stages one after another.

    A single transform has vectors along the elements of a part, until the blocks are more than these: then along the blocks.
    """
    x, twiddles = op.operands
    length = op.types[0].dim(2)
    b.require_equal(size_of(b, op, (0, 1)), ("the number of parts", 2))
    b.require_equal(size_of(b, op, (1, 0)), ("the number of parts", 2))
    b.require_equal(size_of(b, op, (1, 1)), ("the number of points less 1", length - 1))
    shape: list[Extent] = [b.dim(x, 0), 2, length, b.dim(x, 3)]
    transform = _Transform(b, op.result.dtype, op["inverse"], length, b.cast(twiddles, b.tensor_type([2, length - 1], op.result.dtype)))
    inner = [] if shape[3] == 1 else [shape[3]]
    x = b.cast(x, b.tensor_type(shape, op.result.dtype))
    if not inner:
        x = b.collapse(x, [[0], [1], [2, 3]])
    are_blocks_last = False
    for stage in stages(length):
        if not inner and not are_blocks_last and stage.rest < stage.blocks:
            parts = b.expand(x, [[0], [1], [2, 3]], [*shape[:2], stage.blocks, stage.radix * stage.rest])
            x, are_blocks_last = b.transpose(parts, [0, 1, 3, 2]), True
        x = transform.blocks_last(x, stage) if are_blocks_last else transform.blocks_first(x, stage, inner)
    return x if inner else b.expand(x, [[0], [1], [2, 3]], shape)


@dataclass(frozen=True)
class _Transform:
    """The stages of a transform of `length` points."""

    b: Builder
    dtype: str
    inverse: bool
    length: int
    twiddles: ir.Value

    def blocks_first(self, x: ir.Value, stage: Stage, inner: Sequence[Extent]) -> ir.Value:
        """From [batch, 2, block * part * element, inner] to [batch, 2, result * block * element, inner]."""
        b, after = self.b, [[dim + 3] for dim in range(2, 2 + len(inner))]
        groups = [[0], [1], [2, 3, 4], *after]
        outer: list[Extent] = [b.dim(x, 0), 2]
        given = b.expand(x, groups, [*outer, stage.blocks, stage.radix, stage.rest, *inner])
        dims = [ir.AffineExpr.get_dim(loop) for loop in range(5 + len(inner))]
        batch, _, _, block, element, *lane = dims
        shape = [*outer, stage.radix, stage.blocks, stage.rest, *inner]
        places = [[batch, part, block, number, element, *lane] for number in range(stage.radix) for part in (_REAL, _IMAGINARY)]
        return b.collapse(self._stage(given, stage, shape, places, element, (1, 2)), groups)

    def blocks_last(self, x: ir.Value, stage: Stage) -> ir.Value:
        """From [batch, 2, part * element, block] to [batch, 2, element, result * block]."""
        b = self.b
        outer: list[Extent] = [b.dim(x, 0), 2]
        x = b.collapse(x, [[0], [1], [2, 3]]) if x.type.rank == 4 else x
        given = b.expand(x, [[0], [1], [2, 3, 4]], [*outer, stage.radix, stage.rest, stage.blocks])
        batch, _, element, _, block = (ir.AffineExpr.get_dim(loop) for loop in range(5))
        shape = [*outer, stage.rest, stage.radix, stage.blocks]
        places = [[batch, part, number, element, block] for number in range(stage.radix) for part in (_REAL, _IMAGINARY)]
        return b.collapse(self._stage(given, stage, shape, places, element, (1, 3)), [[0], [1], [2, 3, 4]])

    def _stage(
        self,
        x: ir.Value,
        stage: Stage,
        shape: Sequence[Extent],
        places: Sequence[Sequence[ir.AffineExpr | int]],
        element: ir.AffineExpr,
        loops: tuple[int, int],
    ) -> ir.Value:
        """One generic that reads x at `places` and writes `shape`; `loops` are those over parts of numbers and over results."""
        b, rank = self.b, len(shape)
        reads = [_map(rank, place) for place in places]
        is_last = stage.rest == 1
        turns = [(part, number, element) for number in range(0 if is_last else stage.radix - 1) for part in (_REAL, _IMAGINARY)]
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

    def _factors(self, stage: Stage) -> ir.Value:
        """Those of the results 1, 2, ... of a stage, [2, radix - 1, rest]."""
        sizes = [2, (stage.radix - 1) * stage.rest]
        found = self.b.slice(self.twiddles, [0, stage.offset], sizes, [1, 1])
        return self.b.expand(found, [[0], [1, 2]], [2, stage.radix - 1, stage.rest])


def _map(rank: int, place: Sequence[ir.AffineExpr | int]) -> ir.AffineMap:
    results = [ir.AffineExpr.get_constant(at) if isinstance(at, int) else at for at in place]
    return ir.AffineMap.get(rank, 0, results)
