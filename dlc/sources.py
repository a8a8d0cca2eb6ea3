"""Where models come from: ONNX files and protos, `.mlir` text and bytecode, MLIR modules; and the weights beside them.

A module's weights are a table of arrays by key. The module attribute `dl.params` names the file that holds it: a `.safetensors`
file, or the `.onnx` file the module was imported from. Relative names are relative to the module's own file.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from dlc._mlir import ir
from dlc.diagnostics import from_mlir
from dlc.dialects import make_context
from dlc.errors import InvalidInputError, ParseError, VerifyError

if TYPE_CHECKING:
    import onnx

PARAMS_ATTRIBUTE = "dl.params"
ShapeOverrides = Mapping[str, Sequence["int | str | None"]]
ParamTable = Mapping[str, np.ndarray]
_BYTECODE_MAGIC = b"ML\xefR"


@dataclass(frozen=True)
class Source:
    """A module with its weights and its name for messages. `params_file` is where the weights came from, if a file."""

    module: ir.Module
    params: ParamTable
    name: str
    params_file: Path | None = None


def read_source(
    model: str | os.PathLike[str] | onnx.ModelProto | ir.Module,
    params: ParamTable | None = None,
    shapes: ShapeOverrides | None = None,
) -> Source:
    """Bring any kind of model into a module of its own context.

    `model` is a path to ONNX or MLIR, an `onnx.ModelProto`, MLIR text, or an MLIR module (which is copied). `params` gives or
    replaces weights by key; `shapes` overrides input shapes of an ONNX model. Raises the errors of `dlc.errors`.
    """
    source = _read(model, shapes)
    if params is None:
        return source
    return Source(source.module, {**source.params, **params}, source.name, source.params_file)


def _read(model: Any, shapes: ShapeOverrides | None) -> Source:
    if isinstance(model, ir.Module):
        buffer = io.BytesIO()
        model.operation.write_bytecode(buffer)
        return _from_mlir(buffer.getvalue(), "module", None)
    if isinstance(model, str) and ("\n" in model or "{" in model or not model.strip()):
        return _from_mlir(model.encode(), "<text>", None)
    if isinstance(model, (str, os.PathLike)):
        return _from_file(Path(model), shapes)
    if type(model).__name__ == "ModelProto":
        return _from_onnx(model, shapes, None)
    kind = type(model).__name__
    raise InvalidInputError(f"a model is a path, an onnx.ModelProto, MLIR text or an MLIR module, not {kind}")


def _from_file(path: Path, shapes: ShapeOverrides | None) -> Source:
    if path.is_dir():
        raise ParseError(f"{path}: error: is a directory, not a model file")
    if not path.exists():
        raise ParseError(f"{path}: error: no such file")
    if path.suffix in (".mlir", ".mlirbc"):
        return _from_mlir(path.read_bytes(), str(path), path.parent)
    return _from_onnx(path, shapes, path)


def _from_onnx(model: Any, shapes: ShapeOverrides | None, path: Path | None) -> Source:
    from dlc.frontends.onnx.importer import import_model

    imported = import_model(model, make_context(), shapes)
    return Source(imported.module, imported.params, imported.name, path)


def _from_mlir(data: bytes, name: str, folder: Path | None) -> Source:
    module = parse_module(data, name)
    reference = module.operation.attributes.get(PARAMS_ATTRIBUTE)
    if reference is None:
        return Source(module, {}, name)
    path = (folder or Path()) / ir.StringAttr(reference).value
    return Source(module, load_params(path), name, path)


def parse_module(data: bytes, name: str) -> ir.Module:
    """Parse MLIR text or bytecode in a new context with the dl dialect; `ParseError` or `VerifyError` with places in `name`."""
    context = make_context()
    text = None if data.startswith(_BYTECODE_MAGIC) else _decoded(data, name)
    with context, ir.Location.unknown():
        try:
            module = ir.Module.parse(data if text is None else text)
        except ir.MLIRError as error:
            found = [from_mlir(info).in_file(name) for info in error.error_diagnostics]
            kind = VerifyError if any("' op " in item.message for item in found) else ParseError
            raise kind("" if found else f"{name}: error: not valid MLIR", found, text) from None
    return module


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ParseError(f"{name}:{line}: error: neither MLIR bytecode nor UTF-8 text: {error.reason}") from None


def load_params(path: Path) -> ParamTable:
    """The weights in a `.safetensors` file (memory-mapped) or those that importing an `.onnx` file gives."""
    if not path.exists():
        remedy = "put the file back or give `params`"
        raise ParseError(f"{path}: error: the module's weights ({PARAMS_ATTRIBUTE}) are not there; {remedy}")
    if path.suffix == ".onnx":
        return _from_onnx(path, None, path).params
    try:
        table: ParamTable = load_file(path)
    except (SafetensorError, OSError, KeyError) as error:
        raise ParseError(f"{path}: error: not a safetensors file: {error}") from None
    return table


def save_params(path: Path, params: ParamTable) -> None:
    """Write weights as a `.safetensors` file."""
    save_file({key: np.asarray(array) for key, array in params.items()}, path)
