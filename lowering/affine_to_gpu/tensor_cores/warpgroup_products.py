"""Products of `wgmma`: descriptors of panels in shared memory.

PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import arith, ir
from dlc.lowering.affine_to_gpu.extents import LoopExtents
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape
from dlc.lowering.affine_to_gpu.tensor_cores.shared_addresses import shared_address
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import Panel
from dlc.targets.machine import MATRICES, SWIZZLE_BYTES, SWIZZLE_ROWS


@dataclass(frozen=True, eq=False)
class WarpgroupOperand:
    """A panel in shared memory as `wgmma` reads it: `target` holds one for each stage, `first` is the warpgroup's first position
    along the panel's axis, a multiple of a swizzle's period."""

    panel: Panel
    shape: MmaShape
    target: ir.Value
    extents: LoopExtents
    first: ir.AffineExpr

    def descriptor(self, stage: ir.AffineExpr, step: int) -> ir.Value:
        """Emit the matrix descriptor of a step of the sum: address, offsets in units of 16 bytes, swizzle.

        All but the stage is the same in each turn of a loop, and the upper half in all. Addresses in shared memory have 18 bits, so
        that sums of units do not reach what is beside them.
        """
        i32, i64 = (ir.IntegerType.get_signless(bits) for bits in (32, 64))
        address = shared_address(self.target, self.extents, self._start)
        units = arith.andi(arith.shrui(address, arith.constant(i64, 4)), arith.constant(i64, (1 << 14) - 1))
        start = arith.trunci(i32, arith.ori(units, arith.constant(i64, self._leading << 16)))
        moved = self.extents.value(stage * (self.panel.bytes >> 4) + (self._offset(step) >> 4))
        low = arith.extui(i64, arith.addi(start, arith.index_cast(i32, moved)))
        return arith.ori(low, arith.constant(i64, self._upper))

    @property
    def _start(self) -> ir.AffineExpr:
        """Bytes from the start of a stage to the warpgroup's first position."""
        panel = self.panel
        if panel.along_sums:
            return self.first * panel.row_bytes
        return ir.AffineExpr.get_floor_div(self.first, panel.span) * (panel.depth * panel.row_bytes)

    def _offset(self, step: int) -> int:
        """Bytes from the start of a position's first step to a later one."""
        panel, along = self.panel, step * self.shape.depth
        if not panel.along_sums:
            return along * panel.row_bytes
        piece, inside = divmod(along, panel.span)
        return piece * panel.side * panel.row_bytes + inside * panel.operand.bytes

    @property
    def _leading(self) -> int:
        """From one piece of a row to the next, in units of 16 bytes; unused along the sum."""
        return 1 if self.panel.along_sums else self.panel.depth * self.panel.row_bytes >> 4

    @property
    def _upper(self) -> int:
        """The upper half of a descriptor, as a signed number: from eight rows to the next eight, and the swizzle."""
        stride = SWIZZLE_ROWS * self.panel.row_bytes >> 4
        bits = stride << 32 | (1 + SWIZZLE_BYTES.index(self.panel.row_bytes)) << 62
        return bits - (bits >> 63 << 64)


def sums_type(element: ir.Type, count: int) -> ir.Type:
    """What a thread holds of sums: a struct of `count` numbers."""
    return ir.Type.parse(f"!llvm.struct<({', '.join([str(element)] * count)})>")


def sums_count(sums: ir.Value) -> int:
    """Numbers of sums."""
    return str(sums.type).count(",") + 1


def sums_of(values: Sequence[ir.Value]) -> ir.Value:
    """Emit sums that are `values`."""
    kind = sums_type(values[0].type, len(values))
    sums = ir.Operation.create("llvm.mlir.poison", [kind]).results[0]
    for place, value in enumerate(values):
        position = {"position": ir.DenseI64ArrayAttr.get([place])}
        sums = ir.Operation.create("llvm.insertvalue", [kind], [sums, value], position).results[0]
    return sums


def values_of(sums: ir.Value) -> list[ir.Value]:
    """Emit the numbers of sums of f32."""
    element, count = ir.F32Type.get(), sums_count(sums)
    positions = [{"position": ir.DenseI64ArrayAttr.get([place])} for place in range(count)]
    return [ir.Operation.create("llvm.extractvalue", [element], [sums], position).results[0] for position in positions]


def fence_registers() -> None:
    """Emit the fence between what threads do with registers and the products that use these."""
    ir.Operation.create("nvvm.wgmma.fence.aligned")


def end_products() -> None:
    """Emit the end of a group of products."""
    ir.Operation.create("nvvm.wgmma.commit.group.sync.aligned")


