"""What dlc-opt reads and writes: files, standard input and standard output."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from dlc.devices import refuse_endless
from dlc.diagnostics import Diagnostic
from dlc.errors import InvalidInputError, ParseError
from dlc.partial_files import note_partial


def read_input(name: str) -> bytes:
    """The bytes of a file or, for `-`, of standard input; `ParseError` when it can't be read."""
    try:
        if name == "-":
            return sys.stdin.buffer.read()
        refuse_endless(name)
        return Path(name).read_bytes()
    except (OSError, ValueError) as error:
        raise ParseError("", [Diagnostic("error", _reason(error), name)]) from None


def write_output(name: str, output: bytes) -> None:
    """Write to a file, all or nothing, or to standard output for `-`; `InvalidInputError` when it can't be written."""
    if name == "-":
        _write_all(output)
        return
    path = Path(os.path.realpath(name))
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    note_partial(partial)
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(output)  # a device or a pipe
            return
        partial.write_bytes(output)
        if path.exists():
            shutil.copymode(path, partial)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise InvalidInputError("", [Diagnostic("error", _reason(error), name)]) from None


def _write_all(output: bytes) -> None:
    try:
        sys.stdout.buffer.write(output)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left in the buffer has nowhere to go
        raise InvalidInputError("", [Diagnostic("error", _reason(error), "<stdout>")]) from None


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
