"""Running upstream's passes from inside a Python pass."""

from __future__ import annotations

from dlc._mlir import ir, passmanager

_KEPT: dict[tuple[ir.Context, str], passmanager.PassManager] = {}
_KEPT_CONTEXTS: list[ir.Context] = []


def run_native(op: ir.Operation, *passes: str) -> None:
    """Run upstream `passes` (pipeline text, e.g. "func.func(cse)") on `op`; a failure raises `ir.MLIRError`.

    Their result is verified with that of the pass that calls this, not after each of them, which takes as long as they do.
    """
    manager = native_manager(f"{op.name}({','.join(passes)})", op.context)
    manager.enable_verifier(False)
    manager.run(op)


def native_manager(text: str, context: ir.Context) -> passmanager.PassManager:
    """A pass manager for pipeline text. Those of a context that `keep_managers` names are made once."""
    if context not in _KEPT_CONTEXTS:
        return passmanager.PassManager.parse(text, context)
    if (context, text) not in _KEPT:
        _KEPT[context, text] = passmanager.PassManager.parse(text, context)
    return _KEPT[context, text]


def keep_managers(context: ir.Context | None) -> None:
    """Keep the pass managers of one context from now on, and the context with them; None ends that.

    Making them takes a fifth of the time of upstream's passes on a kernel. For processes that lower many modules in one context.
    """
    _KEPT.clear()
    _KEPT_CONTEXTS[:] = [] if context is None else [context]
