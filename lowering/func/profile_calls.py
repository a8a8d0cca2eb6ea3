"""Timing the calls of an entry."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import func, ir
from dlc.analysis.buffers import nested_ops
from dlc.analysis.symbols import functions_of, symbol_name
from dlc.lowering.pass_base import Pass, PassFailure

ATTRIBUTE = "dl.profiled"
"""Module attribute with the names of the kernels by row, from row 1 on; row 0 is the entry itself."""
START, CHARGE = "dlc_profile_start", "dlc_profile_charge"


@dataclass(frozen=True)
class ProfileCalls(Pass):
    """Charge the time of public functions to rows of the runtime's profile: one for each kernel, and row 0 for all else.

    Kernels are the private functions with a body that public ones call. They stay as they are, so that code with and without
    a profile shares them. `dlc_profile_charge` charges what has passed since it was called last, or since
    `dlc_profile_start`. The module attribute `dl.profiled` names the kernels by row.

    before:
        func.func @main_graph(%x: memref<4xf32>) -> memref<4xf32> {
          %y = memref.alloc() : memref<4xf32>
          call @kernel_0_add(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
          return %y : memref<4xf32>
        }
    after:
        func.func @main_graph(%x: memref<4xf32>) -> memref<4xf32> {
          call @dlc_profile_start() : () -> ()
          %y = memref.alloc() : memref<4xf32>
          call @dlc_profile_charge(%row_0) : (i64) -> ()
          call @kernel_0_add(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
          call @dlc_profile_charge(%row_1) : (i64) -> ()
          call @dlc_profile_charge(%row_0) : (i64) -> ()
          return %y : memref<4xf32>
        }
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite the public functions of the module `op`."""
        if ATTRIBUTE in op.attributes:
            raise PassFailure(op, f"the module has the attribute {ATTRIBUTE}", "run the pass only once")
        functions = functions_of(op)
        defined = [function for function in functions if len(function.regions[0].blocks)]
        kernels = {symbol_name(function) for function in defined if "sym_visibility" in function.attributes}
        rows: dict[str, int] = {}
        public = [function for function in defined if "sym_visibility" not in function.attributes]
        for function in public:
            _profile(function, kernels, rows)
        op.attributes[ATTRIBUTE] = ir.ArrayAttr.get([ir.StringAttr.get(name) for name in rows])
        if public:
            _declare(op, START, [])
            _declare(op, CHARGE, [ir.IntegerType.get_signless(64)])


def _profile(function: ir.Operation, kernels: set[str], rows: dict[str, int]) -> None:
    """Charge each call of a kernel to its row, which is new at its first call; what lies between, to row 0."""
    ops = [op for op in nested_ops(function) if op.name in ("func.call", "func.return")]
    with function.location, ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]):
        func.CallOp([], START, [])
    for op in ops:
        callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value if op.name == "func.call" else ""
        if callee and callee not in kernels:
            continue
        with op.location:
            with ir.InsertionPoint(op):
                _charge(0)
            if callee:
                with ir.InsertionPoint.after(op):
                    _charge(rows.setdefault(callee, len(rows) + 1))


def _charge(row: int) -> None:
    kind = ir.IntegerType.get_signless(64)
    value = ir.Operation.create("arith.constant", results=[kind], attributes={"value": ir.IntegerAttr.get(kind, row)}).result
    func.CallOp([], CHARGE, [value])


def _declare(module: ir.Operation, name: str, arguments: list[ir.Type]) -> None:
    attributes = {
        "sym_name": ir.StringAttr.get(name),
        "sym_visibility": ir.StringAttr.get("private"),
        "function_type": ir.TypeAttr.get(ir.FunctionType.get(arguments, [])),
    }
    with module.location, ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]):
        ir.Operation.create("func.func", attributes=attributes, regions=1)
