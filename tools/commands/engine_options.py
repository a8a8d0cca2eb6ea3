"""Options of commands that take models and engines, where an engine is given."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import click
from click.core import ParameterSource

from dlc.errors import InvalidInputError


def is_given(name: str) -> bool:
    """Whether the option of this name is on the command line."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def refuse_other_options(file: Path, taken: Collection[str]) -> None:
    """Raise `InvalidInputError` for an option beside `taken`: it says how to compile, and an engine is compiled."""
    for option in click.get_current_context().command.params:
        name = option.name or ""
        if name not in taken and is_given(name):
            remedy = "give it to the dlc compile that writes the engine, or give the model itself"
            raise InvalidInputError(f"{file}: error: an engine is compiled already, and takes no {option.opts[0]}; {remedy}")
