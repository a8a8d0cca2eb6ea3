"""A function of dl text, for tests of what analyses know of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dlc._mlir import ir
from dlc.dialects import make_context


@contextmanager
def parsed_function(text: str) -> Iterator[ir.Operation]:
    """The first function of a module; it lives as long as the context, which is entered."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        yield module.body.operations[0].operation
