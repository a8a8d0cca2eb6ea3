"""Measures a table row by row: what one row does leaves the others alone, and what is finished is kept."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar


class Row(Protocol):
    """What a table has a row for."""

    name: str


AnyRow = TypeVar("AnyRow", bound=Row)

INTERRUPTED = 130
"""Exit status after an interrupt from the keyboard, as shells have it."""


def run_rows(cases: Sequence[AnyRow], measure: Callable[[AnyRow], None], fails: Callable[[AnyRow, Exception], None]) -> int:
    """Call `measure` for each case, and `fails` for one whose row raised an error; an interrupt ends the rows.

    Returns 0, or 1 where a row failed, or `INTERRUPTED`.
    """
    status = 0
    for number, case in enumerate(cases):
        try:
            measure(case)
        except KeyboardInterrupt:
            print(f"interrupted in {case.name}; {number} of {len(cases)} rows are finished", file=sys.stderr, flush=True)
            return INTERRUPTED
        except Exception as error:  # of any kind: models are built by the packages of others
            print(f"{case.name}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            fails(case, error)
            status = 1
    return status


def write_json(file: Path | None, document: Any) -> None:
    """Write a document whole or not at all, in place of the one before; None writes nothing."""
    if file is None:
        return
    part = file.with_name(f"{file.name}.part")
    part.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    part.replace(file)
