"""`dlc import`: an ONNX model as a module of dl ops, its weights beside it."""

from __future__ import annotations

from pathlib import Path

import click

import dlc
from dlc.tools.commands.options import (
    MODEL,
    all_shapes,
    lenient_option,
    output_option,
    parse_values,
    require_one_size,
    shape_option,
    sizes_option,
    value_option,
)
from dlc.tools.commands.outputs import write_module


@click.command("import")
@MODEL
@output_option("File for the module, standard output by default. Weights go beside it, to a file named *.safetensors.")
@shape_option
@sizes_option
@value_option
@lenient_option
def command(
    model: Path, output: Path, shapes: tuple[str, ...], sizes: tuple[str, ...], values: tuple[str, ...], lenient: bool
) -> None:
    """Import an ONNX MODEL into the dl dialect.

    Without -o the text refers to MODEL for its weights.
    """
    require_one_size(sizes, "a file holds")
    source = dlc.import_onnx(model, all_shapes(shapes, sizes), lenient, parse_values(values))
    write_module(source.module, source, output)
