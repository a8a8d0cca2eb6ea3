"""Running upstream's passes from inside a Python pass."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from dlc._mlir import ir, passmanager

_KEPT: ContextVar[tuple[ir.Context, dict[str, passmanager.PassManager]] | None] = ContextVar("managers", default=None)


def run_native(op: ir.Operation, *passes: str) -> None:
    """Run upstream `passes` (pipeline text, e.g. "func.func(cse)") on `op`; a failure raises `ir.MLIRError`.

    Their result is verified with that of the pass that calls this, not after each of them, which takes as long as they do.
    """
    manager = native_manager(f"{op.name}({','.join(passes)})", op.context)
    manager.enable_verifier(False)
    manager.run(op)


def native_manager(text: str, context: ir.Context) -> passmanager.PassManager:
    """A pass manager for pipeline text. Those of a context that this thread keeps them for are made once."""
    kept = _KEPT.get()
    if kept is None or kept[0] != context:
        return passmanager.PassManager.parse(text, context)
    if text not in kept[1]:
        kept[1][text] = passmanager.PassManager.parse(text, context)
    return kept[1][text]


def keep_managers(context: ir.Context) -> None:
    """Keep the pass managers of one context in this thread from now on, and the context with them.

    Making them takes a fifth of the time of upstream's passes on a kernel. For processes that lower many modules in one context.
    """
    _KEPT.set((context, {}))


@contextmanager
def kept_managers(context: ir.Context) -> Iterator[None]:
    """Keep the pass managers of one context in this thread for a while: for what lowers several modules, or has passes twice."""
    kept = _KEPT.get()
    if kept is not None and kept[0] == context:
        yield
        return
    token = _KEPT.set((context, {}))
    try:
        yield
    finally:
        _KEPT.reset(token)
