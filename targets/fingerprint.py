"""What machine code depends on besides the IR: the compiler itself, its bindings and the machine."""

from __future__ import annotations

import functools
import hashlib
import importlib
import time
from pathlib import Path

from dlc import _mlir

_PARTS = ("dlc", "dlc.dialects", "dlc.analysis", "dlc.lowering", "dlc.targets", "dlc.runtime")
"""Packages whose sources decide what code comes out, and how it is kept and called."""

_IMPORTED = time.time()


@functools.lru_cache(maxsize=1)
def compiler_fingerprint() -> str | None:
    """Sum of the compiler's sources and of the versions below it; None where it cannot be told.

    That is so when sources changed while this process ran, since nobody knows which of them it has imported, and in an
    installation without sources. Reading them takes 8 ms.
    """
    total = hashlib.sha256(f"{_mlir.PACKAGE} {_mlir.version()}".encode())
    for part in _PARTS:
        folder = Path(str(importlib.import_module(part).__file__)).parent  # its first __path__ is another, if editable
        files = sorted(folder.glob("*.py") if part == "dlc" else folder.rglob("*.py"))
        if not files or any(_IMPORTED < file.stat().st_mtime <= time.time() for file in files):
            return None
        for file in files:
            total.update(f"{part}/{file.relative_to(folder).as_posix()}\0".encode())
            total.update(file.read_bytes())
    return total.hexdigest()
