"""Messages between a compiling process and its workers: a JSON record and bytes, each after its length."""

from __future__ import annotations

import dataclasses
import json
import struct
from collections.abc import Mapping
from typing import IO, Any

from dlc.diagnostics import Diagnostic
from dlc.errors import DLCError, ParseError, PassError, RuntimeLoadError, TargetError, VerifyError

_KINDS = {kind.__name__: kind for kind in (ParseError, PassError, RuntimeLoadError, TargetError, VerifyError)}
_LENGTHS = struct.Struct("<QQ")


def send(stream: IO[bytes], record: Mapping[str, Any], content: bytes = b"") -> None:
    """Write one message."""
    head = json.dumps(record).encode()
    stream.write(_LENGTHS.pack(len(head), len(content)) + head + content)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """Read one message; None where the other side ended, or was ended in the middle of one."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head_length, length = _LENGTHS.unpack(lengths)
    head, content = stream.read(head_length), stream.read(length)
    if len(head) < head_length or len(content) < length:
        return None
    return json.loads(head), content


def error_record(error: DLCError) -> dict[str, Any]:
    """An error as a record."""
    return {
        "kind": type(error).__name__,
        "message": error.message,
        "diagnostics": [dataclasses.asdict(diagnostic) for diagnostic in error.diagnostics],
    }


def error_of(record: Mapping[str, Any]) -> DLCError:
    """The error that `error_record` wrote down."""
    kind = _KINDS.get(record["kind"], DLCError)
    return kind(record["message"], [_diagnostic(entry) for entry in record["diagnostics"]])


def _diagnostic(entry: Mapping[str, Any]) -> Diagnostic:
    return Diagnostic(**{**entry, "notes": tuple(_diagnostic(note) for note in entry["notes"])})
