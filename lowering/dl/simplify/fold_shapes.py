"""`dl-fold-shapes`: lists of sizes that are computed from shapes become attributes, and result types say what is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dlc._mlir import ir
from dlc.analysis.derived_dims import factors_of
from dlc.analysis.result_dims import expand_sizes, reshape_sizes, slice_bounds
from dlc.analysis.shape_values import Facts, result_elements
from dlc.analysis.symbolic_shapes import SymbolicShapes
from dlc.dialects import dl
from dlc.dialects.dl.types import NUMPY_DTYPES, ConstraintError, Dim, TensorType, mlir_type, tensor_type, type_of_array
from dlc.lowering.dl.matching import may_stand_for
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class FoldShapes(Pass):
    """Replace computed shapes by attributes of the ops that take them, and erase what computed them.

    Sizes that are dims of the reshaped tensor itself become `copied`, other known sizes `shape`; those that stay
    unknown leave the operand. Lists whose elements are all known become constants. Dims that are found to be static are
    written into result types where only dl ops use the result.

    before:
        %s = "dl.shape_of"(%x) {end = 1 : i64} : (tensor<?x12xf32>) -> tensor<1xi64>
        %t = "dl.concat"(%s, %c) {axis = 0 : i64} : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>  // %c = [3, 4]
        %y = "dl.reshape"(%x, %t) {shape = array<i64: -1, -1, -1>} : ... -> tensor<?x?x?xf32>
    after:
        %y = "dl.reshape"(%x) {copied = array<i64: 0, -1, -1>, shape = array<i64: -1, 3, 4>} : ... -> tensor<?x3x4xf32>
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        for function in op.regions[0].blocks[0].operations:
            if function.operation.name == "func.func" and function.operation.regions[0].blocks:
                _fold_function(function.operation)


def _fold_function(function: ir.Operation) -> None:
    shapes = SymbolicShapes(function)
    operations = _dl_ops(function)
    found = [(operation, shapes.facts_of(operation)) for operation in operations if _may_fold(operation)]
    for operation in operations:
        for result in operation.results:
            _refine(result, shapes.type_of(result))
    for operation, facts in found:
        if facts is not None:
            _fold(operation, facts)
    for operation in reversed(_dl_ops(function)):
        if operation.name not in ("dl.yield", "dl.kernel") and not any(list(result.uses) for result in operation.results):
            operation.erase()


def _may_fold(operation: ir.Operation) -> bool:
    """True for ops that take computed sizes, and for those that give short lists of whole numbers."""
    kind = tensor_type(operation.results[0].type) if len(operation.results) == 1 else None
    takes_sizes = operation.name in _TAKE_SIZES and len(operation.operands) > 1
    return takes_sizes or (kind is not None and kind.rank <= 1 and kind.dtype in ("i64", "i32", "i1"))


_TAKE_SIZES = ("dl.reshape", "dl.expand", "dl.slice", "dl.one_hot", "dl.dynamic_pad", "dl.dynamic_resize")


def _dl_ops(operation: ir.Operation) -> list[ir.Operation]:
    """The dl ops below an op, in order."""
    found: list[ir.Operation] = []
    for region in operation.regions:
        for block in region.blocks:
            for op in block.operations:
                if op.operation.name.startswith("dl."):
                    found.append(op.operation)
                found.extend(_dl_ops(op.operation))
    return found


def _refine(result: ir.Value, known: TensorType) -> None:
    """Write static dims into the type of a result that dl ops alone use."""
    declared = tensor_type(result.type)
    if declared is None or declared.is_static:
        return
    dims = [dim if isinstance(dim, int) else None for dim in known.shape]
    users = [use.owner.operation.name for use in result.uses]
    if tuple(dims) != declared.shape and all(name.startswith("dl.") and name != "dl.yield" for name in users):
        result.set_type(mlir_type(declared.with_shape(dims)))


def _fold(operation: ir.Operation, facts: Facts) -> None:
    elements = result_elements(facts)
    if elements is not None and facts.name != "constant" and all(isinstance(item, int) for item in elements):
        _replace_by_constant(operation, facts, elements)
    elif facts.name == "reshape" and facts.types[1] is not None:
        _fold_reshape(operation, facts)
    elif facts.name == "expand" and facts.types[1] is not None:
        _fold_expand(operation, facts)
    elif facts.name == "slice" and facts.types[1] is not None:
        _fold_slice(operation, facts)
    elif facts.name == "one_hot" and facts.types[2] is not None:
        _fold_one_hot(operation, facts)
    elif facts.name == "dynamic_pad":
        _fold_pad(operation, facts)
    elif facts.name == "dynamic_resize" and facts.types[2] is None:
        _fold_resize(operation, facts)


def _replace_by_constant(operation: ir.Operation, facts: Facts, elements: Sequence[Dim]) -> None:
    shape = [dim for dim in facts.result.shape if isinstance(dim, int)]
    value = np.array(elements, np.int64).astype(NUMPY_DTYPES[facts.result.dtype]).reshape(shape)
    if not may_stand_for(type_of_array(value), operation.results[0]):
        return
    with operation.location, ir.InsertionPoint(operation):
        operation.results[0].replace_all_uses_with(dl.constant(value=value))


