"""Functions whose loops become kernels on tensor cores: which these may be, and what becomes of their other loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, VIEW_OPS, defining_op, nested_ops
from dlc.analysis.symbols import symbol_name
from dlc.lowering.affine.ir.loops import AS_WRITTEN, real_ops
from dlc.lowering.affine_to_gpu.affine_outline_checks import CHECKS
from dlc.lowering.affine_to_gpu.grid import has_bound_loops
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Contraction, contraction_of
from dlc.lowering.outlining import captures_of, clone_replacing, fresh_name, noalias_marks, private_function

_BETWEEN = ("arith.", "math.", "affine.apply", "memref.get_global", "memref.dim", "memref.dealloc", "func.return")
"""What may lie between the loops of a function whose contractions become kernels of their own."""

_OF_WEIGHTS = "dl.precompute"


def is_free(function: ir.Operation) -> bool:
    """Whether an op is a function of one block, whose loops nothing else decides on, between which are ops for the host alone."""
    if function.name != "func.func" or len(function.regions[0].blocks) != 1:
        return False
    if CHECKS in function.attributes or _OF_WEIGHTS in function.attributes or has_bound_loops(function):
        return False
    if any(AS_WRITTEN in op.attributes for op in nested_ops(function)):
        return False
    ops = [op.operation for op in function.regions[0].blocks[0].operations]
    others = [op for op in ops if op.name != "affine.for"]
    return all(op.name.startswith(_BETWEEN) or op.name in ALLOCATIONS or op.name in VIEW_OPS for op in others)


def contractions_in(op: ir.Operation) -> Iterator[Contraction]:
    """Those of known sizes in the free functions of the module `op`, which may be rewritten one after the other."""
    for function in [inner.operation for inner in op.regions[0].blocks[0].operations]:
        nests = real_ops(function.regions[0].blocks[0]) if is_free(function) else []
        for nest in [inner for inner in nests if inner.name == "affine.for"]:
            contraction = contraction_of(nest)
            if contraction and not contraction.is_open:
                yield contraction


def outline_others(function: ir.Operation, nests: Sequence[ir.Operation], taken: set[str]) -> None:
    """Make functions of the loops of `function` that are none of `nests`, and call them in their order."""
    for others in _runs(function, nests):
        _outline(function, others, taken)


def _runs(function: ir.Operation, nests: Sequence[ir.Operation]) -> list[list[ir.Operation]]:
    """The other loops of a function, those that directly follow each other together."""
    found: list[list[ir.Operation]] = []
    is_open = False
    for op in real_ops(function.regions[0].blocks[0]):
        is_other = op.name == "affine.for" and op not in nests
        if is_other and not is_open:
            found.append([])
        if is_other:
            found[-1].append(op)
        is_open = is_other
    return found


def _own_views(function: ir.Operation, ops: Sequence[ir.Operation]) -> list[ir.Operation]:
    """Copies of the views that `ops` use, which use them from then on: a view and its memory are no two arguments."""
    needed: set[ir.Operation] = set()
    waiting = [operand for op in ops for inner in nested_ops(op) for operand in inner.operands]
    while waiting:
        source = defining_op(waiting.pop())
        if source is not None and source.name in VIEW_OPS and source not in needed:
            needed.add(source)
            waiting += list(source.operands)
    inside = {inner for op in ops for inner in nested_ops(op)}
    values: dict[ir.Value, ir.Value] = {}
    with ir.InsertionPoint(ops[0]):
        views = [op for op in real_ops(function.regions[0].blocks[0]) if op in needed and op not in inside]
        copies = [clone_replacing(view, values) for view in views]
    for inner in inside:
        for place, operand in enumerate(inner.operands):
            if operand in values:
                inner.operands[place] = values[operand]
    return copies


def _outline(function: ir.Operation, ops: Sequence[ir.Operation], taken: set[str]) -> None:
    """Move loops into a function with the views that they use, and call it where the last of them was."""
    ops = [*_own_views(function, ops), *ops]
    captured, constants = captures_of(ops, lambda op: op.name in ("arith.constant", "memref.get_global"))
    with ir.InsertionPoint(ops[-1]), ops[0].location:
        name = fresh_name(f"{symbol_name(function)}_loops", taken, "_")
        ir.Operation.create("func.call", operands=captured, attributes={"callee": ir.FlatSymbolRefAttr.get(name)})
        marks = noalias_marks(function, ops, captured)
        made = private_function(name, ops, captured, constants)
        made.attributes["arg_attrs"] = ir.ArrayAttr.get(marks)
    function.block.append(made)
