"""Copies between strided buffers as linalg ops."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import is_contiguous, nested_ops, root_of
from dlc.lowering.outlining import is_kernel
from dlc.lowering.pass_base import Pass
from dlc.targets.machine import is_for_gpu


@dataclass(frozen=True)
class MaterializeCopies(Pass):
    """Turn every `memref.copy` that is not one block of memory into a `linalg.generic` that yields its input.

    A contiguous copy stays, since it becomes a `memcpy`; a strided one would become a library call that moves one
    element at a time, while as a linalg op it becomes a vector loop like any other. In kernels for a GPU, which has no library to
    call, every copy becomes a linalg op, and so does what the host would copy between views. Not so contiguous memory that a loop
    in a kernel takes or carries, whose sizes bound no affine loop: such kernels stay with the host.

    before:
        memref.copy %a, %b : memref<4x4xf32> to memref<4x4xf32, strided<[8, 1]>>
    after:
        linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%a : memref<4x4xf32>) outs(%b : memref<4x4xf32, strided<[8, 1]>>) {
        ^bb0(%in: f32, %out: f32):
          linalg.yield %in : f32
        }
    """

    def run(self, op: ir.Operation) -> None:
        for copy in [inner for inner in nested_ops(op) if inner.name == "memref.copy" and _is_loops(inner)]:
            _replace_by_generic(copy)


def _is_loops(copy: ir.Operation) -> bool:
    kinds = [value.type for value in copy.operands]
    if not all(isinstance(kind, ir.MemRefType) for kind in kinds):
        return False
    if not all(map(is_contiguous, kinds)):
        return True
    if not is_for_gpu(copy):
        return False
    if _is_in_kernel(copy):
        return all(map(_is_bound_outside_loops, copy.operands))
    return any(isinstance(kind.layout, ir.StridedLayoutAttr) for kind in kinds)


def _is_in_kernel(op: ir.Operation) -> bool:
    around = op.parent.operation
    while around.name != "func.func" and around.parent is not None:
        around = around.parent.operation
    return around.name == "func.func" and is_kernel(around)


def _is_bound_outside_loops(memref: ir.Value) -> bool:
    """Whether the sizes of `memref` are numbers, or those of memory that no region of a loop or branch makes."""
    root = root_of(memref)
    block = root.owner if isinstance(root, ir.BlockArgument) else root.owner.operation.block
    return ir.MemRefType(memref.type).has_static_shape or block.owner.operation.name == "func.func"


def _replace_by_generic(copy: ir.Operation) -> None:
    source, target = copy.operands
    rank = source.type.rank
    identity = ir.AffineMapAttr.get(ir.AffineMap.get_identity(rank))
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    attributes = {
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1]),
        "indexing_maps": ir.ArrayAttr.get([identity, identity]),
        "iterator_types": ir.ArrayAttr.get([parallel] * rank),
    }
    with copy.location, ir.InsertionPoint(copy):
        generic = ir.Operation.create("linalg.generic", operands=[source, target], attributes=attributes, regions=1)
        element = source.type.element_type
        block = generic.regions[0].blocks.append(element, element)
        with ir.InsertionPoint(block):
            ir.Operation.create("linalg.yield", operands=[block.arguments[0]])
    copy.erase()
