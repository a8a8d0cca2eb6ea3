"""`dlc import`: an ONNX model as a module of dl ops, its weights beside it."""

from __future__ import annotations

from pathlib import Path

import click

import dlc
from dlc.tools.commands.options import MODEL, lenient_option, output_option, parse_shapes, parse_values, shape_option, value_option
from dlc.tools.commands.outputs import write_module


@click.command("import")
@MODEL
@output_option("File for the module, standard output by default. Weights go beside it, to a file named *.safetensors.")
@shape_option
@value_option
@lenient_option
def command(model: Path, output: Path, shapes: tuple[str, ...], values: tuple[str, ...], lenient: bool) -> None:
    """Import an ONNX MODEL into the dl dialect.

    Without -o the text refers to MODEL for its weights.
    """
    source = dlc.import_onnx(model, parse_shapes(shapes), lenient, parse_values(values))
    write_module(source.module, source, output)
