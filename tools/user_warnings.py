"""Warnings of dlc as users see them: one line, without the place in the source."""

from __future__ import annotations

import sys
import warnings
from typing import TextIO


def show_user_warnings() -> None:
    """Let Python show them so from now on."""
    warnings.showwarning = _show


def _show(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: TextIO | None = None, line: str | None = None
) -> None:
    """Warnings of dlc are for users; others are for programmers, who run Python with -W."""
    if category.__module__.startswith("dlc.") or sys.warnoptions:
        print(str(message) if "warning: " in str(message) else f"warning: {message}", file=sys.stderr)
