"""Static buffers go to kernels as one pointer each, instead of a descriptor of up to 11 fields.

The fields cost little at run time, but an entry that hands hundreds of weights to kernels keeps thousands of them alive:
LLVM took 6 s for that of DenseNet-121.
"""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.analysis.symbols import functions_of, names_in, symbol_name

_POINTER = "!llvm.ptr"
_KERNEL = "dl.kernel"
_ALLOCATED, _ALIGNED, _OFFSET, _SIZES, _STRIDES = range(5)
"""Fields of a memref's descriptor."""


def pass_bare_pointers(module: ir.Operation, ops: Sequence[ir.Operation]) -> None:
    """Give functions that only calls reach pointers for their arguments of static shape and identity layout.

    These are the private functions of a module, and the kernels in modules of their own (`dl.kernel`), which are called from
    others: both sides know from the types alone what is passed. `ops` are all ops of the module.
    """
    operations = functions_of(module)
    inner = [op for op in ops if op.name in ("func.call", "func.constant") and names_in(op, module)]
    named = {op.attributes["value"].value for op in inner if op.name == "func.constant"}
    functions = {name: op for op in operations if (name := symbol_name(op)) not in named and _is_called_only(op)}
    positions = {name: _static_arguments(op) for name, op in functions.items()}
    for call in inner:
        if call.name == "func.call" and positions.get(callee := call.attributes["callee"].value):
            _pass_pointers(call, positions[callee])
    for name, op in functions.items():
        if positions[name]:
            _take_pointers(op, positions[name])


def _is_called_only(function: ir.Operation) -> bool:
    is_private = "sym_visibility" in function.attributes and function.attributes["sym_visibility"].value == "private"
    return _KERNEL in function.attributes or (is_private and len(function.regions[0].blocks) > 0)


def _type_of(function: ir.Operation) -> ir.FunctionType:
    return ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)


def _static_arguments(function: ir.Operation) -> list[int]:
    return [index for index, kind in enumerate(_type_of(function).inputs) if is_bare(kind)]


def is_bare(kind: ir.Type) -> bool:
    """Whether a pointer to its first element says all of a value of this type."""
    if not isinstance(kind, ir.MemRefType) or not kind.has_static_shape or kind.memory_space is not None:
        return False
    return kind.affine_map == ir.AffineMap.get_identity(kind.rank, kind.context)


def _take_pointers(function: ir.Operation, positions: Sequence[int]) -> None:
    """Change the function's type, and make memrefs of the pointers at its start."""
    pointer = ir.Type.parse(_POINTER, function.context)
    inputs = list(_type_of(function).inputs)
    kinds = [pointer if index in positions else kind for index, kind in enumerate(inputs)]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kinds, _type_of(function).results, function.context))
    for block in list(function.regions[0].blocks)[:1]:
        with ir.InsertionPoint.at_block_begin(block), function.location:
            for index in positions:
                argument = block.arguments[index]
                argument.set_type(pointer)
                users = list(argument.uses)
                memref = memref_at(argument, ir.MemRefType(inputs[index]))
                for use in users:
                    use.owner.operation.operands[use.operand_number] = memref


def memref_at(pointer: ir.Value, kind: ir.MemRefType) -> ir.Value:
    """Emit the memref of the type `kind`, which `is_bare`, that begins at `pointer`."""
    descriptor = ir.Operation.create("llvm.mlir.poison", results=[descriptor_type(kind)]).result
    strides, _ = kind.get_strides_and_offset()
    fields = [([_ALLOCATED], pointer), ([_ALIGNED], pointer), ([_OFFSET], _constant(0))]
    fields += [([_SIZES, axis], _constant(size)) for axis, size in enumerate(kind.shape)]
    fields += [([_STRIDES, axis], _constant(stride)) for axis, stride in enumerate(strides)]
    for position, value in fields:
        attributes = {"position": ir.DenseI64ArrayAttr.get(position)}
        descriptor = ir.Operation.create(
            "llvm.insertvalue", results=[descriptor.type], operands=[descriptor, value], attributes=attributes
        ).result
    return ir.Operation.create("builtin.unrealized_conversion_cast", results=[kind], operands=[descriptor]).result


def pointer_to(memref: ir.Value) -> ir.Value:
    """Emit the pointer to the first element of a memref whose type `is_bare`."""
    descriptor = ir.Operation.create(
        "builtin.unrealized_conversion_cast", results=[descriptor_type(ir.MemRefType(memref.type))], operands=[memref]
    ).result
    attributes = {"position": ir.DenseI64ArrayAttr.get([_ALIGNED])}
    pointer = ir.Type.parse(_POINTER, memref.context)
    return ir.Operation.create("llvm.extractvalue", results=[pointer], operands=[descriptor], attributes=attributes).result


def _pass_pointers(call: ir.Operation, positions: Sequence[int]) -> None:
    with ir.InsertionPoint(call), call.location:
        for index in positions:
            call.operands[index] = pointer_to(call.operands[index])


def descriptor_type(kind: ir.MemRefType) -> ir.Type:
    """The struct that memrefs of a type become."""
    sizes = f", array<{kind.rank} x i64>, array<{kind.rank} x i64>" if kind.rank else ""
    return ir.Type.parse(f"!llvm.struct<(ptr, ptr, i64{sizes})>", kind.context)


def _constant(value: int) -> ir.Value:
    kind = ir.IntegerType.get_signless(64)
    return ir.Operation.create("llvm.mlir.constant", results=[kind], attributes={"value": ir.IntegerAttr.get(kind, value)}).result
