"""Where models come from: ONNX files and protos, `.mlir` text and bytecode, MLIR modules; and the weights beside them.

A module's weights are a table of arrays by key. The module attribute `dl.params` names the file that holds it: a `.safetensors`
file, or the `.onnx` file the module was imported from. Relative names are relative to the module's own file.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from dlc._mlir import ir
from dlc.devices import refuse_endless
from dlc.dialects import make_context, reading
from dlc.dtypes import NUMPY_DTYPES
from dlc.errors import InvalidInputError, ParseError, quoted
from dlc.file_kinds import is_engine
from dlc.given_values import check_table, checked_path, path_to_write

if TYPE_CHECKING:
    import onnx

PARAMS_ATTRIBUTE = "dl.params"
_HEADER_SIZE = 8
"""Bytes before the header of a safetensors file, which tell its size."""

_DTYPES = {
    "F64": "f64",
    "F32": "f32",
    "F16": "f16",
    "BF16": "bf16",
    "I64": "i64",
    "I32": "i32",
    "I16": "i16",
    "I8": "i8",
    "U8": "ui8",
    "U16": "ui16",
    "U32": "ui32",
    "U64": "ui64",
    "BOOL": "i1",
    "F8_E4M3": "f8E4M3FN",
    "F8_E4M3FNUZ": "f8E4M3FNUZ",
    "F8_E5M2": "f8E5M2",
    "F8_E5M2FNUZ": "f8E5M2FNUZ",
    "F8_E8M0": "f8E8M0FNU",
}
"""Element types by their names in safetensors files."""

ShapeOverrides = Mapping[str, "int | range | Sequence[int | str | range | None]"]
"""By the name of an input its sizes, names or None for each dim; by that of a dim its size, a range of sizes, or sizes with code of
their own."""
ParamTable = Mapping[str, np.ndarray]
InputValues = Mapping[str, Any]
"""An array, a number or a list of numbers by the name of an input."""


@dataclass(frozen=True)
class Source:
    """A module with its weights and its name for messages. `params_file` is where the weights came from, if a file.

    `values` are inputs of the ONNX model that are constants in the module.
    """

    module: ir.Module
    params: ParamTable
    name: str
    params_file: Path | None = None
    values: ParamTable = field(default_factory=dict)


Model = Union[str, "os.PathLike[str]", "onnx.ModelProto", ir.Module, Source]
"""A path to ONNX or MLIR, an ONNX proto, MLIR text, an MLIR module, or one with its weights."""


def read_source(
    model: Model,
    params: ParamTable | None = None,
    shapes: ShapeOverrides | None = None,
    lenient: bool = False,
    values: InputValues | None = None,
) -> Source:
    """Bring any kind of model into a module with weights.

    A module is copied into a context of its own, a `Source` is not. `params` gives or replaces weights by key; `shapes`
    overrides input shapes of an ONNX model, `values` makes inputs of it constants, `lenient` warns of what it may let pass.
    Raises the errors of `dlc.errors`.
    """
    for what, given in (("params", params), ("shapes", shapes), ("values", values)):
        if given is not None:
            check_table(what, given)
    path = _path_of(model)
    if path is not None and is_engine(path):
        from dlc.engines.kept_source import source_of_engine  # reads what engines keep

        source = _sized(source_of_engine(path), shapes, is_onnx=False)
    elif type(model).__name__ == "ModelProto" or (path is not None and not _holds_mlir(path)):
        source = read_onnx(model, shapes, lenient, values)
    elif values:
        raise InvalidInputError("values can be given for ONNX models only; an MLIR module states its own")
    else:
        source = model if isinstance(model, Source) else _from_mlir(model, path, optional=params is not None)
        source = _sized(source, shapes, is_onnx=False)
    return source if params is None else replace(source, params={**source.params, **params})


def read_onnx(
    model: Any,
    shapes: ShapeOverrides | None = None,
    lenient: bool = False,
    values: InputValues | None = None,
    name: str | None = None,
) -> Source:
    """Import an ONNX file or proto; messages call it `name`, by default as it is called."""
    from dlc.frontends.onnx.importer import import_model

    imported = import_model(model, make_context(), shapes, lenient, values, name)
    source = Source(imported.module, imported.params, imported.name, _path_of(model), imported.values)
    return _sized(source, shapes, is_onnx=True)


def _sized(source: Source, shapes: ShapeOverrides | None, is_onnx: bool) -> Source:
    """The source with sizes and bounds of dims that `shapes` gives by their names; the import of ONNX models took single sizes."""
    if not shapes:
        return source
    from dlc.versions.sizes import with_bounds, with_sizes  # brings passes

    return with_bounds(source, shapes) if is_onnx else with_sizes(source, shapes)


def copy_module(model: Model) -> ir.Module:
    """The module of a model in a new context of its own, without its weights."""
    if isinstance(model, Source):
        model = model.module
    return read_source(model, params={}).module


def _path_of(model: Model) -> Path | None:
    """The file that a model is named by, if so; `ParseError` if it is not there."""
    is_text = isinstance(model, str) and ("\n" in model or "{" in model or not model.strip())
    if is_text or not isinstance(model, (str, os.PathLike)):
        return None
    path = Path(model)
    try:
        if path.is_dir():
            raise ParseError(f"{path}: error: is a directory, not a model file")
        refuse_endless(path)
        is_there = path.exists()
    except OSError as error:
        raise ParseError(f"{path}: error: {error.strerror}") from None
    except UnicodeEncodeError:
        is_there = False
    if not is_there:
        raise ParseError(f"{path}: error: no such file")
    return path


def _holds_mlir(path: Path) -> bool:
    """Whether a file is MLIR, by its suffix, else by its first bytes: text and bytecode are, binary data is ONNX."""
    if path.suffix in (".mlir", ".mlirbc", ".onnx"):
        return path.suffix != ".onnx"
    with path.open("rb") as stream:
        head = stream.read(256)
    return head.startswith(reading.BYTECODE_MAGIC) or not any(byte < 9 for byte in head)  # a proto begins with the byte 8


def _from_mlir(model: Any, path: Path | None, optional: bool) -> Source:
    """Read a file, text or module; `optional` weights may be missing."""
    data, name = _mlir_bytes(model, path)
    module = reading.parse_module(data, name, make_context(), path if path and path.is_file() else None)
    reference = module.operation.attributes.get(PARAMS_ATTRIBUTE)
    if reference is None:
        return Source(module, {}, name)
    table = (path.parent if path else Path()) / ir.StringAttr(reference).value
    params = {} if optional and not table.exists() else load_params(table)
    return Source(module, params, name, table)


def _mlir_bytes(model: Any, path: Path | None) -> tuple[bytes, str]:
    """Text or bytecode of a model, and its name for messages."""
    if path is not None:
        return path.read_bytes(), str(path)
    if isinstance(model, str):
        return _encoded(model), "<text>"
    if isinstance(model, ir.Module):
        buffer = io.BytesIO()
        model.operation.write_bytecode(buffer)
        return buffer.getvalue(), "<module>"
    kind = type(model).__name__
    raise InvalidInputError(f"a model is a path, an onnx.ModelProto, MLIR text or an MLIR module, not {kind}")


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ParseError(f"<text>: error: character {error.start} is half of a pair of UTF-16; give Unicode text") from None


def parse_module(data: bytes, name: str) -> ir.Module:
    """Parse MLIR text or bytecode in a new context with the dl dialect; `ParseError` or `VerifyError` with places in `name`."""
    if not isinstance(data, (bytes, str)) or not isinstance(name, str):
        raise InvalidInputError(f"parse_module takes a module as text or bytecode and its name, not {quoted(data)}, {quoted(name)}")
    return reading.parse_module(data, name, make_context())


def load_params(path: str | os.PathLike[str]) -> ParamTable:
    """The weights in a `.safetensors` file, or those that importing an `.onnx` file gives."""
    path = checked_path(path)
    if not path.exists():
        remedy = "put the file back or give `params`"
        raise ParseError(f"{path}: error: the module's weights ({PARAMS_ATTRIBUTE}) are not there; {remedy}")
    if path.suffix == ".onnx":
        return read_onnx(path).params
    try:
        with safe_open(path, framework="np") as file:  # checks the header
            keys = list(file.keys())
        return _map_params(path, keys)
    except (SafetensorError, OSError, KeyError) as error:
        raise ParseError(f"{path}: error: not a safetensors file: {error}") from None


def _map_params(path: Path, keys: Sequence[str]) -> ParamTable:
    """The arrays of a valid safetensors file as maps of its contents: what nothing reads is never in memory.

    Writing to an array leaves the file as it is.
    """
    with path.open("rb") as file:
        size = int.from_bytes(file.read(_HEADER_SIZE), "little")
        header = json.loads(file.read(size))
    content = np.asarray(np.memmap(path, np.uint8, mode="c"))
    found = {}
    for key in keys:
        entry = header[key]
        if entry["dtype"] not in _DTYPES:
            known = ", ".join(_DTYPES)
            raise ParseError(f"{path}: error: '{key}' has element type {entry['dtype']}, which dl has not (has: {known})")
        first, last = (_HEADER_SIZE + size + offset for offset in entry["data_offsets"])
        found[key] = content[first:last].view(NUMPY_DTYPES[_DTYPES[entry["dtype"]]]).reshape(entry["shape"])
    return found


def save_params(path: str | os.PathLike[str], params: ParamTable) -> None:
    """Write weights as a `.safetensors` file; `InvalidInputError` where they cannot be written."""
    path = path_to_write(path)
    check_table("params", params)
    try:
        save_file({key: np.asarray(array, order="C") for key, array in params.items()}, path)
    except SafetensorError as error:
        raise InvalidInputError(f"{path}: error: cannot write the weights: {error}") from None
