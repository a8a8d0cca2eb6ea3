"""The dialects that dlc adds to MLIR's, one module each, and contexts that know them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dlc._mlir import ir


_BUILT = (
    "func", "arith", "math", "index", "ub", "cf", "scf", "tensor", "linalg", "bufferization", "memref", "affine", "vector",
    "llvm", "gpu", "nvvm", "irdl",
)  # fmt: skip
"""Dialects whose ops dlc builds. The parser and native passes load others by themselves; loading all takes twice as long."""


def make_context(allow_unregistered: bool = False) -> ir.Context:
    """A context with the dl dialect loaded; `allow_unregistered` accepts ops of unknown dialects."""
    from dlc.dialects import dl

    context = make_upstream_context(allow_unregistered)
    dl.load(context)
    return context


def make_upstream_context(allow_unregistered: bool = False) -> ir.Context:
    """A context for modules below the dl level, whose ops take 60 ms to import."""
    from dlc._mlir import ir

    context = ir.Context(load_on_create_dialects=())
    for name in _BUILT:
        context.get_dialect_descriptor(name)  # loads it without the Python classes of its ops, which take longer to import
    context.enable_multithreading(False)  # Python verifiers on worker threads deadlock on the interpreter lock
    context.allow_unregistered_dialects = allow_unregistered
    return context
