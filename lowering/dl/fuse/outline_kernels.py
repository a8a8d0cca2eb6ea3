"""`dl-outline-kernels`: one private function per distinct kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dlc._mlir import ir
from dlc.analysis.symbolic_shapes import SymbolicShapes
from dlc.analysis.symbols import symbol_name
from dlc.dialects.dl import op_class
from dlc.dialects.dl.types import Dim, TensorType
from dlc.lowering.dl.dim_marks import mark_dims
from dlc.lowering.dl.fuse.usual_sides import usual_sides_of
from dlc.lowering.dl.matching import attributes_of, functions
from dlc.lowering.dl.weights.precompute import MARK
from dlc.lowering.outlining import FunctionTable, captures_of, private_function
from dlc.lowering.pass_base import Pass
from dlc.lowering.policy import policy

KERNEL = "dl.kernel"
_LEADING = ("contraction", "reduction", "opaque")


@dataclass(frozen=True)
class OutlineKernelRegions(Pass):
    """Make each distinct `dl.kernel` region a private function with the attribute `dl.kernel`, and call it.

    Kernels are one when they have the same ops, types, small constants and equal dims. What a region reads from outside becomes
    arguments, weights among them; small constants are repeated inside. Dims that several arguments or results share are named
    by `dl.dims`, and so are those with bounds, which come along (`dl.bounds`), and open sides of images, whose usual sizes
    `dl.usual` has. A function's location fuses those of its calls. Ops whose results have several types become functions, too.

    before:
        %1 = "dl.kernel"() ({ %2 = "dl.matmul"(%x, %w)   %3 = "dl.relu"(%2)   "dl.yield"(%3) })
    after:
        %1 = call @kernel_0_matmul_relu(%x, %w)
        func.func private @kernel_0_matmul_relu(%x, %w) attributes {dl.kernel} { %2 = "dl.matmul"(%x, %w) ... return %3 }
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite the functions of the module `op` that are no kernels themselves."""
        found = [function for function in functions(op) if MARK not in function.attributes and KERNEL not in function.attributes]
        anchors = {function: _anchors(function) for function in found}
        if not any(anchors.values()):
            return
        table = _KernelTable(op)
        for function, kernels in anchors.items():
            if kernels:
                shapes = SymbolicShapes(function)
                _Outliner(shapes, table, usual_sides_of(function, shapes)).run(kernels)
        table.annotate()


def _anchors(function: ir.Operation) -> list[ir.Operation]:
    """The `dl.kernel` ops of a function, and the ops of its own blocks that can't be in one."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == KERNEL or (op.parent == function and _has_several_types(op)):
            found.append(op)
            return ir.WalkResult.SKIP
        return ir.WalkResult.ADVANCE

    function.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _has_several_types(op: ir.Operation) -> bool:
    return op.name.startswith("dl.") and len({result.type for result in op.results}) > 1


@dataclass(frozen=True)
class _Outliner:
    """Turns the kernels of one function into calls; `shapes` knows the function as it was, `calls` what the calls give."""

    shapes: SymbolicShapes
    table: _KernelTable
    usual: Mapping[Dim, int]
    calls: dict[ir.Value, TensorType] = field(default_factory=dict)

    def run(self, kernels: Sequence[ir.Operation]) -> None:
        for kernel in kernels:
            self._outline(kernel)

    def _outline(self, kernel: ir.Operation) -> None:
        """Replace a kernel by a call of a function with its ops, new or shared."""
        moved, returned = _parts(kernel)
        end = [kernel.regions[0].blocks[0].operations[len(moved)].operation] if kernel.name == KERNEL else []
        captured, constants = captures_of([*moved, *end], _is_repeated)
        marks = [self._type(value) for value in captured], [self._type(result) for result in kernel.results]
        with kernel.location, ir.InsertionPoint(kernel):
            kinds = [result.type for result in kernel.results]
            call = ir.Operation.create("func.call", results=kinds, operands=captured, attributes={"callee": _symbol("kernel")})
        for result, given in zip(kernel.results, call.results, strict=True):
            self.calls[given] = self._type(result)
            result.replace_all_uses_with(given)
        name = _main_ops(moved)
        with kernel.location:
            function = private_function("kernel", moved, captured, constants, returned=returned)
        function.attributes[KERNEL] = ir.UnitAttr.get()
        mark_dims(function, *marks, self.shapes.bounds_of, self.usual)
        if end:
            kernel.erase()
        call.attributes["callee"] = _symbol(self.table.share(function, name, call.location))

    def _type(self, value: ir.Value) -> TensorType:
        return self.calls[value] if value in self.calls else self.shapes.type_of(value)


def _parts(kernel: ir.Operation) -> tuple[list[ir.Operation], list[ir.Value]]:
    """The ops of a kernel, without params, which move before it, and the values that it gives."""
    if kernel.name != KERNEL:
        return [kernel], list(kernel.results)
    *inner, end = [op.operation for op in kernel.regions[0].blocks[0].operations]
    for op in inner:
        if op.name == "dl.param":
            op.move_before(kernel)
    return [op for op in inner if op.name != "dl.param"], list(end.operands)


def _is_repeated(op: ir.Operation) -> bool:
    """Whether `op` is a constant that kernels hold themselves."""
    if op.name != "dl.constant":
        return False
    array = attributes_of(op)["value"]
    return bool(array.size <= policy().limits.repeated_elements or (array == array.flat[0]).all())


def _main_ops(operations: Sequence[ir.Operation]) -> str:
    """The ops that say what a kernel does, joined: all, or the main one and the last."""
    classes = {op.name.removeprefix("dl."): found.fusion_class for op in operations if (found := op_class(op.name)) is not None}
    names = [name for name, kind in classes.items() if kind not in ("view", "weight")]
    if len(names) > policy().limits.kernel_name_ops:
        leading = [name for kind in _LEADING for name in names if classes[name] == kind]
        first = leading[0] if leading else names[0]
        names = [first, *(name for name in names[1 - policy().limits.kernel_name_ops :] if name != first)]
    return "_".join(names) or "views"


class _KernelTable:
    """The module's kernels, and where they are called."""

    def __init__(self, module: ir.Operation) -> None:
        self._kernels = FunctionTable(module, [function for function in functions(module) if KERNEL in function.attributes])
        self._calls: dict[str, list[ir.Location]] = {}
        self._shared: dict[str, ir.Operation] = {}

    def share(self, function: ir.Operation, name: str, location: ir.Location) -> str:
        """The name of the kernel with the structure of the detached `function`, which joins the module if it is the first one."""
        shared = self._kernels.share(function, name)
        symbol = symbol_name(shared)
        self._shared[symbol] = shared
        self._calls.setdefault(symbol, []).append(location)
        return symbol

    def annotate(self) -> None:
        """Give each kernel the locations of its calls."""
        for symbol, locations in self._calls.items():
            distinct: dict[str, ir.Location] = {str(location): location for location in locations}
            function = self._shared[symbol]
            function.location = ir.Location.fused(list(distinct.values()), context=function.context)


def _symbol(name: str) -> ir.Attribute:
    return ir.FlatSymbolRefAttr.get(name)
