"""Progress of long work on standard error: one line that names the current step, gone when the work is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console


@contextmanager
def steps(title: str) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the name of each step as it begins; silent where standard error is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda step: None
        return
    with console.status(title) as status:
        yield lambda step: status.update(f"{title}: {step}")
