"""The products of one `mma.sync` (PTX ISA, "Matrix fragments for mma"), as far as a target has them.

All have 16 rows and 8 columns, and take 32 bytes of each row along the sum: two chunks of 16 bytes, as `ldmatrix` reads them.
"""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction
from dlc.targets.machine import MATRIX_ROW_BYTES, GpuMachine

_KINDS = {"f16": "f16", "bf16": "bf16", "f32": "tf32", "i8": "i8"}
"""Types of elements, with the PTX ISA's name of what is multiplied."""


@dataclass(frozen=True)
class MmaShape:
    """`rows` x `columns` sums of `depth` products of elements of type `kind`, and how many multiply-adds start in a cycle."""

    kind: str
    depth: int
    rate: int
    rows: int = 16
    columns: int = 8

    @property
    def name(self) -> str:
        """As in `GpuMachine.tensor_shapes`."""
        return f"m{self.rows}n{self.columns}k{self.depth}.{self.kind}"


def shape_for(contraction: Contraction, facts: GpuMachine, tf32: bool) -> MmaShape | None:
    """The instruction for a contraction: f16, bf16, bytes; f32 only where its rounding to `tf32` is asked for. None for no one."""
    element = contraction.lhs.element
    kind = _KINDS.get(str(element))
    wide = "i32" if kind == "i8" else "f32"
    if kind is None or str(contraction.total.type) != wide or (kind == "tf32" and not tf32):
        return None
    if kind == "i8" and contraction.sums.extent << 14 >= 1 << 31:  # products reach 2^14; mma.sync saturates, loops wrap around
        return None
    shape = MmaShape(kind, 2 * MATRIX_ROW_BYTES // contraction.lhs.bytes, getattr(facts.tensor_rates, kind))
    return shape if shape.name in facts.tensor_shapes and shape.rate and facts.has_async_copies else None


def fragment_type(shape: MmaShape, element: ir.Type, registers: int) -> ir.Type:
    """What a thread holds of an operand: so many registers of 32 bits."""
    return ir.VectorType.get([registers, 32 // int(element.width)], element)


def accumulator_type(total: ir.Type) -> ir.Type:
    """What a thread holds of `rows` x `columns` sums: two neighbours of each of two rows, eight apart."""
    return ir.VectorType.get([2, 2], total)


def tensor_products(kernel: ir.Operation) -> str:
    """The products of one instruction of a kernel's tensor cores, as in `GpuMachine.tensor_shapes`; empty where it uses none."""
    for op in nested_ops(kernel):
        if op.name == "nvgpu.mma.sync":
            rows, columns, depth = (ir.IntegerAttr(size).value for size in ir.ArrayAttr(op.attributes["mmaShape"]))
            return f"m{rows}n{columns}k{depth}.{_KINDS[str(ir.VectorType(op.operands[0].type).element_type)]}"
    return ""
