"""Files that are not whole yet: who watches this process learns their names, and removes them if it is killed."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_notes: int | None = None
"""Where names go: the end of a pipe that the watching process reads, once this process is watched."""


def note_partial(path: Path) -> None:
    """Say that `path` is about to be written and goes away, or gets its own name, when it is whole."""
    if _notes is None:
        return
    with contextlib.suppress(OSError):  # nobody watches any more, or more names than the pipe holds
        os.write(_notes, os.fsencode(path.absolute()) + b"\0")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place when the block ends well; else `path` stays as it was.

    A link keeps its place, and a device or pipe is written itself.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        yield path
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    note_partial(temporary)
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@dataclass(frozen=True)
class PartialFiles:
    """The watching side: a pipe, whose writing end a child inherits."""

    reading: int
    writing: int

    @classmethod
    def create(cls) -> PartialFiles:
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        os.set_blocking(writing, False)
        return cls(reading, writing)

    def note_from_here(self) -> None:
        """In the child: let `note_partial` write to the pipe. Programs that it starts do not inherit it."""
        global _notes  # a process is watched or it is not
        os.close(self.reading)
        _notes = self.writing

    def remove(self) -> None:
        """After the child ended: remove the files that it has left."""
        os.close(self.writing)
        content = b""
        with contextlib.suppress(BlockingIOError):
            while part := os.read(self.reading, 65536):
                content += part
        os.close(self.reading)
        for name in filter(None, content.split(b"\0")):
            with contextlib.suppress(OSError):
                Path(os.fsdecode(name)).unlink()
