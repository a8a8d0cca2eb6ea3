"""Copy what a loop's body touches of an array into a local buffer, and back."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.polyhedral.driver import change_loops
from dlc.lowering.polyhedral.primitives.common import Result
from dlc.lowering.polyhedral.primitives.pack import pack
from dlc.lowering.polyhedral.program import Program


@dataclass(frozen=True)
class PackBuffer(Pass):
    """Copy what a loop's body touches of an array into a local buffer, and back.

    before: affine.for %i = 0 to 100 step 32 { .. %A[%i + .., ..] .. }
    after:  %buffer = memref.alloca() : memref<32x64xf32>
            affine.for %i = 0 to 100 step 32 { copy of the part of %A to %buffer   .. %buffer[..] ..   what was written back to %A }

    The buffer holds the smallest box around what one iteration touches. It is on the stack up to 64 KiB, else on the heap;
    inside a parallel loop every iteration has its own.
    """

    anchor = "func.func"

    array: str = option("", "the array: A0, A1, ... in the order of the text, or arg0, arg1, ... for arguments")
    loop: str = option("", "the loop for whose iterations it is copied; empty: once for all loops")
    function: str = option("", "the only function to change; empty: each that has loops")
    assume_no_alias: bool = option(False, "take it that distinct memrefs share no memory")
    reassociate: bool = option(False, "sums and products of floats may be computed in any order")

    def run(self, op: ir.Operation) -> None:
        """Change the loops of one function."""
        change_loops(op, self)

    def change(self, program: Program) -> Result:
        """The changed program, and the names of loops to go on with."""
        return pack(program, self.array, self.loop)
