"""Calls of the runtime's functions for a GPU (`dlc_runtime.h`), which take and give addresses and sizes as 64-bit integers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from dlc._mlir import ir
from dlc.analysis.buffers import element_bytes
from dlc.dialects.dl.types import MOST_BYTES
from dlc.lowering.affine_to_llvm.texts import create_text
from dlc.lowering.pass_base import PassFailure

MODEL = "dlc_gpu_model"
"""The variable of compiled code that holds the runtime's record of the model, which whoever loads the code sets."""
_TEXT = "dlc_gpu_kernel_{}"


def long() -> ir.Type:
    """The type of addresses, sizes and words."""
    return ir.IntegerType.get_signless(64)


def constant(number: int, kind: ir.Type | None = None) -> ir.Value:
    """A constant of 64 bits, or of `kind`, at the current place."""
    kind = kind or long()
    return ir.Operation.create("arith.constant", [kind], attributes={"value": ir.IntegerAttr.get(kind, number)}).result


def word_of(value: ir.Value) -> ir.Value:
    """A number as 64 bits, the lowest of which hold it."""
    kind = value.type
    if str(kind) == "!llvm.ptr":
        return ir.Operation.create("llvm.ptrtoint", [long()], [value]).result
    if isinstance(kind, ir.IndexType):
        return ir.Operation.create("arith.index_cast", [long()], [value]).result
    if isinstance(kind, ir.FloatType):
        value = ir.Operation.create("arith.bitcast", [ir.IntegerType.get_signless(kind.width)], [value]).result
    return value if value.type == long() else ir.Operation.create("arith.extui", [long()], [value]).result


def address_of(memref: ir.Value) -> ir.Value:
    """Where a memref's data begin, its offset not counted."""
    index = ir.Operation.create("memref.extract_aligned_pointer_as_index", [ir.IndexType.get()], [memref]).result
    return word_of(index)


def sizes_of(memref: ir.Value) -> list[ir.Value]:
    """The sizes of a memref as 64-bit integers."""
    kind = ir.MemRefType(memref.type)
    found = []
    for axis in range(kind.rank):
        if not kind.is_dynamic_dim(axis):
            found.append(constant(kind.shape[axis]))
            continue
        at = constant(axis, ir.IndexType.get())
        found.append(word_of(ir.Operation.create("memref.dim", [ir.IndexType.get()], [memref, at]).result))
    return found


def bytes_of(op: ir.Operation, kind: ir.MemRefType, sizes: Sequence[ir.Value]) -> ir.Value:
    """The bytes of a contiguous memref of these sizes; `PassFailure` at `op` where no machine has as many."""
    element = element_bytes(kind.element_type)
    if element is None:
        raise PassFailure(op, f"elements of a buffer of the GPU are numbers, not {kind.element_type}", "use a buffer of numbers")
    fixed = prod(kind.shape[axis] for axis in range(kind.rank) if not kind.is_dynamic_dim(axis)) * element
    if fixed > MOST_BYTES:
        raise PassFailure(op, f"a buffer takes {fixed} bytes, more than any machine can address", "give smaller sizes")
    total = constant(fixed)
    for axis in [axis for axis in range(kind.rank) if kind.is_dynamic_dim(axis)]:
        total = ir.Operation.create("arith.muli", [long()], [total, sizes[axis]]).result
    return total


