"""Compute what a statement produces inside a loop of its consumer, right before it is needed."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.polyhedral.driver import change_loops
from dlc.lowering.polyhedral.primitives.common import Result
from dlc.lowering.polyhedral.primitives.compute_at import compute_at
from dlc.lowering.polyhedral.program import Program


@dataclass(frozen=True)
class ComputeAt(Pass):
    """Compute what a statement produces inside a loop of its consumer, right before it is needed.

    before: affine.for %i = 0 to 100 { S0(%i) }   affine.for %i = 1 to 99 { S1(%i), which reads what S0 wrote at %i - 1 and %i + 1 }
    after:  affine.for %i = .. { S0(%i + 1)  S1(%i) }

    Each instance runs once, in the iteration of its first use or before. Local arrays that the statements fill shrink: to what
    an iteration needs, or to a window that moves along where later iterations read it, too.
    """

    anchor = "func.func"

    statements: tuple[str, ...] = option((), "the producer, with statements that prepare its result")
    loop: str = option("", "a loop around a consumer")
    function: str = option("", "the only function to change; empty: each that has loops")
    assume_no_alias: bool = option(False, "take it that distinct memrefs share no memory")
    reassociate: bool = option(False, "sums and products of floats may be computed in any order")

    def run(self, op: ir.Operation) -> None:
        """Change the loops of one function."""
        change_loops(op, self)

    def change(self, program: Program) -> Result:
        """The changed program, and the names of loops to go on with."""
        return compute_at(program, self.statements, self.loop)
