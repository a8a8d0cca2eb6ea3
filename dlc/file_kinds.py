"""What a file holds, by its first bytes."""

from __future__ import annotations

import os
from pathlib import Path

_ENGINE = b"\x93DLCE"
"""What engine files begin with (docs/engine-format.md)."""


def is_engine(path: str | os.PathLike[str]) -> bool:
    """Whether a regular file is an engine, whole or not. Raises `OSError` where it cannot be read."""
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return file.read(len(_ENGINE)) == _ENGINE
