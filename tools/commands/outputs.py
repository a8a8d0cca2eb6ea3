"""Writes modules as text with a reference to their weights."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from dlc._mlir import ir
from dlc.sources import PARAMS_ATTRIBUTE, Source, save_params


def print_module(module: ir.Module, source: Source) -> None:
    """Print the text; the weights stay in the file they came from."""
    if source.params_file is not None and source.params:
        _refer(module, str(source.params_file))
    click.echo(module_text(module))


def write_module(module: ir.Module, source: Source, output: Path) -> None:
    """Write the text to `output` and the weights to a file of its name beside it."""
    if source.params:
        table = output.with_suffix(".safetensors")
        with replacing(table) as temporary:
            save_params(temporary, source.params)
        _refer(module, table.name)
    with replacing(output) as temporary:
        temporary.write_text(module_text(module) + "\n", encoding="utf-8")


def module_text(module: ir.Module) -> str:
    """The module with its locations, which carry the ONNX node names."""
    text: str = module.operation.get_asm(enable_debug_info=True)
    return text.rstrip("\n")


def _refer(module: ir.Module, file: str) -> None:
    with module.context:
        module.operation.attributes[PARAMS_ATTRIBUTE] = ir.StringAttr.get(file)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place when the block ends well; else `path` stays as it was."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
