"""affine-print-dependences: what the polyhedral model says of a function's loops."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from dlc._mlir import ir
from dlc.analysis.symbols import symbol_name
from dlc.lowering.affine.dependences.report import report, text_of
from dlc.lowering.affine.polyhedral.extract import extract_all
from dlc.lowering.affine.polyhedral.model import ExtractionError
from dlc.lowering.pass_base import Pass, PassFailure, option


@dataclass(frozen=True)
class PrintDependences(Pass):
    """Print statements, dependences with their distances, and reductions of all affine loops; the IR stays as it is.

    before: affine.for %i = 1 to 8 { %a = affine.load %A[%i - 1]; affine.store %a, %A[%i] }
    after:  the same; on standard error:
            function @f
              statements
                S0[i] at f.mlir:4:5: 0 < i <= 7
                  reads  %A[-1 + i]
                  writes %A[i]
              dependences
                flow   S0 writes %A (line 4) -> S0 reads %A (line 3): { S0[i] -> S0[i' = 1 + i] : 0 < i <= 6 }
                  distance (1), carried by i

    Where a function has other ops between its loops, each group of loops is reported by itself.
    """

    anchor = "builtin.module"

    all: bool = option(False, "every pair of accesses to one element; by default those without a write of it between")
    assume_no_alias: bool = option(False, "distinct memref arguments share no memory")
    json: str = option("", "file to write the same to as JSON, in place of printing")

    def run(self, op: ir.Operation) -> None:
        """Report on every function with loops."""
        found = []
        for function in op.regions[0].blocks[0].operations:
            if function.operation.name == "func.func" and len(function.operation.regions[0].blocks) == 1:
                found += self._reports(function.operation)
        if not self.json:
            for one in found:
                print(f"function @{one['function']}\n{text_of(one)}", file=sys.stderr)
            return
        try:
            Path(self.json).write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise PassFailure(op, f"can't write '{self.json}': {error.strerror}", "give option json another file") from None

    def _reports(self, function: ir.Operation) -> list[dict[str, object]]:
        name = symbol_name(function)
        try:
            scops = extract_all(function, assume_no_alias=self.assume_no_alias)
        except ExtractionError as error:
            raise PassFailure(error.op, error.reason, error.remedy) from None
        return [{"function": name, **report(scop, nearest=not self.all)} for scop in scops]
