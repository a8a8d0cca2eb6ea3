"""A schedule primitive is a function of a program and some options; its pass is made from its signature."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, get_args, get_type_hints

from dlc._mlir import ir
from dlc.lowering.affine.schedule.driver import change_loops
from dlc.lowering.affine.schedule.program import Program, Result
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.registry import class_name_of

Primitive = TypeVar("Primitive", bound=Callable[..., Result])


@dataclass(frozen=True)
class PrimitiveOptions:
    """What the passes of all primitives share: the options that say where one works, and how it changes a function."""

    anchor: ClassVar[str] = "func.func"
    primitive: ClassVar[Callable[..., Result]]
    """The function that the pass calls."""
    arguments: ClassVar[tuple[str, ...]]
    """Its options, in their order."""

    function: str = option("", "the only function to change; empty: each that has loops")
    assume_no_alias: bool = option(False, "take it that distinct memrefs share no memory")
    reassociate: bool = option(False, "sums and products of floats may be computed in any order")

    def run(self, op: ir.Operation) -> None:
        """Change the loops of one function."""
        change_loops(op, self)

    def change(self, program: Program) -> Result:
        """The changed program, and the names of loops to go on with."""
        return type(self).primitive(program, *(getattr(self, name) for name in self.arguments))


def primitive(function: Primitive) -> Primitive:
    """Make the pass of a primitive, which is called by the function's file; it becomes the attribute `pass_class`.

    Each parameter but the first, a program, has the form `name: Annotated[type, "help"] = default` and is an option.
    """
    hints = get_type_hints(function, include_extras=True)
    given = list(inspect.signature(function).parameters.values())[1:]
    own = {parameter.name: option(parameter.default, get_args(hints[parameter.name])[1]) for parameter in given}
    kinds: dict[str, Any] = {name: get_args(hints[name])[0] for name in own}
    shared = {field.name: option(field.default, field.metadata["help"]) for field in dataclasses.fields(PrimitiveOptions)}
    kinds |= {field.name: get_type_hints(PrimitiveOptions)[field.name] for field in dataclasses.fields(PrimitiveOptions)}
    space = {
        **own,
        **shared,
        "__annotations__": kinds,
        "__module__": function.__module__,
        "__doc__": function.__doc__,
        "primitive": staticmethod(function),
        "arguments": tuple(own),
    }
    name = class_name_of(function.__module__.rsplit(".", 1)[-1])
    function.pass_class = dataclass(frozen=True)(type(name, (PrimitiveOptions, Pass), space))  # type: ignore[attr-defined]
    return function
