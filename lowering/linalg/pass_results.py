"""Results of kernels become memory that the caller gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import VIEW_OPS, defining_op, is_memref, root_of, written_roots
from dlc.analysis.symbols import calls_of, symbol_name
from dlc.lowering.linalg.buffer_sizes import resolve_sizes
from dlc.lowering.linalg.dim_names import DimNames, argument_attributes, with_dims, with_entry
from dlc.lowering.linalg.require_buffers import require_buffers
from dlc.lowering.outlining import clone_in_terms, is_alone
from dlc.lowering.pass_base import Pass

_RESULT, _NOALIAS = "dl.result", "llvm.noalias"


@dataclass(frozen=True)
class PassResults(Pass):
    """Let callers allocate what private functions return: such a result becomes a trailing argument, marked `dl.result`.

    The result has to be a buffer that the function allocates, or a view of one, that no other result shares. Its sizes have to be
    constants, or computed from the sizes of arguments, which the caller then repeats. An argument that is handed back is what the
    caller has already. Results whose sizes depend on data stay as they are. Arguments which share memory with no other at any call,
    unless both are only read, are marked `llvm.noalias`.

    before:
        func.func private @kernel(%x: memref<?xf32>) -> memref<?xf32> { ... %y = memref.alloc(%n) ... return %y }
        %0 = call @kernel(%a) : (memref<?xf32>) -> memref<?xf32>
    after:
        func.func private @kernel(%x: memref<?xf32> {llvm.noalias}, %y: memref<?xf32> {dl.result, llvm.noalias}) { ... return }
        %n = memref.dim %a, %c0 : memref<?xf32>
        %0 = memref.alloc(%n) : memref<?xf32>
        call @kernel(%a, %0) : (memref<?xf32>, memref<?xf32>) -> ()
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every private function that is only called, with its calls."""
        require_buffers(op)
        calls = calls_of(op)
        for item in op.regions[0].blocks[0].operations:
            function = item.operation
            if function.name != "func.func" or "sym_visibility" not in function.attributes or not len(function.regions[0].blocks):
                continue
            sites = calls.get(symbol_name(function), [])
            if sites is None or len(function.regions[0].blocks) != 1:
                continue
            resolve_sizes(function)
            sites = _keep_arguments(function, sites)
            _mark_noalias(function, _pass_results(function, sites))


def _keep_arguments(function: ir.Operation, sites: Sequence[ir.Operation]) -> list[ir.Operation]:
    """Do not return arguments: callers use what they gave. Returns the calls as they are now."""
    block = function.regions[0].blocks[0]
    end = block.operations[len(block.operations) - 1].operation
    own = {
        index: value.arg_number
        for index, value in enumerate(end.operands)
        if isinstance(value, ir.BlockArgument) and is_memref(value) and value.owner == block
    }
    if not own:
        return list(sites)
    found = []
    for call in sites:
        kept = [index for index in range(len(call.results)) if index not in own]
        with ir.InsertionPoint(call), call.location:
            kinds = [call.results[index].type for index in kept]
            attributes = dict(call.attributes.items())
            made = ir.Operation.create("func.call", results=kinds, operands=list(call.operands), attributes=attributes)
        for index, number in own.items():
            call.results[index].replace_all_uses_with(call.operands[number])
        for new, index in zip(made.results, kept, strict=True):
            call.results[index].replace_all_uses_with(new)
        call.erase()
        found.append(made)
    left = [value for index, value in enumerate(end.operands) if index not in own]
    _replace_return(end, left)
    _set_type(function, block, [value.type for value in left], DimNames(function))
    return found


def _pass_results(function: ir.Operation, sites: Sequence[ir.Operation]) -> list[ir.Operation]:
    """Turn the results that qualify into arguments; returns the calls as they are now."""
    block = function.regions[0].blocks[0]
    end = block.operations[len(block.operations) - 1].operation
    returned = list(end.operands)
    roots = [root_of(value) if is_memref(value) else None for value in returned]
    slices = {
        index: ops
        for index, root in enumerate(roots)
        if root is not None and roots.count(root) == 1 and (ops := _slice(returned[index], block)) is not None
    }
    if not slices:
        return list(sites)
    sites = [_replace_call(site, block, slices, returned) for site in sites]
    names = DimNames(function)
    for index in slices:
        root = roots[index]
        assert root is not None
        allocation = root.owner.operation
        names.add_result(allocation)
        argument = block.add_argument(root.type, allocation.location)
        root.replace_all_uses_with(argument)
        allocation.erase()
    _replace_return(end, [value for index, value in enumerate(end.operands) if index not in slices])
    _set_type(function, block, [value.type for index, value in enumerate(returned) if index not in slices], names)
    return sites


def _slice(value: ir.Value, block: ir.Block) -> list[ir.Operation] | None:
    """The ops, in order, that make `value` from an allocation and the function's arguments; None when others take part."""
    needed: set[ir.Operation] = set()
    waiting = [value]
    while waiting:
        op = defining_op(waiting.pop())
        if op is None or op in needed:
            continue
        if op.block != block or not (_is_size(op) or op.name in VIEW_OPS or op.name == "memref.alloc"):
            return None
        needed.add(op)
        waiting.extend(op.operands)
    allocations = [op for op in needed if op.name == "memref.alloc"]
    root = defining_op(root_of(value))
    if root is None or allocations != [root]:
        return None
    return [op.operation for op in block.operations if op.operation in needed]


