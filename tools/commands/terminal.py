"""What people see: tables on standard output, and one line on standard error that names the current step of long work."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape

_WIDTH_OF_FILES = 160


def output_console(markup: bool = False) -> Console:
    """Standard output for tables: as wide as the terminal, or wide enough for a file.

    Text is shown as it is, or with rich's `markup`.
    """
    width = None if sys.stdout.isatty() else _WIDTH_OF_FILES
    return Console(width=width, markup=markup, highlight=False, emoji=False)


@contextmanager
def steps(title: str) -> Iterator[Callable[[str], None] | None]:
    """Yield a function that shows the name of each step as it begins; None where standard error is no terminal.

    The line disappears when the work is done.
    """
    if not sys.stderr.isatty():
        yield None
        return
    with Console(stderr=True).status(escape(title)) as status:
        yield lambda step: status.update(escape(f"{title}: {step}"))
