"""`linalg-mark-collapsible-axes`: kernels are told which axes of the windows that they are called with lie side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import is_row_major, nested_ops
from dlc.analysis.collapsible_axes import COLLAPSIBLE, collapsible_axes
from dlc.analysis.size_polynomials import SizeReader
from dlc.analysis.symbols import functions_of, symbol_name
from dlc.lowering.linalg.dim_names import argument_attributes, with_entry
from dlc.lowering.linalg.require_buffers import require_buffers
from dlc.lowering.outlining import is_kernel
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class MarkCollapsibleAxes(Pass):
    """Say on arguments of kernels which axes `memref.collapse_shape` may join with the next, as `dl.collapsible`.

    A window of some channels of an image of open sides has strides that only run time knows, of which the type says nothing: that
    a row of pixels follows the one before is known where the window is made. An axis is marked where that holds at all calls.
    `linalg-collapse-dims` then makes one loop over all pixels.

    before:
        %s = memref.subview %y[0, 0, 64] [%h, %w, 64] [1, 1, 1] : ... to memref<?x?x64xf32, strided<[?, 128, 1], ...>>
        call @k(%s)
        func.func private @k(%x: memref<?x?x64xf32, strided<[?, 128, 1], ...>>)
    after:
        func.func private @k(%x: memref<?x?x64xf32, strided<[?, 128, 1], ...>> {dl.collapsible = array<i64: 0>})
    """

    def run(self, op: ir.Operation) -> None:
        """Mark the arguments of the kernels of the module `op` that it calls."""
        require_buffers(op)
        kernels = {symbol_name(function): function for function in functions_of(op) if is_kernel(function)}
        found: dict[str, list[list[frozenset[int]]]] = {}
        sizes = SizeReader()
        for call in [inner for inner in nested_ops(op) if inner.name == "func.call"]:
            name = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
            if name in kernels:
                found.setdefault(name, []).append([_axes_of(value, sizes) for value in call.operands])
        for name, calls in found.items():
            _mark(kernels[name], [frozenset.intersection(*axes) for axes in zip(*calls, strict=True)])


def _axes_of(value: ir.Value, sizes: SizeReader) -> frozenset[int]:
    """What a call says of an operand; nothing where its type shows it."""
    if not isinstance(value.type, ir.MemRefType) or is_row_major(ir.MemRefType(value.type)):
        return frozenset()
    return collapsible_axes(value, sizes)


def _mark(function: ir.Operation, axes: Sequence[frozenset[int]]) -> None:
    if not any(axes):
        return
    marks = [
        with_entry(mark, COLLAPSIBLE, ir.DenseI64ArrayAttr.get(sorted(known), function.context)) if known else mark
        for mark, known in zip(argument_attributes(function, len(axes)), axes, strict=True)
    ]
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(marks, function.context)
