"""Files that are no files: devices such as /dev/zero, whose content never ends."""

from __future__ import annotations

import errno
import os
from pathlib import Path

_REASON = "is a device that may never end; name a file, or pipe its content to /dev/stdin"


def refuse_endless(path: str | os.PathLike[str]) -> None:
    """Raise the `OSError` of a file that cannot be read, should `path` be a device without an end."""
    if _is_endless(path):
        raise OSError(errno.EINVAL, _REASON, os.fspath(path))


def _is_endless(path: str | os.PathLike[str]) -> bool:
    """Whether `path` is a device that can be read for ever. Standard input, terminals and /dev/null end."""
    try:
        ends = not Path(path).is_char_device() or Path(path).samefile(os.devnull)
    except (OSError, ValueError):
        return False
    return not ends and not _is_terminal(path)


def _is_terminal(path: str | os.PathLike[str]) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return os.isatty(handle)
    finally:
        os.close(handle)
