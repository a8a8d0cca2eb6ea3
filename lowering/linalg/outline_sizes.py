"""Sizes that elements decide, computed by the host before a kernel of the GPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, nested_ops
from dlc.analysis.symbols import functions_of, names_in, symbol_name
from dlc.lowering.outlining import captures_of, clone_replacing, fresh_name, is_kernel, private_function, symbols_in
from dlc.lowering.pass_base import Pass
from dlc.targets.machine import is_for_gpu

_KERNEL = "dl.kernel"
_SCALAR_OPS = ("arith.", "math.", "tensor.dim", "tensor.extract", "tensor.collapse_shape", "tensor.expand_shape", "cf.assert")
"""Ops without loops, by the beginnings of their names; `tensor.extract_slice` is one."""

_MAKERS = ("tensor.empty", "tensor.pad", "tensor.expand_shape")
"""Ops whose operands of type index decide the size of what they make."""
_SLICES = ("tensor.extract_slice", "tensor.insert_slice")
"""Ops whose last operands are places, sizes and strides."""


@dataclass(frozen=True)
class OutlineSizes(Pass):
    """Give sizes that elements decide, of what a kernel makes or takes a part of, a function of their own, whose results it takes.

    The GPU runs loops, the host takes memory for them and starts them: it has to know both sizes first. Elements of a shape and the
    limits of a range are such, and stay with the host. Checks that take no loops go along, since sizes may rely on them. Sizes that
    loops compute stay in the kernel, and so does all in code for processors.

    before: func.func private @k(%n: tensor<i64>) -> tensor<?xf32> { %0 = tensor.extract %n[]   %s = arith.index_cast %0
              %e = tensor.empty(%s)   linalg.generic outs(%e) ... }                              %r = call @k(%n)
    after:  func.func private @k_sizes(%n: tensor<i64>) -> index { %0 = tensor.extract %n[]   %s = arith.index_cast %0   return %s }
            func.func private @k(%n: tensor<i64>, %s: index) -> tensor<?xf32> { %e = tensor.empty(%s)   linalg.generic ... }
                                                                        %s = call @k_sizes(%n)   %r = call @k(%n, %s)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite the kernels of the module `op` that it calls."""
        if not is_for_gpu(op):
            return
        taken = symbols_in(op)
        calls = [inner for inner in nested_ops(op) if inner.name == "func.call" and names_in(inner, op)]
        for function in functions_of(op):
            name = symbol_name(function)
            sites = [call for call in calls if ir.FlatSymbolRefAttr(call.attributes["callee"]).value == name]
            sizes = _sizes(function) if sites and is_kernel(function) and len(function.regions[0].blocks) == 1 else []
            if sizes:
                made, places = _outline(function, sizes, fresh_name(f"{name}_sizes", taken, "_"))
                calls = [call for call in calls if call not in sites] + [_call(site, made, places) for site in sites]
                _take(function, sizes)


def _sizes(function: ir.Operation) -> list[ir.Value]:
    """The sizes of tensors and of parts of them which elements decide, and which no loop computes."""
    (block,) = function.regions[0].blocks
    given = dict.fromkeys(size for op in nested_ops(function) for size in _sizes_of(op))
    slices = {size: _slice(source, block) for size in given if (source := defining_op(size)) is not None}
    return [size for size, ops in slices.items() if ops and any(op.name == "tensor.extract" for op in ops)]


def _sizes_of(op: ir.Operation) -> Sequence[ir.Value]:
    """The sizes among the operands of `op`. Where a part lies is none: kernels read that themselves."""
    if op.name in _MAKERS:
        return [value for value in op.operands if isinstance(value.type, ir.IndexType)]
    if op.name not in _SLICES:
        return []
    *_, sizes, strides = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])
    end = len(op.operands) - strides
    return list(op.operands)[end - sizes : end]


def _slice(op: ir.Operation, block: ir.Block) -> set[ir.Operation] | None:
    """`op` and the ops of `block` that it depends on; None where one of them may be a loop, or stands elsewhere."""
    found: set[ir.Operation] = set()
    waiting = [op]
    while waiting:
        current = waiting.pop()
        if current in found or current.name == "arith.constant":
            continue
        if current.block != block or not current.name.startswith(_SCALAR_OPS):
            return None
        found.add(current)
        waiting += [source for value in current.operands if (source := defining_op(value)) is not None]
    return found


def _outline(function: ir.Operation, sizes: Sequence[ir.Value], name: str) -> tuple[ir.Operation, list[int]]:
    """The function that computes `sizes` and does the checks that take no loops, and which arguments of `function` it takes."""
    (block,) = function.regions[0].blocks
    checks = {op.operation: _slice(op.operation, block) for op in block.operations if op.operation.name == "cf.assert"}
    slices = [*checks.values(), *(_slice(size.owner.operation, block) for size in sizes)]
    needed = {op for ops in slices if ops is not None for op in ops}
    values: dict[ir.Value, ir.Value] = {}
    with ir.InsertionPoint(block.operations[0]), function.location:
        moved = [clone_replacing(op.operation, values) for op in list(block.operations) if op.operation in needed]
        captured, constants = captures_of(moved)
        made = private_function(name, moved, captured, constants, returned=[values[size] for size in sizes])
    made.attributes[_KERNEL] = ir.UnitAttr.get(function.context)
    function.block.append(made)
    for check in [check for check, ops in checks.items() if ops is not None]:
        check.erase()
    return made, [ir.BlockArgument(value).arg_number for value in captured]


def _call(call: ir.Operation, sizes: ir.Operation, places: Sequence[int]) -> ir.Operation:
    """`call` again, with the results of `sizes`, which is called before, behind its operands."""
    kinds = list(ir.FunctionType(ir.TypeAttr(sizes.attributes["function_type"]).value).results)
    callee = {"callee": ir.FlatSymbolRefAttr.get(symbol_name(sizes), call.context)}
    with ir.InsertionPoint(call), call.location:
        before = ir.Operation.create("func.call", kinds, [call.operands[place] for place in places], callee)
        operands = [*call.operands, *before.results]
        made = ir.Operation.create("func.call", list(call.results.types), operands, dict(call.attributes.items()))
    for old, new in zip(call.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    call.erase()
    return made


def _take(function: ir.Operation, sizes: Sequence[ir.Value]) -> None:
    """Let `function` take `sizes` as its last arguments."""
    (block,) = function.regions[0].blocks
    for size in sizes:
        size.replace_all_uses_with(block.add_argument(size.type, function.location))
    for op in reversed([op.operation for op in block.operations]):
        if op.name.startswith(_SCALAR_OPS) and len(op.results) and not any(True for each in op.results for _ in each.uses):
            op.erase()
    results = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).results
    kinds = [argument.type for argument in block.arguments]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kinds, results, function.context))
    if "arg_attrs" in function.attributes:
        marks = [*ir.ArrayAttr(function.attributes["arg_attrs"]), *[ir.DictAttr.get({}, function.context)] * len(sizes)]
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(marks, function.context)