def wait_for_products(left: int, sums: ir.Value) -> ir.Value:
    """Emit the wait for all groups of products but the last `left`; the sums of another one, which are there behind it.

    They go through the instruction, so that nothing that uses them comes before it.
    """
    text, count = f"wgmma.wait_group.sync.aligned {left};", sums_count(sums)
    return _assembly(text, ["=f"] * count + list(map(str, range(count))), values_of(sums), sums.type)


def set_registers(count: int, action: str) -> None:
    """Emit that each thread of a warpgroup has so many registers from now on: `decrease` gives some away, `increase` waits."""
    attributes = {
        "regCount": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), count),
        "action": ir.Attribute.parse(f"#nvvm<action {action}>"),
    }
    ir.Operation.create("nvvm.setmaxregister", attributes=attributes)


def multiply_registers(
    columns: int, lhs: ir.Value, rhs: WarpgroupOperand, at: tuple[ir.AffineExpr, int], total: ir.Value
) -> ir.Value:
    """Emit the `wgmma` whose left operand is a fragment of each thread: `nvvm.wgmma.mma_async` takes descriptors alone."""
    shape, count = rhs.shape, sums_count(total)
    words = [_word_of(lhs, number) for number in range(MATRICES)]
    sums = ", ".join(f"${place}" for place in range(count))
    registers = ", ".join(f"${count + place}" for place in range(MATRICES))
    transposed = 0 if rhs.panel.along_sums else 1
    name = f"m{shape.rows * shape.warps}n{columns}k{shape.depth}.f32.{shape.kind}.{shape.kind}"
    text = f"wgmma.mma_async.sync.aligned.{name} {{{sums}}}, {{{registers}}}, ${count + MATRICES}, 1, 1, 1, {transposed};"
    constraints = ["=f"] * count + ["r"] * MATRICES + ["l"] + list(map(str, range(count)))
    return _assembly(text, constraints, [*words, rhs.descriptor(*at), *values_of(total)], total.type)


def _word_of(fragment: ir.Value, number: int) -> ir.Value:
    """Emit a register of a fragment."""
    kind = ir.VectorType(fragment.type)
    place = {"static_position": ir.DenseI64ArrayAttr.get([number])}
    row = ir.VectorType.get(kind.shape[1:], kind.element_type)
    found = ir.Operation.create("vector.extract", [row], [fragment], place).results[0]
    return ir.Operation.create("llvm.bitcast", [ir.IntegerType.get_signless(32)], [found]).results[0]


def _assembly(text: str, constraints: Sequence[str], operands: Sequence[ir.Value], kind: ir.Type) -> ir.Value:
    """Emit PTX with a result."""
    attributes = {
        "asm_string": ir.StringAttr.get(text),
        "constraints": ir.StringAttr.get(",".join(constraints)),
        "has_side_effects": ir.UnitAttr.get(),
    }
    return ir.Operation.create("llvm.inline_asm", [kind], operands, attributes).results[0]


def multiply_warpgroup(
    columns: int,
    lhs: WarpgroupOperand,
    rhs: WarpgroupOperand,
    at: tuple[tuple[ir.AffineExpr, int], tuple[ir.AffineExpr, int]],
    total: ir.Value,
    is_first: bool = False,
) -> ir.Value:
    """Emit the `wgmma` that adds the product of 64 rows and `columns` columns to sums, or is the first one of these; `at` has a
    stage of each operand and a step of it."""
    shape = lhs.shape
    kind = "s8" if shape.kind == "i8" else shape.kind
    wide = "s32" if shape.kind == "i8" else "f32"
    texts = {
        "shape": f"#nvvm.shape<m = {shape.rows * shape.warps}, n = {columns}, k = {shape.depth}>",
        "layoutA": f"#nvvm.mma_layout<{'row' if lhs.panel.along_sums else 'col'}>",
        "layoutB": f"#nvvm.mma_layout<{'col' if rhs.panel.along_sums else 'row'}>",
        "typeA": f"#nvvm.wgmma_type<{kind}>",
        "typeB": f"#nvvm.wgmma_type<{kind}>",
        "typeD": f"#nvvm.wgmma_type<{wide}>",
        "scaleA": "#nvvm.wgmma_scale_in<one>",
        "scaleB": "#nvvm.wgmma_scale_in<one>",
        "scaleD": f"#nvvm.wgmma_scale_out<{'zero' if is_first else 'one'}>",
    }
    attributes = {name: ir.Attribute.parse(text) for name, text in texts.items()}
    operands = [total, lhs.descriptor(*at[0]), rhs.descriptor(*at[1])]
    return ir.Operation.create("nvvm.wgmma.mma_async", [total.type], operands, attributes).results[0]
