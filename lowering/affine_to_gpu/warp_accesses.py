"""What the loads and stores of a kernel ask of memory: sectors of global memory, and ways of bank conflicts in shared memory.

Seen where the first warp of the first block runs its loops for the first time: warps of other blocks differ in where they start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, defining_op, element_bytes, has_strides
from dlc.lowering.affine.ir.accesses import access_of, is_memory_op
from dlc.lowering.affine_to_gpu.warp_values import Lanes, WarpValues
from dlc.lowering.policy import policy
from dlc.targets.machine import MATRIX_ROW_BYTES, GpuMachine


@dataclass(frozen=True, eq=False)
class WarpAccess:
    """One load, store or copy of a warp in `memref`, which runs `trips` times.

    In global memory it touches `sectors`, where `least` would hold what its lanes ask for; in shared memory it takes `ways` passes.
    `is_known` tells whether the subscripts are: where data decides, each lane is taken to have a sector of its own.
    """

    op: ir.Operation
    memref: ir.Value
    space: Literal["global", "shared"]
    trips: int
    sectors: int = 0
    least: int = 0
    ways: int = 0
    is_known: bool = True

    @property
    def is_uncoalesced(self) -> bool:
        """Whether memory moves more than twice as much as is asked for."""
        return self.is_known and self.sectors > policy().gpu.most_sectors * self.least


@dataclass(frozen=True)
class AccessSummary:
    """The accesses of one kernel in global memory, how many are uncoalesced or gathers, the share of what memory moves that is
    asked for (1.0 where nothing is moved), and the most ways of a bank conflict (1: none; 0: no shared memory)."""

    accesses: int
    uncoalesced: int
    gathers: int
    used_share: float
    bank_ways: int


def summary_of(accesses: list[WarpAccess]) -> AccessSummary:
    """The summary of a kernel's accesses."""
    found = [one for one in accesses if one.space == "global"]
    moved = sum(one.sectors * one.trips for one in found)
    used = sum(one.least * one.trips for one in found)
    return AccessSummary(
        len(found),
        sum(one.is_uncoalesced for one in found),
        sum(not one.is_known for one in found),
        used / moved if moved else 1.0,
        max((one.ways for one in accesses), default=0),
    )


def block_size_of(kernel: ir.Operation) -> tuple[int, ...]:
    """Threads of a block along each dim, x first, of a `gpu.func`; one warp where it does not say."""
    if "known_block_size" not in kernel.attributes:
        return (32, 1, 1)
    return tuple(ir.DenseI32ArrayAttr(kernel.attributes["known_block_size"]))


def warp_accesses(kernel: ir.Operation, facts: GpuMachine) -> list[WarpAccess]:
    """The accesses of the `gpu.func` op `kernel` that its first warp makes, in order."""
    size = block_size_of(kernel)
    lanes = min(facts.warp_threads, size[0] * size[1] * size[2])
    return list(_Walk(WarpValues(size, lanes), facts).block(kernel.regions[0].blocks[0], np.full(lanes, True), 1))


