"""Reading MLIR text and bytecode into modules, with located errors."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlc.diagnostics import Diagnostic, from_mlir
from dlc.dialects.nesting import check_nesting
from dlc.dialects.parser_faults import check_parser_faults
from dlc.errors import DLCError, ParseError, VerifyError

if TYPE_CHECKING:
    from dlc._mlir import ir

BYTECODE_MAGIC = b"ML\xefR"
_COMMENT_OR_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*')
_UNQUOTED_OP = re.compile(r"(?<![\w!#.@%$-])dl\.[A-Za-z_]\w*(?=\s*[(%\"])")


def decode(data: bytes, name: str) -> str:
    """The text of UTF-8 data; `ParseError` says where in the file `name` it is not."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1
        message = f"byte 0x{data[error.start]:02x} is neither UTF-8 text nor the start of MLIR bytecode"
        raise ParseError("", [Diagnostic("error", message, name, line, column)]) from None


def parse_module(data: bytes | str, name: str, context: ir.Context, file: Path | None = None) -> ir.Module:
    """Parse text or bytecode into a module and verify it; `ParseError` or `VerifyError` locates errors in `name`.

    Where the unchanged data stands in `file`, locations carry that file's name; else they carry `-`.
    """
    from dlc._mlir import ir

    text = _text_of(data, name)
    with context, ir.Location.unknown():
        try:
            return ir.Module.parseFile(str(file)) if file else ir.Module.parse(data if text is None else text)
        except ir.MLIRError as error:
            raise _parse_error(error, text, name) from None


def parse_operation(data: bytes | str, name: str, context: ir.Context) -> ir.Operation:
    """Parse exactly one top-level op, without a module around it; errors as in `parse_module`.

    The bindings read bytecode into a module only, so that any other op gets one around it there.
    """
    from dlc._mlir import ir

    text = _text_of(data, name)
    if text is None:
        return parse_module(data, name, context).operation
    with context, ir.Location.unknown():
        try:
            return ir.Operation.parse(text, source_name=name).operation
        except ir.MLIRError as error:
            raise _parse_error(error, text, name) from None


def _text_of(data: bytes | str, name: str) -> str | None:
    """The text that `data` is or holds; None for bytecode."""
    if isinstance(data, bytes) and data.startswith(BYTECODE_MAGIC):
        return None
    content = data.encode() if isinstance(data, str) else data
    check_nesting(content, name)
    check_parser_faults(content, name)
    return data if isinstance(data, str) else decode(data, name)


def _parse_error(error: Any, text: str | None, name: str) -> DLCError:
    found = [from_mlir(info).in_file(name) for info in error.error_diagnostics]
    if not found:
        found = [_silent_error(text or "", name)]
    kind = VerifyError if any("' op " in item.message for item in found) else ParseError
    return kind("", found, text)


def _silent_error(text: str, name: str) -> Diagnostic:
    """The error behind a parse that fails without a diagnostic, as the unquoted form of an op defined in Python does."""
    blanked = _COMMENT_OR_STRING.sub(lambda match: " " * len(match[0]), text)
    match = _UNQUOTED_OP.search(blanked)
    if match is None:
        return Diagnostic("error", "this is not a valid module", name)
    start = match.start()
    line, column = text.count("\n", 0, start) + 1, start - (text.rfind("\n", 0, start) + 1) + 1
    message = f"'{match[0]}' has the generic form only; quote its name: \"{match[0]}\"(...)"
    return Diagnostic("error", message, name, line, column)