def _fold_reshape(operation: ir.Operation, facts: Facts) -> None:
    """Sizes become static, or copies of dims of x with the same symbol; one may be left over, -1 or such that x fills it."""
    own, sizes = facts.types[0].shape, reshape_sizes(facts)
    copied = list(facts.attributes["copied"] or (-1,) * facts.result.rank)
    shape = list(facts.attributes["shape"])
    is_open = []
    for index, size in enumerate(sizes):
        if shape[index] >= 0 or copied[index] >= 0:
            continue
        if isinstance(size, int) and size >= 0:
            shape[index] = size
        elif isinstance(size, str) and size in own:
            copied[index] = index if index < len(own) and own[index] == size else own.index(size)
        else:
            is_open.append(size)
    if len(is_open) <= 1 and (is_open in ([], [-1]) or _is_filled(own, sizes)):
        _rebuild(operation, keep=1, shape=shape, copied=copied, zero_copies=False)
    else:
        _rebuild(operation, keep=2, shape=shape, copied=copied, zero_copies=facts.attributes["zero_copies"])


def _is_filled(own: Sequence[Dim], sizes: Sequence[Dim]) -> bool:
    """Whether so many sizes, of which all but one are numbers, surely have as many elements as a tensor with the dims `own`."""
    numbers = [size for size in sizes if isinstance(size, int)]
    elements = factors_of(own)
    return len(numbers) == len(sizes) - 1 and min(numbers, default=1) > 0 and elements is not None and elements == factors_of(sizes)


def _fold_expand(operation: ir.Operation, facts: Facts) -> None:
    """Sizes become static, or 1 where x has the dim."""
    offset = len(facts.attributes["shape"]) - facts.types[0].rank
    shape = []
    for index, size in enumerate(expand_sizes(facts)):
        mine = facts.types[0].shape[index - offset] if index >= offset else 1
        same = size is not None and size == mine
        known = size if isinstance(size, int) and size >= 0 else -1
        shape.append(1 if same and not isinstance(size, int) else known)
    _rebuild(operation, keep=2 if -1 in shape else 1, shape=shape)


def _fold_slice(operation: ir.Operation, facts: Facts) -> None:
    starts, ends = slice_bounds(facts)
    if all(isinstance(bound, int) for bound in (*starts, *ends)):
        _rebuild(operation, keep=1, starts=starts, ends=ends, axes=facts.attributes["axes"], steps=facts.attributes["steps"])


def _fold_one_hot(operation: ir.Operation, facts: Facts) -> None:
    size = facts.values[2][0] if facts.values[2] else None
    if isinstance(size, int) and size >= 0:
        _rebuild(operation, keep=2, depth=size, axis=facts.attributes["axis"])


def _fold_pad(operation: ir.Operation, facts: Facts) -> None:
    """Counts that are all known become attributes of a `dl.pad`."""
    counts, rank = facts.values[1] or (None,), facts.types[0].rank
    x, _, *value = operation.operands
    known = [count for count in counts if isinstance(count, int)]
    sides = list(zip(facts.types[0].shape, known[:rank], known[rank:], strict=False))
    crops = [isinstance(dim, int) and -min(low, 0) - min(high, 0) > dim for dim, low, high in sides]
    if len(known) == len(counts) and not any(crops):
        low, high = known[:rank], known[rank:]
        _replace(operation, "pad", [x, *value], low=low, high=high, mode=facts.attributes["mode"])


def _fold_resize(operation: ir.Operation, facts: Facts) -> None:
    """Axes that keep their sizes go; if all other sizes are known, they become attributes of a `dl.resize`."""
    x, sizes = operation.operands
    own, attributes = facts.types[0].shape, dict(facts.attributes)
    axes, given = attributes.pop("axes"), facts.values[1] or (None,) * len(facts.attributes["axes"])
    left = [index for index, axis in enumerate(axes) if given[index] is None or given[index] != own[axis]]
    known = [size for index in left if isinstance(size := given[index], int) and size >= 0 and (size == 0 or own[axes[index]] != 0)]
    attributes["axes"] = [axes[index] for index in left]
    if len(known) == len(left):
        _replace(operation, "resize", [x], sizes=known, **attributes)
    elif len(left) < len(axes):
        with operation.location, ir.InsertionPoint(operation):
            kept = dl.gather(sizes, dl.constant(value=np.array(left)), axis=0)
        _replace(operation, "dynamic_resize", [x, kept], **attributes)


def _replace(operation: ir.Operation, name: str, operands: Sequence[ir.Value], **attributes: object) -> None:
    """Another op in the place of one; its result keeps the type. Nothing where that does not fit: run time says so."""
    declared = tensor_type(operation.results[0].type)
    assert declared is not None
    try:
        with operation.location, ir.InsertionPoint(operation):
            made = dl.ops()[name].create(*operands, result_types=[declared], **attributes)
    except ConstraintError:
        return
    operation.results[0].replace_all_uses_with(made.results[0])
    operation.erase()


def _rebuild(operation: ir.Operation, keep: int, **attributes: object) -> None:
    """The op again with its first `keep` operands and these attributes; its result keeps its type."""
    copied = attributes.get("copied")
    if isinstance(copied, list) and all(axis < 0 for axis in copied):
        attributes["copied"] = []
    _replace(operation, operation.name.removeprefix("dl."), list(operation.operands)[:keep], **attributes)