def memref_at(kind: ir.MemRefType, address: ir.Value, sizes: Sequence[ir.Value]) -> ir.Value:
    """The contiguous memref of these sizes at an address."""
    pointer = ir.Operation.create("llvm.inttoptr", [ir.Type.parse("!llvm.ptr")], [address]).result
    rank = kind.rank
    dims = f", array<{rank} x i64>, array<{rank} x i64>" if rank else ""
    record = ir.Type.parse(f"!llvm.struct<(ptr, ptr, i64{dims})>")
    built = ir.Operation.create("llvm.mlir.poison", [record]).result
    strides: list[ir.Value] = []
    stride = constant(1)
    for size in reversed(sizes):
        strides.insert(0, stride)
        stride = ir.Operation.create("arith.muli", [long()], [stride, size]).result
    fields: list[tuple[tuple[int, ...], ir.Value]] = [((0,), pointer), ((1,), pointer), ((2,), constant(0))]
    fields += [((3, axis), size) for axis, size in enumerate(sizes)]
    fields += [((4, axis), step) for axis, step in enumerate(strides)]
    for position, value in fields:
        attributes = {"position": ir.DenseI64ArrayAttr.get(list(position))}
        built = ir.Operation.create("llvm.insertvalue", [record], [built, value], attributes).result
    return ir.Operation.create("builtin.unrealized_conversion_cast", [kind], [built]).result


def array_of(words: Sequence[ir.Value], op: ir.Operation) -> ir.Value:
    """The address of an array on the stack that holds 64-bit words; `op` is in the function."""
    kind = ir.MemRefType.get([max(1, len(words))], long())
    while op.name != "func.func":
        op = op.parent.operation
    with ir.InsertionPoint.at_block_begin(op.regions[0].blocks[0]):
        attributes = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])}
        place = ir.Operation.create("memref.alloca", [kind], attributes=attributes).result
    for at, word in enumerate(words):
        ir.Operation.create("memref.store", operands=[word, place, constant(at, ir.IndexType.get())])
    return address_of(place)


class RuntimeCalls:
    """Emits calls at the current place; their declarations and texts come at the module's begin in the end."""

    def __init__(self, module: ir.Operation) -> None:
        self._module = module
        self._declared: dict[str, ir.FunctionType] = {}
        self._texts: dict[str, str] = {}
        self._has_model = False

    def call(self, name: str, *operands: ir.Value, gives: bool = False) -> ir.Value | None:
        """Call a function of the runtime on 64-bit integers; what it gives."""
        results = [long()] if gives else []
        self._declared[name] = ir.FunctionType.get([long()] * len(operands), results)
        callee = {"callee": ir.FlatSymbolRefAttr.get(name)}
        made = ir.Operation.create("func.call", results, list(operands), callee)
        return made.results[0] if gives else None

    def model(self) -> ir.Value:
        """The runtime's record of the model."""
        self._has_model = True
        return ir.Operation.create("llvm.load", [long()], [self._address(MODEL)]).result

    def text(self, content: str) -> ir.Value:
        """The address of a text."""
        symbol = self._texts.setdefault(content, _TEXT.format(len(self._texts)))
        return ir.Operation.create("llvm.ptrtoint", [long()], [self._address(symbol)]).result

    def finish(self) -> None:
        """Write what the calls refer to."""
        with self._module.location, ir.InsertionPoint.at_block_begin(self._module.regions[0].blocks[0]):
            for content, symbol in self._texts.items():
                create_text(symbol, content)
            if self._has_model:
                _create_variable(MODEL)
            for name, kind in self._declared.items():
                attributes = {
                    "sym_name": ir.StringAttr.get(name),
                    "sym_visibility": ir.StringAttr.get("private"),
                    "function_type": ir.TypeAttr.get(kind),
                }
                ir.Operation.create("func.func", attributes=attributes, regions=1)

    def _address(self, symbol: str) -> ir.Value:
        attributes = {"global_name": ir.FlatSymbolRefAttr.get(symbol)}
        return ir.Operation.create("llvm.mlir.addressof", [ir.Type.parse("!llvm.ptr")], attributes=attributes).result


def _create_variable(symbol: str) -> None:
    attributes = {
        "sym_name": ir.StringAttr.get(symbol),
        "global_type": ir.TypeAttr.get(long()),
        "linkage": ir.Attribute.parse("#llvm.linkage<external>"),
        "value": ir.IntegerAttr.get(long(), 0),
        "addr_space": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 0),
    }
    ir.Operation.create("llvm.mlir.global", attributes=attributes, regions=1)
