"""Large results go to memory past the caches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import arith, func, ir, memref, vector
from dlc.analysis.buffers import is_memref, nested_ops, root_of
from dlc.lowering.affine.codegen.streaming import (
    buffers_masked,
    buffers_read,
    bytes_of,
    is_large,
    is_multiple,
    is_open,
    streamed_bytes,
)
from dlc.lowering.affine.cost.loop_work import work_of, work_of_iteration
from dlc.lowering.affine.cost.set_conflicts import lines_in_set, ways_of
from dlc.lowering.affine.ir.accesses import access_of
from dlc.lowering.affine.ir.expressions import Linear, result_maps
from dlc.lowering.affine.ir.lanes import element_bits
from dlc.lowering.affine.ir.loops import PARALLEL, apply, real_ops
from dlc.lowering.affine_to_llvm.parallel.ranges import declare
from dlc.lowering.pass_base import Pass, PassFailure, option
from dlc.lowering.policy import policy
from dlc.targets.machine import LINE_BYTES, VECTOR_BITS, Machine, facts_of

_THREADS = "dlc_num_threads"


@dataclass(frozen=True)
class AffineStreamStores(Pass):
    """Write buffers that no near cache holds with non-temporal stores, which do not read the lines that they replace.

    before: affine.for %i = 0 to 4194304 step 16 { ...; affine.vector_store %v, %y[%i] }
    after:  scf.if (%y starts at a multiple of 64 bytes) { affine.for { ...; vector.store %v, %y[%i] {nontemporal} } }
            else { affine.for { ...; affine.vector_store %v, %y[%i] } }

    Some light parallel nests write so on one thread only: those whose buffers all fit in the last cache that a few cores share. Two
    threads on cores that share 32 MiB write the 8 MiB of a layer norm in 0.20 ms past that cache, and in 0.12 ms into it.

    The nest has to write whole vectors at aligned places, line after line, and must not read the buffer. A size that only run time
    knows is compared there, which takes two versions of the nest; nests that compute more than they wait for memory, and those
    that write sums, gain too little for that. 16 MiB of max(x, 0) take 1.1 ms instead of 2.9; 4 MiB take 0.26 instead of 0.36, but
    then the next kernel may find them in a cache.
    """

    min_bytes: int = option(0, "size of the smallest buffer that is written so; 0: by the target's caches")

    def run(self, op: ir.Operation) -> None:
        """Rewrite the nests of the functions of a module."""
        if self.min_bytes < 0:
            raise PassFailure(op, f"min-bytes is {self.min_bytes}", "give 0 or more")
        facts = facts_of(op)
        least = self.min_bytes or streamed_bytes(facts)
        sizes = _Sizes(least, self.min_bytes or min(least, facts.l2_bytes), self.min_bytes or max(least, facts.l3_bytes))
        module_block = op.regions[0].blocks[0]
        functions = [item.operation for item in module_block.operations if item.operation.name == "func.func"]
        blocks = [block for function in functions for block in function.regions[0].blocks]
        tops = [inner.operation for block in blocks for inner in block.operations if inner.operation.name == "affine.for"]
        for top in tops:
            if not len(top.results):
                _stream(top, sizes, facts, module_block)


@dataclass(frozen=True)
class _Sizes:
    """Bytes of the smallest buffers that go past the caches: of any, of those with set conflicts in the nearest one, and
    of those whose rows end in masked vectors.

    The last are as large as the last cache: zeros of 11 MB that `covariance` adds to next take 1.04 of its time past the caches.
    """

    any: int
    with_set_conflicts: int
    masked: int


def _stream(top: ir.Operation, sizes: _Sizes, facts: Machine, module_block: ir.Block) -> None:
    """Make a second version of the nest `top`, for buffers that are aligned."""
    ops, stores = nested_ops(top), _Stores()
    places = [
        place
        for place, op in enumerate(ops)
        if op.name == "affine.vector_store"
        and (is_large(op.operands[1], sizes.with_set_conflicts) or is_open(op.operands[1]))
        and _is_whole(op, stores, facts.vector_bits)
        and (is_large(op.operands[1], sizes.any) or is_open(op.operands[1]) or _has_set_conflicts(op, stores, facts))
    ]
    if places:
        read, masked = frozenset(buffers_read(ops)), frozenset(buffers_masked(ops))
        places = [
            place
            for place in places
            if root_of(ops[place].operands[1]) not in read
            and (root_of(ops[place].operands[1]) not in masked or is_large(ops[place].operands[1], sizes.masked))
        ]
    if not places or not all(_waits_for_memory(ops[place]) for place in places if is_open(ops[place].operands[1])):
        return
    buffers: list[ir.Value] = []
    for place in places:
        if not any(ops[place].operands[1] == known for known in buffers):
            buffers.append(ops[place].operands[1])
    opened = [buffer for buffer in buffers if is_open(buffer)]
    is_for_one_thread = _is_for_one_thread(top, [ops[place] for place in places], facts)
    has_near_cache = facts.l3_line_cycles <= policy().memory.near_line_cycles
    if is_for_one_thread or (opened and has_near_cache):
        declare(module_block, _THREADS, [], [ir.IntegerType.get_signless(32)])
    with ir.InsertionPoint(top), top.location:
        condition = _all_aligned(buffers)
        if is_for_one_thread:
            condition = arith.andi(condition, _has_one_thread())
        for buffer in opened:
            condition = arith.andi(condition, _is_large_enough(buffer, sizes, has_near_cache))
        choice = ir.Operation.create("scf.if", operands=[condition], regions=2)
        streaming, plain = (region.blocks.append() for region in choice.regions)
        ends = []
        for block in (streaming, plain):
            with ir.InsertionPoint(block):
                ends.append(ir.Operation.create("scf.yield"))
    with ir.InsertionPoint(ends[0]):
        copy = top.clone()
    top.move_before(ends[1])
    copies = nested_ops(copy.operation)
    for place in places:
        _make_streaming(copies[place])


def _waits_for_memory(store: ir.Operation) -> bool:
    """Whether an iteration of the loop around `store` has little work for each line that it writes, and sums nothing up for it.

    Results of a model lie where others lay, in lines that a cache may still have: a store past the caches writes these back first,
    which sums of few products take four times as long for (docs/measurements/memory.md).
    """
    loop = store.parent.operation
    if loop.name != "affine.for" or any(op.name == "affine.for" and len(op.results) for op in real_ops(store.block)):
        return False
    stored = [ir.VectorType(op.operands[0].type) for op in real_ops(loop.regions[0].blocks[0]) if op.name == "affine.vector_store"]
    lines = sum(math.prod(kind.shape) * (element_bits(kind.element_type) or 0) for kind in stored) / (8 * LINE_BYTES)
    return work_of_iteration(loop, 0) <= policy().memory.light_line_work * lines


def _is_large_enough(buffer: ir.Value, sizes: _Sizes, has_near_cache: bool) -> ir.Value:
    """Emit whether a buffer whose size run time knows goes past the caches, and past a last cache near several threads, too."""
    kind, index = ir.MemRefType(buffer.type), ir.IndexType.get()
    total = arith.constant(index, -(-(element_bits(kind.element_type) or 64) // 8))
    for axis in range(kind.rank):
        size = kind.get_dim_size(axis) if not kind.is_dynamic_dim(axis) else None
        total = arith.muli(total, memref.dim(buffer, arith.constant(index, axis)) if size is None else arith.constant(index, size))
    found = arith.cmpi(arith.CmpIPredicate.sge, total, arith.constant(index, sizes.any))
    if not has_near_cache:
        return found
    is_larger = arith.cmpi(arith.CmpIPredicate.sge, total, arith.constant(index, sizes.masked))
    return arith.andi(found, arith.ori(is_larger, _has_one_thread()))


def _is_for_one_thread(top: ir.Operation, stores: Sequence[ir.Operation], facts: Machine) -> bool:
    """Whether several threads are faster if the nest `top` leaves what `stores` write in the last cache.

    Past the caches, memory takes lines no faster from two cores than from one; a last cache near the cores does. Times past the
    cache as multiples of those into it, on two cores that share 32 MiB: max(x, 0) of 8 MiB 2.3 and of 16 MiB 1.5, an erf 1.4 and
    1.2, sums of two arrays of 8 MiB 1.5, of 12 MiB 1.1, of 16 MiB 0.9. Transposes of any size take 0.65 to 0.8, and nests of much
    work a line less than 1, too: networks of convolutions take 0.93 to 0.99.
    """
    if facts.l3_line_cycles > policy().memory.near_line_cycles or not any(
        PARALLEL in op.attributes for op in (top, *nested_ops(top))
    ):
        return False
    if not all(_goes_along(store, place) for store in stores if (place := access_of(store).distance) is not None):
        return False
    sizes = {root: bytes_of(root) for op in nested_ops(top) for root in map(root_of, filter(is_memref, op.operands))}
    if None in sizes.values() or sum(size or 0 for size in sizes.values()) > facts.l3_bytes:
        return False
    lines = sum(sizes[root] or 0 for root in {root_of(store.operands[1]) for store in stores}) / LINE_BYTES
    return work_of(top) <= policy().memory.light_line_work * lines


class _Stores:
    """Where the vector stores of a nest write: found once for each, though those of a block are compared with each other."""

    def __init__(self) -> None:
        self._places: dict[ir.Operation, Linear | None] = {}
        self._beside: dict[tuple[ir.Block, ir.Value], list[Linear | None]] = {}

    def place(self, store: ir.Operation) -> Linear | None:
        """Elements from the start of the buffer; None where it is not linear."""
        if store not in self._places:
            self._places[store] = access_of(store).distance
        return self._places[store]

    def beside(self, store: ir.Operation) -> list[Linear | None]:
        """The places of the stores of the same block to the same buffer, that of `store` too."""
        key = store.block, store.operands[1]
        if key not in self._beside:
            ops = (op.operation for op in store.block.operations)
            self._beside[key] = [self.place(op) for op in ops if op.name == "affine.vector_store" and op.operands[1] == key[1]]
        return self._beside[key]


def _is_whole(store: ir.Operation, stores: _Stores, vector_bits: int) -> bool:
    """Whether the store writes one register, or a part that is one, at a multiple of its size from the start of the buffer.

    A store of less than a line must be followed by the rest of the line. A transpose of 1024x1024 whose stores go down columns,
    half a line each, takes 4.8 times as long past the caches.
    """
    stored = ir.VectorType(store.operands[0].type)
    lanes, bits = stored.shape[-1], element_bits(stored.element_type) or 0
    if stored.rank != 1 or bits % 8 or lanes * bits not in VECTOR_BITS or lanes * bits > vector_bits:
        return False
    place = stores.place(store)
    if place is None or not is_multiple(place, lanes):
        return False
    return lanes * bits >= 8 * LINE_BYTES or _goes_along(store, place) or _has_line(store, stores, 8 * LINE_BYTES // bits)


def _has_set_conflicts(store: ir.Operation, stores: _Stores, facts: Machine) -> bool:
    """Whether the lines that stores of the same block write are more of one set of the nearest cache than that holds.

    They push each other out of it before they are written: 4096x128 f32 transposed, in rows 16 KiB apart, takes 100 us, past the
    caches 52, 1024x512 124 and 69. Rows 2 KiB apart, 512x512, take as long.
    """
    place, others = stores.place(store), stores.beside(store)
    constants = [other.constant for other in others if place is not None and other is not None and other.factors == place.factors]
    pitch = math.gcd(*(constant - constants[0] for constant in constants)) if constants else 0
    size = (element_bits(ir.MemRefType(store.operands[1].type).element_type) or 0) // 8
    is_far = pitch * size >= LINE_BYTES
    return is_far and lines_in_set(len(constants), pitch * size) > ways_of(facts.l1_bytes)


def _goes_along(store: ir.Operation, place: Linear) -> bool:
    """Whether the loop around `store` moves it along its row."""
    loop = store.parent.operation
    if loop.name != "affine.for":
        return False
    factor = place.of(loop.regions[0].blocks[0].arguments[0])
    lanes = ir.VectorType(store.operands[0].type).shape[-1]
    return factor == 1 or factor * ir.IntegerAttr(loop.attributes["step"]).value == lanes


def _has_line(store: ir.Operation, stores: _Stores, line: int) -> bool:
    """Whether the stores of the same block write all `line` elements of the line that `store` writes a part of."""
    place = stores.place(store)
    if place is None or not is_multiple(Linear(place.factors), line):
        return False
    lanes = ir.VectorType(store.operands[0].type).shape[-1]
    first = place.constant // line * line
    missing = set(range(first, first + line, lanes))
    missing -= {other.constant for other in stores.beside(store) if other is not None and other.factors == place.factors}
    return not missing


def _all_aligned(buffers: Sequence[ir.Value]) -> ir.Value:
    """Whether all `buffers` start with a cache line."""
    index = ir.IndexType.get()
    starts = [memref.ExtractAlignedPointerAsIndexOp(buffer).result for buffer in buffers]
    bits = starts[0]
    for start in starts[1:]:
        bits = arith.ori(bits, start)
    low = arith.andi(bits, arith.constant(index, LINE_BYTES - 1))
    return arith.cmpi(arith.CmpIPredicate.eq, low, arith.constant(index, 0))


def _has_one_thread() -> ir.Value:
    """Whether parallel loops run on the thread that calls."""
    number = ir.IntegerType.get_signless(32)
    count = func.CallOp([number], _THREADS, []).result
    return arith.cmpi(arith.CmpIPredicate.eq, count, arith.constant(number, 1))


def _make_streaming(store: ir.Operation) -> None:
    """Put a non-temporal store in place of `store`; it is an error of the processor where it is not aligned."""
    value, buffer, *operands = store.operands
    kind = ir.VectorType(value.type)
    alignment = kind.shape[0] * (element_bits(kind.element_type) or 0) // 8
    with ir.InsertionPoint(store), store.location:
        indices = [apply(single, operands) for single in result_maps(store.attributes["map"].value)]
        vector.StoreOp(value, buffer, indices, nontemporal=True, alignment=alignment)
    store.erase()
