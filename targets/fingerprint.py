"""What machine code depends on besides the IR: the compiler itself, its bindings and the machine."""

from __future__ import annotations

import functools
import hashlib
import os
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from dlc.package_versions import installed_bindings

_PARTS = ("dlc", "dlc.dialects", "dlc.analysis", "dlc.lowering", "dlc.targets", "dlc.runtime")
"""Packages whose sources decide what code comes out, and how it is kept and called."""

_IMPORTED = time.time()


@functools.lru_cache(maxsize=1)
def compiler_fingerprint() -> str | None:
    """Sum of the compiler's sources and of the versions below it; None where it cannot be told: see `sources_sum`."""
    sources = sources_sum(_PARTS)
    return sources and hashlib.sha256(f"{installed_bindings()} {sources}".encode()).hexdigest()


@functools.cache
def sources_sum(packages: Sequence[str]) -> str | None:
    """Sum of the sources of packages, those of `dlc` itself without the packages inside; nothing is imported.

    None where sources changed while this process ran, since nobody knows which of them it has imported, and in an installation
    without sources.
    """
    total = hashlib.sha256()
    for package in packages:
        spec = find_spec(package)
        files = _sources(str(Path(spec.origin).parent), deep=package != "dlc") if spec and spec.origin else {}
        now = time.time()
        if not files or any(_IMPORTED < file.stat().st_mtime <= now for file in files.values()):
            return None
        for name, file in sorted(files.items()):
            total.update(f"{package}/{name}\0".encode())
            total.update(Path(file).read_bytes())
    return total.hexdigest()


def _sources(folder: str, deep: bool, prefix: str = "") -> dict[str, os.DirEntry[str]]:
    """The Python files of a folder by their names in it; with `deep` those of the folders inside, too."""
    found: dict[str, os.DirEntry[str]] = {}
    with os.scandir(folder) as entries:  # takes half of the time of pathlib
        for entry in entries:
            if entry.name.endswith(".py"):
                found[prefix + entry.name] = entry
            elif deep and entry.name != "__pycache__" and entry.is_dir():
                found |= _sources(entry.path, deep, f"{prefix}{entry.name}/")
    return found
