"""The products of one `mma.sync` (PTX ISA, "Matrix fragments for mma") or `wgmma`, as far as a target has them.

A warp has 16 rows and 8 columns or a multiple, and takes 32 bytes of each row along the sum: two chunks of 16 bytes, as `ldmatrix`
reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction
from dlc.targets.machine import MATRIX_ROW_BYTES, WARPGROUP_WARPS, GpuMachine

_KINDS = {"f16": "f16", "bf16": "bf16", "f32": "tf32", "i8": "i8"}
"""Types of elements, with the PTX ISA's name of what is multiplied."""


@dataclass(frozen=True)
class MmaShape:
    """`rows` x `columns` sums of `depth` products of elements of type `kind`, and how many multiply-adds start in a cycle.

    `warps` warps issue it together, `rows` for each: one `mma.sync`, or the four of a `wgmma`, which has a multiple of `columns`.
    """

    kind: str
    depth: int
    rate: int
    rows: int = 16
    columns: int = 8
    warps: int = 1

    @property
    def of_warpgroup(self) -> bool:
        """Whether it is `wgmma`."""
        return self.warps > 1

    @property
    def name(self) -> str:
        """As in `GpuMachine.tensor_shapes`."""
        return f"m{self.rows}n{self.columns}k{self.depth}.{self.kind}"


def shapes_for(contraction: Contraction, facts: GpuMachine, tf32: bool) -> Iterator[MmaShape]:
    """The instructions for a contraction: f16, bf16, bytes; f32 only where its rounding to `tf32` is asked for. `wgmma` takes known
    extents alone."""
    element = contraction.lhs.element
    kind = _KINDS.get(str(element))
    wide = "i32" if kind == "i8" else "f32"
    if kind is None or str(contraction.total.type) != wide or (kind == "tf32" and not tf32):
        return
    if kind == "i8" and (contraction.sums.is_open or contraction.sums.extent << 14 >= 1 << 31):
        return  # products reach 2^14; mma.sync saturates, loops wrap around
    depth = 2 * MATRIX_ROW_BYTES // contraction.lhs.bytes
    shape = MmaShape(kind, depth, getattr(facts.tensor_rates, kind))
    if shape.name in facts.tensor_shapes and shape.rate and facts.has_async_copies:
        yield shape
    rate = getattr(facts.warpgroup_rates, kind)
    if rate and not contraction.is_open:
        yield MmaShape(kind, depth, rate, warps=WARPGROUP_WARPS)


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
        if op.name == "nvvm.wgmma.mma_async":
            return _warpgroup_products(op)
    return ""


def _warpgroup_products(op: ir.Operation) -> str:
    rows, columns, depth = (int(size) for size in re.findall(r"= (\d+)", str(op.attributes["shape"])))
    kind = str(op.attributes["typeA"]).partition("<")[2].rstrip(">")
    return f"m{rows}n{columns}k{depth}.{'i8' if kind == 's8' else kind}"
