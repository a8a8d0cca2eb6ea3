"""Checks at run time that sizes are such as a function states (`dl.bounds`): once a call, before anything else."""

from __future__ import annotations

from collections.abc import Iterator

from dlc._mlir import ir
from dlc.analysis.dim_bounds import DimBounds, bounds_of_function
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.extents import Extent


def require_stated_bounds(function: ir.Operation) -> None:
    """Fail at run time where a dim of an argument is none that the bounds of its name admit; equal names are equal sizes."""
    if "sym_visibility" in function.attributes:  # its callers keep to them
        return
    bounds = bounds_of_function(function)
    if not bounds:
        return
    block = function.regions[0].blocks[0]
    builder = Builder(ir.InsertionPoint.at_block_begin(block), function.location)
    with function.location:
        for number, axis, name, label in _named_dims(function):
            if name in bounds:
                where = f"input '{label}': dim {axis}, '{name}',"
                _require(builder, builder.dim(block.arguments[number], axis), bounds.pop(name), where)


def _named_dims(function: ir.Operation) -> Iterator[tuple[int, int, str, str]]:
    """Argument, axis, the name of the dim, and what the argument is called."""
    for number, entry in enumerate(ir.ArrayAttr(function.attributes["arg_attrs"]) if "arg_attrs" in function.attributes else ()):
        given = ir.DictAttr(entry)
        label = given["dl.name"].value if "dl.name" in given else f"arg{number}"
        if "dl.dims" in given:
            yield from ((number, axis, item.value, label) for axis, item in enumerate(given["dl.dims"]))


def _require(b: Builder, size: Extent, bounds: DimBounds, where: str) -> None:
    if isinstance(size, int):  # a static dim that has kept its name
        return
    least = b.index(bounds.least)
    if bounds.least > 0:
        _assert(b, b.compare_index("ge", size, least), f"{where} is {{}} but its least is {{}}")
    if bounds.most is not None:
        _assert(b, b.compare_index("le", size, b.index(bounds.most)), f"{where} is {{}} but its most is {{}}")
    if bounds.multiple > 1:
        whole = b.extent("mul", b.extent("floordiv", size, bounds.multiple), bounds.multiple)
        text = f"{where} is {{}} but must be a multiple of {bounds.multiple}, as {{}} is"
        _assert(b, b.compare_index("eq", size, b.index(whole)), text)


def _assert(b: Builder, holds: ir.Value, message: str) -> None:
    b.operation("cf.assert", [], [holds], {"msg": ir.StringAttr.get(message)})
