"""A sum of a contraction and a tensor that is read for the last time is accumulated in that tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op
from dlc.analysis.last_uses import RESHAPES, dead_arguments
from dlc.analysis.symbols import functions_of, symbol_name
from dlc.lowering.linalg.require_tensors import require_tensors
from dlc.lowering.outlining import is_kernel
from dlc.lowering.pass_base import Pass
from dlc.targets.machine import is_for_gpu


@dataclass(frozen=True)
class FoldAddIntoDest(Pass):
    """Let a contraction start from the tensor that its result is added to, where nobody reads that tensor after the kernel.

    The sum then takes the tensor's memory, such as that of a residual, instead of memory of its own beside it. A bias that the
    contraction starts from is added to the tensor first. The tensor is an argument of the kernel, which is the last to read it at
    every call. Between contraction and sum there may be reshapes. Kernels for a GPU, whose product loops start from zeros, stay.

    before: func.func private @kernel(%x, %w, %r) { %z = fill 0   %p = matmul ins(%x, %w) outs(%z)   %s = %p + %r }
    after:  func.func private @kernel(%x, %w, %r) { %s = matmul ins(%x, %w) outs(%r) }
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every kernel function of the module `op`."""
        require_tensors(op)
        if is_for_gpu(op):
            return
        dead = dead_arguments(op)
        for function in functions_of(op):
            places = dead.get(symbol_name(function), set())
            if not places or not is_kernel(function) or len(function.regions[0].blocks) != 1:
                continue
            for each in [inner.operation for inner in function.regions[0].blocks[0].operations]:
                if _is_sum(each):
                    _fold(each, places)


def _is_sum(op: ir.Operation) -> bool:
    """Whether `op` adds two tensors of one shape, element by element, into a new one."""
    if op.name != "linalg.generic" or len(op.operands) != 3 or len(op.results) != 1 or op.operands[0] == op.operands[1]:
        return False
    body = op.regions[0].blocks[0]
    if [inner.operation.name for inner in body.operations] != ["arith.addf", "linalg.yield"]:
        return False
    maps = [attribute.value for attribute in ir.ArrayAttr(op.attributes["indexing_maps"])]
    added = list(body.operations[0].operation.operands)
    is_plain = all(map == ir.AffineMap.get_identity(map.n_dims, op.context) for map in maps)
    return is_plain and sorted(ir.BlockArgument(value).arg_number for value in added if value.owner == body) == [0, 1]


def _fold(sum: ir.Operation, places: set[int]) -> None:
    """Accumulate in the operand of `sum` that is one of the arguments `places`, if the other one is a contraction's result."""
    left, right, _ = sum.operands
    for product, added in ((left, right), (right, left)):
        is_given_away = isinstance(added, ir.BlockArgument) and added.arg_number in places and _has_one_use(added)
        found = _contraction_behind(product) if is_given_away and added.type == product.type else None
        if found is not None and _accumulate(*found, added):
            sum.results[0].replace_all_uses_with(product)
            sum.erase()
            return


def _accumulate(contraction: ir.Operation, reshapes: Sequence[ir.Operation], added: ir.Value) -> bool:
    """Let `contraction` start from `added`, which has the type of its result behind `reshapes`; whether that could be done."""
    start = defining_op(contraction.operands[len(contraction.operands) - 1])
    if start is None or not _has_one_use(start.results[0]) or not (_is_zero(start) or _is_broadcast(start)):
        return False
    if not all(op.name == "tensor.expand_shape" or _can_expand(op) for op in reshapes):
        return False
    with ir.InsertionPoint(start), contraction.location:
        for op in reshapes:
            added = _undone(added, op)
    _start_from(contraction, start, added)
    return True


def _has_one_use(value: ir.Value) -> bool:
    return sum(1 for _ in value.uses) == 1


def _contraction_behind(value: ir.Value) -> tuple[ir.Operation, list[ir.Operation]] | None:
    """The contraction that `value` is a reshaped result of, and the reshapes, last one first; None for values used elsewhere."""
    reshapes: list[ir.Operation] = []
    op = defining_op(value)
    while op is not None and _has_one_use(value) and op.name in RESHAPES:
        reshapes.append(op)
        value = op.operands[0]
        op = defining_op(value)
    return (op, reshapes) if op is not None and _has_one_use(value) and _is_contraction(op) else None


