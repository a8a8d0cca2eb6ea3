"""Writes what a command has made: modules with a reference to their weights, code, bytes."""

from __future__ import annotations

from pathlib import Path

import click

from dlc._mlir import ir
from dlc.errors import InvalidInputError
from dlc.partial_files import replacing
from dlc.sources import PARAMS_ATTRIBUTE, Source, save_params
from dlc.tools.commands.options import STDOUT


def write_module(module: ir.Module, source: Source, output: Path) -> None:
    """Write the text to `output` and the weights to a file of its name beside it.

    On standard output, the text names the file that the weights came from.
    """
    if source.params and output == STDOUT:
        _refer(module, str(source.params_file and source.params_file.resolve()))
    elif source.params:
        table = output.with_suffix(".safetensors")
        with replacing(table) as temporary:
            _save_weights(source, temporary, table)
        _refer(module, table.name)
    text: str = module.operation.get_asm(enable_debug_info=True)  # locations carry the names of ONNX nodes
    write_bytes(text.rstrip("\n").encode() + b"\n", output)


def _save_weights(source: Source, temporary: Path, table: Path) -> None:
    try:
        save_params(temporary, source.params)
    except InvalidInputError as error:  # a user knows the file by the name that it was to get
        raise InvalidInputError(str(error).replace(str(temporary), str(table))) from None


def write_bytes(content: bytes, output: Path) -> None:
    """Write all of `content` or, when that fails, leave a file as it was."""
    if output == STDOUT:
        click.echo(content, nl=False)
        return
    with replacing(output) as temporary:
        temporary.write_bytes(content)


def _refer(module: ir.Module, file: str) -> None:
    with module.context:
        module.operation.attributes[PARAMS_ATTRIBUTE] = ir.StringAttr.get(file)
