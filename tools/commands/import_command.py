"""`dlc import`: an ONNX model as a module of dl ops, its weights beside it."""

from __future__ import annotations

import os
from pathlib import Path

import click

import dlc
from dlc.tools.commands.options import MODEL, parse_shapes, shape_option
from dlc.tools.commands.outputs import print_module, write_module


@click.command("import")
@MODEL
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File for the module; weights go to OUTPUT.safetensors.")
@shape_option
def command(model: Path, output: Path | None, shapes: tuple[str, ...]) -> None:
    """Import an ONNX MODEL into the dl dialect.

    Without -o the text goes to standard output and refers to MODEL for its weights.
    """
    source = dlc.import_onnx(os.fspath(model), parse_shapes(shapes))
    if output is None:
        print_module(source.module, source)
        return
    write_module(source.module, source, output)