def _is_contraction(op: ir.Operation) -> bool:
    """Whether `op` adds products to what its result holds before."""
    if op.name != "linalg.generic" or len(op.results) != 1 or "reduction" not in str(op.attributes["iterator_types"]):
        return False
    body = op.regions[0].blocks[0]
    names = [inner.operation.name for inner in body.operations]
    return names[-3:] == ["arith.mulf", "arith.addf", "linalg.yield"] and _adds_to_result(body)


def _adds_to_result(body: ir.Block) -> bool:
    """Whether the op before the last of `body` adds to the number that the result holds, which nothing else reads."""
    held = body.arguments[len(body.arguments) - 1]
    total = body.operations[len(body.operations) - 2].operation
    return held in list(total.operands) and _has_one_use(held)


def _is_zero(op: ir.Operation) -> bool:
    """Whether `op` fills a tensor with zeros."""
    source = defining_op(op.operands[0]) if op.name == "linalg.fill" else None
    if source is None or source.name != "arith.constant" or not isinstance(source.results[0].type, ir.FloatType):
        return False
    return ir.FloatAttr(source.attributes["value"]).value == 0.0


def _is_broadcast(op: ir.Operation) -> bool:
    """Whether `op` gives each element of a new tensor an element of another one."""
    if op.name != "linalg.generic" or len(op.operands) != 2 or len(op.regions[0].blocks[0].operations) != 1:
        return False
    body = op.regions[0].blocks[0]
    target = defining_op(op.operands[1])
    return body.operations[0].operation.operands[0] == body.arguments[0] and target is not None and target.name == "tensor.empty"


def _can_expand(collapse: ir.Operation) -> bool:
    """Whether the sizes before `collapse` are known, or are sizes after it."""
    kind = ir.RankedTensorType(collapse.operands[0].type)
    return all(not kind.is_dynamic_dim(axis) or len(group) == 1 for group in _groups(collapse) for axis in group)


def _groups(reshape: ir.Operation) -> list[list[int]]:
    """The axes of the larger rank that make up each axis of the smaller one."""
    groups = ir.ArrayAttr(reshape.attributes["reassociation"])
    return [[ir.IntegerAttr(axis).value for axis in ir.ArrayAttr(group)] for group in groups]


def _undone(value: ir.Value, reshape: ir.Operation) -> ir.Value:
    """`value`, of the type of `reshape`'s result, as a tensor of the type of its operand."""
    kind = ir.RankedTensorType(reshape.operands[0].type)
    attributes: dict[str, ir.Attribute] = {"reassociation": reshape.attributes["reassociation"]}
    if reshape.name == "tensor.expand_shape":
        return ir.Operation.create("tensor.collapse_shape", results=[kind], operands=[value], attributes=attributes).results[0]
    sizes = [_size(value, place) for place, (axis, *_) in enumerate(_groups(reshape)) if kind.is_dynamic_dim(axis)]
    attributes["static_output_shape"] = ir.DenseI64ArrayAttr.get(list(kind.shape))
    made = ir.Operation.create("tensor.expand_shape", results=[kind], operands=[value, *sizes], attributes=attributes)
    return made.results[0]


def _size(value: ir.Value, axis: int) -> ir.Value:
    index = ir.IndexType.get()
    place = ir.Operation.create("arith.constant", results=[index], attributes={"value": ir.IntegerAttr.get(index, axis)})
    return ir.Operation.create("tensor.dim", results=[index], operands=[value, place.results[0]]).results[0]


def _start_from(contraction: ir.Operation, start: ir.Operation, dest: ir.Value) -> None:
    """Let `contraction` begin with `dest`, plus what `start` gave it before."""
    if start.name == "linalg.generic":
        start.operands[1] = dest
        body = start.regions[0].blocks[0]
        end = body.operations[0].operation
        with ir.InsertionPoint(end), end.location:
            total = ir.Operation.create("arith.addf", operands=list(body.arguments), results=[body.arguments[0].type])
        end.operands[0] = total.results[0]
        return
    contraction.operands[len(contraction.operands) - 1] = dest
    start.erase()
