"""The page that compares the flags of dlc-opt with those of mlir-opt."""

from __future__ import annotations

from collections.abc import Iterator

from dlc.tools.mlir_opt_flags import MLIR_OPT_FLAGS
from dlc.tools.opt_options import flags

_ALIASES = {"o": "output"}


def mlir_opt_page(note: str) -> Iterator[str]:
    """Flags that both have, those of mlir-opt alone with the reason, those of dlc-opt alone."""
    known = flags()
    yield f"{note}# Flags of dlc-opt and of mlir-opt\n\n"
    yield "Flags of passes are spelt the same: `--<pass>` and `--<pass>=option=value`, and so is `--pass-pipeline`.\n\n"
    yield "| flag of mlir-opt | in dlc-opt |\n|---|---|\n"
    for name, reason in MLIR_OPT_FLAGS.items():
        state = f"no: {reason}" if reason else f"yes: {known[_ALIASES.get(name, name)].metadata['help']}"
        yield f"| `--{name}` | {state} |\n"
    yield "\n| flag of dlc-opt alone | meaning |\n|---|---|\n"
    taken = {_ALIASES.get(name, name) for name in MLIR_OPT_FLAGS}
    for name, field in known.items():
        if name not in taken:
            yield f"| `--{name}` | {field.metadata['help']} |\n"
