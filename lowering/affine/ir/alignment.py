"""Which powers of two divide the places of accesses in memory, as vectors of a GPU need it."""

from __future__ import annotations

from math import gcd

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, defining_op, root_of, strides_of
from dlc.analysis.dim_bounds import UNBOUNDED
from dlc.lowering.affine.ir.accesses import MemRefAccess, is_plain_view
from dlc.lowering.affine.ir.expressions import bounds_of_extent
from dlc.lowering.affine.ir.lanes import element_bits
from dlc.targets.machine import VECTOR_BYTES


def lane_bytes(memref: ir.Value) -> int:
    """Bytes of an element of `memref` in a vector; 0 where a vector has it in bits (i1), or its size is not known."""
    bits = element_bits(ir.MemRefType(memref.type).element_type) or 0
    return 0 if bits % 8 else bits // 8


def starts_aligned(memref: ir.Value) -> bool:
    """Whether subscripts of zeros are at a multiple of `VECTOR_BYTES`, as arguments of functions and of kernels begin and what is
    allocated on the heap. Shared memory and a thread's own begin where their elements may."""
    root, kind = root_of(memref), ir.MemRefType(memref.type)
    source, (_, offset) = defining_op(root), strides_of(kind)
    is_known = source is None or (source.name in ALLOCATIONS and source.name != "memref.alloca")
    if (
        kind.memory_space is not None
        or not (is_known and is_plain_view(memref))
        or offset == ir.ShapedType.get_dynamic_stride_or_offset()
    ):
        return False
    return offset * lane_bytes(memref) % VECTOR_BYTES == 0


def alignment_of(access: MemRefAccess, variable: ir.Value | None = None) -> int:
    """Bytes, up to `VECTOR_BYTES`, that divide the place of an access where `variable` is 0; those of an element at least."""
    size = lane_bytes(access.memref)
    if not starts_aligned(access.memref):
        return size
    if access.distance is None:
        return size if variable is not None else gcd(VECTOR_BYTES, _multiple(access) * size)
    form = access.distance if variable is None else access.distance.without(variable)
    return gcd(VECTOR_BYTES, *(number * size for number in (form.constant, *form.factors.values())))


def _multiple(access: MemRefAccess) -> int:
    """What divides the place of an access whose subscripts have quotients and rests, in elements."""
    strides, _ = strides_of(ir.MemRefType(access.memref.type))
    if ir.ShapedType.get_dynamic_stride_or_offset() in strides:
        return 1
    unknown = [UNBOUNDED] * len(access.indices)
    places = [bounds_of_extent(result, unknown, unknown).multiple for result in access.map.results]
    return gcd(*(place * stride for place, stride in zip(places, strides, strict=True)))
