"""Files, names and tables that callers give: checked before work begins, with one clear error."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dlc.errors import InvalidInputError, quoted


def check_stream(given: Any) -> None:
    """Raise `InvalidInputError` for what text cannot be written to; None stands for standard output."""
    if given is not None and not callable(getattr(given, "write", None)):
        raise InvalidInputError(f"text is written to an open file, not {quoted(given)}; open it, or leave it out")


def checked_path(given: Any) -> Path:
    """A path that can name a file; `InvalidInputError` for anything else."""
    if not isinstance(given, (str, os.PathLike)):
        raise InvalidInputError(f"a file is named by a text or path, not {quoted(given)}")
    try:
        name = os.fsencode(given)
    except UnicodeEncodeError:
        name = b"\0"
    if b"\0" in name:
        raise InvalidInputError(f"{os.fspath(given)!r} cannot be the name of a file; give another one")
    return Path(os.fsdecode(name))


def path_to_write(given: Any) -> Path:
    """The path of a file that may be written or replaced; `InvalidInputError` tells why it may not."""
    path = checked_path(given)
    if path.is_dir():
        raise InvalidInputError(f"'{path}' is a folder; name a file")
    if not path.parent.is_dir():
        raise InvalidInputError(f"there is no folder '{path.parent}'; make it first")
    return path


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the `OSError` of a block that writes `path` into `InvalidInputError`."""
    try:
        yield
    except OSError as error:
        raise InvalidInputError(f"{path}: error: cannot be written: {error.strerror or error}") from error


def check_names(what: str, given: Sequence[str]) -> None:
    """Raise `InvalidInputError` unless `given` is a list of texts; one text is no list."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise InvalidInputError(f"{what} takes a list of names, not {quoted(given)}")


def check_table(what: str, given: Mapping[str, Any]) -> None:
    """Raise `InvalidInputError` unless `given` is a dictionary whose keys are texts."""
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"{what} is {quoted(given)}; give a dictionary by name")
    for key in given:
        if not isinstance(key, str):
            raise InvalidInputError(f"{what} has the key {quoted(key)}; give a dictionary by name")