@dataclass
class _Walk:
    values: WarpValues
    facts: GpuMachine

    def block(self, block: ir.Block, active: Lanes, trips: int) -> Iterator[WarpAccess]:
        for view in block.operations:
            op = view.operation
            if is_memory_op(op):
                access = access_of(op)
                subscripts = self.values.results(access.map, access.indices)
                yield from self._access(op, access.memref, subscripts, _access_bytes(access.kind), active, trips)
            elif op.name == "nvgpu.ldmatrix":
                subscripts = [self.values.of(value) for value in list(op.operands)[1:]]
                yield from self._access(op, op.operands[0], subscripts, MATRIX_ROW_BYTES, active, trips)
            elif op.name == "nvgpu.device_async_copy":
                yield from self._copy(op, active, trips)
            elif op.name == "affine.if":
                yield from self._condition(op, active, trips)
            elif op.name == "affine.for":
                yield from self._loop(op, active, trips)
            else:
                for inner in [inner for region in op.regions for inner in region.blocks]:
                    yield from self.block(inner, active, trips)

    def _condition(self, op: ir.Operation, active: Lanes, trips: int) -> Iterator[WarpAccess]:
        holds = self.values.holds(op)
        masks = (active, active) if holds is None else (active & holds, active & ~holds)
        for region, mask in zip(op.regions, masks, strict=True):
            for inner in region.blocks:
                yield from self.block(inner, mask, trips)

    def _loop(self, op: ir.Operation, active: Lanes, trips: int) -> Iterator[WarpAccess]:
        lowers, uppers, _ = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])
        operands = list(op.operands)
        first = self.values.extreme(op.attributes["lowerBoundMap"].value, operands[:lowers], largest=True)
        last = self.values.extreme(op.attributes["upperBoundMap"].value, operands[lowers : lowers + uppers], largest=False)
        step = ir.IntegerAttr(op.attributes["step"]).value
        if first is not None:
            self.values.known[op.regions[0].blocks[0].arguments[0]] = first
        count = 1
        if first is not None and last is not None:
            active = active & (first < last)
            count = max(1, int((-(-(last - first) // step)).max()))
        yield from self.block(op.regions[0].blocks[0], active, trips * count)

    def _copy(self, op: ir.Operation, active: Lanes, trips: int) -> Iterator[WarpAccess]:
        """What `cp.async` reads of global memory and writes to shared memory; lanes that copy nothing write zeros alone."""
        sizes = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
        operands = list(op.operands)
        target, place, source, at, used = (operands[sum(sizes[:part]) : sum(sizes[: part + 1])] for part in range(5))
        size = ir.IntegerAttr(op.attributes["dstElements"]).value * _bytes_of(ir.MemRefType(source[0].type).element_type)
        count = self.values.of(used[0]) if used else None
        reading = active if count is None else active & (count > 0)
        yield from self._access(op, source[0], [self.values.of(value) for value in at], size, reading, trips)
        yield from self._access(op, target[0], [self.values.of(value) for value in place], size, active, trips)

    def _access(
        self, op: ir.Operation, memref: ir.Value, subscripts: Sequence[Lanes | None], size: int, active: Lanes, trips: int
    ) -> Iterator[WarpAccess]:
        source = defining_op(memref)
        if not active.any() or (source is not None and source.name in ALLOCATIONS):  # a thread's own memory
            return
        places = self._places(memref, subscripts)
        is_shared = "workgroup" in str(memref.type.memory_space)
        if places is None:
            lanes = int(active.sum())
            yield WarpAccess(op, memref, "shared" if is_shared else "global", trips, lanes, lanes, 1, is_known=False)
        elif is_shared:
            yield WarpAccess(op, memref, "shared", trips, ways=bank_ways(places[active], size, self.facts))
        else:
            sectors, least = sectors_of(places[active], size, self.facts.sector_bytes)
            yield WarpAccess(op, memref, "global", trips, sectors, least)

    def _places(self, memref: ir.Value, subscripts: Sequence[Lanes | None]) -> Lanes | None:
        """Where each lane's access starts, in bytes from the start of the memory; None where that is not known."""
        kind = ir.MemRefType(memref.type)
        if not has_strides(kind):
            return None
        strides, offset = kind.get_strides_and_offset()
        dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
        total = np.full(self.values.lanes, 0 if offset == dynamic else offset)
        for index, stride in zip(subscripts, strides, strict=True):
            if index is None:
                return None
            total = total + index * (policy().limits.unbounded_trips if stride == dynamic else stride)
        return total * _bytes_of(kind.element_type)


def _bytes_of(kind: ir.Type) -> int:
    return element_bytes(kind) or 8


def _access_bytes(kind: ir.Type) -> int:
    """Bytes that one lane reads or writes, an element or a vector of them."""
    if not isinstance(kind, ir.VectorType):
        return _bytes_of(kind)
    return int(np.prod(kind.shape)) * _bytes_of(kind.element_type)


def sectors_of(places: Lanes, size: int, sector_bytes: int) -> tuple[int, int]:
    """How many sectors hold `size` bytes at each of `places`, and how many would if these lay one after the other."""
    starts = np.unique(places)
    touched = np.unique(np.concatenate([(starts + byte) // sector_bytes for byte in range(0, size, min(size, sector_bytes))]))
    last = np.unique(np.concatenate([touched, (starts + size - 1) // sector_bytes]))
    return len(last), -(-len(starts) * size // sector_bytes)


def bank_ways(places: Lanes, size: int, facts: GpuMachine) -> int:
    """Passes that shared memory takes for `size` bytes at each of `places`: the most words of one of its banks.

    Accesses of 8 and 16 bytes go by halves and quarters of a warp (CUDA C++ Programming Guide, "Shared Memory").
    """
    words = max(1, size // facts.bank_bytes)
    at_once = max(1, facts.warp_threads // words)
    most = 1
    for start in range(0, len(places), at_once):
        part = places[start : start + at_once] // facts.bank_bytes
        touched = np.unique(np.concatenate([part + word for word in range(words)]))
        most = max(most, int(np.bincount(touched % facts.shared_banks).max()))
    return most
