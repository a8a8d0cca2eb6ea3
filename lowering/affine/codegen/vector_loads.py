"""Loads of one vector: contiguous, each element several times, every second to fourth one, or any fixed distance apart."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import affine, ir, vector
from dlc.lowering.affine.ir.expressions import result_maps
from dlc.lowering.affine.ir.loops import apply
from dlc.lowering.affine.ir.masks import LaneMask
from dlc.lowering.affine.ir.values import zeros


@dataclass(frozen=True)
class VectorAddress:
    """Where lane 0 lies: `indexing(operands)` in `buffer`; `is_affine` when affine ops may take these operands."""

    buffer: ir.Value
    operands: tuple[ir.Value, ...]
    indexing: ir.AffineMap
    is_affine: bool

    def indices(self) -> list[ir.Value]:
        """Emit the subscripts."""
        return [apply(single, self.operands) for single in result_maps(self.indexing)]

    def moved(self, elements: int) -> VectorAddress:
        """The place `elements` further along the last dimension."""
        last = len(self.indexing.results) - 1
        results = [result + elements * (axis == last) for axis, result in enumerate(self.indexing.results)]
        indexing = ir.AffineMap.get(self.indexing.n_dims, self.indexing.n_symbols, results)
        return VectorAddress(self.buffer, self.operands, indexing, self.is_affine)


def load_vector(kind: ir.VectorType, place: VectorAddress, mask: LaneMask | None) -> ir.Value:
    """Load neighbouring elements."""
    if mask is not None:
        return load_masked(kind, place, mask.vector())
    if place.is_affine:
        return affine.AffineVectorLoadOp(kind, place.buffer, list(place.operands), place.indexing).result
    return vector.LoadOp(kind, place.buffer, place.indices()).result


def load_masked(kind: ir.VectorType, place: VectorAddress, mask: ir.Value) -> ir.Value:
    """Load neighbouring elements where `mask` is set; the others are 0 and need not exist."""
    return vector.MaskedLoadOp(kind, place.buffer, place.indices(), mask, zeros(kind)).result


def load_repeated(kind: ir.VectorType, place: VectorAddress, count: int, mask: LaneMask | None) -> ir.Value:
    """Load neighbouring elements, each for `count` lanes: a shorter vector, spread."""
    lanes = kind.shape[0]
    short = ir.VectorType.get([lanes // count], kind.element_type)
    found = load_vector(short, place, mask and mask.shared(count))
    return vector.ShuffleOp(found, found, [lane // count for lane in range(lanes)]).result


def load_spaced(kind: ir.VectorType, place: VectorAddress, stride: int, mask: LaneMask | None) -> ir.Value:
    """Load every `stride`-th element, 2 or more apart: neighbouring vectors, of which the wanted elements are kept.

    The elements after the last one wanted may lie outside the buffer, so the last vector is always masked.
    """
    lanes = kind.shape[0]
    wanted = mask or LaneMask(lanes, lanes)
    found = load_vector(kind, place, mask and wanted.spread(stride, 0))
    for part in range(1, stride):
        first = part * lanes
        masked = mask is not None or part == stride - 1
        more = load_vector(kind, place.moved(first), wanted.spread(stride, first) if masked else None)
        places = [(lane, lane * stride - first) for lane in range(lanes)]
        # Of the first vector no lane is in its place yet; later ones leave those that are.
        kept = [lane * stride % lanes if part == 1 else lane for lane in range(lanes)]
        picks = [lanes + at if 0 <= at < lanes else kept[lane] for lane, at in places]
        found = vector.ShuffleOp(found, more, picks).result
    return found


def gather(kind: ir.VectorType, place: VectorAddress, stride: int, mask: LaneMask | None) -> ir.Value:
    """Load elements that lie `stride` apart."""
    lanes, index = kind.shape[0], ir.IndexType.get()
    offsets = [ir.IntegerAttr.get(index, lane * stride) for lane in range(lanes)]
    dense = ir.DenseElementsAttr.get(offsets, ir.VectorType.get([lanes], index))
    constant = ir.Operation.create("arith.constant", results=[dense.type], attributes={"value": dense}).results[0]
    wanted = mask or LaneMask(lanes, lanes)
    return vector.GatherOp(kind, place.buffer, place.indices(), constant, wanted.vector(), zeros(kind)).result