def _is_size(op: ir.Operation) -> bool:
    return op.name.startswith("arith.") or op.name in ("memref.dim", "affine.apply")


def _replace_call(
    call: ir.Operation, block: ir.Block, slices: Mapping[int, Sequence[ir.Operation]], returned: Sequence[ir.Value]
) -> ir.Operation:
    """The call with the memory of the results `slices` allocated in front of it."""
    values: dict[ir.Value, ir.Value] = dict(zip(block.arguments, call.operands, strict=True))
    given: list[ir.Value] = []
    with ir.InsertionPoint(call), call.location:
        for index, ops in slices.items():
            for op in ops:
                _clone(op, values)
            given.append(values[root_of(returned[index])])
        kinds = [result.type for index, result in enumerate(call.results) if index not in slices]
        operands = [*call.operands, *given]
        made = ir.Operation.create("func.call", results=kinds, operands=operands, attributes=dict(call.attributes.items()))
    left = iter(made.results)
    for index, result in enumerate(call.results):
        result.replace_all_uses_with(values[returned[index]] if index in slices else next(left))
    call.erase()
    return made


def _clone(op: ir.Operation, values: dict[ir.Value, ir.Value]) -> None:
    """Clone `op` in terms of `values`, unless it is there already."""
    if all(result in values for result in op.results):
        return
    clone_in_terms(op, values)


def _replace_return(end: ir.Operation, kept: Sequence[ir.Value]) -> None:
    with ir.InsertionPoint(end), end.location:
        ir.Operation.create("func.return", operands=kept)
    end.erase()


def _set_type(function: ir.Operation, block: ir.Block, results: Sequence[ir.Type], names: DimNames) -> None:
    """Give the function the type of its block, with dims named and the added arguments marked as results."""
    context = function.context
    kinds = [argument.type for argument in block.arguments]
    old = argument_attributes(function, len(names.given))
    unit = ir.UnitAttr.get(context)
    marks = [with_dims(mark, known) for mark, known in zip(old, names.given, strict=True)]
    marks += [with_dims(ir.DictAttr.get({_RESULT: unit}, context), known) for known in names.added]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kinds, results, context))
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(marks, context)
    if "res_attrs" in function.attributes:
        del function.attributes["res_attrs"]


def _mark_noalias(function: ir.Operation, sites: Sequence[ir.Operation]) -> None:
    """Mark the memref arguments that are alone at every call."""
    arguments = list(function.regions[0].blocks[0].arguments)
    changed = set(written_roots(function))
    written = [argument in changed for argument in arguments]
    alone = [is_memref(argument) for argument in arguments]
    for site in sites:
        roots = [root_of(value) if is_memref(value) else None for value in site.operands]
        for index in range(len(arguments)):
            alone[index] = alone[index] and is_alone(index, roots, written)
    if not sites or not any(alone):
        return
    context = function.context
    marks = [
        with_entry(mark, _NOALIAS, ir.UnitAttr.get(context)) if is_free else mark
        for mark, is_free in zip(argument_attributes(function, len(arguments)), alone, strict=True)
    ]
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(marks, context)
