"""What a pass is: a frozen dataclass whose fields are its options and whose `run` rewrites one anchor op in place.

    @dataclass(frozen=True)
    class FoldBatchNorm(Pass):
        '''Fold batch norm into the convolution before it.

        before: ...
        after: ...
        '''

        limit: int = option(8, "largest rank that is folded")

        def run(self, op: ir.Operation) -> None: ...

The file's place gives the pass its name (see `dlc.lowering.registry`); nothing else registers it.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, ClassVar, get_args, get_origin

from dlc._mlir import ir
from dlc.lowering.options import quote, split_list, unwrap
from dlc.lowering.registry import pass_name_of_module


class PassFailure(Exception):
    """Raised by a pass whose precondition does not hold or whose input it refuses; located at an op.

    `message` says what is wrong, `remedy` what to do or run instead.
    """

    def __init__(self, op: ir.Operation | ir.OpView | ir.Location, message: str, remedy: str = "") -> None:
        self.location = op if isinstance(op, ir.Location) else op.location
        self.message = f"{message}; {remedy}" if remedy else message
        super().__init__(self.message)


class OptionError(ValueError):
    """An unknown pass option, or a value that does not fit the option's type; `option` is its name as given."""

    def __init__(self, message: str, option: str = "") -> None:
        self.option = option
        super().__init__(message)


def option(default: Any, help: str) -> Any:
    """A pass option: a dataclass field with its default and a one-line help text. Tuples hold lists."""
    return dataclasses.field(default=default, metadata={"help": help})


@dataclasses.dataclass(frozen=True)
class Pass:
    """Base of every Python pass. Subclasses are frozen dataclasses; see the module docstring."""

    anchor: ClassVar[str] = "builtin.module"
    """Name of the op that `run` is given; the pass runs once on each such op."""

    pass_name: ClassVar[str] = ""
    """Overrides the name that the file's place gives; needed for passes outside `dlc.lowering` only."""

    def run(self, op: ir.Operation) -> None:
        """Rewrite `op` (an `anchor` op) in place; raise `PassFailure` to refuse it."""
        raise NotImplementedError

    @classmethod
    def name(cls) -> str:
        """The pass's name, as in `--pass-pipeline` and as a flag."""
        return cls.pass_name or pass_name_of_module(cls.__module__)

    @classmethod
    def from_options(cls, given: Mapping[str, str]) -> Pass:
        """Build the pass from `{option: text}`; `OptionError` names an unknown option or an unfit value."""
        if not given:
            return cls()
        kinds = typing.get_type_hints(cls)
        fields = {_spelled(field.name): field for field in dataclasses.fields(cls)}
        values = {}
        for key, text in given.items():
            field = fields.get(key.replace("_", "-"))
            if field is None:
                known = ", ".join(fields) or "none"
                raise OptionError(f"pass '{cls.name()}' has no option '{key}' (options: {known})", key)
            try:
                values[field.name] = _parse_value(kinds[field.name], text, f"option '{key}' of pass '{cls.name()}'")
            except OptionError as error:
                raise OptionError(str(error), key) from None
        return cls(**values)

    def options_text(self) -> str:
        """The options that differ from their defaults, as `a=b c=d`."""
        shown = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                shown.append(f"{_spelled(field.name)}={_show_value(value)}")
        return " ".join(shown)

    def __str__(self) -> str:
        text = self.options_text()
        return f"{self.name()}{{{text}}}" if text else self.name()


def _spelled(field: str) -> str:
    """An option's name; a field that would be a keyword of Python ends in an underscore."""
    return field.rstrip("_").replace("_", "-")


def _show_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(_show_value(item) for item in value)
    return "none" if value is None else quote(str(value))


def _parse_value(kind: Any, text: str, what: str) -> Any:
    """Parse `text` as `kind`: bool, int, float, str, tuple[kind, ...], Literal[...] or `kind | None`."""
    origin = get_origin(kind)
    if origin is tuple:
        return tuple(_parse_value(get_args(kind)[0], item, what) for item in split_list(text))
    text = unwrap(text.strip())
    if origin is typing.Literal:
        choices = get_args(kind)
        if text not in choices:
            raise OptionError(f"{what} expects one of {', '.join(choices)} but got '{text}'")
        return text
    if origin in (typing.Union, types.UnionType):
        if text.lower() == "none":
            return None
        return _parse_value(next(arg for arg in get_args(kind) if arg is not type(None)), text, what)
    if kind is bool:
        if text.lower() not in ("", "true", "false", "1", "0"):
            raise OptionError(f"{what} expects true or false but got '{text}'")
        return text.lower() in ("", "true", "1")
    try:
        return kind(text)
    except ValueError:
        raise OptionError(f"{what} expects {kind.__name__} but got '{text}'") from None
