"""The record through which a parallel task gets the values its loop body uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import arith, func, ir
from dlc.lowering.affine_to_llvm.bare_pointers import descriptor_type, is_bare, memref_at, pointer_to

_POINTER = "!llvm.ptr"


@dataclass(frozen=True)
class ContextRecord:
    """A struct with one field per value: `types` are those of the values, `fields` what stands for them in the llvm dialect.

    That is a pointer for a static buffer, whose task is told the rest by its type, and a value's twin else.
    """

    types: tuple[ir.Type, ...]
    fields: tuple[ir.Type, ...]

    @staticmethod
    def of(types: Sequence[ir.Type]) -> ContextRecord | None:
        """The record for values of these types, None when one has no twin in the llvm dialect."""
        fields = [_llvm_type(kind) for kind in types]
        known = [kind for kind in fields if kind is not None]
        return ContextRecord(tuple(types), tuple(known)) if len(known) == len(fields) else None

    @property
    def _struct(self) -> ir.Type:
        texts = ", ".join(str(kind) for kind in self.fields)
        return ir.Type.parse(f"!llvm.struct<({texts})>")

    def store(self, values: Sequence[ir.Value], entry: ir.Block) -> ir.Value:
        """Emit a record of `values`; it lies on the stack of the function with the block `entry`. Returns its address."""
        long = ir.IntegerType.get_signless(64)
        with ir.InsertionPoint.at_block_begin(entry):
            one = arith.constant(long, 1)
            attributes = {"elem_type": ir.TypeAttr.get(self._struct)}
            record = _create("llvm.alloca", [one], ir.Type.parse(_POINTER), attributes)
        for position, value in enumerate(values):
            field = pointer_to(value) if is_bare(value.type) else _cast(value, self.fields[position])
            ir.Operation.create("llvm.store", operands=[field, self._field_address(record, position)])
        return record

    def task(self, name: str, body: str) -> ir.Operation:
        """A private function, in no module yet, that calls `body` with the record's values and the range it is given."""
        pointer, long, index = ir.Type.parse(_POINTER), ir.IntegerType.get_signless(64), ir.IndexType.get()
        function = func.FuncOp(name, ([pointer, long, long], []), visibility="private", ip=False)
        block = function.add_entry_block()
        context, *bounds = block.arguments
        with ir.InsertionPoint(block):
            values = [self._load(context, position) for position in range(len(self.fields))]
            func.CallOp([], body, [*values, *(arith.index_cast(index, bound) for bound in bounds)])
            func.ReturnOp([])
        return function.operation

    def address_of(self, task: str) -> ir.Value:
        """Emit the address of the function that `task` makes."""
        pointer, long = ir.Type.parse(_POINTER), ir.IntegerType.get_signless(64)
        kind = ir.FunctionType.get([pointer, long, long], [])
        return _cast(func.ConstantOp(kind, ir.FlatSymbolRefAttr.get(task)).result, pointer)

    def _load(self, record: ir.Value, position: int) -> ir.Value:
        address = self._field_address(record, position)
        field, kind = _create("llvm.load", [address], self.fields[position]), self.types[position]
        return memref_at(field, ir.MemRefType(kind)) if is_bare(kind) else _cast(field, kind)

    def _field_address(self, record: ir.Value, position: int) -> ir.Value:
        attributes = {
            "rawConstantIndices": ir.DenseI32ArrayAttr.get([0, position]),
            "elem_type": ir.TypeAttr.get(self._struct),
        }
        return _create("llvm.getelementptr", [record], ir.Type.parse(_POINTER), attributes)


def _llvm_type(kind: ir.Type) -> ir.Type | None:
    """The type of what stands for a value after lowering: memrefs become descriptors, static ones pointers."""
    if is_bare(kind):
        return ir.Type.parse(_POINTER)
    if isinstance(kind, ir.MemRefType):
        return descriptor_type(kind)
    if isinstance(kind, ir.IndexType):
        return ir.IntegerType.get_signless(64)
    element = kind.element_type if isinstance(kind, ir.VectorType) else kind
    return kind if isinstance(element, ir.IntegerType | ir.FloatType) else None


def _create(
    name: str, operands: Sequence[ir.Value], result: ir.Type, attributes: dict[str, ir.Attribute] | None = None
) -> ir.Value:
    return ir.Operation.create(name, results=[result], operands=operands, attributes=attributes).result


def _cast(value: ir.Value, kind: ir.Type) -> ir.Value:
    """`value` as its twin type; the lowering to the llvm dialect removes the cast."""
    return value if value.type == kind else _create("builtin.unrealized_conversion_cast", [value], kind)
