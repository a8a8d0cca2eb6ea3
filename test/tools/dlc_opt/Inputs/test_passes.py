"""Passes that go wrong, for tests of dlc-opt: load them with --load-pass-plugin."""

from __future__ import annotations

import os
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.pass_base import Pass, PassFailure, option


@dataclass(frozen=True)
class Crash(Pass):
    """Take the process down, as a fault in native code does."""

    pass_name = "test-crash"

    def run(self, op: ir.Operation) -> None:
        os.abort()


@dataclass(frozen=True)
class Exit(Pass):
    """Leave the process without a word, as LLVM's fatal errors can."""

    pass_name = "test-exit"

    def run(self, op: ir.Operation) -> None:
        os._exit(1)


@dataclass(frozen=True)
class Refuse(Pass):
    """Refuse every function."""

    anchor = "func.func"
    pass_name = "test-refuse"

    reason: str = option("nothing", "what the pass needs")

    def run(self, op: ir.Operation) -> None:
        raise PassFailure(op, f"needs {self.reason}", "run test-mark first")


@dataclass(frozen=True)
class Raise(Pass):
    """Raise what no pass should raise."""

    pass_name = "test-raise"

    def run(self, op: ir.Operation) -> None:
        raise KeyError("missing")


@dataclass(frozen=True)
class Break(Pass):
    """Take the terminator away from each function."""

    anchor = "func.func"
    pass_name = "test-break"

    def run(self, op: ir.Operation) -> None:
        operations = list(op.regions[0].blocks[0].operations)
        operations[-1].operation.erase()
