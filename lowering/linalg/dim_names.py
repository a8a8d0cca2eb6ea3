"""Names of the dynamic dims of a function's arguments (`dl.dims`), and of results that become arguments."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op
from dlc.lowering.axes import axis_of

_DIMS = "dl.dims"


class DimNames:
    """`given` has the names of each argument's dims, `added` those of results whose sizes are dims of arguments.

    A dim that a result shares with an argument gets a name of its own where it has none.
    """

    def __init__(self, function: ir.Operation) -> None:
        self._block = function.regions[0].blocks[0]
        self.given = [
            _names_of(mark, argument.type)
            for mark, argument in zip(argument_attributes(function, len(self._block.arguments)), self._block.arguments, strict=True)
        ]
        self.added: list[list[str]] = []

    def add_result(self, allocation: ir.Operation) -> None:
        """The names of the dims of a buffer that becomes an argument."""
        kind = ir.MemRefType(allocation.results[0].type)
        sizes = iter(allocation.operands)
        self.added.append([self._name_of(next(sizes)) if kind.is_dynamic_dim(axis) else "" for axis in range(kind.rank)])

    def _name_of(self, size: ir.Value) -> str:
        """The name of the argument's dim that `size` asks for; "" when it is anything else, or has no place among the names."""
        op = defining_op(size)
        if op is None or op.name != "memref.dim" or not isinstance(op.operands[0], ir.BlockArgument):
            return ""
        place, axis = op.operands[0].arg_number, axis_of(op)
        if axis is None or op.operands[0].owner != self._block:
            return ""
        known = self.given[place]
        if axis not in range(len(known)):
            return ""
        known[axis] = known[axis] or self._fresh(f"{place}.{axis}")
        return known[axis]

    def _fresh(self, wanted: str) -> str:
        used = {name for names in self.given for name in names}
        while wanted in used:
            wanted += "'"
        return wanted


def argument_attributes(function: ir.Operation, count: int) -> list[ir.Attribute]:
    """The attribute dictionary of each of the `count` arguments."""
    if "arg_attrs" in function.attributes:
        return list(ir.ArrayAttr(function.attributes["arg_attrs"]))
    return [ir.DictAttr.get({}, function.context)] * count


def given_names(mark: ir.Attribute) -> list[str] | None:
    """The names of dims that the attributes of an argument give; None where there are none, or what is there is no texts."""
    marks = ir.DictAttr(mark)
    if _DIMS not in marks:
        return None
    names = marks[_DIMS]
    if not isinstance(names, ir.ArrayAttr) or not all(isinstance(name, ir.StringAttr) for name in names):
        return None
    return [name.value for name in names]


def _names_of(mark: ir.Attribute, kind: ir.Type) -> list[str]:
    """The names in `mark`, or an empty one for each axis."""
    names = given_names(mark)
    if names is not None:
        return names
    return [""] * (ir.MemRefType(kind).rank if isinstance(kind, ir.MemRefType) else 0)


def with_dims(mark: ir.Attribute, names: Sequence[str]) -> ir.Attribute:
    """`mark` with the names of dims, where there are any."""
    if not any(names):
        return mark
    return with_entry(mark, _DIMS, ir.ArrayAttr.get([ir.StringAttr.get(name) for name in names]))


def with_entry(mark: ir.Attribute, name: str, value: ir.Attribute) -> ir.Attribute:
    """The attributes of an argument, with one more."""
    return ir.DictAttr.get({entry.name: entry.attr for entry in ir.DictAttr(mark)} | {name: value}, mark.context)
