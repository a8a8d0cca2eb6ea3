"""Options that several subcommands share, and how their values are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., object])

MODEL = click.argument("model", type=click.Path(path_type=Path))


def shape_option(command: Command) -> Command:
    """`--shape name=1x3x224x224`, repeatable."""
    return click.option(
        "--shape",
        "shapes",
        multiple=True,
        metavar="NAME=1x3xN",
        help="Shape of an input of an ONNX model; a word is a dynamic dim. Repeatable.",
    )(command)


def compile_options(command: Command) -> Command:
    """`--target`, `--num-threads`, `--opt-level`."""
    for option in (
        click.option("--target", default="cpu", show_default=True, help="Machine to compile for."),
        click.option("--num-threads", type=int, default=None, help="Threads of one call (default: all processors)."),
        click.option("--opt-level", type=click.IntRange(0, 3), default=2, show_default=True, help="LLVM's optimisation level."),
    ):
        command = option(command)
    return command


def parse_shapes(given: Sequence[str]) -> dict[str, list[int | str]] | None:
    """`["x=1x3xN"]` as `{"x": [1, 3, "N"]}`; a scalar is `x=`."""
    if not given:
        return None
    shapes: dict[str, list[int | str]] = {}
    for text in given:
        name, dims = split_pair(text, "--shape", "NAME=1x3x224x224")
        parts = [part for part in dims.split("x") if part] if dims else []
        shapes[name] = [int(part) if part.isdigit() else part for part in parts]
    return shapes


def split_pair(text: str, option: str, form: str) -> tuple[str, str]:
    """`name=value` in two; names may hold `=` no more than values may."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise click.BadParameter(f"expects {form} but got '{text}'", param_hint=option)
    return name, value
