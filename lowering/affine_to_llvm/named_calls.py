"""What an entry tells the runtime: what its memory is for, and which nodes come next."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.analysis.symbols import symbol_name
from dlc.diagnostics import names_of, place_of
from dlc.lowering.affine_to_llvm.result_memory import ALLOC, callee_of
from dlc.lowering.affine_to_llvm.texts import create_text
from dlc.lowering.policy import policy

_ALLOCATE, _BEGIN_KERNEL = "dlc_allocate", "dlc_begin_kernel"
_TYPES = {_ALLOCATE: "!llvm.func<ptr (i64, ptr)>", _BEGIN_KERNEL: "!llvm.func<void (ptr)>"}
_TEXT = "dlc_nodes_{}"


def name_calls(entry: ir.Operation) -> None:
    """Let the function `entry` of the llvm dialect say which node memory is for, and which nodes the next kernel computes.

    A call can be cancelled where it begins a kernel.

    before: %p = llvm.call @_mlir_memref_to_llvm_alloc(%bytes)
            llvm.call @kernel_0_add(%x, %p)
    after:  %p = llvm.call @dlc_allocate(%bytes, %node)
            llvm.call @dlc_begin_kernel(%nodes)
            llvm.call @kernel_0_add(%x, %p)
    """
    kernels = {_symbol(op.operation) for op in entry.block.operations if "dl.kernel" in op.operation.attributes}
    namer = _Namer(entry)
    for op in list(nested_ops(entry)):
        if callee_of(op) == ALLOC:
            namer.name_allocation(op)
        elif callee_of(op) in kernels:
            namer.begin_kernel(op)
    namer.finish()


class _Namer:
    """Rewrites calls of one entry, whose texts and declarations come last."""

    def __init__(self, entry: ir.Operation) -> None:
        self._entry = entry
        self._texts: dict[str, str] = {}
        self._called: set[str] = set()

    def name_allocation(self, call: ir.Operation) -> None:
        with ir.InsertionPoint(call), call.location:
            made = self._call(_ALLOCATE, [call.operands[0], self._text(call)], [call.results[0].type])
        call.results[0].replace_all_uses_with(made.result)
        call.erase()

    def begin_kernel(self, call: ir.Operation) -> None:
        with ir.InsertionPoint(call), call.location:
            self._call(_BEGIN_KERNEL, [self._text(call)], [])

    def finish(self) -> None:
        block = self._entry.block
        present = {_symbol(op.operation) for op in block.operations}
        with self._entry.location, ir.InsertionPoint.at_block_begin(block):
            for text, symbol in self._texts.items():
                create_text(symbol, text)
            for name in sorted(self._called - present):
                attributes = {"sym_name": ir.StringAttr.get(name), "function_type": ir.TypeAttr.get(ir.Type.parse(_TYPES[name]))}
                ir.Operation.create("llvm.func", attributes=attributes, regions=1)

    def _text(self, call: ir.Operation) -> ir.Value:
        """The address of the text for the nodes of a call, at the current place. Entries of one module have texts of their own."""
        symbol = f"{_TEXT.format(len(self._texts))}_of_{_symbol(self._entry)}"
        symbol = self._texts.setdefault(_nodes(call.location), symbol)
        attributes = {"global_name": ir.FlatSymbolRefAttr.get(symbol)}
        return ir.Operation.create("llvm.mlir.addressof", results=[ir.Type.parse("!llvm.ptr")], attributes=attributes).result

    def _call(self, callee: str, operands: Sequence[ir.Value], results: Sequence[ir.Type]) -> ir.Operation:
        self._called.add(callee)
        attributes = {
            "callee": ir.FlatSymbolRefAttr.get(callee),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0]),
            "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
        }
        return ir.Operation.create("llvm.call", results=list(results), operands=list(operands), attributes=attributes)


def _nodes(location: ir.Location) -> str:
    """The nodes that a location names, a few at most, else its place in a file."""
    names = [f"'{name}'" for name in names_of(location)]
    if names:
        more = [f"{len(names) - policy().limits.shown_names} more"] if len(names) > policy().limits.shown_names else []
        return ("nodes " if len(names) > 1 else "node ") + ", ".join(names[: policy().limits.shown_names] + more)
    file, line, column = place_of(location)
    return f"{file}:{line}:{column}" if file else "the model"


def _symbol(op: ir.Operation) -> str:
    return symbol_name(op)
