"""`dl-bind-dims`: sizes of dims that run time decides become known, as for one version of a model."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.analysis.dim_bounds import bounds_of_function, state_bounds
from dlc.analysis.symbolic_shapes import SymbolicShapes
from dlc.dialects.dl.control import CONTROL
from dlc.dialects.dl.types import ConstraintError, mlir_type, tensor_type
from dlc.lowering.dl.control.loop_types import FOLLOWING, fit_loops, refine_loops, restore_types
from dlc.lowering.dl.matching import dl_ops
from dlc.lowering.pass_base import Pass, PassFailure, option

Place = tuple[int, int]
"""An argument and one of its axes."""


@dataclass(frozen=True)
class BindDims(Pass):
    """Give dims of the public functions' arguments a size, and write what follows from it into the types of results.

    `sizes` are pairs: `seq=128` for all dims of that name (`dl.dims`), `0:1=128` for axis 1 of argument 0. Sizes must be such as
    the function's `dl.bounds` allow. Where an op of another dialect takes a value, a `tensor.cast` keeps its type.

    before:
        func.func @f(%x: tensor<?x8xf32> {dl.dims = ["seq", ""]}) -> tensor<?x8xf32> {
          %0 = "dl.relu"(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    after:
        func.func @f(%x: tensor<128x8xf32>) -> tensor<128x8xf32> {
          %0 = "dl.relu"(%x) : (tensor<128x8xf32>) -> tensor<128x8xf32>
    """

    sizes: tuple[str, ...] = option((), "sizes of dims, as seq=128 or 0:1=128 (argument:axis)")

    def run(self, op: ir.Operation) -> None:
        """Rewrite the public functions of the module `op`."""
        functions = [each.operation for each in op.regions[0].blocks[0].operations if _is_entry(each.operation)]
        names = {name for function in functions for row in _dims(function) for name in row}
        named, placed = self._parsed(op, names)
        unknown = next((name for name in named if name not in names), None)
        if unknown is not None:
            known = ", ".join(sorted(filter(None, names))) or "none"
            raise PassFailure(op, f"no argument has a dim '{unknown}' (dims: {known})", "give the name of one, or argument:axis")
        for function in functions:
            _bind(function, named, placed)

    def _parsed(self, op: ir.Operation, names: Collection[str]) -> tuple[dict[str, int], dict[Place, int]]:
        named: dict[str, int] = {}
        placed: dict[Place, int] = {}
        for text in self.sizes:
            name, _, size = text.rpartition("=")
            if not name or not size.isdecimal():
                raise PassFailure(op, f"'{text}' gives no dim a size", "write seq=128, or 0:1=128 for axis 1 of argument 0")
            argument, colon, axis = name.partition(":")
            if name not in names and colon and argument.isdecimal() and axis.isdecimal():
                placed[int(argument), int(axis)] = int(size)
            else:
                named[name] = int(size)
        return named, placed


def _is_entry(operation: ir.Operation) -> bool:
    return operation.name == "func.func" and "sym_visibility" not in operation.attributes and bool(operation.regions[0].blocks)


def _dims(function: ir.Operation) -> list[list[str]]:
    """The names of each argument's dims, empty for those without one."""
    arguments = function.regions[0].blocks[0].arguments
    rows: list[list[str]] = []
    for argument, entry in zip(arguments, _arguments(function), strict=True):
        kind = tensor_type(argument.type)
        names = [item.value for item in entry["dl.dims"]] if "dl.dims" in entry else [""] * (kind.rank if kind else 0)
        rows.append(names)
    return rows


def _arguments(function: ir.Operation) -> list[ir.DictAttr]:
    if "arg_attrs" in function.attributes:
        return [ir.DictAttr(entry) for entry in ir.ArrayAttr(function.attributes["arg_attrs"])]
    return [ir.DictAttr.get({}, function.context)] * len(function.regions[0].blocks[0].arguments)


def _bind(function: ir.Operation, named: Mapping[str, int], placed: Mapping[Place, int]) -> None:
    bounds = bounds_of_function(function)
    for name, size in named.items():
        if name in bounds and not bounds[name].admits(size):
            raise PassFailure(function, f"dim '{name}' is {size}, and its bounds are {bounds[name]}", "give a size within these")
    others = [(each, [value.type for value in each.operands]) for each in nested_ops(function) if _keeps_types(each)]
    rows = _dims(function)
    for number, (argument, names) in enumerate(zip(function.regions[0].blocks[0].arguments, rows, strict=True)):
        sizes = {axis: size for (place, axis), size in placed.items() if place == number}
        sizes |= {axis: named[name] for axis, name in enumerate(names) if name in named}
        _bind_argument(function, argument, sizes)
        rows[number] = ["" if axis in sizes else name for axis, name in enumerate(names)]
    _keep_names(function, rows)
    state_bounds(function, {name: each for name, each in bounds.items() if name not in named})
    _refine_results(function)
    for operation, kinds in others:
        restore_types(operation, kinds)
    _write_loops(function)
    _state_type(function)


def _write_loops(function: ir.Operation) -> None:
    """Write what is known into the types that loops carry, and what follows from these."""
    is_more = any(operation.name in CONTROL for operation in nested_ops(function))
    while is_more:
        others = [(each, [value.type for value in each.operands]) for each in nested_ops(function) if _is_apart(each)]
        is_more = refine_loops(function)
        _refine_results(function)
        for operation, kinds in others:
            restore_types(operation, kinds)
        fit_loops(function)


def _is_apart(operation: ir.Operation) -> bool:
    """Whether an op keeps the types of its operands whatever loops carry."""
    is_step = operation.name == "scf.yield" and operation.parent.operation.name != "scf.if"
    return _keeps_types(operation) and operation.name not in FOLLOWING and not is_step


def _keeps_types(operation: ir.Operation) -> bool:
    return bool(len(operation.operands)) and not operation.name.startswith("dl.") and operation.name != "func.return"


def _bind_argument(function: ir.Operation, argument: ir.Value, sizes: Mapping[int, int]) -> None:
    kind = tensor_type(argument.type)
    if not sizes or kind is None:
        return
    wrong = next((axis for axis in sizes if axis >= kind.rank), None)
    if wrong is not None:
        raise PassFailure(function, f"an argument of rank {kind.rank} has no axis {wrong}", "count axes from 0")
    dims = list(kind.shape)
    for axis, size in sizes.items():
        if isinstance(dims[axis], int) and dims[axis] != size:
            raise PassFailure(function, f"a dim of size {dims[axis]} was given the size {size}", "bind dynamic dims alone")
        dims[axis] = size
    argument.set_type(mlir_type(kind.with_shape(dims)))


def _keep_names(function: ir.Operation, rows: Sequence[Sequence[str]]) -> None:
    """Write the names of the dims that are still dynamic."""
    entries = []
    for given, names in zip(_arguments(function), rows, strict=True):
        others = {entry.name: entry.attr for entry in given if entry.name != "dl.dims"}
        if any(names):
            others["dl.dims"] = ir.ArrayAttr.get([ir.StringAttr.get(name, function.context) for name in names], function.context)
        entries.append(ir.DictAttr.get(others, function.context))
    if "arg_attrs" in function.attributes:
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(entries, function.context)


def _refine_results(function: ir.Operation) -> None:
    """Write the static dims that follow from the arguments' into the types of dl ops' results."""
    try:
        shapes = SymbolicShapes(function)
    except ConstraintError as error:
        raise PassFailure(function, f"sizes do not fit each other: {error}", "give others") from None
    for operation in dl_ops(function):
        for result in operation.results:
            declared = tensor_type(result.type)
            if declared is not None and not declared.is_static:
                dims = [dim if isinstance(dim, int) else None for dim in shapes.type_of(result).shape]
                result.set_type(mlir_type(declared.with_shape(dims)))


def _state_type(function: ir.Operation) -> None:
    """The function's type, by its arguments and by what it returns."""
    block = function.regions[0].blocks[0]
    given = [value.type for value in block.operations[len(block.operations) - 1].operation.operands]
    kind = ir.FunctionType.get([argument.type for argument in block.arguments], given, function.context)
    function.attributes["function_type"] = ir.TypeAttr.get(kind, function.context)
