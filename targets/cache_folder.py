"""The folder of what dlc keeps from run to run: compiled code, and what it has measured of the machine."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path | None:
    """The folder that `DLC_CACHE_DIR` names (default: `dlc` in the user's cache folder); None where it is empty, or has no home."""
    folder = os.environ.get("DLC_CACHE_DIR")
    if folder is not None and not folder.strip():
        return None
    if folder is None:
        home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        folder = f"{home}/dlc"
    try:
        return Path(folder).expanduser()
    except RuntimeError:  # no home folder
        return None
