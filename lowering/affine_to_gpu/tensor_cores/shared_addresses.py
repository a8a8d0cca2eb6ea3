"""Addresses of panels in shared memory, and views of operands in global memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from dlc._mlir import arith, ir, memref
from dlc.lowering.affine_to_gpu.extents import LoopExtents
from dlc.lowering.affine_to_gpu.tensor_cores.open_strides import flat_open


def shared_address(memory: ir.Value, extents: LoopExtents, inside: ir.AffineExpr) -> ir.Value:
    """Emit the address of what lies `inside` bytes from the start of shared memory, as 64 bits."""
    base = memref.extract_aligned_pointer_as_index(memory)
    return arith.index_cast(ir.IntegerType.get_signless(64), arith.addi(base, extents.value(inside)))


def pointer_to(address: ir.Value, of_cluster: bool = False) -> ir.Value:
    """Emit a pointer to shared memory of the block (LLVM's address space 3), or to the same as memory of its cluster (7)."""
    kind = ir.Type.parse(f"!llvm.ptr<{7 if of_cluster else 3}>")
    return ir.Operation.create("llvm.inttoptr", [kind], [address]).results[0]


def strided_view(value: ir.Value, sizes: Sequence[int], strides: Sequence[int]) -> ir.Value:
    """Emit a view of a memref's elements from its first one on."""
    kind = ir.MemRefType(value.type)
    layout = None if list(strides) == [1] else ir.StridedLayoutAttr.get(0, list(strides))
    view = ir.MemRefType.get(list(sizes), kind.element_type, layout, kind.memory_space)
    numbers = {"static_offsets": [0], "static_sizes": sizes, "static_strides": strides}
    attributes: dict[str, ir.Attribute] = {name: ir.DenseI64ArrayAttr.get(list(given)) for name, given in numbers.items()}
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, 0, 0, 0])
    return ir.Operation.create("memref.reinterpret_cast", [view], [value], attributes).results[0]


def flat(value: ir.Value) -> ir.Value:
    """Emit a view of a memref without gaps as one of a single dim.

    Passes fold a `memref.collapse_shape` into what reads it, by divisions for every access; this view stays.
    """
    kind = ir.MemRefType(value.type)
    if not kind.has_static_shape:
        return flat_open(value)
    return value if kind.rank == 1 else strided_view(value, [prod(kind.shape)], [1])
